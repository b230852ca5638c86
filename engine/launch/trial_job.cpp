#include "engine/launch/trial_job.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace planscope {

namespace {

using Json = nlohmann::json;

Diagnostic malformed(const char* what, const std::exception& e) {
  return error(std::string(what) + " is malformed", e.what());
}

std::string_view to_string(TrialTask task) {
  switch (task) {
    case TrialTask::trial:
      return "trial";
    case TrialTask::reference:
      return "reference";
    case TrialTask::record:
      return "record";
  }
  return "trial";
}

Json number(double value) {
  if (std::isfinite(value)) return value;
  return nullptr;
}

double number(const Json& json) {
  return json.is_null() ? std::numeric_limits<double>::infinity() : json.get<double>();
}

}  // namespace

std::string print(const TrialJob& job) {
  return Json{{"task", to_string(job.task)},
              {"model", job.model},
              {"sizes", job.sizes},
              {"program", job.program},
              {"steps", job.steps},
              {"optimizer", job.optimizer},
              {"seed", job.seed},
              {"check", job.check},
              {"reference", job.reference},
              {"inputs", job.inputs},
              {"turn_from", job.turn_from},
              {"turn_to", job.turn_to},
              {"lags", job.lags}}
      .dump();
}

Result<TrialJob> parse_trial_job(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    TrialJob job;
    for (const TrialTask task : {TrialTask::trial, TrialTask::reference, TrialTask::record})
      if (json.at("task") == to_string(task)) job.task = task;
    job.model = json.at("model");
    job.sizes = json.at("sizes").get<decltype(job.sizes)>();
    job.program = json.at("program");
    job.steps = json.at("steps");
    job.optimizer = json.at("optimizer");
    job.seed = json.at("seed");
    job.check = json.at("check");
    job.reference = json.at("reference");
    job.inputs = json.at("inputs");
    job.turn_from = json.at("turn_from");
    job.turn_to = json.at("turn_to");
    job.lags = json.at("lags").get<decltype(job.lags)>();
    return job;
  } catch (const Json::exception& e) {
    return malformed("the job", e);
  }
}

std::string print(const RankReport& report) {
  Json steps = Json::array(), cpu = Json::array(), losses = Json::array(), errors = Json::array();
  for (const Microseconds step : report.steps) steps.push_back(step.count);
  for (const Microseconds step : report.cpu) cpu.push_back(step.count);
  for (const double loss : report.losses) losses.push_back(number(loss));
  for (const TrialError& e : report.errors) {
    errors.push_back(
        {{"pass", e.pass}, {"error", number(e.error)}, {"allowed", number(e.allowed)}, {"tensor", e.tensor}, {"what", e.what},
         {"not_finite", e.not_finite}});
  }
  return Json{{"transport", report.transport},
              {"step_us", steps},
              {"cpu_us", cpu},
              {"peak_bytes", report.peak.count},
              {"resident_bytes", report.resident.count},
              {"losses", losses},
              {"errors", errors},
              {"compared", report.compared},
              {"seeded", report.seeded},
              {"inputs", report.inputs},
              {"inputs_note", report.inputs_note},
              {"spans", print_spans(report.spans)}}
      .dump();
}

Result<RankReport> parse_rank_report(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    RankReport report;
    report.transport = json.at("transport");
    for (const Json& step : json.at("step_us")) report.steps.push_back({step.get<double>()});
    for (const Json& step : json.at("cpu_us")) report.cpu.push_back({step.get<double>()});
    report.peak = {json.at("peak_bytes").get<std::int64_t>()};
    report.resident = {json.at("resident_bytes").get<std::int64_t>()};
    for (const Json& loss : json.at("losses")) report.losses.push_back(loss.is_null() ? std::numeric_limits<double>::quiet_NaN() : loss.get<double>());
    for (const Json& e : json.at("errors")) {
      report.errors.push_back({e.at("pass"), number(e.at("error")), number(e.at("allowed")), e.at("tensor"), e.at("what"),
                               e.at("not_finite")});
    }
    report.compared = json.at("compared");
    report.seeded = json.at("seeded").get<std::vector<std::string>>();
    report.inputs = json.at("inputs");
    report.inputs_note = json.at("inputs_note");
    Result<SpanList> spans = parse_spans(json.at("spans").get<std::string>());
    if (!spans.value) return spans.diagnostics;
    report.spans = std::move(*spans);
    return report;
  } catch (const Json::exception& e) {
    return malformed("a rank's report", e);
  }
}

}  // namespace planscope
