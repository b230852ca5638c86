#include "app/workbench/session.h"

#include <chrono>
#include <filesystem>

#include "app/workbench/error_band.h"
#include "app/workbench/module_tree.h"
#include "app/workbench/profiling.h"
#include "app/workbench/timeline.h"
#include "app/workbench/workbench.h"
#include "engine/plan/parser.h"
#include "planner/simulate/simulate.h"
#include "planner/verify/verify.h"

namespace planscope {

namespace {

std::string millions(std::int64_t n) {
  char text[32];
  const double v = static_cast<double>(n);
  if (v >= 1e9)
    std::snprintf(text, sizeof text, "%.2f B", v / 1e9);
  else if (v >= 1e6)
    std::snprintf(text, sizeof text, "%.1f M", v / 1e6);
  else
    std::snprintf(text, sizeof text, "%.1f K", v / 1e3);
  return text;
}

VerdictView view_of(const VerifyReport& r, double seconds) {
  VerdictView v;
  v.state = r.verdict == Verdict::equivalent  ? VerdictState::equivalent
            : r.verdict == Verdict::relaxed   ? VerdictState::relaxed
            : r.verdict == Verdict::different ? VerdictState::different
                                              : VerdictState::unknown;
  v.text = std::string(to_string(r.verdict));
  if (r.verdict != Verdict::equivalent && !r.failures.empty()) v.text += ": " + to_string(r.failures.front());
  char text[64];
  std::snprintf(text, sizeof text, "%lld checks, %.2f s", static_cast<long long>(r.obligations), seconds);
  v.detail = text;
  return v;
}

class RealSession final : public Session {
 public:
  explicit RealSession(SessionSettings settings) : settings_(std::move(settings)) {}

  SessionSnapshot open_model(const std::string& path, const Cancel& cancel) override {
    Result<OpenModel> opened = planscope::open_model(path, nullptr);
    opened_ = opened.diagnostics;
    model_.reset();
    state_.model_name.clear();
    state_.model_summary.clear();
    state_.modules = nullptr;
    if (opened.value && !opened.has_errors()) {
      model_ = std::move(*opened.value);
      const ModelSummary s = summarize(model_->graph);
      state_.model_name = s.name;
      state_.model_summary = millions(s.parameters) + " parameters · " + std::to_string(s.operators) + " operators";
      state_.modules = std::make_shared<const std::vector<ModuleNode>>(module_tree(model_->graph));
    }
    return judge(cancel);
  }

  SessionSnapshot open_plan(const std::string& path, const Cancel& cancel) override {
    Result<std::string> text = read_file(path);
    opened_ = text.diagnostics;
    if (text.value) {
      state_.plan_text = std::move(*text.value);
      state_.plan_path = path;
      state_.plan_name = std::filesystem::path(path).stem().string();
    }
    return judge(cancel);
  }

  SessionSnapshot set_plan(const std::string& text, const Cancel& cancel) override {
    opened_.clear();
    state_.plan_text = text;
    return judge(cancel);
  }

  SessionSnapshot save_plan(const std::string& path, const Cancel&) override {
    const Result<Done> written = write_file(path, state_.plan_text);
    std::vector<Diagnostic> kept = state_.diagnostics;
    std::erase_if(kept, [](const Diagnostic& d) { return d.line == 0; });
    kept.insert(kept.begin(), written.diagnostics.begin(), written.diagnostics.end());
    state_.diagnostics = std::move(kept);
    if (!written.has_errors()) {
      state_.plan_path = path;
      state_.plan_name = std::filesystem::path(path).stem().string();
    }
    return state_;
  }

 private:
  template <class F>
  auto timed(const char* name, F&& f) {
    const auto begin = std::chrono::steady_clock::now();
    auto out = f();
    state_.timings.push_back(
        {name, {std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count()}});
    return out;
  }

  template <class T>
  bool accept(const Result<T>& r) {
    state_.diagnostics.insert(state_.diagnostics.end(), r.diagnostics.begin(), r.diagnostics.end());
    return r.value && !r.has_errors();
  }

