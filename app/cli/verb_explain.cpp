#include <algorithm>
#include <chrono>
#include <cmath>

#include "app/cli/command.h"
#include "app/workbench/profiling.h"
#include "planner/complete/settled.h"
#include "app/workbench/explain_text.h"
#include "app/workbench/why.h"
#include "engine/base/text.h"
#include "engine/plan/parser.h"
#include "engine/plan/printer.h"

namespace planscope::cli {

namespace {

// --- why

Json why_json(const BasePlan& base, const Why& w) {
  Json out = {{"decided_by", nullptr}, {"alternatives", Json::array()}, {"operators", Json::array()}};
  int last = -1;
  for (const OperatorAnswer& a : w.answers) {
    Json one = {{"operators", a.operators}, {"example", a.example}, {"count", a.count}, {"asked", a.asked}};
    one["decisions"] = Json::array();
    for (const ChoiceAnswer& c : a.choices) {
      Json by = decided_json(base, a, c), others = Json::array();
      for (const Tried& t : c.alternatives) {
        others.push_back(tried_json(t));
        out["alternatives"].push_back(others.back());
        out["alternatives"].back()["about"] = c.about;
      }
      const int line = c.by.line && c.about != "order" ? c.by.line->line : 0;
      if (line > last) {
        out["decided_by"] = by;
        last = line;
      }
      one["decisions"].push_back({{"about", c.about}, {"does", c.does}, {"decided_by", by}, {"alternatives", others}});
    }
    out["operators"].push_back(std::move(one));
  }
  out["left_out"] = w.left_out;
  return out;
}

// The lines that the planner wrote.
std::vector<std::string> automatic_lines(const plan::Plan& p) {
  std::vector<std::string> out;
  for (const plan::Statement& s : p.statements)
    if (s.automatic) out.push_back(plan::print_code(s));
  return out;
}

std::string head_text(const BasePlan& base) {
  const std::vector<std::string> automatic = automatic_lines(base.plan);
  return (automatic.empty() ? "" : "with " + join(automatic, "; ") + "\n") + "step " +
         time_text(base.judged.simulation.step_us()) + ", peak memory " +
         bytes_text(static_cast<double>(peak_bytes(base.judged.simulation))) + " on " + base.cluster.name +
         " (modelled)\n";
}

std::string why_text(const BasePlan& base, const Why& w) {
  std::string out = head_text(base);
  for (const OperatorAnswer& a : w.answers) {
    out += "\n" + a.operators;
    if (a.count > 1)
      out += ": " + std::to_string(a.count) + " alike, " +
             (a.asked == a.count ? "all asked about" : std::to_string(a.asked) + " asked about") +
             "; alternatives are for all of them";
    out += "\n";
    for (const ChoiceAnswer& c : a.choices) {
      out += decided_text(base, a, c) + "\n";
      std::vector<std::vector<std::string>> rows;
      for (const Tried& t : c.alternatives) {
        const bool figures = has_figures(t);
        rows.push_back({"  " + t.statement, std::string(to_string(t.verdict)), figures ? signed_time(t.delta_us) : "",
                        figures ? signed_bytes(t.delta_bytes) : "", by_text(t)});
      }
      out += table(rows);
    }
  }
  if (w.left_out)
    out += "\n" + std::to_string(w.left_out) +
           " alternatives were not tried: name fewer operators, or one axis (--about)\n";
  return out;
}

// --- why not

Json parts_json(const BasePlan& base, const Tried& t) {
  Json out = {{"compute_us", t.time.compute},
              {"communication_us", t.time.communication},
              {"idle_us",
               {{"warm_up", t.time.warm_up},
                {"cool_down", t.time.cool_down},
                {"imbalance", t.time.imbalance},
                {"data", t.time.data},
                {"memory", t.time.memory}}}};
  std::map<std::pair<std::string, std::int64_t>, double> by_kind;
  if (t.judged) {
    by_kind = cost_shares(*t.judged, base.cluster).communication_us;
    for (const auto& [kind, us] : cost_shares(base.judged, base.cluster).communication_us) by_kind[kind] -= us;
  }
  out["communication"] = Json::array();
  for (const auto& [kind, us] : by_kind) {
    const auto traffic = std::find_if(t.traffic.begin(), t.traffic.end(), [&kind = kind](const TrafficChange& c) {
      return std::pair(c.kind, c.group) == kind;
    });
    const bool moved = traffic != t.traffic.end();
    if (!moved && std::abs(us) < 1e-6) continue;
    out["communication"].push_back({{"kind", kind.first},
                                    {"devices", kind.second},
                                    {"delta_us", us},
                                    {"delta_bytes", moved ? traffic->bytes : 0},
                                    {"delta_count", moved ? traffic->count : 0}});
  }
  out["memory"] = Json::object();
  for (int k = 0; k < kMemoryKinds; ++k)
    out["memory"][std::string(to_string(static_cast<MemoryKind>(k)))] = t.memory.kinds[static_cast<std::size_t>(k)];
  return out;
}

std::string why_not_text(const BasePlan& base, const Tried& t, const Json& parts) {
  std::string out = head_text(base) + "\n" + t.statement + "\n" + std::string(to_string(t.verdict));
  if (has_figures(t)) out += ": step " + signed_time(t.delta_us) + ", peak memory " + signed_bytes(t.delta_bytes);
  out += "\n";
  if (t.row) out += "by " + line_text(*t.row) + "\n";
  if (!t.reason.empty()) out += t.reason + "\n";
  for (const StatementRef& s : t.broken) out += "broken with and without it: " + line_text(s) + "\n";
  for (const Diagnostic& d : t.notes) out += std::string("of the line: ") + d.what + "\n";
  if (!has_figures(t)) return out;
  std::vector<std::vector<std::string>> rows;
  for (const Json& c : parts["communication"])
    rows.push_back({"  " + c["kind"].get<std::string>() + " of " + std::to_string(c["devices"].get<std::int64_t>()),
                    signed_time(c["delta_us"]), signed_bytes(c["delta_bytes"])});
  if (!rows.empty()) out += "communication at work\n" + table(rows);
  rows.clear();
  for (const auto& [kind, bytes] : parts["memory"].items())
    if (bytes != 0) rows.push_back({"  " + kind, signed_bytes(bytes)});
  if (!rows.empty()) out += "memory at the peak\n" + table(rows);
  return out;
}

Answer why_not_answer(const BasePlan& base, const std::string& statement) {
  Result<plan::Statement> parsed = plan::parse_statement(statement);
  if (!parsed.value || parsed.has_errors()) return bad_input(parsed.diagnostics);
  const Tried t = try_statement(base, *parsed);
  Answer a;
  const Json parts = parts_json(base, t);
  Json one = tried_json(t);
  if (has_figures(t)) one["parts"] = parts;
  a.json = {{"decided_by", t.row ? line_json(*t.row) : Json{{"cost", {{"step_us", base.judged.simulation.step_us()}}}}},
            {"alternatives", Json::array({one})}};
  a.text = why_not_text(base, t, parts);
  if (t.ended_early) a.status = kUnknown;
  return a;
}

Answer why_answer(const BasePlan& base, const Options& o) {
  WhySettings settings;
  settings.about = o.type;
  const Result<Why> w = why(base, o.why, settings);
  if (!w.ok()) return bad_input(w.diagnostics);
  Answer a;
  a.json = why_json(base, *w);
  a.text = why_text(base, *w);
  if (interrupted) a.status = kUnknown;
  return a;
}

}  // namespace

Answer explain(const Options& o) {
  const auto begin = std::chrono::steady_clock::now();
  if (o.why.empty() == o.why_not.empty())
    return bad_input({error("explain takes one question", "", "--why OPERATOR or --why-not STATEMENT")});
  std::optional<Workspace> workspace = open_workspace(o);
  const Workspace* w = workspace ? &*workspace : nullptr;
  const Result<OpenModel> m = open_model(o.model, w);
  if (!m.value || m.has_errors()) return bad_input(m.diagnostics);
  const Result<plan::Plan> p = open_plan(o.plan, w);
  if (!p.value || p.has_errors()) return bad_input(p.diagnostics);
  const Result<Cluster> cluster = open_cluster(o.cluster, *p, w);
  if (!cluster.value || cluster.has_errors()) return bad_input(cluster.diagnostics);
  MaterializeCache cache;
  std::vector<Diagnostic> stored;
  const CostModel costs = stored_costs(w, *cluster, stored);
  report(stored);
  Result<Settled> s =
      settle(m->graph, *p, *cluster, cache, {.time_limit_s = o.time_limit, .costs = costs}, interrupted);
  if (!s.value || s.has_errors()) return bad_input(s.diagnostics);
  report(s.diagnostics);
  Answer a;
  if (!s->judged) return unsettled(*s);
  const BasePlan base{m->graph, s->plan, *cluster, cache, *s->judged, o.time_limit, interrupted};
  a = o.why.empty() ? why_not_answer(base, o.why_not) : why_answer(base, o);
  if (a.status != kBadInput) {
    a.json["step_us"] = base.judged.simulation.step_us();
    a.json["automatic"] = automatic_lines(base.plan);
    a.json["peak_bytes"] = peak_bytes(base.judged.simulation);
  }
  a.json["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return a;
}

}  // namespace planscope::cli
