#pragma once
// Brings together what two people have made of one text at the same time, line by line.
//
//   merged("a\nb\n", "a\nb\nmine\n", "theirs\nb\n") == "theirs\nb\nmine\n"
//   merged("a\n", "mine\n", "theirs\n") == "theirs\nmine\n"   // both changed one line: both new forms stay
//
// A line of `base` stays where both have kept it. Every line that either of them has written stays, at its place; at the
// same place the lines of `theirs` stand first, and a line that both have written stands once. A text that differs too
// much to be compared by lines counts as written anew.
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace planscope::session {

std::string merged(const std::string& base, const std::string& mine, const std::string& theirs);

// A longest list of lines that both have in the same order, as their places in each. Empty between what both begin and
// end with, where comparing that part would take too long.
std::vector<std::pair<std::size_t, std::size_t>> common_lines(const std::vector<std::string>& a,
                                                              const std::vector<std::string>& b);

}  // namespace planscope::session
