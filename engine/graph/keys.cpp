#include "engine/graph/keys.h"

#include <algorithm>
#include <map>

namespace planscope {

namespace {

// The dimension that has all of a factor and nothing else; -1: none.
int whole_dim(const Op& op, const Operand& o, int factor) {
  const std::size_t parts = op.factors[static_cast<std::size_t>(factor)].parts.size();
  for (std::size_t d = 0; d < o.map.size(); ++d) {
    bool whole = parts > 0 && o.map[d].size() == parts;
    for (std::size_t p = 0; whole && p < parts; ++p) whole = o.map[d][p] == PartRef{factor, static_cast<int>(p)};
    if (whole) return static_cast<int>(d);
  }
  return -1;
}

// Results by row depend on the same row of the operands alone, whichever rows there are.
bool rows_apart(const Op& op, int rows) {
  if (op.factors[static_cast<std::size_t>(rows)].kind != FactorKind::free) return false;
  const auto fits = [&](const Operand& o, bool output) {
    int refs = 0;
    for (const auto& dim : o.map)
      refs += static_cast<int>(std::count_if(dim.begin(), dim.end(), [&](PartRef r) { return r.factor == rows; }));
    if (refs == 0) return !output;
    const std::size_t parts = op.factors[static_cast<std::size_t>(rows)].parts.size();
    return refs == static_cast<int>(parts) && whole_dim(op, o, rows) >= 0;
  };
  return std::all_of(op.inputs.begin(), op.inputs.end(), [&](const Operand& o) { return fits(o, false); }) &&
         std::all_of(op.outputs.begin(), op.outputs.end(), [&](const Operand& o) { return fits(o, true); });
}

// Rows of a tensor that can be selected.
struct Keyed {
  int dim = -1;
  TensorId key = -1;
  ClassId domain = -1;
  std::string name;
};

// The factor that a dimension has as a whole; -1: none.
int factor_of(const Op& op, const Operand& o, int dim) {
  const auto& map = o.map[static_cast<std::size_t>(dim)];
  const int f = map.empty() ? -1 : map.front().factor;
  return f >= 0 && whole_dim(op, o, f) == dim ? f : -1;
}

}  // namespace

int selected_dim(const Op& op, const Operand& o, int factor) {
  const Factor& f = op.factors[static_cast<std::size_t>(factor)];
  return f.key < 0 ? -1 : whole_dim(op, o, f.rows);
}

void set_key(Graph& g, Op& op, int factor, std::size_t key, int rows) {
  Factor& f = op.factors[static_cast<std::size_t>(factor)];
  const Operand& keys = op.inputs[key];
  PTensor& tensor = g.tensors[static_cast<std::size_t>(keys.tensor)];
  if (f.parts.size() != 1 || tensor.dims.size() != 1 || whole_dim(op, keys, rows) != 0 || !rows_apart(op, rows)) return;
  if (tensor.domain >= 0 && tensor.domain != f.parts[0]) return;
  tensor.domain = f.parts[0];
  f.kind = FactorKind::free;
  f.key = keys.tensor;
  f.rows = rows;
}

void spread_keys(Graph& g) {
  std::map<TensorId, Keyed> keyed;  // the last operator that selects them by a key of its own has the say
  for (OpId o = 0; o < static_cast<OpId>(g.ops.size()); ++o) {
    Op& op = g.ops[static_cast<std::size_t>(o)];
    int own = -1;
    for (std::size_t f = 0; f < op.factors.size(); ++f)
      if (op.factors[f].key >= 0) own = static_cast<int>(f);
    for (std::size_t k = 0; own < 0 && k < op.inputs.size(); ++k) {
      const auto found = keyed.find(op.inputs[k].tensor);
      if (found == keyed.end() || op.shard != ShardForm::same || g.node(o).random || op.parameter_free) continue;
      const Keyed rows = found->second;
      const int f = factor_of(op, op.inputs[k], rows.dim);
      if (f < 0 || !rows_apart(op, f)) continue;
      own = static_cast<int>(op.factors.size());
      op.factors.push_back({rows.name, FactorKind::free, {rows.domain}, "", rows.key, f});
    }
    if (own < 0) continue;
    const Factor& f = op.factors[static_cast<std::size_t>(own)];
    for (const Operand& out : op.outputs) keyed[out.tensor] = {selected_dim(op, out, own), f.key, f.parts[0], f.name};
  }
}

}  // namespace planscope
