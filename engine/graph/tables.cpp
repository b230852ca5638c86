#include "engine/graph/tables.h"

#include <algorithm>
#include <string_view>

#include "engine/graph/arguments.h"

namespace planscope {

namespace {

// Element k of dimension `size` counts from `first` on: first, first + step, …
struct Counted {
  std::int64_t first = 0, step = 1;
  ClassId size = -1;
};

std::optional<Counted> range(const Graph& g, const Op& op) {
  if (op.rule != "arange" || op.outputs.empty()) return std::nullopt;
  const auto& dims = g.tensors[static_cast<std::size_t>(op.outputs[0].tensor)].dims;
  if (dims.size() != 1 || dims[0].size() != 1) return std::nullopt;
  const Node& n = g.model->nodes[static_cast<std::size_t>(op.node)];
  Counted out{int_argument(n, "start").value_or(0), int_argument(n, "step").value_or(1), dims[0][0]};
  return out.step > 0 ? std::optional(out) : std::nullopt;
}

bool keeps_values(const Op& op, const Node& n) {
  static constexpr const char* casts[] = {"aten::to", "aten::_to_copy", "aten::clone", "aten::contiguous"};
  const std::string_view base = std::string_view(n.target).substr(0, n.target.find('.'));
  return op.rule == "view" || op.rule == "expand" ||
         std::any_of(std::begin(casts), std::end(casts), [&](const char* c) { return base == c; });
}

// The rows that a slice takes of a dimension that is as it is in the file.
std::optional<Counted> rows_taken(const Graph& g, const Op& op, const Node& n) {
  if (n.target != "aten::slice.Tensor" || n.like >= 0 || op.inputs.empty()) return std::nullopt;
  const auto dim = int_argument(n, "dim");
  const std::int64_t step = int_argument(n, "step").value_or(1);
  if (!dim || *dim < 0 || step < 1) return std::nullopt;
  const TensorId of = op.inputs[0].tensor;
  const auto at = static_cast<std::size_t>(*dim);
  const auto& taken = g.tensors[static_cast<std::size_t>(op.outputs[0].tensor)].dims[at];
  if (g.size(of, static_cast<int>(at)) != g.model->values[static_cast<std::size_t>(of)].sizes[at] || taken.size() != 1)
    return std::nullopt;
  return Counted{std::max<std::int64_t>(0, int_argument(n, "start").value_or(0)), step, taken[0]};
}

bool fits(const Graph& g, const Counted& c, std::int64_t rows) {
  return c.first + c.step * (g.classes[static_cast<std::size_t>(c.size)].size - 1) < rows;
}

Diagnostic too_short(const Graph& g, const Op& op, const Counted& c, std::int64_t rows) {
  const PartClass& size = g.classes[static_cast<std::size_t>(c.size)];
  const TensorId table = op.inputs[0].tensor;
  Diagnostic d =
      error("'" + g.tensor_name(table) + "' has " + std::to_string(rows) + " rows, and is read up to row " +
                std::to_string(c.first + c.step * (size.size - 1)),
            g.model->nodes[static_cast<std::size_t>(op.node)].name() + " reads a row for each of the " +
                std::to_string(size.size) + " of " + (size.name.empty() ? "a dimension" : "'" + size.name + "'"));
  const std::int64_t most = (rows - 1 - c.first) / c.step + 1;
  if (size.from_input && rows > c.first) d.hint = "the largest is " + size.name + "=" + std::to_string(most);
  return d;
}

}  // namespace

std::optional<Diagnostic> short_table(const Graph& g) {
  std::vector<std::optional<Counted>> counted(g.tensors.size());
  for (const Op& op : g.ops) {
    const auto of = [&](std::size_t input) { return counted[static_cast<std::size_t>(op.inputs[input].tensor)]; };
    const Node& n = g.model->nodes[static_cast<std::size_t>(op.node)];
    if (op.outputs.empty()) continue;
    auto& out = counted[static_cast<std::size_t>(op.outputs[0].tensor)];
    if (const auto r = range(g, op)) out = r;
    if (!op.inputs.empty() && of(0) && keeps_values(op, n)) out = of(0);
    if (const auto c = rows_taken(g, op, n)) {
      const std::int64_t rows = g.size(op.inputs[0].tensor, static_cast<int>(*int_argument(n, "dim")));
      if (!fits(g, *c, rows)) return too_short(g, op, *c, rows);
    }
    if (n.target != "aten::embedding" || op.inputs.size() < 2) continue;
    const std::int64_t rows = g.size(op.inputs[0].tensor, 0);
    if (const auto c = of(1); c && !fits(g, *c, rows)) return too_short(g, op, *c, rows);
  }
  return std::nullopt;
}

}  // namespace planscope
