// einsum: its equation is its rule. A letter of the result is free, any other is summed over; the result is linear in
// each operand.
//
//   bshd,hde->bse     batch seq heads d, heads d out -> batch seq out     {free b, free s, sum h, sum d, free e}
#include <algorithm>
#include <map>

#include "engine/graph/draft.h"

namespace planscope {

namespace {

struct Equation {
  std::vector<std::string> operands;
  std::string result;
};

// Nothing: a letter twice in one operand (a diagonal), or dots.
std::optional<Equation> parse(std::string text) {
  std::erase(text, ' ');
  Equation e;
  const std::size_t arrow = text.find("->");
  std::string left = text.substr(0, arrow);
  for (std::size_t begin = 0; begin <= left.size();) {
    const std::size_t comma = std::min(left.find(',', begin), left.size());
    e.operands.push_back(left.substr(begin, comma - begin));
    begin = comma + 1;
  }
  std::map<char, int> seen;
  for (const std::string& o : e.operands)
    for (const char letter : o) {
      if (!std::isalpha(static_cast<unsigned char>(letter)) || std::count(o.begin(), o.end(), letter) > 1)
        return std::nullopt;
      ++seen[letter];
    }
  if (arrow != std::string::npos)
    e.result = text.substr(arrow + 2);
  else  // those that are there once, in the order of the alphabet
    for (const auto& [letter, times] : seen)
      if (times == 1) e.result += letter;
  for (const char letter : e.result)
    if (!seen.contains(letter) || std::count(e.result.begin(), e.result.end(), letter) > 1) return std::nullopt;
  return e;
}

}  // namespace

bool apply_einsum(RuleContext& c) {
  if (c.node.target != "aten::einsum") return false;
  const Argument* text = c.argument("equation");
  const auto* equation = text ? std::get_if<std::string>(text) : nullptr;
  const std::optional<Equation> e = equation ? parse(*equation) : std::nullopt;
  if (!e || e->operands.size() != c.draft.inputs.size() || e->result.size() != c.output_sizes().size()) return false;
  std::map<char, int> factors;
  const auto factor = [&](char letter, FactorKind kind) {
    for (std::size_t i = 0; i < e->operands.size() && !factors.contains(letter); ++i) {
      const std::size_t d = e->operands[i].find(letter);
      if (d != std::string::npos)
        factors[letter] = c.factor("", kind, c.parts_of(static_cast<int>(i), static_cast<int>(d)));
    }
    return factors[letter];
  };
  for (std::size_t i = 0; i < e->operands.size(); ++i)
    if (e->operands[i].size() != c.sizes(c.draft.inputs[i].tensor).size()) return false;
  for (const char letter : e->result) factor(letter, FactorKind::free);
  for (std::size_t i = 0; i < e->operands.size(); ++i)
    for (std::size_t d = 0; d < e->operands[i].size(); ++d)
      if (!c.tie(static_cast<int>(i), static_cast<int>(d), factor(e->operands[i][d], FactorKind::sum))) return false;
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
