// Buckets: reductions of the gradients of parameters that are alike (kind, group, type) become one instruction, in place
// of the last of them, as long as nothing reads the result of an earlier one before, up to kBucketBytes.
#include <algorithm>

#include "engine/program/bucket.h"
#include "engine/program/build/work.h"

namespace planscope::build {

namespace {

class Buckets {
 public:
  explicit Buckets(Work& w) : w_(w), p_(w.p) {}

  void run(Segment& s) {
    open_.clear();
    fused_ = false;
    for (Instruction& i : s.instructions) {
      close_where_read(i);
      if (fits(i)) add(i);
    }
    if (fused_)
      std::erase_if(s.instructions, [](const Instruction& i) { return i.code == Code::issue && i.out.empty(); });
  }

 private:
  struct Bucket {
    Instruction* last;
    DType type;
    std::int64_t bytes;
  };

  const ProgramValue& value(ProgramValueId v) const { return p_.values[static_cast<std::size_t>(v)]; }
  DType type(TensorId t) const { return w_.g.model->values[static_cast<std::size_t>(t)].dtype; }

  bool fits(const Instruction& i) const {
    if (i.code != Code::issue || !makes_buckets(i.move)) return false;
    const ProgramValue& v = value(i.in[0]);
    return v.role == Role::gradient && w_.kind(v.tensor) == ValueKind::parameter;
  }

  void close_where_read(const Instruction& i) {
    std::erase_if(open_, [&](const Bucket& b) {
      return std::any_of(i.in.begin(), i.in.end(), [&](ProgramValueId v) {
        return v >= 0 && std::find(b.last->out.begin(), b.last->out.end(), v) != b.last->out.end();
      });
    });
  }

  void add(Instruction& i) {
    const ProgramValue& v = value(i.in[0]);
    const DType kind = type(v.tensor);
    const std::int64_t bytes = w_.whole_bytes(v.tensor);
    const auto same = std::find_if(open_.begin(), open_.end(), [&](const Bucket& b) {
      return b.type == kind && b.last->move == i.move && b.last->last == i.last;
    });
    if (same == open_.end()) {
      open_.push_back({&i, kind, bytes});
      return;
    }
    if (same->bytes + bytes > kBucketBytes) {
      *same = {&i, kind, bytes};
      return;
    }
    i.in.insert(i.in.begin(), same->last->in.begin(), same->last->in.end());
    i.out.insert(i.out.begin(), same->last->out.begin(), same->last->out.end());
    same->last->in.clear();
    same->last->out.clear();
    *same = {&i, kind, same->bytes + bytes};
    fused_ = true;
  }

  Work& w_;
  Program& p_;
  std::vector<Bucket> open_;  // the reduction to which others of its kind are added
  bool fused_ = false;
};

}  // namespace

bool fuse_reductions(Work& w) {
  Buckets buckets(w);
  for (Segment& s : w.p.segments) buckets.run(s);
  return true;
}

}  // namespace planscope::build
