#include "storage/recording.h"

#include <nlohmann/json.hpp>

namespace planscope {

namespace {

using Json = nlohmann::json;

Json to_json(const RunRow& r, const std::vector<SpanRow>& spans) {
  Json list = Json::array();
  for (const SpanRow& s : spans) list.push_back({s.rank, s.step, s.instruction, s.kind, s.start_us, s.dur_us});
  return {{"id", r.id},
          {"ranks", r.ranks},
          {"status", static_cast<int>(r.status)},
          {"boot", r.process.boot},
          {"process", r.process.pid},
          {"process_start", r.process.start},
          {"started_us", r.started_us},
          {"ended_us", r.ended_us.value_or(r.started_us)},
          {"result", r.result},
          {"spans", std::move(list)}};
}

void read_run(const Json& j, Recording& out) {
  RunRow r;
  r.id = j.at("id");
  r.ranks = j.at("ranks");
  const int status = j.at("status");
  r.status = status >= 0 && status <= static_cast<int>(RunStatus::interrupted) ? static_cast<RunStatus>(status)
                                                                              : RunStatus::interrupted;
  r.process = {j.at("boot"), j.at("process"), j.at("process_start")};
  r.started_us = j.at("started_us");
  r.ended_us = j.at("ended_us").get<std::int64_t>();
  r.result = j.at("result");
  out.run = std::move(r);
  for (const Json& s : j.at("spans")) out.spans.push_back({s.at(0), s.at(1), s.at(2), s.at(3), s.at(4), s.at(5)});
}

}  // namespace

std::string print(const Recording& r) {
  Json j = {{"model", {{"digest", r.model.digest}, {"name", r.model.name}, {"path", r.model.path}, {"info", r.model.info}}},
            {"plan", {{"id", r.plan.id}, {"name", r.plan.name}, {"text", r.plan.text}}},
            {"cluster", {{"digest", r.cluster.digest}, {"name", r.cluster.name}, {"json", r.cluster.json}}}};
  if (r.prediction) j["prediction"] = r.prediction->json;
  if (r.verification) j["verification"] = {{"verdict", r.verification->verdict}, {"json", r.verification->json}};
  if (r.run) j["run"] = to_json(*r.run, r.spans);
  return j.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Recording> parse_recording(std::string_view text) {
  try {
    const Json j = Json::parse(text);
    Recording r;
    const Json &model = j.at("model"), &plan = j.at("plan"), &cluster = j.at("cluster");
    r.model.digest = model.at("digest");
    r.model.name = model.at("name");
    r.model.path = model.at("path");
    r.model.info = model.at("info");
    r.plan.id = plan.value("id", RowId{0});
    r.plan.name = plan.at("name");
    r.plan.text = plan.at("text");
    r.cluster.digest = cluster.at("digest");
    r.cluster.name = cluster.at("name");
    r.cluster.json = cluster.at("json");
    if (j.contains("prediction")) {
      r.prediction.emplace();
      r.prediction->json = j["prediction"];
    }
    if (j.contains("verification")) {
      r.verification.emplace();
      r.verification->verdict = j["verification"].at("verdict");
      r.verification->json = j["verification"].at("json");
    }
    if (j.contains("run")) read_run(j["run"], r);
    return r;
  } catch (const Json::exception& e) {
    return error("the recording is malformed", e.what());
  }
}

}  // namespace planscope