  void clear() {
    state_.diagnostics = opened_;
    state_.verdict = {};
    state_.step.reset();
    state_.step_origin.clear();
    state_.peak = state_.capacity = {};
    state_.timeline = nullptr;
    state_.instructions = nullptr;
    state_.timings.clear();
  }

  SessionSnapshot refuse(const char* why) {
    state_.verdict = {VerdictState::refused, why, ""};
    return state_;
  }

  // All that follows from the model and the plan text. Gives up between two steps once nobody waits.
  SessionSnapshot judge(const Cancel& cancel) {
    clear();
    const Result<plan::Plan> plan =
        timed("parse", [&] { return plan::parse_plan(state_.plan_text, state_.plan_path); });
    const bool parsed = accept(plan);
    if (!model_ || state_.plan_text.empty() || !plan.value) return state_;
    const Workspace* workspace = open_workspace();
    const Result<Cluster> cluster = open_cluster(settings_.cluster, *plan, workspace);
    if (!accept(cluster)) return refuse("the plan does not fit the cluster");
    state_.cluster_name = cluster->name;
    const Result<Materialized> made =
        timed("materialize", [&] { return materialize(model_->graph, *plan, *cluster, {}, &cache_); });
    if (!accept(made) || !parsed) return refuse("the plan has errors");
    if (cancel.cancelled()) return state_;
    SimulationOptions options;
    options.costs = stored_costs(workspace, *cluster, state_.diagnostics);
    const Result<Simulation> simulated =
        timed("simulate", [&] { return simulate(*made->graph, made->program, *cluster, options); });
    if (accept(simulated)) show(*made, *simulated, *cluster, workspace);
    if (cancel.cancelled()) return state_;
    const VerifyReport report = timed("verify", [&] { return verify(*made->graph, made->program); });
    state_.verdict = view_of(report, state_.timings.back().time.value / 1e6);
    for (const Failure& f : report.failures) {
      Diagnostic d = error(to_string(f));
      d.file = f.statement.file;
      d.line = f.statement.line;
      state_.diagnostics.push_back(std::move(d));
    }
    return state_;
  }

  // Others may write to it meanwhile: what it holds is read anew for every prediction.
  const Workspace* open_workspace() {
    if (workspace_ || settings_.workspace.empty()) return workspace_ ? &*workspace_ : nullptr;
    std::error_code ec;
    if (!std::filesystem::exists(settings_.workspace, ec)) return nullptr;
    Result<Workspace> opened = Workspace::open(settings_.workspace, clock_);
    state_.diagnostics.insert(state_.diagnostics.end(), opened.diagnostics.begin(), opened.diagnostics.end());
    if (opened.value) workspace_ = std::move(*opened.value);
    return workspace_ ? &*workspace_ : nullptr;
  }

  void show(const Materialized& made, const Simulation& s, const Cluster& cluster, const Workspace* workspace) {
    state_.step = viz::Microseconds{s.step_us()};
    state_.step_origin = to_string(step_figure(s, workspace, cluster, state_.diagnostics));
    const auto room = [](const ClassTimeline& c) { return c.capacity.count - c.peak.bytes(); };
    const auto fullest = std::min_element(s.classes.begin(), s.classes.end(),
                                          [&](const auto& a, const auto& b) { return room(a) < room(b); });
    if (fullest != s.classes.end()) {
      state_.peak = {static_cast<double>(fullest->peak.bytes())};
      state_.capacity = {static_cast<double>(fullest->capacity.count)};
    }
    Timeline t = timeline(*made.graph, made.program, s);
    state_.timeline = std::make_shared<const viz::TimelineModel>(std::move(t.model));
    state_.instructions = std::make_shared<const std::vector<InstructionDetail>>(std::move(t.instructions));
  }

  SessionSettings settings_;
  SystemClock clock_;  // before the workspace, which keeps a reference
  std::optional<Workspace> workspace_;
  MaterializeCache cache_;
  std::optional<OpenModel> model_;
  std::vector<Diagnostic> opened_;  // of what was opened last
  SessionSnapshot state_;
};

}  // namespace

std::unique_ptr<Session> make_session(const SessionSettings& settings) {
  return std::make_unique<RealSession>(settings);
}

}  // namespace planscope
