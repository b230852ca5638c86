#pragma once
// The equation of an einsum: which letter each dimension of each operand has.
//
//   bshd,hde->bse     …ij,jk     b...i,i->b...     (dots get letters of their own, `0` for the last of these dimensions)
#include <optional>
#include <string>
#include <vector>

namespace planscope {

struct Equation {
  std::vector<std::string> operands;
  std::string result;
};

// `ranks`: of the operands. Errors: it is no equation for these operands, or has a letter twice in one (a diagonal), unless
// `diagonals` are asked for.
std::optional<Equation> parse_equation(std::string text, const std::vector<std::size_t>& ranks, bool diagonals = false);

}  // namespace planscope
