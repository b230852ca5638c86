#pragma once
// The lines of a plan's text, and what can be done to one. Bytes of the other lines stay as they are; a last line gets
// an end.
//
//   text_of(lines_of("a\nb")) == "a\nb\n"
//   switched_off("trans L recompute") == "# trans L recompute"
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace planscope::session {

std::vector<std::string> lines_of(const std::string& text);
std::string text_of(const std::vector<std::string>& lines);
// The lines, from 0 and without the last one, that are one statement with line `at`: those of a template from its head to its `end`.
std::pair<std::size_t, std::size_t> statement_around(const std::vector<std::string>& lines, std::size_t at);
std::int64_t line_count(const std::string& text);  // a last line counts without an end, too

std::string switched_off(const std::string& line);                 // as a comment
std::optional<std::string> switched_on(const std::string& line);  // nothing: it is no comment that holds a statement
bool is_statement(const std::string& line);
    // that parses, and is not of the kind that begins a template

bool is_automatic(const std::string& line);        // begins with `auto`
std::string locked(const std::string& line);       // without it
std::string automatic(const std::string& line);    // with it

}  // namespace planscope::session
