#pragma once
// Sizes that depend on data. The file writes them as expressions of symbols that have no value in the example that was
// exported (`Add(Mul(Integer(2), Symbol('u0', integer=True)), Integer(8))`); what can be told of them is an upper bound.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace planscope {

// The largest value of each symbol that has one.
using SymbolBounds = std::map<std::string, std::int64_t, std::less<>>;

// The largest value of an expression, of symbols that are not negative. Nothing: a symbol has no bound, or the
// expression is of a form that is not known.
std::optional<std::int64_t> upper_bound(std::string_view expression, const SymbolBounds&);

// The symbol of which the expression consists; empty: it is another expression.
std::string_view sole_symbol(std::string_view expression);

}  // namespace planscope
