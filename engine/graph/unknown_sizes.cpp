#include "engine/graph/unknown_sizes.h"

#include <algorithm>
#include <cmath>

#include "engine/base/text.h"
#include "engine/graph/arguments.h"
#include "engine/graph/canonical/canonical.h"

namespace planscope {

namespace {

bool has(const std::vector<ClassId>& classes, ClassId c) {
  return std::find(classes.begin(), classes.end(), c) != classes.end();
}

// Few: those of one operator.
std::vector<ClassId> classes_of(const Graph& g, const std::vector<Operand>& operands) {
  std::vector<ClassId> out;
  for (const Operand& o : operands)
    if (o.tensor >= 0)
      for (const auto& dim : g.tensors[static_cast<std::size_t>(o.tensor)].dims)
        out.insert(out.end(), dim.begin(), dim.end());
  return out;
}

// The dimension of an operand that has another size than in the file and that no result has.
std::optional<std::pair<TensorId, int>> changed_and_lost(const Graph& g, const Op& op,
                                                         const std::vector<ClassId>& results) {
  for (const Operand& o : op.inputs) {
    if (o.tensor < 0) continue;
    const auto& dims = g.tensors[static_cast<std::size_t>(o.tensor)].dims;
    const std::vector<std::int64_t>& stored = g.model->values[static_cast<std::size_t>(o.tensor)].sizes;
    for (int d = 0; d < static_cast<int>(dims.size()); ++d) {
      const auto& parts = dims[static_cast<std::size_t>(d)];
      const bool kept = std::all_of(parts.begin(), parts.end(), [&](ClassId c) { return has(results, c); });
      if (!kept && g.size(o.tensor, d) != stored[static_cast<std::size_t>(d)]) return std::pair(o.tensor, d);
    }
  }
  return std::nullopt;
}

// The dimension of an operand that is broadcast in the file, and has another size than 1 now.
std::optional<std::pair<TensorId, int>> grown_broadcast(const Graph& g, const Op& op) {
  for (const Operand& o : op.inputs) {
    if (o.tensor < 0) continue;
    const std::vector<std::int64_t>& stored = g.model->values[static_cast<std::size_t>(o.tensor)].sizes;
    for (std::size_t d = 0; d < o.map.size(); ++d) {
      const bool tied = std::any_of(o.map[d].begin(), o.map[d].end(), [](const PartRef& r) { return r.factor >= 0; });
      if (!tied && stored[d] == 1 && g.size(o.tensor, static_cast<int>(d)) != 1)
        return std::pair(o.tensor, static_cast<int>(d));
    }
  }
  return std::nullopt;
}

Diagnostic too_few_or_many(const Graph& g, OpId id, std::int64_t makes, std::int64_t needed) {
  Diagnostic d = error("the sizes do not fit",
                       "the operator makes " + std::to_string(makes) + " where " + std::to_string(needed) +
                           " would be needed, and its numbers stand in the file",
                       "export the model with the sizes that you want");
  d.subject = g.node(id).name();
  return d;
}

// An operator without a rule makes what it made; one that normalizes does so over the sizes that stand in the file.
std::optional<Diagnostic> made_of_other_sizes(const Graph& g, OpId id) {
  const Op& op = g.ops[static_cast<std::size_t>(id)];
  const auto differs = [&](const std::vector<std::int64_t>& file,
                           const std::vector<std::int64_t>& now) -> std::optional<Diagnostic> {
    for (std::size_t d = 0; d < std::min(file.size(), now.size()); ++d)
      if (file[file.size() - 1 - d] != now[now.size() - 1 - d])
        return too_few_or_many(g, id, file[file.size() - 1 - d], now[now.size() - 1 - d]);
    return std::nullopt;
  };
  if (const auto* shape = ints_argument(g.node(id), "normalized_shape"); shape && !op.inputs.empty())
    if (auto d = differs(*shape, g.sizes(op.inputs[0].tensor))) return d;
  if (op.known) return std::nullopt;
  for (const Operand& o : op.outputs)
    if (o.tensor >= 0)
      if (auto d = differs(g.model->values[static_cast<std::size_t>(o.tensor)].sizes, g.sizes(o.tensor))) return d;
  return std::nullopt;
}

// What makes a tensor of numbers alone, which say more than its sizes: a range that does not begin at the start or goes down, steps
// between two numbers, a diagonal. Where its result is to have other sizes, what these numbers would be is not known.
std::optional<Diagnostic> made_of_numbers(const Graph& g, OpId id) {
  const Op& op = g.ops[static_cast<std::size_t>(id)];
  if (op.outputs.empty() || op.outputs[0].tensor < 0) return std::nullopt;
  const TensorId made = op.outputs[0].tensor;
  const std::vector<std::int64_t>& stored = g.model->values[static_cast<std::size_t>(made)].sizes;
  const std::vector<std::int64_t> now = g.sizes(made);
  if (now == stored) return std::nullopt;
  const Node& n = g.node(id);
  const std::string base = n.target.substr(0, n.target.find('.'));
  const bool steps = base == "aten::linspace" || base == "aten::logspace" || base == "aten::tril_indices" ||
                     base == "aten::triu_indices" || base.ends_with("_window");
  const auto start = number_argument(n, "start");
  const bool range = base == "aten::arange" && !stored.empty() && start;
  const bool down = range && number_argument(n, "step").value_or(1) < 0;
  const bool later = down || (range && std::abs(*start) >= static_cast<double>(stored[0]));
  if (!steps && !later) return std::nullopt;
  std::size_t at = 0;
  while (at + 1 < now.size() && at + 1 < stored.size() && now[at] == stored[at]) ++at;
  Diagnostic d = too_few_or_many(g, id, stored[at], now[at]);
  if (later) d.why = "the range begins with a number that may have been a size of the file";
  return d;
}

}  // namespace

std::optional<Diagnostic> unknown_size(const Graph& g) {
  std::vector<bool> related(g.classes.size(), false);
  for (const SizeRelation& r : g.relations) related[static_cast<std::size_t>(r.out)] = true;
  for (OpId id = 0; id < static_cast<OpId>(g.ops.size()); ++id) {
    const Op& op = g.ops[static_cast<std::size_t>(id)];
    if (auto d = made_of_numbers(g, id)) return d;
    const std::vector<ClassId> read = classes_of(g, op.inputs), made = classes_of(g, op.outputs);
    const bool own = std::any_of(made.begin(), made.end(), [&](ClassId c) {
      const auto i = static_cast<std::size_t>(c);
      return !related[i] && g.classes[i].size > 1 && !has(read, c);
    });
    // Without a rule nothing is known of what it makes of other sizes.
    auto lost = own || !op.known ? changed_and_lost(g, op, op.known ? made : std::vector<ClassId>()) : std::nullopt;
    if (!lost && op.known) lost = grown_broadcast(g, op);
    if (!lost) {
      if (auto d = made_of_other_sizes(g, id)) return d;
      continue;
    }
    const auto [tensor, dim] = *lost;
    Diagnostic d = error(
        "the sizes do not fit",
        "the operator makes what it made of the exported sizes; it reads " + std::to_string(g.size(tensor, dim)) +
            " where the file has " +
            std::to_string(g.model->values[static_cast<std::size_t>(tensor)].sizes[static_cast<std::size_t>(dim)]),
        "export the model with the sizes that you want");
    d.subject = g.node(id).name();
    return d;
  }
  std::vector<std::vector<std::int64_t>> sizes;
  for (TensorId t = 0; t < static_cast<TensorId>(g.tensors.size()); ++t) sizes.push_back(g.sizes(t));
  if (const Node* node = first_misfit(*g.model, sizes)) {
    Diagnostic d = error(
        "the sizes do not fit",
        "what the operator reads and makes does not fit together at these sizes; where the file has a 1, it does not "
        "say whether that is the batch",
        "export the model with the sizes that you want");
    d.subject = node->name();
    return d;
  }
  return std::nullopt;
}

}  // namespace planscope
