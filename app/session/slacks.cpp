#include "app/session/slacks.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "engine/base/stop.h"
#include "planner/simulate/critical_path.h"

namespace planscope::session {

namespace {

// Those that are of no length wait for nobody.
class Candidates {
 public:
  explicit Candidates(const Evaluation& e) : e_(e), path_(critical_path(e.simulation)) {
    for (std::size_t c = 0; c < e.simulation.classes.size(); ++c) add(static_cast<int>(c), e.simulation.classes[c]);
  }

  std::vector<TaskSlack> take() {
    std::stable_sort(all_.begin(), all_.end(), [](const TaskSlack& a, const TaskSlack& b) {
      return std::pair(!*a.critical, b.length()) < std::pair(!*b.critical, a.length());
    });
    std::set<std::tuple<int, SegmentId, int>> seen;
    const auto is_new = [&](const Task& of) { return seen.emplace(of.device_class, of.segment, of.instruction).second; };
    std::stable_partition(all_.begin(), all_.end(), [&](const TaskSlack& t) { return *t.critical || is_new(t.task.task); });
    all_.resize(std::min(all_.size(), kMostSlacks));
    // The path through what is shown of overlapping steps ends with the last block of the picture, not with a step.
    if (most_ahead(e_.made.program) > 0)
      for (TaskSlack& t : all_) t.critical.reset();
    return std::move(all_);
  }

 private:
  void add(int c, const ClassTimeline& t) {
    const bool single = t.slots.size() <= slots_from && !t.instructions.empty();
    if (!single)
      for (const SlotBlock& s : t.slots)
        put("compute", {label(e_.made.program, s), {c, s.segment, s.index, -1}, s.start, s.end, {}, {}, {}, {}},
            Stream::compute);
    const auto instructions = [&](const std::vector<InstructionBlock>& blocks) {
      for (const InstructionBlock& b : blocks) {
        if (b.instruction < 0) continue;
        const SlotBlock& s = t.slots[static_cast<std::size_t>(b.slot)];
        put(std::string(to_string(b.stream)),
            {task_name(e_, s, b.instruction), {c, s.segment, s.index, b.instruction}, b.start, b.end, {}, {}, {}, {}},
            b.stream);
      }
    };
    if (single) instructions(t.instructions);
    instructions(t.communication);
  }

  void put(std::string stream, StudiedTask task, Stream of) {
    if (task.end <= task.start) return;
    const bool critical = std::any_of(path_.begin(), path_.end(), [&](const CriticalPart& p) {
      return p.device_class == task.task.device_class && p.stream == of && p.start < task.end && task.start < p.end;
    });
    all_.push_back({std::move(task), std::move(stream), critical});
  }

  const Evaluation& e_;
  const std::vector<CriticalPart> path_;
  std::vector<TaskSlack> all_;
};

void sort(std::vector<TaskSlack>& tasks) {
  std::stable_sort(tasks.begin(), tasks.end(), [](const TaskSlack& a, const TaskSlack& b) {
    const auto key = [](const TaskSlack& t) {
      return std::tuple(!t.task.slack, t.task.slack.value_or(0), -t.length());
    };
    return key(a) < key(b);
  });
}

}  // namespace

std::vector<TaskSlack> slack_candidates(const Evaluation& e) { return Candidates(e).take(); }

int slacks_in_background(Jobs& jobs, std::shared_ptr<const Study> study,
                         std::function<void(std::shared_ptr<const SlackAnswer>)> answer) {
  return jobs.start("slack", [study = std::move(study), answer = std::move(answer)](const Jobs::Report& report) {
    SlackAnswer now{.of = study, .job = report.id(), .tasks = slack_candidates(study->evaluation())};
    const auto tell = [&] {
      SlackAnswer sorted = now;
      sort(sorted.tasks);
      answer(std::make_shared<const SlackAnswer>(std::move(sorted)));
    };
    Jobs::End end{JobState::done, std::to_string(now.tasks.size()) + " tasks"};
    report.progress(0, static_cast<double>(now.tasks.size()), "");
    tell();
    try {
      const StopScope scope([&report] { return report.stop().load(); });
      for (std::size_t k = 0; k < now.tasks.size() && !report.stop(); ++k) {
        StudiedTask& t = now.tasks[k].task;
        const Result<Nanoseconds> slack = study->slack(t.task);
        if (slack.value) {
          t.slack = *slack;
          if (!now.tasks[k].critical) now.tasks[k].critical = *slack == 0;
        } else
          t.problem = slack.diagnostics.empty() ? "it cannot be told" : slack.diagnostics.front().what;
        report.progress(static_cast<double>(k + 1), static_cast<double>(now.tasks.size()), "");
        tell();
      }
    } catch (const Stopped&) {
    }
    if (report.stop()) end = {JobState::cancelled, ""};
    now.running = false;
    tell();
    return end;
  });
}

}  // namespace planscope::session
