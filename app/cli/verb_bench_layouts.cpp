#include <chrono>
#include <cmath>
#include <cstdio>

#include "app/cli/command.h"
#include "planner/search/layout/case_file.h"
#include "planner/search/layout/solve.h"

namespace planscope::cli {

namespace {

using Moment = std::chrono::steady_clock::time_point;

double seconds_since(Moment begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::string text_of(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string rechecked(const layouts::CostNetwork& n, const layouts::Locks& locks, const layouts::Answer& answer) {
  const layouts::Checked c = answer.certificate ? layouts::check(n, locks, *answer.certificate)
                             : answer.impossibility
                                 ? layouts::check(n, locks, *answer.impossibility)
                                 : layouts::Checked{false, "no certificate: all choices were looked at"};
  return c.ok ? "ok" : c.reason;
}

// One memory row is written as a number, as in the case.
Json per_row(const std::vector<std::int64_t>& rows) { return rows.size() == 1 ? Json(rows[0]) : Json(rows); }

Answer impossible(const layouts::CostNetwork& n, const layouts::Answer& found, Answer a) {
  a.status = kNo;
  a.json["least_memory"] = per_row(found.least_memory);
  a.json["memory_limit"] = per_row(n.limits);
  std::string why;
  for (int r = 0; r < n.rows(); ++r) {
    if (found.least_memory[r] <= n.limits[r]) continue;
    why += (why.empty() ? "" : "; ") + std::string("at least ") + std::to_string(found.least_memory[r]) + " is needed" +
           (n.rows() > 1 ? " in row " + std::to_string(r) : "") + ", the limit is " + std::to_string(n.limits[r]);
  }
  if (why.empty()) why = "each memory row can be kept by itself, not all together";
  report({error("no choice keeps the memory limit", why)});
  return a;
}

// Nothing where there is no choice to have a cost, or none that a bound is of.
Json cost_of(const layouts::Answer& a) { return a.outcome == layouts::Outcome::found ? Json(a.cost) : Json(); }
Json bound_of(const layouts::Answer& a) {
  return a.outcome == layouts::Outcome::impossible ? Json() : Json(a.lower_bound);
}
Json gap_of(const layouts::Answer& a) {
  return a.outcome == layouts::Outcome::found && std::isfinite(a.gap()) ? Json(a.gap()) : Json();
}
std::string percent(const layouts::Answer& a) {
  return gap_of(a).is_null() ? "unknown" : text_of("%.4f %%", 100 * a.gap());
}

// How long a changed lock takes: the node in the middle takes the strategy behind the one that it has.
void add_relock(layouts::Solver& solver, const layouts::Choice& choice, Answer& a) {
  const layouts::CostNetwork& n = solver.network();
  const int node = static_cast<int>(n.nodes.size() / 2), strategies = n.kind(node).strategies();
  const layouts::Locks locks = {{node, {(choice[node] + 1) % strategies}}};
  const Moment begin = std::chrono::steady_clock::now();
  const layouts::Answer again = solver.solve(locks);
  const double seconds = seconds_since(begin);
  a.json["relock"] = {{"node", node},
                      {"strategy", locks.begin()->second[0]},
                      {"outcome", to_string(again.outcome)},
                      {"cost", cost_of(again)},
                      {"lower_bound", bound_of(again)},
                      {"gap", gap_of(again)},
                      {"check", rechecked(n, locks, again)}};
  a.json["relock_seconds"] = seconds;
  a.text += "one lock changed: " + text_of("%.4f s", seconds) + ", " +
            (again.outcome == layouts::Outcome::found ? "gap " + percent(again)
                                                      : std::string(layouts::to_string(again.outcome))) +
            "\n";
}

Answer found(const layouts::Answer& best, Answer a) {
  a.json["choice"] = best.choice;
  a.json["cost"] = best.cost;
  a.json["memory"] = per_row(best.memory);
  a.text = "cost " + text_of("%.6g", best.cost) + ", at least " + text_of("%.6g", best.lower_bound) + ", gap " +
           percent(best) + (best.optimal ? " (optimal)" : "") + "\n";
  return a;
}

}  // namespace

Answer bench_layouts(const Options& o) {
  const Moment begin = std::chrono::steady_clock::now();
  if (o.case_file.empty()) return bad_input({error("'bench layouts' needs a case", "bench layouts CASE.json")});
  Result<layouts::CostNetwork> network = layouts::read_case(o.case_file);
  if (!network.ok()) return bad_input(network.diagnostics);
  layouts::SolveOptions options;
  options.ended = [&] { return interrupted || seconds_since(begin) > o.time_limit; };
  layouts::Solver solver(std::move(*network), options);
  const layouts::Answer best = solver.solve({});
  const layouts::CostNetwork& n = solver.network();
  const double solved = seconds_since(begin);
  Answer a;
  a.json["outcome"] = to_string(best.outcome);
  if (best.outcome == layouts::Outcome::found) a = found(best, std::move(a));
  a.json["check"] = rechecked(n, {}, best);
  a.json["method"] = best.method;
  if (best.outcome == layouts::Outcome::impossible) {
    a = impossible(n, best, std::move(a));
  } else {
    a.json["lower_bound"] = best.lower_bound;
    a.json["certified_bound"] = best.certificate->bound;
    a.json["gap"] = gap_of(best);
    a.json["optimal"] = best.optimal;
    a.json["prices"] = best.prices;
    a.json["distinct_tables"] = best.distinct_messages;
    a.json["tables"] = best.steps;
    a.text += best.method + ", " + std::to_string(best.distinct_messages) + " distinct tables of " +
              std::to_string(best.steps) + "; certificate: " + a.json["check"].get<std::string>() + "\n";
    a.status = best.ended || best.outcome == layouts::Outcome::unknown ? kUnknown : kDone;
  }
  a.json["seconds"] = solved;
  a.text += text_of("%.4f s\n", solved);
  if (best.outcome == layouts::Outcome::found && !best.ended && !n.nodes.empty()) add_relock(solver, best.choice, a);
  return a;
}

}  // namespace planscope::cli
