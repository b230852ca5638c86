#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <map>

#include "app/cli/command.h"
#include "engine/base/text.h"
#include "planner/complete/complete.h"
#include "app/workbench/demo_report.h"
#include "app/workbench/profiling.h"
#include "app/workbench/timeline.h"
#include "app/workbench/training.h"
#include "engine/plan/printer.h"
#include "planner/simulate/trace.h"
#include "planner/verify/verify.h"

namespace planscope::cli {

namespace {

namespace fs = std::filesystem;

// Plans are named MODEL-WHAT.plan; these are the ones of the short demo.
constexpr const char* short_demo[] = {"gpt2_tiny-data-tensor", "gpt2_tiny-1f1b",      "gpt2_tiny-zero3",
                                      "gpt2_tiny-open",        "t5_tiny-data-tensor", "t5_tiny-1f1b"};
constexpr int demo_steps = 3;

std::string samples(const Options& o) {
  std::error_code ec;
  const fs::path beside = fs::path(o.program_folder).parent_path() / "share/planscope/sample_models";
  return fs::is_directory(beside, ec) ? beside.string() : PLANSCOPE_SAMPLES;
}

std::vector<std::string> demo_plans(const std::string& folder, bool all) {
  std::vector<std::string> names;
  if (!all) return {std::begin(short_demo), std::end(short_demo)};
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(folder + "/plans", ec))
    if (entry.path().extension() == ".plan") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

// Beside what was built, or in the current folder for a program that was installed.
std::string default_folder(const Options& o) {
  const fs::path build = fs::path(o.program_folder).parent_path();
  std::error_code ec;
  return fs::exists(build / "CMakeCache.txt", ec) ? (build / "demo").string() : "planscope-demo";
}

class Demo {
 public:
  Demo(const Options& o, Workspace* workspace)
      : o_(o), workspace_(workspace), samples_(samples(o)), folder_(o.folder.empty() ? default_folder(o) : o.folder) {}

  Answer run() {
    std::error_code ec;
    fs::create_directories(folder_, ec);
    if (ec) return bad_input({error("cannot make the folder '" + folder_ + "'", ec.message(), "-o names another one")});
    const std::vector<std::string> names = demo_plans(samples_, o_.all);
    if (names.empty()) return bad_input({error("no sample plans in '" + samples_ + "/plans'")});
    for (const std::string& name : names) {
      if (interrupted) break;
      std::cerr << "[" << rows_.size() + 1 << "/" << names.size() << "] " << name << std::flush;
      const auto begin = std::chrono::steady_clock::now();
      rows_.push_back(row(name));
      std::cerr << ": " << rows_.back().verdict << (rows_.back().problem.empty() ? "" : ", " + rows_.back().problem)
                << ", "
                << time_text(
                       std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count())
                << "\n";
    }
    const Result<Done> written = write_file(folder_ + "/index.html", report_html("planscope demo", rows_));
    if (written.has_errors()) return bad_input(written.diagnostics);
    return answer();
  }

 private:
  ReportRow row(const std::string& name) {
    ReportRow r;
    r.model = name.substr(0, name.find('-'));
    r.plan = name.size() > r.model.size() ? name.substr(r.model.size() + 1) : name;
    r.verdict = "refused";
    std::vector<Diagnostic> problems;
    if (std::optional<Materials> m = materials(name, r, problems)) try_out(name, *m, r, problems);
    report(problems);
    for (const Diagnostic& d : problems)
      if (d.severity == Severity::error && r.problem.empty()) r.problem = to_string(d);
    return r;
  }

  const OpenModel* model(const std::string& name, std::vector<Diagnostic>& problems) {
    const auto known = models_.find(name);
    if (known != models_.end()) return &known->second;
    Result<OpenModel> m = open_model(samples_ + "/" + name + ".pt2", nullptr);
    problems.insert(problems.end(), m.diagnostics.begin(), m.diagnostics.end());
    if (!m.value || m.has_errors()) return nullptr;
    return &models_.emplace(name, std::move(*m)).first->second;
  }

  // Opened and completed.
  std::optional<Materials> materials(const std::string& name, ReportRow& r, std::vector<Diagnostic>& problems) {
    const auto take = [&](const auto& result) {
      problems.insert(problems.end(), result.diagnostics.begin(), result.diagnostics.end());
      return result.value && !result.has_errors();
    };
    const OpenModel* m = model(r.model, problems);
    const Result<plan::Plan> p = open_plan(samples_ + "/plans/" + name + ".plan", nullptr);
    if (!take(p) || !m) return std::nullopt;
    const Result<Cluster> cluster = open_cluster("local", *p, workspace_);
    if (!take(cluster)) return std::nullopt;
    CostModel costs = stored_costs(workspace_, *cluster, problems);
    Result<Completion> c =
        complete(m->graph, *p, {}, *cluster, {.keep_automatic = true, .costs = costs}, interrupted);
    if (!take(c)) return std::nullopt;
    if (c->status != CompletionStatus::complete) {
      r.verdict = to_string(c->status);
      return std::nullopt;
    }
    c->plan.file = p->file;
    r.text = plan::print(c->plan);
    r.predicted_us = c->simulation->step_us();
    write(name, *c, r, problems);
    return Materials{*m, std::move(c->plan), *cluster, std::move(*c->result), std::move(costs)};
  }

