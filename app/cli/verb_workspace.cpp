#include <ctime>

#include "app/cli/command.h"
#include "engine/base/text.h"

namespace planscope::cli {

namespace {

std::string when(std::int64_t wall_us) {
  const std::time_t t = wall_us / 1'000'000;
  std::tm parts{};
  localtime_r(&t, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
  return text;
}

// Stored JSON as JSON; what is not JSON as text.
Json stored(const std::string& text) {
  Json json = Json::parse(text, nullptr, false);
  return json.is_discarded() ? Json(text) : json;
}

Json json_of(const ModelRow& r) {
  return {{"name", r.name}, {"digest", r.digest}, {"path", r.path}, {"created_us", r.created_us}};
}

Json json_of(const PlanRow& r) {
  return {{"id", r.id},
          {"name", r.name},
          {"model", r.model ? Json(*r.model) : Json()},
          {"parent", r.parent ? Json(*r.parent) : Json()},
          {"created_us", r.created_us}};
}

Json json_of(const RunRow& r) {
  return {{"id", r.id},
          {"plan", r.plan},
          {"ranks", r.ranks},
          {"status", to_string(r.status)},
          {"started_us", r.started_us},
          {"ended_us", r.ended_us ? Json(*r.ended_us) : Json()},
          {"result", stored(r.result)}};
}

std::string step_of(const RunRow& r) {
  const Json result = stored(r.result);
  if (!result.is_object() || !result.contains("step_us") || result["step_us"].empty()) return "";
  return time_text(result["step_us"].back().get<double>()) +
         (result.value("oversubscribed", false) ? " (shared cores)" : "");
}

Answer show_run(const Workspace& w, RowId id) {
  const Result<RunRow> run = w.run(id);
  if (!run.ok()) return bad_input(run.diagnostics);
  const Result<std::vector<SpanRow>> spans = w.spans(id);
  if (!spans.ok()) return bad_input(spans.diagnostics);
  Answer a;
  a.json = json_of(*run);
  a.json["spans"] = spans->size();
  a.text = "run " + std::to_string(id) + " of plan " + std::to_string(run->plan) + ", " + std::to_string(run->ranks) +
           " ranks, " + std::string(to_string(run->status)) + ", started " + when(run->started_us) + ", " +
           std::to_string(spans->size()) + " spans\n" + run->result + "\n";
  return a;
}

Answer show_plan(const Workspace& w, const PlanRow& plan) {
  Answer a;
  a.json = json_of(plan);
  a.json["text"] = plan.text;
  a.text = "# plan " + std::to_string(plan.id) + " '" + plan.name + "', " + when(plan.created_us) + "\n" + plan.text;
  const auto history = w.history(plan.id);
  if (history.ok() && history->size() > 1) {
    a.json["history"] = Json::array();
    for (const PlanRow& p : *history) a.json["history"].push_back(p.id);
    a.text += "# edited from plan " + std::to_string((*history)[1].id) + ", " + std::to_string(history->size()) +
              " versions\n";
  }
  const auto verifications = w.verifications(plan.id);
  a.json["verifications"] = Json::array();
  if (verifications.ok())
    for (const VerificationRow& v : *verifications) {
      a.json["verifications"].push_back(stored(v.json));
      a.text += "# " + when(v.created_us) + "  " + v.verdict + "\n";
    }
  const auto predictions = w.predictions(plan.id);
  a.json["predictions"] = Json::array();
  if (predictions.ok())
    for (const PredictionRow& p : *predictions) {
      const Json json = stored(p.json);
      a.json["predictions"].push_back(json);
      if (json.contains("step_us"))
        a.text += "# " + when(p.created_us) + "  predicted step " + time_text(json["step_us"].get<double>()) + "\n";
    }
  const auto runs = w.runs(plan.id);
  a.json["runs"] = Json::array();
  if (runs.ok())
    for (const RunRow& r : *runs) {
      a.json["runs"].push_back(json_of(r));
      a.text += "# " + when(r.started_us) + "  run " + std::to_string(r.id) + " " + std::string(to_string(r.status)) +
                " " + step_of(r) + "\n";
    }
  return a;
}

// A workspace that must be there.
Result<Workspace> need_workspace(const Options& o) {
  std::optional<Workspace> w = open_workspace(o);
  if (!w) return error("the workspace '" + o.workspace + "' cannot be opened");
  return std::move(*w);
}

bool is_number(const std::string& s) {
  return !s.empty() && s.size() < 18 && s.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

Answer list(const Options& o) {
  Result<Workspace> w = need_workspace(o);
  if (!w.ok()) return bad_input(w.diagnostics);
  const auto models = w->models();
  const auto plans = w->plans();
  const auto runs = w->runs();
  const auto clusters = w->clusters();
  for (const auto* d : {&models.diagnostics, &plans.diagnostics, &runs.diagnostics, &clusters.diagnostics})
    if (has_errors(*d)) return bad_input(*d);
  Answer a;
  for (const char* key : {"models", "plans", "runs", "clusters"}) a.json[key] = Json::array();
  std::vector<std::vector<std::string>> m = {{"model", "seen", "file"}}, p = {{"plan", "name", "model", "made"}},
                                        r = {{"run", "plan", "ranks", "status", "step", "started"}};
  for (const ModelRow& row : *models) {
    a.json["models"].push_back(json_of(row));
    m.push_back({row.name, when(row.created_us), row.path});
  }
  const auto model_name = [&](RowId id) {
    for (const ModelRow& row : *models)
      if (row.id == id) return row.name;
    return std::string("?");
  };
  for (const PlanRow& row : *plans) {
    a.json["plans"].push_back(json_of(row));
    p.push_back({std::to_string(row.id), row.name, row.model ? model_name(*row.model) : "", when(row.created_us)});
  }
  for (const RunRow& row : *runs) {
    a.json["runs"].push_back(json_of(row));
    r.push_back({std::to_string(row.id), std::to_string(row.plan), std::to_string(row.ranks),
                 std::string(to_string(row.status)), step_of(row), when(row.started_us)});
  }
  for (const ClusterRow& row : *clusters)
    a.json["clusters"].push_back({{"id", row.id}, {"name", row.name}, {"digest", row.digest}});
  a.text = o.workspace + "\n\n" + table(m) + "\n" + table(p) + "\n" + table(r);
  return a;
}

Answer show(const Options& o) {
  Result<Workspace> w = need_workspace(o);
  if (!w.ok()) return bad_input(w.diagnostics);
  if (o.id == "run") {
    if (!is_number(o.name))
      return bad_input({error("'show run' needs the number of a run", "", "'planscope list' shows them")});
    return show_run(*w, std::stoll(o.name));
  }
  if (is_number(o.id)) {
    const auto plan = w->plan(std::stoll(o.id));
    return plan.ok() ? show_plan(*w, *plan) : bad_input(plan.diagnostics);
  }
  const auto plan = w->find_plan(o.id);
  if (plan.ok() && plan->has_value()) return show_plan(*w, **plan);
  const auto model = w->find_model(o.id);
  if (model.ok() && model->has_value()) {
    Answer a;
    a.json = json_of(**model);
    a.text = (*model)->name + "  " + (*model)->digest + "\n" + (*model)->path + "\n";
    return a;
  }
  return bad_input(
      {error("the workspace has no plan and no model '" + o.id + "'", "", "'planscope list' shows what there is")});
}

}  // namespace planscope::cli
