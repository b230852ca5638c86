#include "engine/graph/einsum.h"

#include <algorithm>
#include <map>

namespace planscope {

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Letters of what `count` dimensions under dots are, the last one `0`: dots are broadcast, aligned to the right.
std::string dots(std::size_t count) {
  std::string out;
  for (std::size_t k = count; k-- > 0;) out += static_cast<char>('0' + k);
  return out;
}

// With letters in place of its dots. Nothing: it does not have the rank.
std::optional<std::string> spelled(std::string text, std::size_t rank) {
  const std::size_t at = text.find("...");
  if (at == std::string::npos) return text.size() == rank ? std::optional(text) : std::nullopt;
  const std::size_t letters = text.size() - 3;
  if (letters > rank || rank - letters > 10) return std::nullopt;
  return text.replace(at, 3, dots(rank - letters));
}

}  // namespace

std::optional<Equation> parse_equation(std::string text, const std::vector<std::size_t>& ranks, bool diagonals) {
  std::erase(text, ' ');
  Equation e;
  const std::size_t arrow = text.find("->");
  const std::string left = text.substr(0, arrow);
  std::size_t most = 0;  // dimensions under dots
  for (std::size_t begin = 0; begin <= left.size();) {
    const std::size_t comma = std::min(left.find(',', begin), left.size());
    const std::string given = left.substr(begin, comma - begin);
    if (e.operands.size() == ranks.size()) return std::nullopt;
    const auto operand = spelled(given, ranks[e.operands.size()]);
    if (!operand) return std::nullopt;
    if (given.find("...") != std::string::npos) most = std::max(most, operand->size() + 3 - given.size());
    e.operands.push_back(*operand);
    begin = comma + 1;
  }
  if (e.operands.size() != ranks.size()) return std::nullopt;
  std::map<char, int> seen;
  for (const std::string& o : e.operands)
    for (const char letter : o) {
      const bool digit = letter >= '0' && letter <= '9';
      if (!is_letter(letter) && !digit) return std::nullopt;
      if (!diagonals && std::count(o.begin(), o.end(), letter) > 1) return std::nullopt;
      ++seen[letter];
    }
  if (arrow != std::string::npos) {
    e.result = text.substr(arrow + 2);
    if (const std::size_t at = e.result.find("..."); at != std::string::npos) e.result.replace(at, 3, dots(most));
  } else {  // what is under dots, then the letters that are there once, in the order of the alphabet
    e.result = dots(most);
    for (const auto& [letter, times] : seen)
      if (times == 1 && is_letter(letter)) e.result += letter;
  }
  for (const char letter : e.result)
    if (!seen.contains(letter) || std::count(e.result.begin(), e.result.end(), letter) > 1) return std::nullopt;
  return e;
}

}  // namespace planscope
