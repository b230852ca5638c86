// What is done to a selection by hand: each gesture makes one line of the plan, or is refused with what is in the way.
#include <algorithm>

#include "app/session/by_hand.h"
#include "app/session/core.h"
#include "app/workbench/explain_text.h"
#include "app/workbench/operator_facts.h"
#include "engine/base/module_path.h"
#include "engine/base/stop.h"
#include "engine/base/text.h"
#include "engine/plan/parser.h"
#include "planner/search/orders/program_case.h"

namespace planscope::session {

namespace {

constexpr double kTryLimit = 60;  // seconds, of completing what a statement leaves open

// What is known of the statement already, as it was tried for the selection.
std::optional<Diagnostic> known_to_fail(const State& s, const std::string& statement) {
  const Document& d = *s.document();
  if (!s.inspection || s.inspection->text != d.draft.text() || s.inspection->document != d.id) return std::nullopt;
  for (const Tried& t : s.inspection->alternatives)
    if (t.statement == statement && !has_figures(t)) {
      Diagnostic out = error(t.row ? "line " + std::to_string(t.row->line) + " forbids it" : "it cannot be", t.reason);
      out.subject = statement;
      if (t.row) out.lines = {t.row->line};
      return out;
    }
  return std::nullopt;
}

// The first error of a text that only the Program can tell: that no order is possible, that a place does not fit.
std::optional<Diagnostic> error_of(Core& c, const std::string& text) {
  const Document& d = *c.document();
  const Result<plan::Plan> p = plan::parse_plan(text, d.name);
  if (!p.ok()) return p.diagnostics.front();
  const auto first_error = [](const std::vector<Diagnostic>& all) {
    const auto wrong = std::find_if(all.begin(), all.end(), [](const Diagnostic& m) { return m.severity == Severity::error; });
    return wrong == all.end() ? std::nullopt : std::optional(*wrong);
  };
  Result<Decided> decided = decide(d.model->graph, *p.value, {}, &c.cache);
  if (!decided.ok()) return first_error(decided.diagnostics);
  if (!decided->decisions.complete) return std::nullopt;  // what is open may be filled so that it fits
  const Result<Cluster> cluster = open_cluster(d.cluster, *p, c.readable());
  if (!cluster.ok()) return std::nullopt;  // that is no fault of the text
  return first_error(materialize(std::move(*decided.value), *cluster).diagnostics);
}

// What is in the way of a statement. A plan that fails already may become another one that does.
std::optional<Diagnostic> fails(Core& c, const WithStatement& with, const std::string& statement) {
  const Document& d = *c.document();
  if (d.current(d.valid) ? !d.valid->evaluation : error_of(c, d.draft.text()).has_value()) return std::nullopt;
  const std::optional<Diagnostic> wrong = error_of(c, with.text);
  if (!wrong) return std::nullopt;
  Diagnostic out = error(said_of(*wrong, with.line));
  out.subject = statement;
  std::copy_if(wrong->lines.begin(), wrong->lines.end(), std::back_inserter(out.lines),
               [&](int line) { return line != with.line; });
  return out;
}

Result<Done> put(Core& c, const std::string& statement) { return put_by_hand(c, statement); }

Result<Done> put_statement(Core& c, const Invocation& i) { return put(c, i.get("statement")); }

// As a job, since a statement that leaves something open is completed first.
Result<Done> try_statement_of(Core& c, const Invocation& i) {
  Document& d = *c.document();
  const Result<plan::Statement> s = plan::parse_statement(i.get("statement"));
  if (!s.ok()) return s.diagnostics;
  if (!d.current())
    return error("there is nothing to compare with",
                 d.evaluating() ? "the plan is being evaluated" : "the plan has no prediction");
  TriedStatement about{.statement = i.get("statement"), .text = d.draft.text(), .cluster = d.cluster, .measurements = d.measurements};
  d.tried = std::make_shared<const TriedStatement>(about);
  c.jobs->start("try " + about.statement,
                [&c, id = d.id, model = d.model, picture = d.shown, s = *s, about](const Jobs::Report& report) mutable {
                  const auto say = [&] {
                    about.running = false;
                    c.update(id, [&](Document& o) {
                      if (o.tried && o.tried->statement == about.statement && o.tried->text == about.text)
                        o.tried = std::make_shared<const TriedStatement>(about);
                    });
                  };
                  report.within(kTryLimit);
                  try {
                    const StopScope scope([&] { return report.stop().load(); });
                    MaterializeCache cache;
                    const BasePlan base{model->graph, picture->plan, *picture->cluster, cache, *picture->evaluation,
                                        kTryLimit,    report.stop()};
                    about.tried = try_statement(base, s);
                    about.tried->judged.reset();
                  } catch (const Stopped&) {
                    say();
                    return Jobs::End{JobState::cancelled, ""};
                  }
                  say();
                  const Tried& t = *about.tried;
                  return Jobs::End{JobState::done, std::string(to_string(t.verdict)) +
                                                       (has_figures(t) ? ", step " + signed_time(t.delta_us) : "")};
                });
  return Done{};
}

Result<Done> about_selection(Core& c, const std::string& before, const std::string& behind) {
  const Selected& s = *c.state.selected;
  if (s.words.empty())
    return error(c.state.selection.place.empty() ? "the selection holds no operators" : "a place is selected",
                 s.problem, "select operators");
  return put(c, before + " " + s.words + " " + behind);
}

Result<Done> split(Core& c, const Invocation& i) {
  return about_selection(c, "trans", i.get("factor") + " by " + i.get("by"));
}

// The axes that split something of the selection in the text as it stands, which may not have been evaluated yet.
Result<std::vector<std::string>> splitting(Core& c, const Document& d, const Selected& s) {
  if (!d.valid)
    return error("the axes that split them are not known", "no plan has been evaluated", "whole by AXIS");
  const Result<plan::Plan> p = plan::parse_plan(d.draft.text(), d.name);
  if (!p.ok()) return p.diagnostics;
  Result<Decided> decided = decide(d.model->graph, *p.value, {}, &c.cache);
  if (!decided.ok()) return decided.diagnostics;
  if (!decided->decisions.complete)
    return error("the axes that split them are not known", "the plan leaves arguments open", "whole by AXIS");
  const auto sized = decided->sized;
  const Result<Materialized> made = materialize(std::move(*decided.value), *d.valid->cluster);
  if (!made.ok()) return made.diagnostics;
  std::vector<std::string> out;
  const OperatorFacts facts(*made, sized->info);
  const std::vector<plan::AxisInfo>& axes = made->decisions.axes;
  for (int a = 0; a < static_cast<int>(axes.size()); ++a)
    if (std::any_of(s.operators.begin(), s.operators.end(),
                    [&](OpId op) { return facts.does(plan::Phase::forward, op, a) != "none"; }))
      out.push_back(axes[static_cast<std::size_t>(a)].name);
  return out;
}

Result<Done> whole(Core& c, const Invocation& i) {
  std::string axes = i.get("by");
  if (axes.empty()) {
    const Result<std::vector<std::string>> now = splitting(c, *c.document(), *c.state.selected);
    if (!now.ok()) return now.diagnostics;
    axes = join(*now, ", ");
  }
  if (axes.empty()) return error("the selected operators are whole already", "no axis splits them");
  return about_selection(c, "trans", "none by " + axes);
}

Result<Done> algorithm(Core& c, const Invocation& i) {
  const std::string off = i.get("off");
  if (!off.empty() && off != "off")
    return error("'" + i.id + "' does not take '" + printable(off) + "'", "it takes off, or nothing");
  return about_selection(c, "trans", off.empty() ? i.id : "keep");
}

Result<Done> assign(Core& c, const Invocation& i) {
  const std::string to = "to " + i.get("to");
  if (i.get("index").empty()) return about_selection(c, "assign", to);
  const std::string words = c.state.selected->words;
  if (words.empty()) return about_selection(c, "assign", to);  // says why there are none
  return put(c, "assign " + words + "[" + i.get("index") + "] " + to);
}

// A module of which all operators run in a segment: one in a list, as `transformer.h[0]`, if there is one; empty: there is none.
std::string module_in(const Program& p, const Segment& s, const Graph& g) {
  std::vector<OpId> here;
  for (const Instruction& i : s.instructions)
    if (i.piece >= 0)
      for (const PieceOp& o : p.pieces[static_cast<std::size_t>(i.piece)].ops) here.push_back(o.op);
  const auto runs_here = [&](const std::string& path) {
    for (OpId o = 0; o < static_cast<OpId>(g.ops.size()); ++o)
      if ((g.node(o).module + ".").starts_with(path + ".") && std::find(here.begin(), here.end(), o) == here.end()) return false;
    return !path.empty();
  };
  const auto is_number = [](const std::string& word) { return word.find_first_not_of("0123456789") == std::string::npos; };
  for (const OpId o : here) {
    std::string list;
    for (const std::string& word : planscope::split(g.node(o).module, '.')) {
      if (is_number(word) && runs_here(list + "." + word)) return written_path(list) + "[" + word + "]";
      list += (list.empty() ? "" : ".") + word;
    }
  }
  for (const OpId o : here)
    if (runs_here(g.node(o).module)) return written_path(g.node(o).module);
  return "";
}

// A task that is named by its place, as `b(pipe=0)[mb=0]`, which order rows do not take: by the operators that run there.
std::string by_operators(const Document& d, const std::string& task) {
  const std::string family = task.substr(0, task.find(')') + 1);
  if (!d.current() || family.find('=') == std::string::npos) return task;
  const Evaluation& e = *d.shown->evaluation;
  const Result<orders::ProgramCase> known = orders::program_case(e.made, e.simulation, *d.shown->cluster);
  if (!known.ok()) return task;
  for (std::size_t k = 0; k < known->segments.size(); ++k)
    if (!known->tasks[k].empty() && e.made.program.segments[static_cast<std::size_t>(known->segments[k])].name == family)
      return known->tasks[k] + task.substr(family.size());
  for (const Segment& s : e.made.program.segments)
    if (const std::string module = s.name == family ? module_in(e.made.program, s, *e.made.graph) : ""; !module.empty())
      return family.substr(0, family.find('(') + 1) + module + ")" + task.substr(family.size());
  return task;
}

Result<Done> order(Core& c, const Invocation& i) {
  const Document& d = *c.document();
  if (i.get("task") == "?") return put(c, "order ?");
  const std::string task = by_operators(d, i.has("task") ? i.get("task") : c.state.selected ? c.state.selected->task : "");
  if (task.empty())
    return error("'order' needs a task", c.state.selection.none() ? "nothing is selected" : "the selection is none",
                 "select operators=\"b(S[1])[2]\", or name it: order \"b(S[1])[2]\" before=\"f(S[1])[3]\"");
  if (i.has("before") == i.has("after")) return error("'order' needs another task", "", "before=… or after=…");
  const std::string other = by_operators(d, i.get(i.has("before") ? "before" : "after"));
  for (const std::string& name : {task, other})
    if (name.substr(0, name.find(')')).find('=') != std::string::npos)  // `b(pipe=0)[mb=0]`, not `b(S[0])[mb=0]`
      return error("'" + name + "' is named by its place, which order rows do not take", "nothing in the plan is known to run there",
                   "name what runs there, by a module or by a name that 'let' has given");
  return put(c, i.has("before") ? "order " + task + " < " + other : "order " + other + " < " + task);
}

Result<Done> insert_template(Core& c, const Invocation& i) { return put(c, "use " + i.get("use")); }

}  // namespace

Result<Done> put_by_hand(Core& c, const std::string& statement) {
  Document& d = *c.document();
  if (const auto wrong = known_to_fail(c.state, statement)) return *wrong;
  Result<WithStatement> with = with_statement(d.model->graph, d.draft.text(), statement, d.name, c.cache);
  if (!with.ok()) return with.diagnostics;
  if (with->text == d.draft.text()) return error("nothing changes", "the plan says '" + statement + "' already");
  if (auto wrong = fails(c, *with, statement)) return *wrong;
  return write_draft(d, std::move(with->text));
}

void add_hand_handlers(Handlers& all) {
  all["put"] = put_statement;
  all["try"] = try_statement_of;
  all["split"] = split;
  all["whole"] = whole;
  all["recompute"] = algorithm;
  all["offload"] = algorithm;
  all["grad_split"] = algorithm;
  all["keep_gathered"] = algorithm;
  all["assign"] = assign;
  all["order"] = order;
  all["template"] = insert_template;
}

}  // namespace planscope::session
