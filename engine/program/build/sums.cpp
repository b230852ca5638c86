// Exchanges of gradients behind what goes on: the gradient of a parameter whose `grad` is split (ZeRO-2 and 3) is exchanged
// as soon as a backward gives it, and then added to what earlier micro-batches gave, or kept for the update; others that are
// summed over free axes are, too (of keys and values that go round a ring). Where the device
// waits for it right behind the exchange, nothing hides that; where it waits at the end of the step, the whole gradients from
// which it is made are alive until then. So what reads an exchanged gradient in its segment (the sum, moves before it) is
// put off, and where nothing does, the wait is put here: behind later backwards that have given as many bytes as their own
// had given so far. The exchange has the computing that led to these bytes, whatever small ones come between, and about
// twice the gradients of the largest backward are under way at most. What is left at the end of a segment goes on in the
// next backward at the same place and index, one that reads what the segment gave; behind the last one it ends, and before
// one in which a sum is read already: that has to be complete at the first index of its reader.
#include <algorithm>
#include <set>
#include <utility>

#include "engine/program/build/work.h"

namespace planscope::build {

namespace {

// An exchange under way.
struct Exchange {
  int backwards = 0;                // that stood before it
  std::int64_t left = 0;            // bytes that later ones have to give
  std::vector<ProgramValueId> out;  // and what `tail` makes of it but sums
  std::vector<Instruction> tail;    // put off, in order
  bool smaller = false;             // than what it was made from, which is alive until the wait
};

class PutOff {
 public:
  explicit PutOff(Work& w) : w_(w), p_(w.p), under_way_(w.p.segments.size()) {
    for (const Var& v : w.vars)
      if (v.kind == VarKind::stored && v.grad_layout >= 0) split_.insert({v.tensor, v.place});
  }

  void run() {
    note_readers();
    for (SegmentId s = 0; s < static_cast<SegmentId>(p_.segments.size()); ++s) {
      if (!is_backward(s)) continue;
      summed_.clear();
      for (const Instruction& i : segment(s).instructions)
        if (is_sum(i)) summed_.insert(i.in[0]);
      if (exchanges(s)) run(s);
    }
  }

 private:
  Segment& segment(SegmentId s) { return p_.segments[static_cast<std::size_t>(s)]; }
  const ProgramValue& value(ProgramValueId v) const { return p_.values[static_cast<std::size_t>(v)]; }
  bool is_backward(SegmentId s) { return segment(s).phase == Phase::backward || segment(s).phase == Phase::weight; }

  void note_readers() {
    readers_.resize(p_.values.size());
    for (SegmentId s = 0; s < static_cast<SegmentId>(p_.segments.size()); ++s)
      for (const Instruction& i : segment(s).instructions)
        for (const ProgramValueId v : i.in)
          if (v >= 0) readers_[static_cast<std::size_t>(v)].insert(s);
  }

  static bool is_sum(const Instruction& i) { return i.code == Code::accumulate && i.in.size() == 1; }
  bool is_exchange(const Instruction& i) const {
    if (i.code != Code::issue || i.last) return false;
    const ProgramValue& v = value(i.in[0]);
    return summed_.contains(i.out[0]) || (v.role == Role::gradient && split_.contains({v.tensor, v.place}));
  }
  bool exchanges(SegmentId s) {
    const auto& list = segment(s).instructions;
    return !under_way_[static_cast<std::size_t>(s)].empty() ||
           std::any_of(list.begin(), list.end(), [&](const Instruction& i) { return is_exchange(i); });
  }

  std::int64_t bytes(const std::vector<ProgramValueId>& values) const {
    std::int64_t out = 0;
    for (const ProgramValueId v : values) {
      const TensorId t = value(v).tensor;
      out += local_elements(w_.g, t, p_.layouts[static_cast<std::size_t>(value(v).layout)]) *
             byte_size(w_.g.model->values[static_cast<std::size_t>(t)].dtype);
    }
    return out;
  }

  void run(SegmentId s) {
    now_ = std::move(under_way_[static_cast<std::size_t>(s)]);
    given_ = 0;
    std::vector<Instruction>& list = segment(s).instructions;
    std::vector<Instruction> in = std::move(list);
    list.clear();
    for (Instruction& i : in) {
      if (Exchange* e = put_off_with(i)) {
        if (i.code != Code::accumulate) e->out.insert(e->out.end(), i.out.begin(), i.out.end());
        e->tail.push_back(std::move(i));
        continue;
      }
      give(list, [&](const Exchange& e) { return meets(i, e); });
      if (i.code == Code::backward) ++backwards_, given_ = 0;
      const bool exchange = is_exchange(i);
      list.push_back(std::move(i));
      if (exchange) begin(list, list.back());
    }
    const SegmentId next = next_of(s);
    if (next < 0) return give(list, [](const Exchange& e) { return !e.tail.empty(); });
    give(list, [&](const Exchange& e) { return !may_end_in(next, s, e); });
    auto& later = under_way_[static_cast<std::size_t>(next)];
    std::move(now_.begin(), now_.end(), std::back_inserter(later));
  }

