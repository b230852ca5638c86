// einsum: its equation is its rule. A letter of the result is free, any other is summed over; the result is linear in
// each operand.
//
//   bshd,hde->bse     batch seq heads d, heads d out -> batch seq out     {free b, free s, sum h, sum d, free e}
#include <algorithm>
#include <map>

#include "engine/graph/draft.h"
#include "engine/graph/einsum.h"

namespace planscope {

bool apply_einsum(RuleContext& c) {
  if (c.node.target != "aten::einsum") return false;
  c.any("path");  // in which order it is computed
  const Argument* text = c.argument("equation");
  const auto* equation = text ? std::get_if<std::string>(text) : nullptr;
  std::vector<std::size_t> ranks;
  for (const DraftOperand& o : c.draft.inputs) ranks.push_back(c.sizes(o.tensor).size());
  const std::optional<Equation> e = equation ? parse_equation(*equation, ranks) : std::nullopt;
  if (!e || c.node.outputs.empty() || e->result.size() != c.output_sizes().size()) return false;
  std::map<char, int> factors;
  const auto factor = [&](char letter, FactorKind kind) {
    if (const auto known = factors.find(letter); known != factors.end()) return known->second;
    std::vector<std::pair<int, int>> operands;
    for (std::size_t i = 0; i < e->operands.size(); ++i)
      if (const std::size_t d = e->operands[i].find(letter); d != std::string::npos)
        operands.emplace_back(static_cast<int>(i), static_cast<int>(d));
    return factors[letter] = c.factor("", kind, c.broadcast_parts(operands));
  };
  for (const char letter : e->result) factor(letter, FactorKind::free);
  for (std::size_t i = 0; i < e->operands.size(); ++i)
    for (std::size_t d = 0; d < e->operands[i].size(); ++d) {
      const int own = static_cast<int>(d), f = factor(e->operands[i][d], FactorKind::sum);
      if (!c.tie_or_broadcast(static_cast<int>(i), own, f)) return false;
    }
  c.begin_outputs();
  for (const char letter : e->result) c.output_dim(0, factors[letter]);
  const int n = static_cast<int>(c.draft.inputs.size());
  for (int i = 0; i < n; ++i) {
    const TensorId own = c.draft.inputs[static_cast<std::size_t>(i)].tensor;
    const auto is_own = [&](const DraftOperand& o) { return o.tensor == own; };
    if (std::count_if(c.draft.inputs.begin(), c.draft.inputs.end(), is_own) == 1) c.draft.linear.push_back({i});
    if (n > 1) c.draft.saves.push_back(i);
  }
  c.draft.product = n > 1;
  c.draft.rule = "einsum";
  return true;
}

}  // namespace planscope
