#include "engine/plan/parser.h"

#include <utility>

#include "engine/base/stop.h"
#include "engine/base/text.h"
#include "engine/plan/line_parser.h"

namespace planscope::plan {

namespace {
Diagnostic at(int line, std::string_view code, std::string what) {
  Diagnostic d = error(std::move(what));
  d.line = line;
  d.subject = shortened(code, 100);
  return d;
}

Statement parse_line(const Line& line, int number, std::vector<Diagnostic>& diagnostics) {
  Statement s;
  s.line = number;
  s.comment = line.comment;
  if (line.code.empty()) return s;
  LineParser p(line);
  s.automatic = p.accept_word("auto");
  s.body = p.statement();
  s.where = p.where();
  p.expect_end();
  const bool is_template = std::holds_alternative<TemplateStatement>(s.body);
  std::string message = p.error();
  if (message.empty() && is_template && s.automatic) message = "'auto' cannot stand before a template";
  if (message.empty() && is_template && !s.where.empty()) message = "a template takes no 'where'";
  if (message.empty()) return s;
  diagnostics.push_back(at(number, line.code, message));
  s.automatic = false;
  s.body = UnparsedStatement{std::string(line.code)};
  s.where.clear();
  return s;
}

bool is_end(const Line& line) { return line.code == "end"; }

bool is_blank(const Statement& s) { return std::holds_alternative<EmptyStatement>(s.body) && s.comment.empty(); }

// Blank lines one behind the other are one statement.
void append(std::vector<Statement>& list, Statement s) {
  if (!list.empty() && is_blank(list.back()) && is_blank(s))
    ++std::get<EmptyStatement>(list.back().body).lines;
  else
    list.push_back(std::move(s));
}
}  // namespace

Result<Plan> parse_plan(std::string_view text, std::string file) {
  Result<Plan> result;
  Plan plan;
  plan.file = std::move(file);
  std::vector<Diagnostic>& diagnostics = result.diagnostics;
  TemplateStatement* inside = nullptr;
  int number = 0, template_line = 0;
  std::string template_code;
  for (std::size_t begin = 0; begin < text.size();) {
    look_at_stop();
    const std::size_t newline = text.find('\n', begin);
    const Line line = lex(text.substr(begin, newline == text.npos ? text.npos : newline - begin));
    begin = newline == text.npos ? text.size() : newline + 1;
    ++number;
    if (is_end(line) && inside) {
      inside->end_comment = line.comment;
      inside = nullptr;
      continue;
    }
    if (is_end(line)) {
      diagnostics.push_back(at(number, line.code, "no template is open here"));
      Statement stray;
      stray.line = number;
      stray.body = UnparsedStatement{"end"};
      stray.comment = line.comment;
      plan.statements.push_back(std::move(stray));
      continue;
    }
    Statement s = parse_line(line, number, diagnostics);
    if (inside && std::holds_alternative<TemplateStatement>(s.body)) {
      diagnostics.push_back(at(number, line.code, "a template cannot stand inside a template; write 'end' first"));
      s.body = UnparsedStatement{std::string(line.code)};
    }
    if (inside) {
      append(inside->body, std::move(s));
      continue;
    }
    append(plan.statements, std::move(s));
    inside = std::get_if<TemplateStatement>(&plan.statements.back().body);
    if (inside) {
      template_line = number;
      template_code = line.code;
    }
  }
  if (inside) diagnostics.push_back(at(template_line, template_code, "the template has no 'end'"));
  for (Diagnostic& d : diagnostics) d.file = plan.file;
  bound_messages(diagnostics);
  result.value = std::move(plan);
  return result;
}

Result<Statement> parse_statement(std::string_view text) {
  Result<Statement> result;
  const Line line = lex(text.substr(0, text.find('\n')));
  Statement s = parse_line(line, 1, result.diagnostics);
  if (std::holds_alternative<TemplateStatement>(s.body))
    result.diagnostics.push_back(at(1, line.code, "a template takes several lines"));
  if (!has_errors(result.diagnostics)) result.value = std::move(s);
  return result;
}

Result<Expression> parse_expression(std::string_view text) {
  Result<Expression> result;
  const Line line = lex(text);
  LineParser p(line);
  Expression e = p.expression();
  p.expect_end();
  if (p.failed())
    result.diagnostics.push_back(at(0, line.code, p.error()));
  else
    result.value = std::move(e);
  return result;
}

}  // namespace planscope::plan
