#include "app/workbench/plan_diff_text.h"

#include <algorithm>
#include <cmath>

#include "engine/base/enumeration.h"
#include "engine/base/format.h"
#include "engine/base/text.h"

namespace planscope {

namespace {

using Json = nlohmann::ordered_json;

// The lines of one side that decide it, each once.
std::string lines(const PlanChange& c, std::optional<StatementRef> DecisionChange::* side) {
  std::vector<std::string> out;
  for (const DecisionChange& d : c.decisions)
    if (const auto& line = d.*side; line && std::find(out.begin(), out.end(), line->text) == out.end())
      out.push_back(line->text);
  return join(out, "; ");
}

Json side_json(const std::optional<StatementRef>& s) {
  return s ? Json{{"file", s->file}, {"line", s->line}, {"text", s->text}} : Json();
}

std::string signed_time(double us) { return (us < 0 ? "-" : "+") + time_text(std::abs(us)); }
std::string signed_bytes(double bytes) { return (bytes < 0 ? "-" : "+") + bytes_text(std::abs(bytes)); }

std::string side_text(const std::string& values, const std::optional<StatementRef>& line) {
  const std::vector<std::string> each = split(values, ';');
  const std::string value = each.size() > 2 ? each.front() + " …" + each.back() : values;
  return (value.empty() ? "-" : value) + (line ? " [" + std::to_string(line->line) + "]" : "");
}

std::vector<std::string> change_row(const PlanChange& c) {
  const bool costs = !c.operators.empty();
  return {costs ? operators_text(c) : "(plan)", costs ? std::to_string(c.count) : "",
          costs ? signed_time(c.delta.us()) : "", costs ? signed_bytes(c.delta.bytes) : "", decisions_text(c)};
}

}  // namespace

std::string operators_text(const PlanChange& c) {
  constexpr std::size_t shown = 2;
  return enumeration(c.operators, shown);
}

std::string decisions_text(const PlanChange& c) {
  std::vector<std::string> decisions;
  for (const DecisionChange& d : c.decisions)
    decisions.push_back(d.about + ": " + side_text(d.was, d.was_line) + " -> " + side_text(d.is, d.is_line));
  return join(decisions, ", ");
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

std::string difference_text(const std::string& base, const std::string& other, const PlanDifference& d) {
  std::string out = "\n" + other + " against " + base + ": step " + signed_time(d.delta_us) +
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

}  // namespace planscope
