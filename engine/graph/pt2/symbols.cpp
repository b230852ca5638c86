#include "engine/graph/pt2/symbols.h"

#include <algorithm>
#include <charconv>
#include <vector>

namespace planscope {
namespace {

struct Range {
  std::int64_t low = 0, high = 0;
};

using Maybe = std::optional<Range>;

Maybe sum(const std::vector<Range>& terms) {
  Range out;
  for (const Range& t : terms)
    if (__builtin_add_overflow(out.low, t.low, &out.low) || __builtin_add_overflow(out.high, t.high, &out.high))
      return std::nullopt;
  return out;
}

Maybe product(const std::vector<Range>& factors) {
  Range out{1, 1};
  for (const Range& f : factors) {
    std::int64_t corners[4];
    const bool overflow =
        __builtin_mul_overflow(out.low, f.low, &corners[0]) || __builtin_mul_overflow(out.low, f.high, &corners[1]) ||
        __builtin_mul_overflow(out.high, f.low, &corners[2]) || __builtin_mul_overflow(out.high, f.high, &corners[3]);
    if (overflow) return std::nullopt;
    out = {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
  }
  return out;
}

std::int64_t floor_of(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && a < 0); }

// Of positive divisors.
Maybe quotient(Range a, Range b, bool up) {
  if (b.low < 1) b.low = 1;
  if (b.high < b.low) return std::nullopt;
  const std::int64_t more = up ? 1 : 0;
  const std::int64_t low = std::min(floor_of(a.low, b.low), floor_of(a.low, b.high));
  return Range{low, std::max(floor_of(a.high, b.low), floor_of(a.high, b.high)) + more};
}

// `Name(a, b, …)`: names as sympy prints them.
class Reader {
 public:
  Reader(std::string_view text, const SymbolBounds& bounds) : text_(text), bounds_(bounds) {}

  Maybe read(int depth = 0) {
    if (depth > 32) return std::nullopt;
    const std::string_view name = word();
    if (name.empty() || !take('(')) return std::nullopt;
    if (name == "Symbol") return symbol();
    if (name == "Integer") return integer();
    std::vector<Range> operands;
    do {
      const Maybe operand = read(depth + 1);
      if (!operand) return std::nullopt;
      operands.push_back(*operand);
    } while (take(','));
    if (!take(')')) return std::nullopt;
    return apply(name, operands);
  }

  bool at_end() const { return at_ >= text_.size(); }

 private:
  std::string_view word() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  bool take(char c) {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  Maybe symbol() {
    const std::size_t open = text_.find('\'', at_), close = text_.find('\'', open + 1), end = text_.find(')', close + 1);
    if (open == text_.npos || close == text_.npos || end == text_.npos) return std::nullopt;
    const auto bound = bounds_.find(text_.substr(open + 1, close - open - 1));
    at_ = end + 1;
    if (bound == bounds_.end()) return std::nullopt;
    return Range{0, bound->second};
  }

  Maybe integer() {
    const std::size_t close = std::min(text_.find(')', at_), text_.size());
    std::int64_t value = 0;
    const auto [end, code] = std::from_chars(text_.data() + at_, text_.data() + close, value);
    if (code != std::errc() || end != text_.data() + close) return std::nullopt;
    at_ = close;
    return take(')') ? Maybe(Range{value, value}) : std::nullopt;
  }

  static Maybe apply(std::string_view name, const std::vector<Range>& of) {
    if (name == "Add") return sum(of);
    if (name == "Mul") return product(of);
    if (name == "Max" || name == "Min") {
      Range out = of.front();
      for (const Range& r : of)
        out = name == "Max" ? Range{std::max(out.low, r.low), std::max(out.high, r.high)}
                            : Range{std::min(out.low, r.low), std::min(out.high, r.high)};
      return out;
    }
    if (of.size() != 2) return std::nullopt;
    if (name == "FloorDiv" || name == "CleanDiv" || name == "IntTrueDiv") return quotient(of[0], of[1], false);
    if (name == "CeilDiv") return quotient(of[0], of[1], true);
    if (name == "Mod" || name == "PythonMod") return Range{0, std::max<std::int64_t>(of[1].high - 1, 0)};
    if (name == "Pow" && of[1].low == of[1].high && of[1].low >= 0 && of[1].low < 64)
      return product(std::vector<Range>(static_cast<std::size_t>(of[1].low), of[0]));
    return std::nullopt;
  }

  std::string_view text_;
  const SymbolBounds& bounds_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<std::int64_t> upper_bound(std::string_view expression, const SymbolBounds& bounds) {
  Reader reader(expression, bounds);
  const Maybe range = reader.read();
  if (!range || !reader.at_end() || range->high < 0) return std::nullopt;
  return range->high;
}

std::string_view sole_symbol(std::string_view expression) {
  constexpr std::string_view head = "Symbol('";
  if (!expression.starts_with(head)) return {};
  const std::size_t quote = expression.find('\'', head.size());
  if (quote == expression.npos || expression.find(')', quote) != expression.size() - 1) return {};
  return expression.substr(head.size(), quote - head.size());
}

}  // namespace planscope
