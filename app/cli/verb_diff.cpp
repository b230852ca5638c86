#include <algorithm>
#include <chrono>
#include <filesystem>

#include "app/cli/command.h"
#include "app/workbench/plan_diff_text.h"
#include "app/workbench/profiling.h"
#include "engine/base/text.h"

namespace planscope::cli {

namespace {

struct Entry {
  std::string name;
  Settled settled;
  Cluster cluster;
};

Json summary_json(const Entry& e) {
  const Simulation& s = e.settled.judged->simulation;
  return {{"name", e.name}, {"step_us", s.step_us()}, {"peak_bytes", peak_bytes(s)}, {"bytes_sent", bytes_sent(s)}};
}

std::vector<std::string> summary_row(const Entry& e) {
  const Simulation& s = e.settled.judged->simulation;
  return {e.name, time_text(s.step_us()), bytes_text(static_cast<double>(peak_bytes(s))),
          bytes_text(static_cast<double>(bytes_sent(s)))};
}

// The plan's name as tables show it: of a file without its folder and ending.
std::string name_of(const std::string& where) {
  const std::filesystem::path path(where);
  return path.extension() == ".plan" ? path.stem().string() : where;
}

}  // namespace

Answer diff(const Options& o) {
  const auto begin = std::chrono::steady_clock::now();
  if (o.plans.size() < 2) return bad_input({error("diff compares two plans or more", "", "diff MODEL PLAN PLAN…")});
  std::optional<Workspace> workspace = open_workspace(o);
  const Workspace* w = workspace ? &*workspace : nullptr;
  const Result<OpenModel> m = open_model(o.model, w);
  if (!m.value || m.has_errors()) return bad_input(m.diagnostics);
  std::vector<plan::Plan> plans;
  for (const std::string& where : o.plans) {
    Result<plan::Plan> p = open_plan(where, w);
    if (!p.value || p.has_errors()) return bad_input(p.diagnostics);
    plans.push_back(std::move(*p.value));
  }
  std::vector<Entry> entries;
  std::vector<std::string> on;
  for (std::size_t k = 0; k < plans.size(); ++k) {
    // With as many devices as the plan wants, as it is predicted by itself.
    Result<Cluster> cluster = open_cluster(o.cluster, plans[k], w);
    if (!cluster.value || cluster.has_errors()) return bad_input(cluster.diagnostics);
    std::vector<Diagnostic> stored;
    const CostModel costs = stored_costs(w, *cluster, stored);
    report(stored);
    MaterializeCache cache;
    Result<Settled> s =
        settle(m->graph, plans[k], *cluster, cache, {.time_limit_s = o.time_limit, .costs = costs}, interrupted);
    if (!s.value || s.has_errors()) return bad_input(s.diagnostics);
    report(s.diagnostics);
    if (!s->judged) return unsettled(*s);
    if (std::find(on.begin(), on.end(), cluster->name) == on.end()) on.push_back(cluster->name);
    entries.push_back({name_of(o.plans[k]), std::move(*s.value), std::move(*cluster.value)});
  }
  Answer a;
  a.json = {{"plans", Json::array()}, {"changes", Json::array()}, {"unattributed", Json::array()}};
  std::vector<std::vector<std::string>> rows = {{"plan", "step", "peak memory", "sent by all"}};
  for (const Entry& e : entries) {
    a.json["plans"].push_back(summary_json(e));
    rows.push_back(summary_row(e));
  }
  a.text = "on " + join(on, " and ") + "\n" + table(rows);
  for (std::size_t k = 1; k < entries.size(); ++k) {
    const Entry &base = entries[0], &other = entries[k];
    const PlanDifference d = difference(m->graph, {base.settled.plan, *base.settled.judged, base.cluster},
                                        {other.settled.plan, *other.settled.judged, other.cluster});
    for (const PlanChange& c : d.changes) a.json["changes"].push_back(change_json(other.name, c));
    a.json["unattributed"].push_back(rest_json(other.name, d));
    a.text += difference_text(base.name, other.name, d);
  }
  a.json["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return a;
}

}  // namespace planscope::cli
