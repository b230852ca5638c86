// Gathers of parameters that order rows name (`fetch(f(L[3]))[m]`) become segments of their own: what is issued there is
// waited for where it always was, just before its first use. Without a row nothing moves.
#include <algorithm>

#include "engine/program/build/work.h"

namespace planscope::build {

namespace {

class Prefetch {
 public:
  explicit Prefetch(Work& w) : w_(w), p_(w.p) {
    for (const plan::OrderRow& row : w.d.order)
      for (const plan::TaskFamily& family : row.chain)
        if (family.phase == plan::Phase::fetch)
          for (const int unit : family.units) named_[{unit, family.of}] = row.statement;
  }

  void run() {
    if (named_.empty()) return;
    std::vector<Segment> before = std::move(p_.segments);
    p_.segments.clear();
    std::vector<SegmentId> moved(before.size(), -1);
    std::map<SegmentId, std::pair<SegmentWork*, bool>> wanted;  // segment -> its work, and whether it is a backward
    for (SegmentWork& s : w_.segments) {
      if (s.forward >= 0 && named(s.unit, plan::Phase::forward)) wanted[s.forward] = {&s, false};
      if (s.backward >= 0 && named(s.unit, plan::Phase::backward)) wanted[s.backward] = {&s, true};
    }
    for (SegmentId id = 0; id < static_cast<SegmentId>(before.size()); ++id) {
      Segment& s = before[static_cast<std::size_t>(id)];
      if (const auto found = wanted.find(id); found != wanted.end()) {
        Segment ahead = taken_out(s);
        if (!ahead.instructions.empty()) {
          auto& [work, backward] = found->second;
          (backward ? work->fetch_backward : work->fetch_forward) = static_cast<SegmentId>(p_.segments.size());
          p_.segments.push_back(std::move(ahead));
        }
      }
      moved[static_cast<std::size_t>(id)] = static_cast<SegmentId>(p_.segments.size());
      p_.segments.push_back(std::move(s));
    }
    for (SegmentWork& s : w_.segments)
      for (SegmentId* id : {&s.forward, &s.backward, &s.weight})
        if (*id >= 0) *id = moved[static_cast<std::size_t>(*id)];
    report();
  }

 private:
  bool named(int unit, plan::Phase phase) const { return unit >= 0 && named_.count({unit, phase}) > 0; }

  // The moves that begin at stored parameters, without the last wait of each chain.
  Segment taken_out(Segment& s) {
    Segment ahead;
    ahead.phase = Phase::fetch;
    ahead.name = "fetch(" + s.name + ")";
    ahead.place = s.place;
    ahead.free_axes = s.free_axes;
    std::set<ProgramValueId> made, moved_on;  // by such moves; and those that such moves read
    const auto begins = [&](ProgramValueId v) {
      return made.count(v) > 0 || p_.values[static_cast<std::size_t>(v)].role == Role::home;
    };
    const auto is_move = [](const Instruction& i) { return i.code == Code::issue || i.code == Code::local; };
    for (const Instruction& i : s.instructions)
      if (is_move(i) && begins(i.in[0])) {
        made.insert(i.out[0]);
        moved_on.insert(i.in[0]);
      }
    std::vector<Instruction> rest;
    for (Instruction& i : s.instructions) {
      const bool move = is_move(i) && begins(i.in[0]);
      const bool wait = i.code == Code::wait && made.count(i.out[0]) > 0 && moved_on.count(i.out[0]) > 0;
      (move || wait ? ahead.instructions : rest).push_back(std::move(i));
    }
    s.instructions = std::move(rest);
    return ahead;
  }

  void report() {
    for (const auto& [key, statement] : named_) {
      const auto fetched = [&](const SegmentWork& s) {
        return s.unit == key.first && (key.second == plan::Phase::forward ? s.fetch_forward : s.fetch_backward) >= 0;
      };
      if (std::any_of(w_.segments.begin(), w_.segments.end(), fetched)) continue;
      const std::string name = w_.d.units[static_cast<std::size_t>(key.first)].name;
      Diagnostic d = warning("fetch(" + std::string(to_string(key.second)) + "(" + name + ")) has nothing to fetch",
                             "the parameters that it reads are where they are used",
                             "split what is fetched: trans fetch(*) dim0 by …");
      d.file = w_.d.plan.file;
      d.line = w_.d.plan.statements[static_cast<std::size_t>(statement)].line;
      w_.diagnostics.push_back(std::move(d));
      return;
    }
  }

  Work& w_;
  Program& p_;
  std::map<std::pair<int, plan::Phase>, int> named_;  // (unit, phase) -> statement
};

}  // namespace

bool prefetch(Work& w) {
  Prefetch(w).run();
  return true;
}

}  // namespace planscope::build
