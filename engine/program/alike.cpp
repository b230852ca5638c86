#include "engine/program/alike.h"

#include <unordered_map>

#include "engine/program/build/work.h"

namespace planscope {

namespace {

class Describer {
 public:
  Describer(const Graph& g, bool whatever_key) : g_(g), whatever_key_(whatever_key) {}

  std::vector<std::int64_t> operator()(const Op& op) {
    numbers_.clear();
    add(op.parameter_free, op.backward, op.inputs.size(), op.outputs.size(), op.factors.size(), op.linear.size());
    for (const Operand& o : op.inputs) operand(o);
    for (const Operand& o : op.outputs) operand(o);
    for (const Factor& f : op.factors) {
      add(f.kind, whatever_key_ && f.key >= 0 ? 0 : f.key, f.rows, f.until, f.parts.size());
      for (const ClassId c : f.parts) part(c);
    }
    for (const std::vector<int>& set : op.linear) {
      add(set.size());
      for (const int i : set) add(i);
    }
    return numbers_;
  }

 private:
  template <class... T>
  void add(T... values) {
    (numbers_.push_back(static_cast<std::int64_t>(values)), ...);
  }

  void part(ClassId c) {
    const PartClass& k = g_.classes[static_cast<std::size_t>(c)];
    add(k.size, k.frozen);
  }

  void operand(const Operand& o) {
    const PTensor& t = g_.tensors[static_cast<std::size_t>(o.tensor)];
    add(g_.bytes(o.tensor), t.gradient, o.added, o.map.size());
    for (std::size_t d = 0; d < o.map.size(); ++d) {
      add(o.map[d].size());
      for (std::size_t p = 0; p < o.map[d].size(); ++p) {
        add(o.map[d][p].factor, o.map[d][p].part);
        part(t.dims[d][p]);
      }
    }
  }

  const Graph& g_;
  const bool whatever_key_;
  std::vector<std::int64_t> numbers_;
};

}  // namespace

std::vector<int> alike_operators(const Graph& g, bool whatever_key) {
  std::unordered_map<std::vector<std::int64_t>, int, build::NumbersHash> known;
  Describer describe(g, whatever_key);
  std::vector<int> alike;
  for (const Op& op : g.ops) alike.push_back(known.emplace(describe(op), static_cast<int>(known.size())).first->second);
  return alike;
}

}  // namespace planscope
