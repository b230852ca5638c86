#include "app/session/trying.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>

#include "app/workbench/training.h"
#include "engine/base/format.h"
#include "engine/plan/parser.h"

namespace planscope::session {

namespace {

constexpr std::chrono::milliseconds kBetweenAnswers{100};  // progress is for the eye

RankPlace place_of(const Position& p) {
  RankPlace out;
  if (p.steps > 0) out.step = std::to_string(p.step + 1) + " of " + std::to_string(p.steps);
  const std::string number = p.instruction < 0 ? "" : "instruction " + std::to_string(p.instruction) + ", ";
  out.at = number + (p.waiting ? "waits in " : "") + (p.what.empty() ? "begins" : p.what);
  return out;
}

class Trying {
 public:
  using Answer = std::function<void(std::shared_ptr<const TrialAnswer>)>;
  Trying(const TrialRequest& request, const Answer& answer, const Jobs::Report& report)
      : request_(request), answer_(answer), report_(report) {
    now_.job = report.id();
  }

  Jobs::End run() {
    tell();
    Jobs::End end = work();
    if (end.state == JobState::done) leave_all_steps();
    if (now_.phase == "reference") now_.ranks.clear();  // one device is no rank of the plan
    now_.running = false;
    now_.outcome = end.text;
    tell();
    return end;
  }

 private:
  Jobs::End refused(std::vector<Diagnostic> why) {
    now_.diagnostics.insert(now_.diagnostics.end(), why.begin(), why.end());
    return Jobs::End::refused(now_.diagnostics, "the plan cannot be run");
  }

  Jobs::End work() {
    const SystemClock clock;
    Result<Workspace> w = Workspace::open(request_.workspace.empty() ? ":memory:" : request_.workspace, clock);
    Workspace* const workspace = w.value && !request_.workspace.empty() ? &*w : nullptr;
    Result<plan::Plan> p = plan::parse_plan(request_.text, request_.name);
    if (!p.value || p.has_errors()) return refused(p.diagnostics);
    Result<Materials> m = open_materials(*request_.model, std::move(*p.value), request_.cluster, "run", workspace);
    if (!m.value || m.has_errors()) return refused(m.diagnostics);
    const int devices = m->result.program.device_count;
    if (request_.procs != 0 && request_.procs != devices)
      return refused({error("the plan is for " + std::to_string(devices) + (devices == 1 ? " device, not " : " devices, not ") + std::to_string(request_.procs),
                            "every device is a process", "procs=" + std::to_string(devices))});
    if (m->model.model->loss < 0) return refused({error("the model has no loss: it cannot be trained", m->model.model->path)});
    return trained(*m, workspace);
  }

  Jobs::End trained(const Materials& m, Workspace* workspace) {
    const std::filesystem::path file(request_.workspace);
    TrainingSpec spec{.worker = request_.programs + "/planscope-worker",
                      .folder = (file.has_parent_path() ? file.parent_path() / "trials" : std::filesystem::path("trials")).string(),
                      .steps = request_.steps,
                      .optimizer = request_.optimizer,
                      .seed = request_.seed,
                      .inputs = request_.inputs};
    spec.plan = workspace ? request_.version : 0;
    spec.join = request_.join;
    spec.address = request_.address;
    spec.workspace = request_.workspace;
    spec.on_join = [this](int joined, int ranks) {
      const std::string waits = joined < ranks ? ", start the others: planscope-worker --join " + request_.join : "";
      report_.progress(joined, ranks, "",
                       std::to_string(joined) + " of " + std::to_string(ranks) + " processes have joined" + waits);
    };
    const Training t = train(m, spec, workspace, [this](const TrialProgress& p) { progress(p); }, report_.stop(), now_.diagnostics);
    const TrialResult& r = t.trial;
    if (workspace && t.recorded) now_.run = t.run;
    now_.ended_well = r.status == LaunchStatus::done && r.check && r.check->equal && r.check->not_finite.empty();
    if (workspace && t.recorded && r.status == LaunchStatus::done) compare_with_prediction(*workspace, t.run);
    if (r.failure) {
      const std::string rank = rank_text(r.failure->rank, r.failure->instruction);
      return {r.status == LaunchStatus::interrupted ? JobState::cancelled : JobState::failed,
              (rank.empty() ? "" : rank + ": ") + r.failure->reason};
    }
    if (r.status == LaunchStatus::interrupted) return {JobState::cancelled, "ended before it was over"};
    if (!r.check) return {JobState::done, "not compared with one device"};
    if (!r.check->not_finite.empty()) return {JobState::done, "the one-device run holds no numbers in " + r.check->not_finite};
    return {JobState::done, r.check->equal ? "equal to one device" : "NOT equal to one device, in " + r.check->what + " " + r.check->tensor};
  }

  void compare_with_prediction(const Workspace& workspace, RowId run) {
    Result<MeasuredRun> m = measured_run(*request_.model, workspace, run, request_.cluster);
    now_.diagnostics.insert(now_.diagnostics.end(), m.diagnostics.begin(), m.diagnostics.end());
    if (m.value) now_.measured = std::make_shared<const MeasuredRun>(std::move(*m.value));
  }

  void progress(const TrialProgress& p) {
    if (p.phase != now_.phase) positions_.clear();
    now_.phase = p.phase;
    positions_[p.rank] = p.position;
    now_.ranks[p.rank] = place_of(p.position);
    const auto now = std::chrono::steady_clock::now();
    if (now - told_ < kBetweenAnswers) return;
    told_ = now;
    const RankPlace& place = now_.ranks[p.rank];
    const std::string who = p.phase == "reference" ? "on one device" : "rank " + std::to_string(p.rank);
    report_.progress(steps_made(), all_steps(), "", who + (place.step.empty() ? "" : ", step " + place.step) + ": " + place.at);
    tell();
  }

  // Of the rank that has made the least, with the part of the step that it is in; in hundredths, to be read.
  std::optional<double> steps_made() const {
    std::optional<double> least;
    for (const auto& [rank, p] : positions_) {
      const double part = p.instructions > 0 ? std::clamp(static_cast<double>(p.instruction) / static_cast<double>(p.instructions), 0.0, 1.0) : 0;
      const double made = std::floor(100 * (static_cast<double>(p.step) + part)) / 100;
      if (p.steps > 0) least = std::min(least.value_or(made), made);
    }
    return least;
  }

  std::optional<double> all_steps() const {
    for (const auto& [rank, p] : positions_)
      if (p.steps > 0) return static_cast<double>(p.steps);
    return std::nullopt;
  }

  // Every rank has made its steps; where it was when it last said so is no more than a moment of them.
  void leave_all_steps() {
    const std::optional<double> all = all_steps();
    const std::string steps = all ? std::to_string(static_cast<std::int64_t>(*all)) : "";
    for (auto& [rank, place] : now_.ranks) place = {.step = steps.empty() ? "" : steps + " of " + steps, .at = ""};
  }

  void tell() const { answer_(std::make_shared<const TrialAnswer>(now_)); }

  const TrialRequest& request_;
  const Answer& answer_;
  const Jobs::Report& report_;
  std::chrono::steady_clock::time_point told_{};
  std::map<int, Position> positions_;  // of this phase, by rank
  TrialAnswer now_;
};

}  // namespace

int try_in_background(Jobs& jobs, TrialRequest request, std::function<void(std::shared_ptr<const TrialAnswer>)> answer) {
  return jobs.start("run", [request = std::move(request), answer = std::move(answer)](const Jobs::Report& report) {
    return Trying(request, answer, report).run();
  });
}

}  // namespace planscope::session
