#include "planner/complete/complete.h"

#include <algorithm>
#include <set>

#include "planner/evaluate/evaluate.h"
#include "engine/base/stop.h"
#include "engine/base/text.h"
#include "engine/plan/bind.h"
#include "engine/plan/parser.h"
#include "engine/program/materialize.h"
#include "planner/complete/from_nothing.h"
#include "planner/constraint/complete.h"
#include "planner/search/orders/least_memory.h"
#include "planner/search/stages/judge.h"

namespace planscope {

std::string_view to_string(CompletionStatus s) {
  switch (s) {
    case CompletionStatus::complete:
      return "complete";
    case CompletionStatus::impossible:
      return "impossible";
    case CompletionStatus::unknown:
      return "unknown";
  }
  return "?";
}

namespace {

using constraint::Judge;

// The step on the fastest device at the sizes that the plan sets; 0 where they are open, or where a profile may say of shards that
// they take less than their share.
double one_device_us(const Graph& graph, const plan::Plan& p, const std::vector<plan::InputDimension>& inputs,
                     const Cluster& cluster, const CostModel& costs, MaterializeCache& cache) {
  if (!costs.profiles.empty()) return 0;
  const Result<plan::InputSizes> sizes = plan::model_sizes(p, inputs);
  if (!sizes.ok()) return 0;
  std::string text = "devices 1\n";
  for (const auto& [name, size] : *sizes) text += "model " + name + "=" + std::to_string(size) + "\n";
  const Result<plan::Plan> alone = plan::parse_plan(text, "");
  double least = 0;
  for (const int kind : cluster.kinds_in(0, cluster.device_count())) {
    const Result<Evaluation> judged = evaluate(graph, *alone, cluster.of_kind(kind), cache, {.costs = costs, .window = {}});
    if (!judged.value) return 0;
    const double step = judged->simulation.step_us();
    least = least == 0 ? step : std::min(least, step);
  }
  return least;
}

plan::Plan with_rows(plan::Plan p, const std::vector<plan::Plan>& rows) {
  for (const plan::Plan& more : rows)
    p.statements.insert(p.statements.end(), more.statements.begin(), more.statements.end());
  return p;
}

Judge make_judge(const Graph& graph, const plan::Plan& p, const std::vector<plan::Plan>& rows, const Cluster& cluster,
                 const SimulationOptions& simulation, MaterializeCache& cache) {
  Judge out = stages::make_judge(graph, cluster, simulation, cache);
  out.least_peaks = [&](const plan::Plan& candidate) {
    std::vector<constraint::Peak> peaks;
    SimulationOptions all = simulation;
    all.alive = true;
    const Result<Evaluation> judged = evaluate(graph, candidate, cluster, cache, all);
    if (!judged.ok()) return peaks;
    const std::vector<std::int64_t> least = orders::least_memory(judged->made, judged->simulation, cluster);
    for (std::size_t c = 0; c < least.size(); ++c)
      peaks.push_back({devices(judged->made.program, judged->made.program.classes[c]), least[c]});
    return peaks;
  };
  out.one_device_us = [&, inputs = out.inputs] {
    return one_device_us(graph, with_rows(p, rows), inputs, cluster, simulation.costs, cache);
  };
  return out;
}

// A plan in which nothing is left to choose or to check against a prediction.
bool decided(const Graph& graph, const plan::Plan& p, MaterializeCache& cache) {
  const Result<Decided> found = decide(graph, p, {}, &cache);
  if (!found.ok()) return false;
  const plan::Decisions& d = found->decisions;
  return d.complete && d.memory.empty() && d.forbids.empty();
}

// Lines that contradict each other: that is an answer, not bad input.
bool names_conflict(const std::vector<Diagnostic>& all) {
  return std::any_of(all.begin(), all.end(),
                     [](const Diagnostic& d) { return d.severity == Severity::error && !d.lines.empty(); });
}

Result<Completion> finish(const Graph& graph, Completion c, const Cluster& cluster, const CostModel& costs,
                          MaterializeCache& cache) {
  Result<Completion> out;
  Result<Evaluation> judged = evaluate(graph, c.plan, cluster, cache, {.costs = costs, .window = {}});
  out.diagnostics = judged.diagnostics;
  if (!judged.value || judged.has_errors()) return out;
  if (std::optional<Diagnostic> wrong = not_to_hand_out(judged->made)) {
    c.status = CompletionStatus::unknown;
    c.reason = wrong->what + "; " + wrong->why;
    out.diagnostics.push_back(std::move(*wrong));
  } else {
    c.result = std::move(judged->made);
    c.simulation = std::move(judged->simulation);
  }
  out.value = std::move(c);
  return out;
}

bool asks_for_order(const plan::Statement& s) {
  const auto* order = std::get_if<plan::OrderStatement>(&s.body);
  return order && order->open;
}

// The plan with other lines as its answer to `order ?`.
std::optional<plan::Plan> with_order(const plan::Plan& p, const std::vector<std::string>& lines) {
  plan::Plan out = p;
  out.statements.clear();
  bool answer = false;
  for (const plan::Statement& s : p.statements) {
    if (answer && s.automatic && s.line > 0) continue;
    out.statements.push_back(s);
    answer = asks_for_order(s);
    if (!answer) continue;
    std::string text;
    for (const std::string& line : lines) text += "auto " + line + "\n";
    const Result<plan::Plan> parsed = plan::parse_plan(text, p.file);
    if (!parsed.ok()) return std::nullopt;
    for (plan::Statement a : parsed->statements) {
      a.line = s.line;
      out.statements.push_back(std::move(a));
    }
  }
  return out;
}

void take_if_better(const Graph& graph, Completion& c, const std::optional<plan::Plan>& other, const Cluster& cluster,
                    const CostModel& costs, MaterializeCache& cache) {
  if (!other) return;
  Result<Evaluation> judged = evaluate(graph, *other, cluster, cache, {.costs = costs, .window = {}});
  if (!judged.ok() || judged->simulation.step_ns >= c.simulation->step_ns) return;
  const std::vector<constraint::Peak> peaks = stages::peaks_of(judged->made.program, judged->simulation);
  for (const plan::MemoryRow& row : judged->made.decisions.memory)
    if (constraint::excess_bytes(judged->made.decisions, row, peaks) > 0) return;
  if (not_to_hand_out(judged->made)) return;
  c.plan = *other;
  c.result = std::move(judged->made);
  c.simulation = std::move(judged->simulation);
}

constexpr std::int64_t kOrderWork = 30'000'000;  // of Z3: some seconds

// `order ?`: list scheduling and the templates have been tried. From what the best of them comes to, the schedule search
// finds the shortest period of its tasks that keeps the rows beside it; its order is taken if the prediction is better. What
// keeps it from searching is told.
std::vector<Diagnostic> search_order(const Graph& graph, Completion& c, const Cluster& cluster,
                                     const CostModel& costs, MaterializeCache& cache, const Deadline& deadline) {
  const auto& all = c.plan.statements;
  if (std::none_of(all.begin(), all.end(), asks_for_order) || !c.result || !c.simulation) return {};
  const Result<orders::ProgramCase> found = orders::program_case(*c.result, *c.simulation, cluster);
  const auto not_searched = [&](const std::string& why) {
    Diagnostic d = note("order ?: only list scheduling and the known templates were tried", why);
    d.file = c.plan.file;
    return std::vector<Diagnostic>{std::move(d)};
  };
  if (!found.ok()) return not_searched(found.diagnostics[0].what);
  if (const std::vector<Diagnostic> wrong = schedule::check(found->problem); has_errors(wrong))
    return not_searched(wrong[0].what);
  schedule::Settings settings;
  settings.seconds = deadline.seconds_left();
  settings.work = kOrderWork;
  settings.stop = deadline.stop();
  const schedule::Answer answer = schedule::search(found->problem, settings);
  if (answer.outcome == schedule::Outcome::impossible) return not_searched(answer.reason);
  if (!answer.pattern.start.empty())
    c.order = {static_cast<double>(answer.pattern.period) / 1000, static_cast<double>(answer.lower_bound) / 1000,
               answer.optimal, answer.bound_by};
  for (const auto& lines : {orders::order_lines(*found, answer), orders::whole_order_lines(*found, answer)})
    if (!lines.empty()) take_if_better(graph, c, with_order(c.plan, lines), cluster, costs, cache);
  return {};
}

// Where nothing but the order is open (`asked`: the plan and its rows): in no order has the busiest device less to compute.
void raise_bound(const Graph& graph, const plan::Plan& asked, Completion& c, MaterializeCache& cache) {
  if (!c.simulation) return;
  plan::Plan rest = plan::without_automatic(asked);
  if (std::erase_if(rest.statements, asks_for_order) == 0) return;
  const Result<Decided> found = decide(graph, rest, {}, &cache);
  if (!found.ok() || !found->decisions.complete) return;
  for (const ClassTimeline& t : c.simulation->classes)
    c.lower_bound_us = std::max(c.lower_bound_us.value_or(0), static_cast<double>(t.compute) / 1000);
}

// As far as there is time.
void improve(Result<Completion>& out, const plan::Plan& asked, const Graph& graph, const Cluster& cluster,
             const CostModel& costs, MaterializeCache& cache, const Deadline& deadline) {
  const StopScope scope([&] { return deadline.over(); });
  try {
    for (Diagnostic& d : search_order(graph, *out, cluster, costs, cache, deadline))
      out.diagnostics.push_back(std::move(d));
    raise_bound(graph, asked, *out, cache);
  } catch (const Stopped&) {
  }
}

// Where no row is in the way: which open values have none that what is declared leaves.
std::string nothing_is_left(const Graph& graph, const plan::Plan& p) {
  const Result<plan::Decisions> d = plan::bind(p, model_info(graph));
  if (!d.value || d->variables.empty()) return {};
  std::vector<std::string> names;
  std::set<int> lines;
  for (const plan::OpenVariable& v : d->variables) {
    names.push_back("?" + v.name);
    for (const int s : v.statements) lines.insert(d->plan.statements[static_cast<std::size_t>(s)].line);
  }
  std::vector<std::string> where;
  for (const int line : lines) where.push_back(std::to_string(line));
  return "no " + std::string(names.size() > 1 ? "values" : "value") + " of " + join(names, ", ") + " fit" + (names.size() > 1 ? "" : "s") +
         " what is declared (line " + join(where, ", ") + "): axes of a grid multiply to its devices";
}

Result<Completion> completed(const Graph& graph, const plan::Plan& p, const std::vector<plan::Plan>& rows,
                             const Cluster& cluster, const CompletionSettings& settings,
                             const std::atomic<bool>& stop) {
  Completion c;
  MaterializeCache cache;
  const Deadline deadline(settings.time_limit_s, &stop);
  if (const plan::Plan own = settings.keep_automatic ? p : plan::without_automatic(p);
      rows.empty() && decided(graph, own, cache)) {
    c.status = CompletionStatus::complete;
    c.plan = own;
    Result<Completion> out = finish(graph, c, cluster, settings.costs, cache);
    if (!names_conflict(out.diagnostics)) return out;
    c = {};
  }
  constraint::Limits limits;
  limits.seconds = deadline.seconds_left();
  limits.stop = &stop;
  limits.explain = settings.explain;
  limits.relaxing_work = settings.relaxing_work;
  limits.progress = settings.progress;
  const SimulationOptions simulation{.costs = settings.costs, .window = {}};
  Judge judge = make_judge(graph, p, rows, cluster, simulation, cache);
  judge.now = settings.now;
  const Result<constraint::Completion> found = constraint::complete(p, rows, judge, limits);
  if (!found.value || found.has_errors()) return found.diagnostics;
  c.reason = found->reason;
  c.conflicts = found->conflicts;
  c.all_conflicts = found->all_conflicts;
  switch (found->outcome) {
    case constraint::Outcome::complete:
      c.status = CompletionStatus::complete;
      break;
    case constraint::Outcome::impossible:
      c.status = CompletionStatus::impossible;
      if (c.reason.empty() &&
          std::all_of(c.conflicts.begin(), c.conflicts.end(), [](const auto& all) { return all.lines.empty(); }))
        c.reason = nothing_is_left(graph, p);
      break;
    case constraint::Outcome::unknown:
      c.status = CompletionStatus::unknown;
      break;
  }
  Result<Completion> out;
  const StopScope never({});  // what was found is handed out
  if (found->plan) {
    c.plan = *found->plan;
    if (found->lower_bound_us > 0) c.lower_bound_us = found->lower_bound_us;
    out = finish(graph, std::move(c), cluster, settings.costs, cache);
    if (out.value) improve(out, with_rows(p, rows), graph, cluster, settings.costs, cache, deadline);
  } else {
    out.value = std::move(c);
  }
  out.diagnostics.insert(out.diagnostics.begin(), found.diagnostics.begin(), found.diagnostics.end());
  return out;
}

}  // namespace

Result<Completion> complete(const Graph& graph, const plan::Plan& p, const std::vector<plan::Plan>& rows,
                            const Cluster& cluster, const CompletionSettings& settings, const std::atomic<bool>& stop) {
  if (p.statements.empty()) return from_nothing(graph, rows, cluster, settings, stop);
  const StopScope scope([&] { return stop.load(); });
  try {
    return completed(graph, p, rows, cluster, settings, stop);
  } catch (const Stopped&) {
    Completion c;
    c.reason = "stopped";
    return c;
  }
}

}  // namespace planscope
