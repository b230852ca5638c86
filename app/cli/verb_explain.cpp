#include <algorithm>
#include <chrono>
#include <cmath>

#include "app/cli/command.h"
#include "app/workbench/profiling.h"
#include "planner/complete/settled.h"
#include "app/workbench/why.h"
#include "engine/base/text.h"
#include "engine/plan/parser.h"
#include "engine/plan/printer.h"

namespace planscope::cli {

namespace {

std::string signed_time(double us) { return (us < 0 ? "-" : "+") + time_text(std::abs(us)); }
std::string signed_bytes(std::int64_t bytes) {
  return (bytes < 0 ? "-" : "+") + bytes_text(static_cast<double>(std::abs(bytes)));
}

Json line_json(const StatementRef& s) { return {{"file", s.file}, {"line", s.line}, {"text", s.text}}; }
std::string line_text(const StatementRef& s) { return "line " + std::to_string(s.line) + " (" + s.text + ")"; }

// --- a statement that was tried

Json by_json(const Tried& t) {
  Json by = t.row ? line_json(*t.row) : Json::object();
  if (t.row && !t.reason.empty()) by["why"] = t.reason;
  if (!t.row) by["text"] = t.reason;
  if (t.over_bytes) by["over_bytes"] = t.over_bytes;
  return by;
}

bool has_figures(const Tried& t) {
  return t.over_bytes > 0 || (t.verdict != EditVerdict::unavailable && t.verdict != EditVerdict::forbidden);
}

Json tried_json(const Tried& t) {
  Json out = {{"statement", t.statement},
              {"delta_us", has_figures(t) ? Json(t.delta_us) : Json()},
              {"delta_bytes", has_figures(t) ? Json(t.delta_bytes) : Json()},
              {"verdict", to_string(t.verdict)},
              {"by", by_json(t)}};
  if (!t.broken.empty()) {
    out["still_broken"] = Json::array();
    for (const StatementRef& s : t.broken) out["still_broken"].push_back(line_json(s));
  }
  return out;
}

std::vector<std::string> tried_row(const Tried& t) {
  return {"  " + t.statement, std::string(to_string(t.verdict)), has_figures(t) ? signed_time(t.delta_us) : "",
          has_figures(t) ? signed_bytes(t.delta_bytes) : "",
          t.row ? "by " + line_text(*t.row) + (t.over_bytes ? ": " + t.reason : "") : t.reason};
}

// --- why

const Tried* next_best(const ChoiceAnswer& c) {
  const auto best = std::find_if(c.alternatives.begin(), c.alternatives.end(), [](const Tried& t) {
    return t.verdict != EditVerdict::unavailable && t.verdict != EditVerdict::forbidden;
  });
  return best == c.alternatives.end() ? nullptr : &*best;
}

std::string factor_text(const Graph& g, const std::string& op, const FollowCost& c) {
  for (OpId o = 0; o < static_cast<OpId>(g.ops.size()); ++o)
    if (g.node(o).name() == op) {
      std::vector<std::string> names;
      for (const int f : c.factors) names.push_back(factor_names(g, o, f).front());
      return names.empty() ? "none" : join(names, " and ");
    }
  return "?";
}

Json decided_json(const BasePlan& base, const OperatorAnswer& a, const ChoiceAnswer& c) {
  Json cost = {{"step_us", base.judged.simulation.step_us()}};
  const Tried* next = next_best(c);
  cost["next_us"] = next ? Json(base.judged.simulation.step_us() + next->delta_us) : Json();
  if (c.by.line) {
    Json out = line_json(*c.by.line);
    if (!c.by.template_line.empty()) out["template_line"] = c.by.template_line;
    if (c.by.automatic) out["cost"] = cost;
    return out;
  }
  cost["why"] = c.by.follows;
  cost["compared"] = Json::array();
  for (const FollowCost& f : c.by.compared)
    cost["compared"].push_back({{"factor", factor_text(*base.judged.made.graph, a.example, f)},
                                {"bytes", f.barrier ? Json() : Json(f.bytes)},
                                {"all_indices_at_once", f.barrier},
                                {"chosen", f.chosen}});
  return {{"cost", cost}};
}

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

std::string decided_text(const BasePlan& base, const OperatorAnswer& a, const ChoiceAnswer& c) {
  std::string out = c.about + (c.does.empty() ? "" : ": " + c.does) + ", ";
  if (c.by.line) {
    out += "by " + line_text(*c.by.line);
    if (!c.by.template_line.empty()) out += ": " + c.by.template_line;
    if (c.by.automatic) out += ", chosen by cost";
    if (!c.by.follows.empty()) out += ": " + c.by.follows;
    return out + "\n";
  }
  out += "follows: " + c.by.follows;
  std::vector<std::string> costs;
  for (const FollowCost& f : c.by.compared)
    costs.push_back(factor_text(*base.judged.made.graph, a.example, f) + " " +
                    (f.barrier ? "needs all indices at once" : bytes_text(f.bytes)));
  return out + (costs.size() > 1 ? " (" + join(costs, ", ") + ")" : "") + "\n";
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
      out += decided_text(base, a, c);
      std::vector<std::vector<std::string>> rows;
      for (const Tried& t : c.alternatives) rows.push_back(tried_row(t));
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
  const BasePlan base{m->graph, s->plan, *cluster, cache, std::move(*s->judged), o.time_limit, interrupted};
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