  // Whether no segment before `next` reads what is put off from `s`, and `next` itself no sum, which has all of its terms
  // at the last index alone.
  bool may_end_in(SegmentId next, SegmentId s, const Exchange& e) const {
    const auto unread = [&](ProgramValueId v, SegmentId end) {
      const std::set<SegmentId>& readers = readers_[static_cast<std::size_t>(v)];
      const auto after = readers.upper_bound(s);
      return after == readers.end() || *after >= end;
    };
    return std::all_of(e.out.begin(), e.out.end(), [&](ProgramValueId v) { return unread(v, next); }) &&
           std::all_of(e.tail.begin(), e.tail.end(), [&](const Instruction& i) {
             return i.code != Code::accumulate || unread(i.out[0], next + 1);
           });
  }

  // The exchange with whose result an instruction has to wait.
  Exchange* put_off_with(const Instruction& i) {
    const bool can = is_sum(i) || i.code == Code::issue || i.code == Code::local;
    if (!can || i.last || i.in.size() != 1) return nullptr;
    const auto e = std::find_if(now_.begin(), now_.end(), [&](const Exchange& x) {
      return std::find(x.out.begin(), x.out.end(), i.in[0]) != x.out.end();
    });
    return e == now_.end() ? nullptr : &*e;
  }

  void begin(std::vector<Instruction>& list, const Instruction& issue) {
    Exchange next;
    next.backwards = backwards_;
    next.out = issue.out;
    const std::int64_t own = bytes(issue.in);
    next.left = given_ += own;
    next.smaller = bytes(issue.out) < own;
    for (Exchange& e : now_)
      if (e.backwards < backwards_) e.left -= own;
    give(list, [](const Exchange& e) { return e.left <= 0; });
    now_.push_back(std::move(next));
  }

  // Whether an instruction reads or writes what the exchange and its tail do.
  static bool meets(const Instruction& i, const Exchange& e) {
    const auto is_in = [](const std::vector<ProgramValueId>& list, ProgramValueId v) {
      return std::find(list.begin(), list.end(), v) != list.end();
    };
    return std::any_of(e.tail.begin(), e.tail.end(),
                       [&](const Instruction& t) { return is_in(i.in, t.out[0]) || is_in(i.out, t.out[0]); }) ||
           std::any_of(i.in.begin(), i.in.end(), [&](ProgramValueId v) { return is_in(e.out, v); });
  }

  template <class F>
  void give(std::vector<Instruction>& list, F&& now) {
    std::vector<Exchange> later;
    for (Exchange& e : now_) {
      if (!now(e)) {
        later.push_back(std::move(e));
        continue;
      }
      if (e.tail.empty() && e.smaller) {
        Instruction wait;
        wait.code = Code::wait;
        wait.out = e.out;
        list.push_back(std::move(wait));
      }
      std::move(e.tail.begin(), e.tail.end(), std::back_inserter(list));
    }
    now_ = std::move(later);
  }

  // The backward that surely runs after a segment, at its place and index: it reads what that gives.
  SegmentId next_of(SegmentId s) {
    const Segment& own = segment(s);
    std::set<ProgramValueId> given;
    for (const Instruction& i : own.instructions) given.insert(i.out.begin(), i.out.end());
    for (SegmentId t = s + 1; t < static_cast<SegmentId>(p_.segments.size()); ++t) {
      const Segment& other = segment(t);
      if (other.phase != Phase::backward || other.place != own.place || other.free_axes != own.free_axes) continue;
      for (const Instruction& i : other.instructions)
        if (std::any_of(i.in.begin(), i.in.end(), [&](ProgramValueId v) { return v >= 0 && given.contains(v); }))
          return t;
    }
    return -1;
  }

  Work& w_;
  Program& p_;
  std::set<std::pair<TensorId, PlaceId>> split_;  // parameters
  std::set<ProgramValueId> summed_;               // in the segment
  std::vector<std::set<SegmentId>> readers_;      // by value
  std::vector<std::vector<Exchange>> under_way_;  // where a segment begins
  std::vector<Exchange> now_;
  int backwards_ = 0;
  std::int64_t given_ = 0;  // by the backward at work
};

}  // namespace

bool put_off_sums(Work& w) {
  PutOff(w).run();
  return true;
}

}  // namespace planscope::build
