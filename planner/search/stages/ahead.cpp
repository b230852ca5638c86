#include "planner/search/stages/ahead.h"

#include <algorithm>
#include <mutex>
#include <thread>

namespace planscope::stages {
namespace {

constexpr std::size_t kMostThreads = 4;

class Ahead {
 public:
  Ahead(const PointPlans& plans, const std::vector<Point>& points, const std::vector<std::size_t>& which,
        const Deadline& deadline, const std::function<void(double)>& better)
      : points_(points), which_(which), deadline_(deadline), better_(better), found_(plans.ahead()) {}

  std::vector<Candidate> run() {
    const std::size_t threads =
        std::min<std::size_t>({kMostThreads, std::thread::hardware_concurrency(), which_.size()});
    if (threads < 2) return {};
    {
      std::vector<std::jthread> others;
      for (std::size_t i = 1; i < threads; ++i) others.emplace_back([this] { work(); });
      work();
    }
    return std::move(found_.best);
  }

 private:
  void work() {
    for (;;) {
      std::unique_lock lock(mutex_);
      if (next_ == which_.size() || deadline_.expired()) return;
      Point point = points_[which_[next_++]];
      if (!found_.best.empty() && point.bound_us >= found_.best[0].step_us) return;
      PointPlans mine = found_;
      lock.unlock();
      PointPlans::Cuts cuts;
      if (!mine.limits().rows().empty()) mine.limit(point, cuts);
      if (point.bound_us == std::numeric_limits<double>::infinity()) continue;
      mine.make(point, cuts);
      lock.lock();
      for (Candidate& c : mine.best) found_.keep(std::move(c));
      if (!found_.best.empty()) better_(found_.best[0].step_us);
    }
  }

  const std::vector<Point>& points_;
  const std::vector<std::size_t>& which_;
  const Deadline& deadline_;
  const std::function<void(double)>& better_;
  std::mutex mutex_;  // of what follows
  std::size_t next_ = 0;
  PointPlans found_;
};

}  // namespace

std::vector<Candidate> make_ahead(const PointPlans& plans, const std::vector<Point>& points,
                                  const std::vector<std::size_t>& which, const Deadline& deadline,
                                  const std::function<void(double)>& better) {
  return Ahead(plans, points, which, deadline, better).run();
}

}  // namespace planscope::stages
