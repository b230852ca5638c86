// Sums behind what goes on: a gradient that is exchanged in every micro-batch (its parameter is split: ZeRO-2 and 3) is added to
// what earlier ones gave. Where the sum stands right behind the exchange, the device waits for it. It is put off instead: until the
// next backward that gives such gradients has been computed and gives its first one, so that the exchange has that time,
// and no more than one backward's gradients wait.
#include <algorithm>
#include <set>

#include "engine/program/build/work.h"

namespace planscope::build {

namespace {

class Sums {
 public:
  explicit Sums(std::vector<Instruction>& list) : list_(list) {}

  void run() {
    for (const Instruction& i : list_)
      if (i.code == Code::issue && !i.last)
        for (const ProgramValueId v : i.out) exchanged_.insert(v);
    if (exchanged_.empty()) return;
    for (const Instruction& i : list_)
      if (can_wait(i)) summed_.insert(i.in[0]);
    if (summed_.empty()) return;
    std::vector<Instruction> in = std::move(list_);
    list_.clear();
    for (Instruction& i : in) {
      if (can_wait(i)) {
        put_off_.push_back({backwards_, std::move(i)});
        continue;
      }
      if (i.code == Code::issue && summed_.contains(i.out[0]))
        give([&](const PutOff& p) { return p.backwards < backwards_; });
      give([&](const PutOff& p) { return meets(i, p.sum); });
      backwards_ += i.code == Code::backward;
      list_.push_back(std::move(i));
    }
    give([](const PutOff&) { return true; });
  }

 private:
  struct PutOff {
    int backwards;  // that stood before it
    Instruction sum;
  };

  bool can_wait(const Instruction& i) const {
    return i.code == Code::accumulate && i.in.size() == 1 && exchanged_.contains(i.in[0]);
  }

  // Whether an instruction reads or writes what the sum does.
  static bool meets(const Instruction& i, const Instruction& sum) {
    const auto touches = [&](ProgramValueId v) { return v >= 0 && (v == sum.out[0] || v == sum.in[0]); };
    return std::any_of(i.in.begin(), i.in.end(), touches) ||
           std::any_of(i.out.begin(), i.out.end(), [&](ProgramValueId v) { return v == sum.out[0]; });
  }

  template <class F>
  void give(F&& now) {
    std::vector<PutOff> later;
    for (PutOff& p : put_off_) {
      if (now(p))
        list_.push_back(std::move(p.sum));
      else
        later.push_back(std::move(p));
    }
    put_off_ = std::move(later);
  }

  std::vector<Instruction>& list_;
  std::set<ProgramValueId> exchanged_, summed_;
  std::vector<PutOff> put_off_;
  int backwards_ = 0;
};

}  // namespace

bool put_off_sums(Work& w) {
  for (Segment& s : w.p.segments)
    if (s.phase == Phase::backward || s.phase == Phase::weight) Sums(s.instructions).run();
  return true;
}

}  // namespace planscope::build
