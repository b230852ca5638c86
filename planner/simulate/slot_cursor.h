#pragma once
// Walks over the slots of a device class without listing them: those of the given number of periods, and of the ones
// before period 0 as far as they run (SlotStep::ahead).
#include <vector>

#include "engine/program/program.h"

namespace planscope {

class SlotCursor {
 public:
  explicit SlotCursor(const DeviceClass& c, std::int64_t periods = 1)
      : loops_(&c.loops), periods_(periods), period_(-most_ahead(c)) {
    settle();
  }

  bool done() const { return period_ >= periods_; }
  int ordinal() const { return ordinal_; }
  SegmentId segment() const { return slot().segment; }
  const std::vector<std::int64_t>& index() const { return index_; }
  std::int64_t period() const { return period_; }
  std::int64_t ahead() const { return slot().ahead; }
  std::int64_t step() const { return period_ + slot().ahead; }
  void next() {
    ++body_;
    ++ordinal_;
    settle();
  }

 private:
  const SlotStep& slot() const { return (*loops_)[loop_].body[body_]; }

  // The next slot that runs, from here on.
  void settle() {
    for (; !done(); ++body_) {
      while (loop_ < loops_->size() && body_ >= (*loops_)[loop_].body.size()) {
        body_ = 0;
        if ((*loops_)[loop_].body.empty() || ++iteration_ >= (*loops_)[loop_].count) {
          iteration_ = 0;
          ++loop_;
        }
      }
      if (loop_ == loops_->size()) {
        loop_ = 0;
        ++period_;
        body_ = static_cast<std::size_t>(-1);
        continue;
      }
      if ((*loops_)[loop_].count > 0 && step() >= 0) break;
    }
    if (done()) return;
    const SlotStep& s = slot();
    index_.resize(s.base.size());
    for (std::size_t k = 0; k < s.base.size(); ++k) index_[k] = s.base[k] + s.step[k] * iteration_;
  }

  const std::vector<Loop>* loops_;
  std::int64_t periods_ = 1, period_ = 0;
  std::size_t loop_ = 0, body_ = 0;
  std::int64_t iteration_ = 0;
  int ordinal_ = 0;
  std::vector<std::int64_t> index_;
};

}  // namespace planscope
