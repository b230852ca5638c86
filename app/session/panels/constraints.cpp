// The script as a grid: a row for every statement, with the rows that a template stands for below its own.
#include <map>
#include <set>

#include "app/session/lines.h"
#include "app/session/panels/panels.h"
#include "app/workbench/conflicts.h"
#include "engine/base/text.h"
#include "engine/plan/parser.h"
#include "engine/plan/printer.h"
#include "engine/plan/template.h"

namespace planscope::session {

namespace {

struct Columns {
  std::string primitive, operators, argument;
};

std::string behind(const std::string& text, const std::string& prefix) {
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

// What stands in the columns of a statement's row.
struct Describe {
  std::string code;  // of the body alone

  Columns about(const char* primitive, const std::string& word, const plan::Units& units) const {
    const std::string operators = plan::print(units);
    return {primitive, operators, behind(code, word + " " + operators + " ")};
  }
  Columns rest(const char* primitive, const std::string& word) const { return {primitive, "", behind(code, word +
      " ")}; }

  Columns operator()(const plan::EmptyStatement&) const { return {}; }
  Columns operator()(const plan::UnparsedStatement& s) const { return {"", "", s.text}; }
  Columns operator()(const plan::DevicesStatement&) const { return {"declaration", "", code}; }
  Columns operator()(const plan::GridStatement&) const { return {"declaration", "", code}; }
  Columns operator()(const plan::ModelStatement&) const { return {"declaration", "", code}; }
  Columns operator()(const plan::AxisStatement&) const { return {"declaration", "", code}; }
  Columns operator()(const plan::LetStatement&) const { return {"declaration", "", code}; }
  Columns operator()(const plan::TemplateStatement&) const { return {"declaration", "", code}; }
  Columns operator()(const plan::TransStatement& s) const { return about("op-trans", "trans", s.units); }
  Columns operator()(const plan::AlgorithmStatement& s) const { return about("op-trans", "trans", s.units); }
  Columns operator()(const plan::AssignStatement& s) const { return about("op-assign", "assign", s.units); }
  Columns operator()(const plan::OrderStatement&) const { return rest("op-order", "order"); }
  Columns operator()(const plan::RequireStatement&) const { return {"condition", "", code}; }
  Columns operator()(const plan::ForbidStatement&) const { return {"condition", "", code}; }
  Columns operator()(const plan::RelaxStatement& s) const { return {"op-trans", plan::print(s.group), code}; }
  Columns operator()(const plan::UseStatement&) const { return rest("", "use"); }
};

Columns columns_of(plan::Statement s) {
  s.automatic = false;
  s.where.clear();
  s.comment.clear();
  return std::visit(Describe{plan::print_code(s)}, s.body);
}

std::string where_of(const plan::Statement& s) {
  std::vector<std::string> out;
  for (const plan::Condition& c : s.where) out.push_back(plan::print(c));
  return join(out, ", ");
}

class Grid {
 public:
  Grid(Panel& p, const Document& d) : panel_(p), document_(d) {
    const bool known = d.latest && d.latest->text == d.draft.text() && d.latest->cluster_name == d.cluster;
    if (known) {
      effects_ = d.latest->effects.get();
      errors_and_conflicts(*d.latest);
    }
    if (!d.planner || d.planner->asked != d.draft.text()) return;
    for (const constraint::ConflictLines& set : d.planner->conflicts)
      for (const constraint::ConflictLine& l : set.lines) {
        conflicts_.insert(l.line.line);
        brings_.emplace(l.line.line, relaxed_text(l, d.planner->conflicts));
      }
  }

  void run() {
    lines_ = lines_of(document_.draft.text());
    plan_ = *plan::parse_plan(document_.draft.text(), document_.name).value;
    for (const plan::Statement& s : plan_.statements) {
      if (const auto* empty = std::get_if<plan::EmptyStatement>(&s.body); empty && s.comment.empty()) continue;
      if (std::holds_alternative<plan::EmptyStatement>(s.body))
        off(s);
      else
        row(s);
    }
    for (const auto& [line, brings] : brings_) {
      const std::string n = std::to_string(line);
      panel_.facts.push_back({"relax_" + n, "Relax line " + n, cell(brings), "relax " + n});
    }
  }

 private:
  void errors_and_conflicts(const Picture& p) {
    for (const Diagnostic& m : p.diagnostics) {
      if (m.severity != Severity::error) continue;
      if (m.lines.empty())
        errors_.insert(m.line);
      else
        conflicts_.insert(m.lines.begin(), m.lines.end());
    }
    if (!p.evaluation) return;
    const plan::Decisions& d = p.evaluation->made.decisions;
    for (const BrokenRow& b : p.evaluation->broken)
      conflicts_.insert(d.plan.statements[static_cast<std::size_t>(b.statement)].line);
  }

  // A statement that stands in a comment.
  void off(const plan::Statement& s) {
    const std::optional<std::string> text = switched_on(s.comment);
    if (!text) return;
    const plan::Statement inside = *plan::parse_statement(*text);
    Columns c = columns_of(inside);
    if (std::holds_alternative<plan::UseStatement>(inside.body)) c.primitive = primitive_of_use(inside);
    add(std::to_string(s.line), "", inside, s.line, c, "user", false, 0, "idle",
        lines_[static_cast<std::size_t>(s.line) - 1], Tone::dim);
  }

  void row(const plan::Statement& s) {
    Columns c = columns_of(s);
    const bool use = std::holds_alternative<plan::UseStatement>(s.body);
    if (use) c.primitive = primitive_of_use(s);
    const bool wrong = errors_.contains(s.line) || std::holds_alternative<plan::UnparsedStatement>(s.body);
    const StatementEffect effect = effects_ ? effects_->of_line(s.line) : StatementEffect{};
    const std::string state = wrong                            ? "error"
                              : conflicts_.contains(s.line)    ? "conflict"
                              : !effects_                      ? ""
                              : acts(c.primitive) && !effect.any() ? "idle"
                                                               : "holds";
    const Tone tone = state == "error" || state == "conflict" ? Tone::bad : state == "idle" ? Tone::dim : Tone::plain;
    add(std::to_string(s.line), "", s, s.line, c, s.automatic ? "planner" : "user", true, count(effect), state,
        lines_[static_cast<std::size_t>(s.line) - 1], tone);
    if (use && effects_) expanded(s.line);
  }

  static std::int64_t count(const StatementEffect& e) {
    return static_cast<std::int64_t>(e.operators.empty() ? e.parameters.size() : e.operators.size());
  }

  static bool acts(const std::string& primitive) {
    return primitive == "op-trans" || primitive == "op-assign" || primitive == "op-order";
  }

  void expanded(int line) {
    int n = 0;
    for (std::size_t k = 0; k < effects_->plan.statements.size(); ++k) {
      const plan::Statement& s = effects_->plan.statements[k];
      if (s.line != line || s.from.empty()) continue;
      const Columns c = columns_of(s);
      const StatementEffect& e = effects_->statements[k];
      const bool idle = acts(c.primitive) && !e.any();
      add(std::to_string(line) + "." + std::to_string(++n), std::to_string(line), s, line, c, "template", true,
          count(e),
          idle ? "idle" : "holds", plan::print(s), idle ? Tone::dim : Tone::plain);
    }
  }

  // That of the first of its lines that acts.
  std::string primitive_of_use(const plan::Statement& use) const {
    plan::Plan alone;
    for (const plan::Statement& s : plan_.statements)
      if (std::holds_alternative<plan::TemplateStatement>(s.body)) alone.statements.push_back(s);
    alone.statements.push_back(use);
    if (const Result<plan::Plan> p = plan::expand_statements(alone); p.ok())
      for (const plan::Statement& s : p->statements)
        if (const std::string primitive = columns_of(s).primitive; primitive != "declaration") return primitive;
    return "declaration";
  }

  void add(std::string id, std::string parent, const plan::Statement& s, int line, const Columns& c, const char* by,
      bool enabled,
           std::int64_t decides, const std::string& state, const std::string& text, Tone tone) {
    TableRow row{.id = std::move(id), .parent = std::move(parent), .tone = tone};
    const auto brings = brings_.find(line);
    const bool bad = state == "error" || state == "conflict";
    row.cells = {cell(line), cell(c.primitive.empty() ? Json() : Json(c.primitive)), cell(c.operators),
        cell(c.argument), cell(where_of(s)),
                 cell(by), cell(enabled && !s.automatic), cell(enabled), cell(effects_ || !enabled ? Json(decides)
                     : Json(), Unit::count),
                 cell(state.empty() ? Json() : Json(state), Unit::none, bad ? Tone::bad : Tone::plain,
                      brings == brings_.end() ? "" : "without it: " + brings->second),
                 cell(text)};
    row.command = "select statement=" + std::to_string(line);
    panel_.rows.push_back(std::move(row));
  }

  Panel& panel_;
  const Document& document_;
  std::vector<std::string> lines_;
  plan::Plan plan_;
  const PlanEffects* effects_ = nullptr;
  std::set<int> errors_, conflicts_;
  std::map<int, std::string> brings_;  // a line of a conflict: what taking it out comes to
};

}  // namespace

Panel constraints_panel(const State& s) {
  Panel p{.id = "constraints", .title = "Constraints", .kind = PanelKind::tree};
  p.empty = "Shows the plan as a grid, a row for every statement. Write one, or insert a template.";
  p.columns = {{"line", "Line"}, {"primitive", "Primitive"}, {"operators", "Operators"}, {"argument", "Argument"},
      {"where", "Where"},
               {"by", "By"}, {"locked", "Locked"}, {"enabled", "On"}, {"decides", "Decides", Unit::count}, {"state",
                   "State"},
               {"text", "Text"}};
  const Document* d = s.document();
  if (!d) return p;
  Grid(p, *d).run();
  for (TableRow& row : p.rows) row.selected = s.selection.statement > 0 &&
      row.id == std::to_string(s.selection.statement);
  p.current = d->latest && d->latest->text == d->draft.text() && d->latest->cluster_name == d->cluster;
  if (!p.current) p.reason = "the newest text is being evaluated";
  return p;
}

}  // namespace planscope::session
