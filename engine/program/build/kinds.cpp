// Operators that statements and the graph around them treat alike: what is decided for one of a kind is so for all.
#include <algorithm>

#include "engine/program/build/work.h"

namespace planscope::build {

// Alike (alike.h), at one place and split by the same statements; of what they read the same comes from parameters, inputs
// and operators, has one reader, or is read twice; of what they write the same is read.
std::vector<int> operator_kinds(const Work& w) {
  const auto origin = [&](TensorId t) {
    if (w.kind(t) != ValueKind::computed) return static_cast<int>(w.kind(t));
    const OpId producer = w.g.tensors[static_cast<std::size_t>(t)].producer;
    return producer >= 0 && w.op(producer).parameter_free ? -1 : static_cast<int>(ValueKind::computed);
  };
  std::unordered_map<std::vector<std::int64_t>, int, NumbersHash> known;
  std::vector<std::int64_t> key;
  std::vector<int> out;
  out.reserve(w.g.ops.size());
  for (OpId o = 0; o < static_cast<OpId>(w.g.ops.size()); ++o) {
    const Op& op = w.op(o);
    key.assign({w.g.alike[static_cast<std::size_t>(o)], w.op_place[static_cast<std::size_t>(o)]});
    for (int a = 0; a < static_cast<int>(w.d.axes.size()); ++a) {
      const plan::Split& s = w.d.split(o, a);
      key.push_back(s.statement);
      if (s.statement >= 0) key.insert(key.end(), {s.factor, s.part, s.position});
    }
    for (auto in = op.inputs.begin(); in != op.inputs.end(); ++in) {
      const TensorId t = in->tensor;
      const auto first = std::find_if(op.inputs.begin(), in, [&](const Operand& x) { return x.tensor == t; });
      const bool one_reader = w.g.tensors[static_cast<std::size_t>(t)].readers.size() == 1;
      key.push_back((first - op.inputs.begin()) << 8 | (origin(t) + 1) << 1 | one_reader);
    }
    for (const Operand& x : op.outputs) key.push_back(w.g.tensors[static_cast<std::size_t>(x.tensor)].readers.empty());
    const auto kind = known.find(key);
    out.push_back(kind != known.end() ? kind->second
                                      : known.emplace(key, static_cast<int>(known.size())).first->second);
  }
  return out;
}

}  // namespace planscope::build
