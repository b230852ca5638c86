// The script as a grid: a row for every statement, with the rows that a template stands for below its own.
#include <map>
#include <set>

#include "app/session/lines.h"
#include "app/session/marked.h"
#include "app/session/panels/panels.h"
#include "app/session/row_parts.h"
#include "app/workbench/conflicts.h"
#include "engine/base/text.h"
#include "engine/plan/parser.h"
#include "engine/plan/printer.h"
#include "engine/plan/template.h"

namespace planscope::session {

namespace {

class Grid {
 public:
  Grid(Panel& p, const State& s)
      : panel_(p), document_(*s.document()), marked_(s), seen_(seen_word(document_.seen, document_.draft.text())) {
    const Document& d = document_;
    const bool known = d.current(d.latest);
    if (known) {
      effects_ = d.latest->effects.get();
      errors_and_conflicts(*d.latest);
    }
    if (!d.planner || d.planner->asked != d.draft.text()) return;
    for (const constraint::ConflictLines& set : d.planner->conflicts)
      for (const constraint::ConflictLine& l : set.lines) {
        conflicts_.insert(l.line.line);
        brings_[l.line.line] = relaxed_text(l, d.planner->conflicts);
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
      panel_.facts.push_back({"relax_" + n, "Relax line " + n, cell(brings), "relax " + n + seen_});
    }
  }

 private:
  void errors_and_conflicts(const Picture& p) {
    for (const Diagnostic& m : p.diagnostics) {
      if (m.severity != Severity::error) continue;
      if (m.lines.empty())
        errors_.insert(m.line);
      else
        for (const int line : m.lines) {
          conflicts_.insert(line);
          brings_.emplace(line, brings_text(p, line));
        }
    }
    judged_ = p.evaluation != nullptr;
    if (!p.evaluation) return;
    const plan::Decisions& d = p.evaluation->made.decisions;
    for (const BrokenRow& b : p.evaluation->broken) {
      const int line = d.plan.statements[static_cast<std::size_t>(b.statement)].line;
      conflicts_.insert(line);
      brings_.emplace(line, std::string("the plan may take ") + b.word + cell(b.peak, Unit::bytes).text +
                                " where the row allows " + cell(b.limit, Unit::bytes).text);
    }
  }

  // A statement that stands in a comment.
  void off(const plan::Statement& s) {
    const std::optional<std::string> text = switched_on(s.comment);
    if (!text) return;
    const plan::Statement inside = *plan::parse_statement(*text);
    RowParts c = parts_of(inside);
    if (std::holds_alternative<plan::UseStatement>(inside.body)) c.primitive = primitive_of_use(inside);
    add({.id = std::to_string(s.line),
         .parent = "",
         .statement = inside,
         .line = s.line,
         .enabled = false,
         .marked = marked_.statement(s.line),
         .state = "idle",
         .text = lines_[static_cast<std::size_t>(s.line) - 1],
         .tone = Tone::dim},
        c);
  }

  void row(const plan::Statement& s) {
    RowParts c = parts_of(s);
    const bool use = std::holds_alternative<plan::UseStatement>(s.body);
    if (use) c.primitive = primitive_of_use(s);
    const bool wrong = errors_.contains(s.line) || std::holds_alternative<plan::UnparsedStatement>(s.body);
    const StatementEffect effect = effects_ ? effects_->of_line(s.line) : StatementEffect{};
    const std::string state = wrong                                ? "error"
                              : conflicts_.contains(s.line)        ? "conflict"
                              : !effects_ || (c.primitive == "condition" && !judged_) ? ""
                              : acts(c.primitive) && !effect.any() ? "idle"
                                                                   : "holds";
    const Tone tone = state == "error" || state == "conflict" ? Tone::bad : state == "idle" ? Tone::dim : Tone::plain;
    add({.id = std::to_string(s.line),
         .parent = "",
         .statement = s,
         .line = s.line,
         .by = s.automatic ? "planner" : "user",
         .decides = count(effect),
         .marked = marked_.statement(s.line) || marked_.decided(effect.operators, effect.parameters),
         .state = state,
         .text = lines_[static_cast<std::size_t>(s.line) - 1],
         .tone = tone},
        c);
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
      const RowParts c = parts_of(s);
      const StatementEffect& e = effects_->statements[k];
      const bool wrong = errors_.contains(line);  // then it is not known of which of these
      const bool idle = !wrong && acts(c.primitive) && !e.any();
      const bool known = !wrong && !conflicts_.contains(line) && (c.primitive != "condition" || judged_);
      add({.id = std::to_string(line) + "." + std::to_string(++n),
           .parent = std::to_string(line),
           .statement = s,
           .line = line,
           .by = "template",
           .decides = count(e),
           .marked = marked_.decided(e.operators, e.parameters),
           .state = idle ? "idle" : known ? "holds" : "",
           .text = plan::print(s),
           .tone = idle ? Tone::dim : Tone::plain},
          c);
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
        if (const std::string primitive = parts_of(s).primitive; primitive != "declaration") return primitive;
    return "declaration";
  }

