#include "app/session/row_parts.h"

#include "app/session/lines.h"
#include "engine/base/text.h"
#include "engine/plan/parser.h"
#include "engine/plan/printer.h"

namespace planscope::session {

namespace {

std::string behind(const std::string& text, const std::string& prefix) {
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

struct Describe {
  std::string code;  // of the body alone

  RowParts about(const char* primitive, const std::string& word, const plan::Units& units) const {
    const std::string operators = plan::print(units);
    return {primitive, word, operators, behind(code, word + " " + operators + " "), ""};
  }
  RowParts rest(const char* primitive, const std::string& word) const {
    return {primitive, word, "", behind(code, word + " "), ""};
  }
  RowParts whole(const char* primitive) const { return {primitive, "", "", code, ""}; }

  RowParts operator()(const plan::EmptyStatement&) const { return {}; }
  RowParts operator()(const plan::UnparsedStatement& s) const { return {"", "", "", s.text, ""}; }
  RowParts operator()(const plan::DevicesStatement&) const { return whole("declaration"); }
  RowParts operator()(const plan::GridStatement&) const { return whole("declaration"); }
  RowParts operator()(const plan::ModelStatement&) const { return whole("declaration"); }
  RowParts operator()(const plan::AxisStatement&) const { return whole("declaration"); }
  RowParts operator()(const plan::LetStatement&) const { return whole("declaration"); }
  RowParts operator()(const plan::TemplateStatement&) const { return whole("declaration"); }
  RowParts operator()(const plan::TransStatement& s) const { return about("op-trans", "trans", s.units); }
  RowParts operator()(const plan::AlgorithmStatement& s) const { return about("op-trans", "trans", s.units); }
  RowParts operator()(const plan::AssignStatement& s) const { return about("op-assign", "assign", s.units); }
  RowParts operator()(const plan::OrderStatement&) const { return rest("op-order", "order"); }
  RowParts operator()(const plan::RequireStatement&) const { return whole("condition"); }
  RowParts operator()(const plan::ForbidStatement&) const { return whole("condition"); }
  RowParts operator()(const plan::RelaxStatement& s) const {
    RowParts out = whole("op-trans");
    out.operators = plan::print(s.group);
    return out;
  }
  RowParts operator()(const plan::UseStatement&) const { return rest("", "use"); }
};

std::string indent_of(const std::string& line) { return line.substr(0, line.find_first_not_of(" \t")); }

std::string code_of(const RowParts& p) {
  std::string out = p.word;
  const auto add = [&](const std::string& more) { out += (out.empty() || more.empty() ? "" : " ") + more; };
  if (!p.word.empty()) add(p.operators);
  add(p.argument);
  if (!p.where.empty()) add("where " + p.where);
  return out;
}

}  // namespace

RowParts parts_of(const plan::Statement& whole) {
  plan::Statement s = whole;
  s.automatic = false;
  s.where.clear();
  s.comment.clear();
  RowParts out = std::visit(Describe{plan::print_code(s)}, s.body);
  std::vector<std::string> where;
  for (const plan::Condition& c : whole.where) where.push_back(plan::print(c));
  out.where = join(where, ", ");
  return out;
}

std::optional<RowPart> row_part(std::string_view name) {
  if (name == "operators") return RowPart::operators;
  if (name == "argument") return RowPart::argument;
  if (name == "where") return RowPart::where;
  return std::nullopt;
}

std::string before_part(const RowParts& p, RowPart part) {
  RowParts front = p;
  front.where.clear();
  if (part != RowPart::where) front.argument.clear();
  if (part == RowPart::operators) front.operators.clear();
  const std::string code = code_of(front);
  return code + (code.empty() ? "" : " ") + (part == RowPart::where ? "where " : "");
}

Result<std::string> with_part(const std::string& line, RowPart part, const std::string& value) {
  const Result<plan::Statement> s = plan::parse_statement(line);
  if (!s.ok()) return s.diagnostics;
  RowParts p = parts_of(*s);
  if (p.argument.empty()) return error("the line is no statement");
  if (part == RowPart::operators && (p.word.empty() || p.operators.empty()))
    return error("the statement names no operators of its own", "", "change its argument");
  (part == RowPart::operators ? p.operators : part == RowPart::argument ? p.argument : p.where) = value;
  const std::string code = code_of(p);
  Result<plan::Statement> now = plan::parse_statement(code);
  if (!now.ok()) {
    for (Diagnostic& d : now.diagnostics)
      if (d.subject.empty()) d.subject = code;
    return now.diagnostics;
  }
  if (now->body.index() != s->body.index() && p.word != "trans")
    return error("the line would become another statement", code, "write the whole line: replace");
  now->comment = s->comment;
  now->automatic = s->automatic;
  return indent_of(line) + plan::print(*now);
}

}  // namespace planscope::session
