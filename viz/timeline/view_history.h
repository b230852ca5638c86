#pragma once
// Where a timeline has been looked at, to go back and forward. What belongs together (turning the wheel, panning by
// keys) is one entry.
//
//   history.moved(before, now, Motion::wheel);   // after every input
//   if (const auto to = history.back(now)) view.range = to->range;
#include <optional>
#include <vector>

#include "viz/canvas/geometry.h"

namespace planscope::viz {

enum class Motion { wheel, drag, key, jump };

struct Looked {
  TimeRange range;
  double scroll = 0;
  friend bool operator==(const Looked&, const Looked&) = default;
};

class ViewHistory {
 public:
  void moved(const Looked& before, const Looked& now, Motion by) {
    if (before == now) return;
    forward_.clear();
    const bool goes_on = by != Motion::jump && last_ == by && !back_.empty();
    last_ = by;
    if (goes_on) return;
    back_.push_back(before);
    if (back_.size() > most) back_.erase(back_.begin());
  }
  std::optional<Looked> back(const Looked& now) { return step(back_, forward_, now); }
  std::optional<Looked> forward(const Looked& now) { return step(forward_, back_, now); }
  // Something else has been done: what comes next is another entry.
  void rest() { last_.reset(); }

 private:
  static constexpr std::size_t most = 100;

  std::optional<Looked> step(std::vector<Looked>& from, std::vector<Looked>& to, const Looked& now) {
    last_.reset();
    if (from.empty()) return std::nullopt;
    const Looked out = from.back();
    from.pop_back();
    to.push_back(now);
    return out;
  }

  std::vector<Looked> back_, forward_;
  std::optional<Motion> last_;
};

}  // namespace planscope::viz
