#include <algorithm>
#include <chrono>

#include "app/cli/command.h"
#include "planner/complete/complete.h"
#include "app/workbench/error_band.h"
#include "app/workbench/explain.h"
#include "app/workbench/materials.h"
#include "app/workbench/plan_file.h"
#include "app/workbench/profiling.h"
#include "app/workbench/time_argument.h"
#include "planner/complete/from_nothing.h"
#include "planner/complete/least_memory.h"
#include "engine/base/stop.h"
#include "engine/base/text.h"
#include "engine/plan/parser.h"
#include "engine/plan/printer.h"
#include "engine/program/program_json.h"
#include "planner/simulate/alive.h"

namespace planscope::cli {

namespace {

constexpr const char* kPlanItself = "plan";  // --explain without a tensor
constexpr double kTooLittle = 1e-4;          // of a step: such traffic is in the JSON alone

struct Script {
  plan::Plan plan;
  std::vector<plan::Plan> rows;  // of the constraint files, and of --global-batch
};

Result<Script> script(const Options& o, const Workspace* workspace) {
  Result<Script> out;
  Script s;
  const auto take = [&](Result<plan::Plan> from, plan::Plan& to) {
    out.diagnostics.insert(out.diagnostics.end(), from.diagnostics.begin(), from.diagnostics.end());
    if (from.value) to = std::move(*from.value);
    return from.value.has_value();
  };
  if (!o.plan.empty() && !take(open_plan(o.plan, workspace), s.plan)) return out;
  for (const std::string& file : o.constraints) {
    const Result<PlanFile> rows = read_plan_file(file);
    if (!rows.ok()) return rows.diagnostics;
    if (!take(plan::parse_plan(rows->text, file), s.rows.emplace_back())) return out;
  }
  if (o.global_batch && !s.plan.statements.empty())
    take(plan::parse_plan("model batch=" + std::to_string(o.global_batch) + "\n", "--global-batch"),
         s.rows.emplace_back());
  out.value = std::move(s);
  return out;
}

std::string memory_word_of(const Completion& c) { return c.result ? memory_word(*c.result->graph) : ""; }

Json answer_json(const Completion& c) {
  Json peaks = Json::array();
  if (c.simulation)
    for (const ClassTimeline& t : c.simulation->classes) peaks.push_back(t.peak.bytes());
  const bool bounded = c.simulation && c.lower_bound_us;
  Json order;
  if (c.order)
    order = {{"period_us", c.order->period_us},
             {"lower_bound_us", c.order->lower_bound_us},
             {"gap", (c.order->period_us - c.order->lower_bound_us) / c.order->period_us},
             {"optimal", c.order->optimal},
             {"bound_by", c.order->bound_by}};
  return {{"status", to_string(c.status)},
          {"step_us", c.simulation ? Json(c.simulation->step_us()) : Json()},
          {"lower_bound_us", c.lower_bound_us ? Json(*c.lower_bound_us) : Json()},
          {"gap", bounded ? Json((c.simulation->step_us() - *c.lower_bound_us) / c.simulation->step_us()) : Json()},
          {"order", order},
          {"peak_bytes", peaks},
          {"peak_is_at_least", memory_word_of(c) == "at least "},
          {"conflicts", conflicts_json(c.conflicts)},
          {"all_conflicts", c.status == CompletionStatus::impossible ? Json(c.all_conflicts) : Json()},
          {"conflicts_need_memory", scarce_memory_json(c.conflicts)}};
}

std::string answer_text(const Graph& graph, const Completion& c, const std::optional<StepFigure>& figure, bool times) {
  std::string out;
  if (c.simulation) out += plan::print(c.plan) + "\n";
  out += std::string("# ") + std::string(to_string(c.status));
  if (!c.reason.empty()) out += " (" + c.reason + ")";
  if (c.simulation) {
    std::int64_t peak = 0;
    for (const ClassTimeline& t : c.simulation->classes) peak = std::max(peak, t.peak.bytes());
    out += ": step " + time_text(c.simulation->step_us()) + ", peak memory " +
           memory_word_of(c) + bytes_text(static_cast<double>(peak)) +
           (figure ? " (" + to_string(*figure) + ")" : "");
    if (c.lower_bound_us) out += ", no less than " + time_text(*c.lower_bound_us) + " in this space";
  }
  out += "\n";
  if (c.order)
    out += "# order: a micro-batch every " + time_text(c.order->period_us) +
           (c.order->optimal ? ", the least that repeats"
                             : ", no less than " + time_text(c.order->lower_bound_us) + " if it repeats") +
           " (" + c.order->bound_by + ")\n";
  out += conflicts_text(c.conflicts, c.status == CompletionStatus::impossible, c.all_conflicts, has_sizes_of_data(graph));
  if (times && c.result)
    for (const PassTime& t : c.result->times) out += "# " + t.pass + " " + time_text(t.seconds * 1e6) + "\n";
  return out;
}

std::string path_text(const ExplainedPath& p) {
  std::string out;
  for (const ExplainedMove& m : p.moves)
    out += (out.empty() ? "" : ", ") + m.what +
           (m.payload.count > 0 ? " (" + bytes_text(static_cast<double>(m.payload.count)) + ")" : "");
  return out + ": " + time_text(p.time.count);
}

std::string conversions_text(const std::vector<Conversion>& all) {
  std::string out;
  for (const Conversion& c : all) {
    out += (c.gradient ? "gradient of " : "") + c.tensor + " in " + c.segment + "\n  " + c.from + "\n  -> " + c.to +
           "\n    " + path_text(c.chosen) + "\n";
    for (const ExplainedPath& r : c.refused) out += "    refused: " + path_text(r) + "\n";
  }
  return all.empty() ? "never converted: every reader takes it as it was written\n" : out;
}

Json path_json(const ExplainedPath& p) {
  Json moves = Json::array();
  for (const ExplainedMove& m : p.moves)
    moves.push_back({{"move", m.what}, {"bytes", m.payload.count}, {"us", m.time.count}});
  return {{"moves", moves}, {"us", p.time.count}};
}

Json conversions_json(const std::vector<Conversion>& all) {
  Json out = Json::array();
  for (const Conversion& c : all) {
    Json one = path_json(c.chosen);
    one["tensor"] = c.tensor;
    one["gradient"] = c.gradient;
    one["segment"] = c.segment;
    one["from"] = c.from;
    one["to"] = c.to;
    one["refused"] = Json::array();
    for (const ExplainedPath& r : c.refused) one["refused"].push_back(path_json(r));
    out.push_back(std::move(one));
  }
  return out;
}

std::vector<Diagnostic> write_results(const Options& o, const Completion& c) {
  std::vector<Diagnostic> problems;
  if (!c.simulation) return problems;
  const auto write = [&](const std::string& file, const std::string& text) {
    const Result<Done> written = write_file(file, text);
    problems.insert(problems.end(), written.diagnostics.begin(), written.diagnostics.end());
  };
  if (!o.output.empty()) write(o.output, plan::print(c.plan));
  if (!o.program.empty()) write(o.program, to_json(c.result->program));
  return problems;
}

bool store(const Options& o, std::optional<Workspace>& workspace, const OpenModel& m, const Cluster& cluster,
           const Completion& c, const Json& json) {
  plan::Plan named = c.plan;
  if (!o.output.empty())
    named.file = o.output;
  else if (named.file.empty())
    named.file = m.model->name + "-found.plan";
  Recording found = recording_of(m, named, cluster);
  found.prediction.emplace();
  found.prediction->json = dump(json);
  return record(o, workspace, found);
}

// `coshard,3f1b`
Result<stages::Templates> allowed_templates(const std::string& text) {
  if (text == "all") return stages::Templates{};
  stages::Templates out{false, false, false};
  if (text == "none") return out;
  for (const std::string& name : split(text, ',')) {
    bool* const known = name == "coshard"      ? &out.coshard
                        : name == "interlaced" ? &out.interlaced
                        : name == "3f1b"       ? &out.three_f1b
                                               : nullptr;
    if (!known) return error("--templates: '" + name + "' is none of coshard, interlaced, 3f1b, all, none");
    *known = true;
  }
  return out;
}

// The plan and its runners-up: where the time of each goes, and what it trades against the first.
void add_candidates(const std::vector<stages::Candidate>& all, Answer& a) {
  std::vector<std::vector<std::string>> rows = {
      {"# plan", "step", "peak memory", "compute", "exposed communication", "other stages", "largest traffic"}};
  Json list = Json::array();
  std::string trades;
  for (const stages::Candidate& c : all) {
    const std::int64_t peak = *std::max_element(c.peak_bytes.begin(), c.peak_bytes.end());
    const stages::Breakdown& b = c.breakdown;
    rows.push_back({"# " + c.configuration.name(), time_text(c.step_us), bytes_text(static_cast<double>(peak)),
                    time_text(b.compute_us), time_text(b.communication_us), time_text(b.pipeline_us), b.largest});
    Json one = {{"name", c.configuration.name()},
                {"step_us", c.step_us},
                {"lower_bound_us", c.bound_us},
                {"peak_bytes", c.peak_bytes},
                {"compute_us", b.compute_us},
                {"exposed_communication_us", b.communication_us},
                {"pipeline_us", b.pipeline_us},
                {"largest_traffic", b.largest},
                {"plan", c.script}};
    if (&c != all.data()) {
      one["trade"] = trade_text(all[0], c);
      trades += "# " + c.configuration.name() + ": " + trade_text(all[0], c) + "\n";
    }
    list.push_back(std::move(one));
  }
  a.json["candidates"] = std::move(list);
  a.text += "\n" + table(rows) + trades;
}

// Where the time of a plan goes, and what is on the links of which level: `--explain` without a tensor.
std::string why_text(const std::string& name, double step_us, const stages::Breakdown& b, const Cluster& cluster) {
  std::string out = "# why " + name + ": of " + time_text(step_us) + ", " + time_text(b.compute_us) + " computing, " +
                    time_text(b.communication_us) + " waiting for communication, " + time_text(b.pipeline_us) +
                    " for other stages; on the links, hidden or not:\n";
  for (const Traffic& t : b.traffic) {
    if (static_cast<double>(t.time) / 1000 < kTooLittle * step_us) continue;
    const Level& level = cluster.levels[static_cast<std::size_t>(t.level)];
    out += "#   " + t.kind + " over " + std::to_string(t.group) +
           " devices: " + bytes_text(static_cast<double>(t.payload.count)) + ", " +
           time_text(static_cast<double>(t.time) / 1000) + " of " + level.name + " (" + bytes_text(level.bandwidth) +
           "/s" + (level.sharing > 1 ? ", a link for " + std::to_string(level.sharing) + " devices" : "") + ")\n";
  }
  return out;
}

Json why_json(const std::string& name, const stages::Breakdown& b, const Cluster& cluster) {
  Json traffic = Json::array();
  for (const Traffic& t : b.traffic)
    traffic.push_back({{"kind", t.kind},
                       {"group", t.group},
                       {"count", t.count},
                       {"payload_bytes", t.payload.count},
                       {"level", cluster.levels[static_cast<std::size_t>(t.level)].name},
                       {"busy_us", static_cast<double>(t.time) / 1000}});
  return {{"name", name},
          {"compute_us", b.compute_us},
          {"exposed_communication_us", b.communication_us},
          {"pipeline_us", b.pipeline_us},
          {"traffic", std::move(traffic)}};
}

void add_why(const std::vector<stages::Candidate>& candidates, const Completion& c, const Cluster& cluster, Answer& a) {
  a.json["why"] = Json::array();
  const auto add = [&](const std::string& name, double step_us, const stages::Breakdown& b) {
    a.json["why"].push_back(why_json(name, b, cluster));
    a.text += why_text(name, step_us, b, cluster);
  };
  a.text += "\n";
  for (const stages::Candidate& one : candidates) add(one.configuration.name(), one.step_us, one.breakdown);
  if (candidates.empty()) add("the plan", c.simulation->step_us(), stages::breakdown(*c.simulation));
}

}  // namespace

Answer plan(const Options& o) {
  const auto begin = std::chrono::steady_clock::now();
  std::optional<Workspace> workspace = open_workspace(o);
  Result<OpenModel> m = open_model(o.model, workspace ? &*workspace : nullptr);
  if (!m.value || m.has_errors()) return bad_input(m.diagnostics);
  const Result<Script> p = script(o, workspace ? &*workspace : nullptr);
  if (!p.value || p.has_errors()) return bad_input(p.diagnostics);
  report(p.diagnostics);
  const Result<Cluster> cluster = open_cluster(o.cluster, p->plan, workspace ? &*workspace : nullptr);
  if (!cluster.value || cluster.has_errors()) return bad_input(cluster.diagnostics);
  std::vector<Diagnostic> stored;
  const CostModel costs = stored_costs(workspace ? &*workspace : nullptr, *cluster, stored);
  const Result<stages::Templates> templates = allowed_templates(o.templates);
  if (!templates.ok()) return bad_input(templates.diagnostics);
  CompletionSettings settings{.time_limit_s = o.time_limit, .templates = *templates, .costs = costs};
  if (p->plan.statements.empty()) settings.global_batch = o.global_batch;  // else it is a row
  std::optional<double> within_us;
  if (!o.within.empty()) {
    const Result<double> within = time_argument(o.within);
    if (!within.ok()) return bad_input(within.diagnostics);
    within_us = *within;
  }
  Result<LeastMemory> least;
  Result<Completion> c;
  if (within_us) {
    least = complete_in_least_memory(m->graph, p->plan, p->rows, *cluster, settings, *within_us, interrupted);
    c.diagnostics = least.diagnostics;
    if (least.value) c.value = std::move(least->found);
  } else {
    c = complete(m->graph, p->plan, p->rows, *cluster, settings, interrupted);
  }
  if (!c.value || c.has_errors()) return bad_input(c.diagnostics);
  const planscope::StopScope never({});  // what was found is printed
  report(c.diagnostics);
  const std::vector<Diagnostic> problems = write_results(o, *c);
  if (has_errors(problems)) return bad_input(problems);
  Answer a;
  a.status = c->status == CompletionStatus::complete     ? kDone
             : c->status == CompletionStatus::impossible ? kNo
                                                         : kUnknown;
  a.json = answer_json(*c);
  a.json["reason"] = c->reason.empty() ? Json() : Json(c->reason);
  if (within_us) {
    a.json["within_us"] = *within_us;
    a.json["memory_lower_bound_bytes"] = least->lower_bound_bytes ? Json(*least->lower_bound_bytes) : Json();
  }
  std::optional<StepFigure> figure;
  if (c->simulation) {
    figure = step_figure(*c->simulation, workspace ? &*workspace : nullptr, *cluster, stored);
    a.json.update(Json::parse(to_json(*figure)));
  }
  report(stored);
  a.text = answer_text(m->graph, *c, figure, o.times);
  if (within_us && least->lower_bound_bytes)
    a.text += "# memory: no less than " + bytes_text(static_cast<double>(*least->lower_bound_bytes)) + " within " +
              time_text(*within_us) + ", in this space\n";
  if (!c->candidates.empty()) add_candidates(c->candidates, a);
  if (o.explain == kPlanItself && c->simulation) add_why(c->candidates, *c, *cluster, a);
  if (!o.explain.empty() && o.explain != kPlanItself && c->result) {
    const Result<std::vector<Conversion>> explained =
        explain(*c->result->graph, c->result->program, *cluster, o.explain);
    if (!explained.value) return bad_input(explained.diagnostics);
    a.json["conversions"] = conversions_json(*explained);
    a.text = conversions_text(*explained);
  }
  if (c->simulation) a.json["recorded"] = store(o, workspace, *m, *cluster, *c, a.json);
  if (o.times && c->result)
    for (const PassTime& t : c->result->times) a.json["times"][t.pass] = t.seconds;
  a.json["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return a;
}

}  // namespace planscope::cli
