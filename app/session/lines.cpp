#include "app/session/lines.h"

#include <algorithm>

#include "engine/base/text.h"
#include "engine/plan/lexer.h"
#include "engine/plan/parser.h"

namespace planscope::session {

namespace {

std::size_t indent(const std::string& line) {
  const std::size_t at = line.find_first_not_of(" \t");
  return at == std::string::npos ? line.size() : at;
}

}  // namespace

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines = split(text, '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

std::string text_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& l : lines) text += l + "\n";
  return text;
}

std::pair<std::size_t, std::size_t> statement_around(const std::vector<std::string>& lines, std::size_t at) {
  for (std::size_t head = 0; head < lines.size() && head <= at; ++head) {
    if (plan::lex(lines[head]).tokens.front().text != "template") continue;
    std::size_t end = head + 1;
    while (end < lines.size() && plan::lex(lines[end]).code != "end") ++end;
    end = std::min(end + 1, lines.size());
    if (at < end) return {head, end};
    head = end - 1;
  }
  return {at, at + 1};
}

std::int64_t line_count(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n') + (text.empty() || text.back() == '\n' ? 0 : 1);
}

std::string switched_off(const std::string& line) { return "# " + line; }

std::optional<std::string> switched_on(const std::string& line) {
  if (indent(line) == line.size() || line[indent(line)] != '#') return std::nullopt;
  std::string out = line;
  const std::size_t at = indent(line);
  out.erase(at, at + 1 < line.size() && line[at + 1] == ' ' ? 2 : 1);
  return is_statement(out) ? std::optional(out) : std::nullopt;
}

bool is_statement(const std::string& line) {
  const Result<plan::Statement> s = plan::parse_statement(line);
  return s.ok() && !std::holds_alternative<plan::EmptyStatement>(s->body);
}

bool is_automatic(const std::string& line) {
  const std::size_t at = indent(line);
  return line.compare(at, 4, "auto") == 0 && at + 4 < line.size() && (line[at + 4] == ' ' || line[at + 4] == '\t');
}

std::string locked(const std::string& line) {
  const std::size_t at = indent(line), behind = line.find_first_not_of(" \t", at + 4);
  return line.substr(0, at) + line.substr(std::min(behind, line.size()));
}

std::string automatic(const std::string& line) { return line.substr(0, indent(line)) + "auto " +
    line.substr(indent(line)); }

}  // namespace planscope::session
