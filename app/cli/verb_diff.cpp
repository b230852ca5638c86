#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>

#include "app/cli/command.h"
#include "app/workbench/plan_diff.h"
#include "app/workbench/profiling.h"
#include "engine/base/text.h"

namespace planscope::cli {

namespace {

struct Entry {
  std::string name;
  Settled settled;
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

// --- a change

// The lines of one side that decide it, each once.
std::string lines(const PlanChange& c, std::optional<StatementRef> DecisionChange::* side) {
  std::vector<std::string> out;
  for (const DecisionChange& d : c.decisions)
    if (const auto& line = d.*side; line && std::find(out.begin(), out.end(), line->text) == out.end())
      out.push_back(line->text);
  return join(out, "; ");
}

std::string operators_text(const PlanChange& c) {
  constexpr std::size_t shown = 2;
  if (c.operators.size() <= shown) return join(c.operators, ", ");
  const std::vector<std::string> first(c.operators.begin(), c.operators.begin() + shown);
  return join(first, ", ") + " and " + std::to_string(c.operators.size() - shown) + " more";
}

Json side_json(const std::optional<StatementRef>& s) {
  return s ? Json{{"file", s->file}, {"line", s->line}, {"text", s->text}} : Json();
}

Json change_json(const std::string& plan, const PlanChange& c) {
  Json decisions = Json::array();
  for (const DecisionChange& d : c.decisions)
    decisions.push_back({{"about", d.about},
                         {"was", d.was},
                         {"is", d.is},
                         {"was_by", side_json(d.was_line)},
                         {"is_by", side_json(d.is_line)}});
  return {{"plan", plan},
          {"operator", operators_text(c)},
          {"operators", c.operators},
          {"count", c.count},
          {"statement", lines(c, &DecisionChange::is_line)},
          {"base_statement", lines(c, &DecisionChange::was_line)},
          {"delta_us", c.delta.us()},
          {"delta_bytes", std::llround(c.delta.bytes)},
          {"compute_us", c.delta.compute_us},
          {"communication_us", c.delta.communication_us},
          {"host_us", c.delta.host_us},
          {"decisions", decisions}};
}

std::string signed_time(double us) { return (us < 0 ? "-" : "+") + time_text(std::abs(us)); }
std::string signed_bytes(double bytes) { return (bytes < 0 ? "-" : "+") + bytes_text(std::abs(bytes)); }

std::string side_text(const std::string& values, const std::optional<StatementRef>& line) {
  const std::vector<std::string> each = split(values, ';');
  const std::string value = each.size() > 2 ? each.front() + " …" + each.back() : values;
  return (value.empty() ? "-" : value) + (line ? " [" + std::to_string(line->line) + "]" : "");
}

std::vector<std::string> change_row(const PlanChange& c) {
  std::vector<std::string> decisions;
  for (const DecisionChange& d : c.decisions)
    decisions.push_back(d.about + ": " + side_text(d.was, d.was_line) + " -> " + side_text(d.is, d.is_line));
  const bool costs = !c.operators.empty();
  return {costs ? operators_text(c) : "(plan)", costs ? std::to_string(c.count) : "",
          costs ? signed_time(c.delta.us()) : "", costs ? signed_bytes(c.delta.bytes) : "", join(decisions, ", ")};
}

std::string difference_text(const Entry& base, const Entry& other, const PlanDifference& d) {
  std::string out = "\n" + other.name + " against " + base.name + ": step " + signed_time(d.delta_us) +
                    ", peak memory " + signed_bytes(static_cast<double>(d.delta_bytes)) + "\n";
  if (d.changes.empty() && d.delta_us == 0 && d.delta_bytes == 0) return out + "no decision differs\n";
  std::vector<std::vector<std::string>> rows = {{"operators", "count", "time", "memory", "decisions [line]"}};
  int free = 0;
  for (const PlanChange& c : d.changes) {
    const bool costs = c.operators.empty() || std::abs(c.delta.us()) >= 0.5 || std::abs(c.delta.bytes) >= 1;
    if (costs)
      rows.push_back(change_row(c));
    else
      ++free;
  }
  if (free) rows.push_back({"(" + std::to_string(free) + " more changes)", "", "+0 µs", "+0 B", ""});
  rows.push_back(
      {"(what decides alike)", "", signed_time(d.rest.operators.us()), signed_bytes(d.rest.operators.bytes), ""});
  rows.push_back({"(devices wait for each other)", "", signed_time(d.rest.idle_us), "", ""});
  rows.push_back({"(communication behind compute)", "", signed_time(d.rest.overlap_us), "", ""});
  return out + table(rows);
}

Json rest_json(const std::string& plan, const PlanDifference& d) {
  return {{"plan", plan},
          {"step_delta_us", d.delta_us},
          {"peak_delta_bytes", d.delta_bytes},
          {"delta_us", d.rest.us()},
          {"delta_bytes", std::llround(d.rest.operators.bytes)},
          {"operators_us", d.rest.operators.us()},
          {"idle_us", d.rest.idle_us},
          {"overlap_us", d.rest.overlap_us}};
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
  const auto largest = std::max_element(plans.begin(), plans.end(), [](const plan::Plan& a, const plan::Plan& b) {
    return declared_devices(a) < declared_devices(b);
  });
  const Result<Cluster> cluster = open_cluster(o.cluster, *largest, w);
  if (!cluster.value || cluster.has_errors()) return bad_input(cluster.diagnostics);
  std::vector<Diagnostic> stored;
  const CostModel costs = stored_costs(w, *cluster, stored);
  report(stored);
  std::vector<Entry> entries;
  for (std::size_t k = 0; k < plans.size(); ++k) {
    MaterializeCache cache;
    Result<Settled> s =
        settle(m->graph, plans[k], *cluster, cache, {.time_limit_s = o.time_limit, .costs = costs}, interrupted);
    if (!s.value || s.has_errors()) return bad_input(s.diagnostics);
    report(s.diagnostics);
    if (!s->judged) return unsettled(*s);
    entries.push_back({name_of(o.plans[k]), std::move(*s.value)});
  }
  Answer a;
  a.json = {{"plans", Json::array()}, {"changes", Json::array()}, {"unattributed", Json::array()}};
  std::vector<std::vector<std::string>> rows = {{"plan", "step", "peak memory", "sent by all"}};
  for (const Entry& e : entries) {
    a.json["plans"].push_back(summary_json(e));
    rows.push_back(summary_row(e));
  }
  a.text = "on " + cluster->name + " (modelled)\n" + table(rows);
  for (std::size_t k = 1; k < entries.size(); ++k) {
    const Entry &base = entries[0], &other = entries[k];
    const PlanDifference d = difference(m->graph, *cluster, {base.settled.plan, *base.settled.judged},
                                        {other.settled.plan, *other.settled.judged});
    for (const PlanChange& c : d.changes) a.json["changes"].push_back(change_json(other.name, c));
    a.json["unattributed"].push_back(rest_json(other.name, d));
    a.text += difference_text(base, other, d);
  }
  a.json["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return a;
}

}  // namespace planscope::cli
