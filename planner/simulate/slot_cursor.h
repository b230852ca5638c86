#pragma once
// Walks over the slots of a device class without listing them.
#include <vector>

#include "engine/program/program.h"

namespace planscope {

class SlotCursor {
 public:
  explicit SlotCursor(const DeviceClass& c) : loops_(&c.loops) { settle(); }

  bool done() const { return loop_ == loops_->size(); }
  int ordinal() const { return ordinal_; }
  SegmentId segment() const { return step().segment; }
  const std::vector<std::int64_t>& index() const { return index_; }
  void next() {
    ++body_;
    ++ordinal_;
    settle();
  }

 private:
  const SlotStep& step() const { return (*loops_)[loop_].body[body_]; }

  void settle() {
    while (loop_ < loops_->size()) {
      const Loop& loop = (*loops_)[loop_];
      if (iteration_ < loop.count && body_ < loop.body.size()) break;
      body_ = 0;
      if (!loop.body.empty() && ++iteration_ < loop.count) break;
      iteration_ = 0;
      ++loop_;
    }
    if (done()) return;
    const SlotStep& s = step();
    index_.resize(s.base.size());
    for (std::size_t k = 0; k < s.base.size(); ++k) index_[k] = s.base[k] + s.step[k] * iteration_;
  }

  const std::vector<Loop>* loops_;
  std::size_t loop_ = 0, body_ = 0;
  std::int64_t iteration_ = 0;
  int ordinal_ = 0;
  std::vector<std::int64_t> index_;
};

}  // namespace planscope
