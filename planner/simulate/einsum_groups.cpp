#include "planner/simulate/einsum_groups.h"

#include <algorithm>
#include <string>

#include "engine/graph/arguments.h"
#include "engine/graph/einsum.h"
#include "planner/cost/operator_memory.h"

namespace planscope {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

bool has(const std::string& letters, char c) { return letters.find(c) != std::string::npos; }

// Of dimensions that have more than one element on a device.
std::string letters_of(const Graph& graph, const PieceOp& o, const Operand& operand, const std::string& all) {
  std::string out;
  for (std::size_t d = 0; d < operand.map.size(); ++d) {
    std::int64_t size = 1;
    for (std::size_t p = 0; p < graph.tensors[at(operand.tensor)].dims[d].size(); ++p)
      size *= local_size(graph, o, operand, static_cast<int>(d), static_cast<int>(p));
    if (size != 1) out += all[d];
  }
  return out;
}

DimGroups dims_of(const std::vector<std::string>& groups, const std::string& letters) {
  DimGroups out;
  for (const std::string& g : groups) {
    out.emplace_back();
    for (const char c : g) out.back().push_back(static_cast<int>(letters.find(c)));
  }
  return out;
}

}  // namespace

std::optional<EinsumGroups> einsum_groups(const Graph& graph, const PieceOp& o) {
  const Op& op = graph.ops[at(o.op)];
  const Node& node = graph.node(o.op);
  if (node.target != "aten::einsum" || op.inputs.size() != 2 || op.outputs.size() != 1) return std::nullopt;
  const auto text = string_argument(node, "equation");
  const auto e =
      text ? parse_equation(*text, {op.inputs[0].map.size(), op.inputs[1].map.size()}) : std::nullopt;
  if (!e || e->result.size() != op.outputs[0].map.size()) return std::nullopt;
  const std::string left = letters_of(graph, o, op.inputs[0], e->operands[0]),
                    right = letters_of(graph, o, op.inputs[1], e->operands[1]);
  std::string lists, rows, columns, sum;
  for (const char c : e->result) (has(left, c) && has(right, c) ? lists : has(left, c) ? rows : columns) += c;
  std::erase_if(columns, [&](char c) { return !has(right, c); });
  for (const char c : left)
    if (has(right, c) && !has(e->result, c)) sum += c;
  if (sum.empty()) return std::nullopt;
  std::sort(sum.begin(), sum.end());
  return EinsumGroups{
      {dims_of({lists, rows, sum}, e->operands[0]), dims_of({lists, sum, columns}, e->operands[1])},
      dims_of({lists, rows, columns}, e->result)};
}

}  // namespace planscope
