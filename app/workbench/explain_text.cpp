#include "app/workbench/explain_text.h"

#include <algorithm>
#include <cmath>

#include "engine/base/format.h"
#include "engine/base/text.h"

namespace planscope {

using Json = nlohmann::ordered_json;

std::string signed_time(double us) { return (us < 0 ? "-" : "+") + time_text(std::abs(us)); }
std::string signed_bytes(std::int64_t bytes) {
  return (bytes < 0 ? "-" : "+") + bytes_text(static_cast<double>(std::abs(bytes)));
}

Json line_json(const StatementRef& s) { return {{"file", s.file}, {"line", s.line}, {"text", s.text}}; }
std::string line_text(const StatementRef& s) { return "line " + std::to_string(s.line) + " (" + s.text + ")"; }

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

std::string by_text(const Tried& t) {
  return t.row ? "by " + line_text(*t.row) + (t.over_bytes ? ": " + t.reason : "") : t.reason;
}

namespace {

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

}  // namespace

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

std::string decided_text(const BasePlan& base, const OperatorAnswer& a, const ChoiceAnswer& c) {
  std::string out = c.about + (c.does.empty() ? "" : ": " + c.does) + ", ";
  if (c.by.line) {
    out += "by " + line_text(*c.by.line);
    if (!c.by.template_line.empty()) out += ": " + c.by.template_line;
    if (c.by.automatic) out += ", chosen by cost";
    if (!c.by.follows.empty()) out += ": " + c.by.follows;
    return out;
  }
  out += "follows: " + c.by.follows;
  std::vector<std::string> costs;
  for (const FollowCost& f : c.by.compared)
    costs.push_back(factor_text(*base.judged.made.graph, a.example, f) + " " +
                    (f.barrier ? "needs all indices at once" : bytes_text(f.bytes)));
  return out + (costs.size() > 1 ? " (" + join(costs, ", ") + ")" : "");
}

}  // namespace planscope
