#include "app/session/profiling.h"

#include "engine/plan/parser.h"

namespace planscope::session {

namespace {

class Measuring {
 public:
  using Answer = std::function<void(std::shared_ptr<const ProfileAnswer>)>;
  Measuring(const ProfileRequest& request, const Answer& answer, const Jobs::Report& report)
      : request_(request), answer_(answer), report_(report) {
    now_.job = report.id();
  }

  Jobs::End run() {
    tell();
    const Jobs::End end = work();
    now_.running = false;
    tell();
    return end;
  }

 private:
  Jobs::End refused(const std::vector<Diagnostic>& why) {
    now_.diagnostics.insert(now_.diagnostics.end(), why.begin(), why.end());
    return Jobs::End::refused(why, "the plan cannot be profiled");
  }

  Jobs::End work() {
    const SystemClock clock;
    Result<Workspace> w = Workspace::open(request_.workspace, clock);
    if (!w.value) return refused(w.diagnostics);
    const ProfilingSpec spec{request_.programs + "/planscope-worker"};
    if (request_.links) {
      const Result<LinkProfile> links = profile_links(spec, *w.value, progress("times"), report_.stop());
      if (report_.stop()) return {JobState::cancelled, ""};
      if (!links.ok()) return refused(links.diagnostics);
      now_.link = links->fit;
      return {JobState::done, "the link between two processes is measured"};
    }
    const std::string text = request_.text.empty() ? "devices 1\n" : request_.text;
    Result<plan::Plan> plan = plan::parse_plan(text, request_.name);
    if (!plan.value || plan.has_errors()) return refused(plan.diagnostics);
    Result<Materials> m =
        open_materials(*request_.model, std::move(*plan.value), request_.cluster, "profile", &*w.value);
    if (!m.value || m.has_errors()) return refused(m.diagnostics);
    std::vector<Materials> all;
    all.push_back(std::move(*m.value));
    std::vector<Diagnostic> problems;
    now_.result = profile(all, spec, *w.value, progress("operators"), report_.stop(), problems);
    if (has_errors(problems)) return refused(problems);
    now_.diagnostics.insert(now_.diagnostics.end(), problems.begin(), problems.end());
    const Profiling& p = *now_.result;
    const std::string counts = std::to_string(p.measured) + " measured, " + std::to_string(p.reused) + " known before";
    if (p.status == LaunchStatus::interrupted) return {JobState::cancelled, counts};
    if (p.status != LaunchStatus::done) return {JobState::failed, p.failure};
    return {JobState::done, counts};
  }

  // Says how many of what is measured have been.
  std::function<void(int, int)> progress(const std::string& what) {
    return [this, what](int done, int of) {
      now_.done = done, now_.of = of;
      report_.progress(done, of, "", std::to_string(done) + " of " + std::to_string(of) + " " + what + " measured");
      tell();
    };
  }

  void tell() const { answer_(std::make_shared<const ProfileAnswer>(now_)); }

  const ProfileRequest& request_;
  const Answer& answer_;
  const Jobs::Report& report_;
  ProfileAnswer now_;
};

}  // namespace

int profile_in_background(Jobs& jobs, ProfileRequest request,
                          std::function<void(std::shared_ptr<const ProfileAnswer>)> answer) {
  return jobs.start("profile", [request = std::move(request), answer = std::move(answer)](const Jobs::Report& report) {
    return Measuring(request, answer, report).run();
  });
}

}  // namespace planscope::session
