#include "app/session/comparing.h"

#include <filesystem>

#include "app/workbench/profiling.h"
#include "engine/base/stop.h"
#include "engine/plan/parser.h"
#include "planner/complete/settled.h"
#include "app/session/store.h"

namespace planscope::session {

namespace {

std::string name_of(const std::string& where) {
  const std::filesystem::path path(where);
  return path.extension() == ".plan" ? path.stem().string() : where;
}

class Comparing {
 public:
  using Answer = std::function<void(std::shared_ptr<const Comparison>)>;
  Comparing(const CompareRequest& request, const Answer& answer, const Jobs::Report& report)
      : request_(request), answer_(answer), report_(report) {
    now_.job = report.id();
    now_.asked = request.text;
  }

  Jobs::End run() {
    tell();
    Jobs::End end;
    try {
      const StopScope scope([this] { return report_.stop().load(); });
      end = work();
    } catch (const Stopped&) {
      end = {JobState::cancelled, ""};
    }
    now_.running = false;
    tell();
    return end;
  }

 private:
  Jobs::End refused(const std::vector<Diagnostic>& why) {
    now_.diagnostics.insert(now_.diagnostics.end(), why.begin(), why.end());
    for (const Diagnostic& d : why)
      if (d.severity == Severity::error) return {JobState::failed, d.what};
    return {JobState::failed, "a plan cannot be completed"};
  }

  Jobs::End work() {
    const SystemClock clock;
    std::optional<Workspace> opened;
    if (!request_.workspace.empty()) {
      Result<Workspace> w = Workspace::open(request_.workspace, clock);
      if (w.value) opened = std::move(*w.value);
    }
    const Workspace* w = opened ? &*opened : nullptr;
    std::vector<std::pair<std::string, plan::Plan>> plans;
    Result<plan::Plan> first = plan::parse_plan(request_.text, request_.name);
    if (!first.value || first.has_errors()) return refused(first.diagnostics);
    plans.emplace_back(request_.name, std::move(*first.value));
    std::vector<ComparedEntry> runs;
    for (const std::string& other : request_.others) {
      if (other.starts_with("run:")) {
        Result<ComparedEntry> r = run_entry(w, other);
        if (!r.ok()) return refused(r.diagnostics);
        runs.push_back(std::move(*r.value));
        continue;
      }
      Result<plan::Plan> p = open_plan(other, w);
      if (!p.value || p.has_errors()) return refused(p.diagnostics);
      plans.emplace_back(name_of(other), std::move(*p.value));
    }
    const plan::Plan* largest = &plans[0].second;
    for (const auto& [name, p] : plans)
      if (declared_devices(p) > declared_devices(*largest)) largest = &p;
    const Result<Cluster> cluster = open_cluster(request_.cluster, *largest, w);
    if (!cluster.value || cluster.has_errors()) return refused(cluster.diagnostics);
    cluster_ = std::make_shared<const Cluster>(*cluster.value);
    costs_ = stored_costs(w, *cluster_, now_.diagnostics);
    std::vector<plan::Plan> written;
    for (const auto& [name, p] : plans) {
      if (Result<Done> added = add(name, p, written); !added.ok()) return refused(added.diagnostics);
      report_.progress(static_cast<double>(now_.entries.size()), static_cast<double>(plans.size()), "", name);
      tell();
    }
    now_.entries.insert(now_.entries.end(), runs.begin(), runs.end());
    return {JobState::done, std::to_string(now_.entries.size()) + " side by side"};
  }

  Result<ComparedEntry> run_entry(const Workspace* w, const std::string& which) const {
    const std::string number = which.substr(4);
    if (!w || number.empty() || number.size() > 15 || number.find_first_not_of("0123456789") != std::string::npos)
      return error("there is no run '" + which + "'", "", "run:N, with a number of the panel `runs`");
    const Result<RunRow> row = w->run(std::stoll(number));
    if (!row.ok()) return row.diagnostics;
    const RunEntry r = run_entry_of(*row);
    ComparedEntry e{.name = which};
    e.step_us = r.step_us;
    for (const std::int64_t peak : r.peak_bytes) e.peak_bytes = std::max(e.peak_bytes.value_or(0), peak);
    e.verdict = r.equal ? (*r.equal ? "equal" : "not equal") : r.status;
    e.measured = true;
    return e;
  }

  Result<Done> add(const std::string& name, const plan::Plan& p, std::vector<plan::Plan>& written) {
    MaterializeCache cache;
    Result<Settled> s = settle(request_.model->graph, p, *cluster_, cache, {.time_limit_s = 60, .costs = costs_}, report_.stop());
    if (!s.value || s.has_errors()) return s.diagnostics;
    if (!s->judged) return error("the plan '" + name + "' cannot be completed", s->reason);
    ComparedEntry e{.name = name};
    e.evaluation = std::make_shared<const Evaluation>(std::move(*s->judged));
    e.cluster = cluster_;
    e.step_us = e.evaluation->simulation.step_us();
    e.peak_bytes = peak_bytes(e.evaluation->simulation);
    e.sent_bytes = bytes_sent(e.evaluation->simulation);
    e.verdict = std::string(to_string(verify(*e.evaluation).report.verdict));
    written.push_back(s->plan);
    if (!now_.entries.empty())
      e.difference = difference(request_.model->graph, *cluster_, {written.front(), *now_.entries.front().evaluation},
                                {written.back(), *e.evaluation});
    now_.entries.push_back(std::move(e));
    return Done{};
  }

  void tell() const { answer_(std::make_shared<const Comparison>(now_)); }

  const CompareRequest& request_;
  const Answer& answer_;
  const Jobs::Report& report_;
  std::shared_ptr<const Cluster> cluster_;
  CostModel costs_;
  Comparison now_;
};

}  // namespace

int compare_in_background(Jobs& jobs, CompareRequest request, std::function<void(std::shared_ptr<const Comparison>)> answer) {
  return jobs.start("compare", [request = std::move(request), answer = std::move(answer)](const Jobs::Report& report) {
    return Comparing(request, answer, report).run();
  });
}

}  // namespace planscope::session