  void write(const std::string& name, const Completion& c, ReportRow& r, std::vector<Diagnostic>& problems) {
    const auto file = [&](const std::string& file_name, const std::string& text) {
      const Result<Done> written = write_file(folder_ + "/" + file_name, text);
      problems.insert(problems.end(), written.diagnostics.begin(), written.diagnostics.end());
    };
    file(name + ".plan", r.text);
    r.svg = timeline_svg(*c.result->graph, c.result->program, *c.simulation, name);
    r.trace_file = name + ".trace.json";
    r.trace = to_chrome_trace(*c.result->graph, c.result->program, *c.simulation);
    file(r.trace_file, r.trace);
  }

  // Verified and run.
  void try_out(const std::string& name, const Materials& m, ReportRow& r, std::vector<Diagnostic>& problems) {
    const VerifyReport v = planscope::verify(*m.result.graph, m.result.program);
    r.verdict = to_string(v.verdict);
    if (!v.failures.empty()) r.problem = to_string(v.failures.front());
    const TrainingSpec spec{o_.program_folder + "/planscope-worker", trial_folder(o_), demo_steps, "adamw", 1};
    const Training t = train(m, spec, workspace_, {}, interrupted, problems);
    r.oversubscribed = t.trial.oversubscribed;
    std::vector<Microseconds> steps = t.trial.steps;
    std::sort(steps.begin(), steps.end());
    if (!steps.empty()) r.step_us = steps[steps.size() / 2].count;
    for (const Bytes b : t.trial.peak) {
      r.peak_bytes = std::max(r.peak_bytes.value_or(0), b.count);
      r.rank_peaks.push_back(b.count);
    }
    for (const Bytes b : t.predicted_peak) r.predicted_peaks.push_back(b.count);
    if (t.trial.check) {
      r.equal = t.trial.check->equal;
      r.max_relative_error = t.trial.check->max_relative_error;
    }
    if (t.trial.failure) r.problem = name + ": " + t.trial.failure->reason;
  }

  Answer answer() const {
    Answer a;
    a.json["rows"] = Json::array();
    std::vector<std::vector<std::string>> text = {
        {"model", "plan", "verdict", "predicted", "measured", "peak memory", "equal to one device"}};
    bool shared = false, good = true;
    const auto maybe = [](const auto& v) { return v ? Json(*v) : Json(); };
    for (const ReportRow& r : rows_) {
      a.json["rows"].push_back({{"model", r.model},
                                {"plan", r.plan},
                                {"verdict", r.verdict},
                                {"predicted_step_us", maybe(r.predicted_us)},
                                {"step_us", maybe(r.step_us)},
                                {"oversubscribed", r.oversubscribed},
                                {"peak_bytes", maybe(r.peak_bytes)},
                                {"rank_peak_bytes", r.rank_peaks},
                                {"predicted_peak_bytes", r.predicted_peaks},
                                {"equal", maybe(r.equal)},
                                {"max_relative_error", maybe(r.max_relative_error)},
                                {"problem", r.problem}});
      char error[32] = "";
      if (r.max_relative_error) std::snprintf(error, sizeof error, " (%.1e)", *r.max_relative_error);
      text.push_back({r.model, r.plan, r.verdict, r.predicted_us ? time_text(*r.predicted_us) : "–",
                      r.step_us ? time_text(*r.step_us) + (r.oversubscribed ? " *" : "") : "–",
                      r.peak_bytes ? bytes_text(static_cast<double>(*r.peak_bytes)) : "–",
                      r.equal ? (*r.equal ? "yes" : "NO") + std::string(error) : "–"});
      shared = shared || r.oversubscribed;
      good = good && (r.verdict == "equivalent" || r.verdict == "relaxed") && r.equal.value_or(false);
    }
    a.text = table(text);
    if (shared) a.text += "* more processes than cores: not comparable with the prediction\n";
    a.text += "\nreport: " + folder_ + "/index.html\n";
    a.json["report"] = folder_ + "/index.html";
    a.status = interrupted ? kUnknown : good ? kDone : kNo;
    return a;
  }

  const Options& o_;
  Workspace* workspace_;
  std::string samples_, folder_;
  std::map<std::string, OpenModel> models_;
  std::vector<ReportRow> rows_;
};

}  // namespace

Answer demo(const Options& o) {
  const auto begin = std::chrono::steady_clock::now();
  std::optional<Workspace> workspace = open_workspace(o);
  Answer a = Demo(o, workspace ? &*workspace : nullptr).run();
  a.json["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return a;
}

}  // namespace planscope::cli
