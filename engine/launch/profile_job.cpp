#include "engine/launch/profile_job.h"

#include <nlohmann/json.hpp>

namespace planscope {

namespace {

using Json = nlohmann::json;

Diagnostic malformed(const char* what, const std::exception& e) {
  return error(std::string(what) + " is malformed", e.what());
}

}  // namespace

std::string print(const ProfileJob& job) {
  Json items = Json::array();
  for (const MeasuredOperator& i : job.items) items.push_back(Json::array({i.piece, i.op, i.backward}));
  Json memory = Json::array();
  for (const MeasuredMemory& m : job.memory) memory.push_back(Json::array({m.bytes, m.state}));
  return Json{{"profile", job.task == ProfileTask::links ? "links" : "operators"},
              {"model", job.model},
              {"sizes", job.sizes},
              {"program", job.program},
              {"items", items},
              {"memory", memory},
              {"seed", job.seed}}
      .dump();
}

bool is_profile_job(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  return json.is_object() && json.contains("profile");
}

Result<ProfileJob> parse_profile_job(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    ProfileJob job;
    job.task = json.at("profile") == "links" ? ProfileTask::links : ProfileTask::operators;
    job.model = json.at("model");
    job.sizes = json.at("sizes").get<decltype(job.sizes)>();
    job.program = json.at("program");
    for (const Json& i : json.at("items")) job.items.push_back({i.at(0), i.at(1), i.at(2)});
    for (const Json& m : json.at("memory")) job.memory.push_back({m.at(0), m.at(1)});
    job.seed = json.at("seed");
    return job;
  } catch (const Json::exception& e) {
    return malformed("the job", e);
  }
}

std::string print(const OperatorMeasurement& m) {
  return Json{{"item", m.item}, {"us", m.time.count}, {"repeats", m.repeats}, {"problem", m.problem}}.dump(
      -1, ' ', false, Json::error_handler_t::replace);
}

Result<OperatorMeasurement> parse_operator_measurement(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    return OperatorMeasurement{
        json.at("item"), {json.at("us").get<double>()}, json.at("repeats"), json.at("problem").get<std::string>()};
  } catch (const Json::exception& e) {
    return malformed("a measurement", e);
  }
}

std::string print(const LinkMeasurement& m) {
  return Json{{"kind", m.kind}, {"bytes", m.bytes.count}, {"us", m.time.count}}.dump();
}

Result<LinkMeasurement> parse_link_measurement(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    return LinkMeasurement{
        json.at("kind").get<std::string>(), {json.at("bytes").get<std::int64_t>()}, {json.at("us").get<double>()}};
  } catch (const Json::exception& e) {
    return malformed("a measurement", e);
  }
}

}  // namespace planscope