  struct About {
    std::string id, parent;
    const plan::Statement& statement;
    int line = 0;
    const char* by = "user";
    bool enabled = true;
    std::int64_t decides = 0;
    bool marked = false;
    std::string state, text;
    Tone tone = Tone::plain;
  };

  void add(const About& a, const RowParts& c) {
    TableRow row{.id = a.id, .parent = a.parent, .selected = a.marked, .tone = a.tone};
    const auto brings = brings_.find(a.line);
    const bool bad = a.state == "error" || a.state == "conflict";
    const bool decides = effects_ || !a.enabled;
    row.cells = {cell(a.line),
                 cell(a.state.empty() ? Json() : Json(a.state), Unit::none, bad ? Tone::bad : Tone::plain,
                      brings == brings_.end() ? "" : "without it: " + brings->second),
                 cell(c.operators),
                 cell(c.argument),
                 cell(c.primitive.empty() ? Json() : Json(c.primitive)),
                 cell(c.where),
                 cell(a.by),
                 cell(a.enabled && !a.statement.automatic),
                 cell(a.enabled),
                 cell(decides ? Json(a.decides) : Json(), Unit::count),
                 cell(a.text)};
    if (a.parent.empty()) make_editable(row, a, c);
    row.command = select_line(document_.seen, document_.draft.text(), a.line);
    panel_.rows.push_back(std::move(row));
  }

  // What a template stands for is changed in its `use`.
  void make_editable(TableRow& row, const About& a, const RowParts& c) const {
    const std::string n = std::to_string(a.line) + seen_;
    const bool declares = std::holds_alternative<plan::TemplateStatement>(a.statement.body);
    if (declares) return;
    row.cells[kEnabled].edit = "toggle " + n;
    if (!a.enabled) return;
    if (!c.word.empty() && !c.operators.empty()) row.cells[kOperators].edit = "change " + n + " part=operators";
    row.cells[kArgument].edit = "change " + n + " part=argument";
    if (!c.word.empty()) row.cells[kWhere].edit = "change " + n + " part=where";
    row.cells[kLocked].edit = "lock " + n + (a.statement.automatic ? "" : " off=off");
    row.cells[kText].edit = "replace " + n;
  }

  static constexpr std::size_t kOperators = 2, kArgument = 3, kWhere = 5, kLocked = 7, kEnabled = 8, kText = 10;

  Panel& panel_;
  const Document& document_;
  const Marked marked_;
  const std::string seen_;  // behind commands about lines
  std::vector<std::string> lines_;
  plan::Plan plan_;
  const PlanEffects* effects_ = nullptr;
  bool judged_ = false;  // whether conditions hold is known
  std::set<int> errors_, conflicts_;
  std::map<int, std::string> brings_;  // a line of a conflict: what taking it out comes to
};

}  // namespace

Panel constraints_panel(const State& s) {
  Panel p{.id = "constraints", .title = "Constraints", .kind = PanelKind::tree};
  p.empty = "Shows the plan as a grid, a row for every statement. Write one, or insert a template.";
  p.columns = {{"line", "Line"},
               {"state", "State"},
               {"operators", "Operators"},
               {"argument", "Argument"},
               {"primitive", "Primitive"},
               {"where", "Where"},
               {"by", "By"},
               {"locked", "Locked"},
               {"enabled", "On"},
               {"decides", "Decides", Unit::count},
               {"text", "Text"}};
  const Document* d = s.document();
  if (!d) return p;
  p.paste = "paste";
  p.commands = {"append", "template"};
  p.facts.push_back({.id = "seen", .title = "Seen", .cell = {.value = d->seen.newest()}, .quiet = true});
  Grid(p, s).run();
  p.current = d->current(d->latest);
  if (!p.current) p.reason = "the newest text is being evaluated";
  return p;
}

}  // namespace planscope::session
