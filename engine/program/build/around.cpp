// What stands around the work of units becomes segments of its own where order rows name it: gathers of parameters
// (`fetch(f(L[3]))[m]`), what goes to host memory (`store(f(L[3]))[m]`) and comes back (`load(b(L[3]))[m]`), and what is
// computed again (`r(L[3])[m]`). A gather that is issued there is waited for just before its first use (waits.cpp).
// Without a row nothing moves.
#include <algorithm>

#include "engine/program/build/work.h"

namespace planscope::build {

namespace {

class Around {
 public:
  explicit Around(Work& w) : w_(w), p_(w.p) {
    for (const plan::OrderRow& row : w.d.order)
      for (const plan::TaskFamily& family : row.chain)
        if (is_around(family.phase) && family.of != plan::Phase::update)
          for (const int unit : family.units) named_[{unit, family.phase, family.of}] = row.statement;
  }

  void run() {
    if (named_.empty()) return;
    std::vector<Segment> before = std::move(p_.segments);
    p_.segments.clear();
    std::vector<SegmentId> moved(before.size(), -1);
    std::map<SegmentId, std::pair<SegmentWork*, bool>> works;  // segment -> its work, and whether it is a backward
    for (SegmentWork& s : w_.segments) {
      if (s.forward >= 0) works[s.forward] = {&s, false};
      if (s.backward >= 0) works[s.backward] = {&s, true};
    }
    for (SegmentId id = 0; id < static_cast<SegmentId>(before.size()); ++id) {
      Segment& s = before[static_cast<std::size_t>(id)];
      const auto found = works.find(id);
      if (found == works.end()) {
        moved[static_cast<std::size_t>(id)] = add(std::move(s));
        continue;
      }
      auto& [work, backward] = found->second;
      const plan::Phase of = backward ? plan::Phase::backward : plan::Phase::forward;
      SegmentId& fetch = backward ? work->fetch_backward : work->fetch_forward;
      if (named(work->unit, plan::Phase::fetch, of)) fetch = add_if_any(fetches(s));
      if (backward && named(work->unit, plan::Phase::replay, plan::Phase::forward))
        work->replay = add_if_any(replays(s));
      if (named(work->unit, plan::Phase::load, of)) work->load = add_if_any(taken_out(s, Phase::load, Code::restore));
      Segment store;
      if (named(work->unit, plan::Phase::store, of)) store = taken_out(s, Phase::store, Code::offload);
      moved[static_cast<std::size_t>(id)] = add(std::move(s));
      if (!backward) work->store = add_if_any(std::move(store));
    }
    for (SegmentWork& s : w_.segments)
      for (SegmentId* id : {&s.forward, &s.backward, &s.weight})
        if (*id >= 0) *id = moved[static_cast<std::size_t>(*id)];
    for (auto& [task, segments] : w_.parameter_tasks)
      for (SegmentId& id : segments) id = moved[static_cast<std::size_t>(id)];
    report();
  }

 private:
  static bool is_around(plan::Phase p) {
    return p == plan::Phase::fetch || p == plan::Phase::load || p == plan::Phase::store || p == plan::Phase::replay;
  }
  bool named(int unit, plan::Phase phase, plan::Phase of) const {
    return unit >= 0 && named_.count({unit, phase, of}) > 0;
  }

  SegmentId add(Segment s) {
    p_.segments.push_back(std::move(s));
    return static_cast<SegmentId>(p_.segments.size()) - 1;
  }
  SegmentId add_if_any(Segment s) { return s.instructions.empty() ? -1 : add(std::move(s)); }

  static Segment beside(const Segment& s, Phase phase) {
    Segment out;
    out.phase = phase;
    out.name = std::string(to_string(phase)) + "(" + s.name + ")";
    out.place = s.place;
    out.free_axes = s.free_axes;
    return out;
  }

  static Segment taken_out(Segment& s, Phase phase, Code code) {
    Segment out = beside(s, phase);
    std::vector<Instruction> rest;
    for (Instruction& i : s.instructions) (i.code == code ? out.instructions : rest).push_back(std::move(i));
    s.instructions = std::move(rest);
    return out;
  }

  // The moves that begin at stored parameters.
  Segment fetches(Segment& s) const {
    Segment ahead = beside(s, Phase::fetch);
    std::set<ProgramValueId> made;  // by such moves
    std::vector<Instruction> rest;
    for (Instruction& i : s.instructions) {
      const bool begins = (i.code == Code::issue || i.code == Code::local) &&
                          (made.count(i.in[0]) > 0 || p_.values[static_cast<std::size_t>(i.in[0])].role == Role::home);
      if (begins) made.insert(i.out[0]);
      (begins ? ahead.instructions : rest).push_back(std::move(i));
    }
    s.instructions = std::move(rest);
    return ahead;
  }

  // The pieces that are computed again, with the conversions that they read.
  static Segment replays(Segment& s) {
    std::vector<bool> moves(s.instructions.size(), false);
    std::set<ProgramValueId> wanted;
    for (std::size_t k = s.instructions.size(); k-- > 0;) {
      const Instruction& i = s.instructions[k];
      const bool makes = std::any_of(i.out.begin(), i.out.end(), [&](ProgramValueId v) { return wanted.count(v) > 0; });
      if (i.code != Code::replay && !makes) continue;
      moves[k] = true;
      wanted.insert(i.in.begin(), i.in.end());
    }
    Segment ahead = beside(s, Phase::replay);
    ahead.name = "r" + s.name.substr(1);
    std::vector<Instruction> rest;
    for (std::size_t k = 0; k < moves.size(); ++k)
      (moves[k] ? ahead.instructions : rest).push_back(std::move(s.instructions[k]));
    s.instructions = std::move(rest);
    return ahead;
  }

  void report() {
    for (const auto& [key, statement] : named_) {
      const auto& [unit, phase, of] = key;
      if (phase == plan::Phase::replay) continue;  // the plan says whether there is one
      const auto there = [&, unit = unit, phase = phase, of = of](const SegmentWork& s) {
        const SegmentId id = phase == plan::Phase::load    ? s.load
                             : phase == plan::Phase::store ? s.store
                             : of == plan::Phase::forward  ? s.fetch_forward
                                                           : s.fetch_backward;
        return s.unit == unit && id >= 0;
      };
      if (std::any_of(w_.segments.begin(), w_.segments.end(), there)) continue;
      const std::string name = w_.d.units[static_cast<std::size_t>(unit)].name;
      const std::string task = std::string(to_string(phase)) + "(" + std::string(to_string(of)) + "(" + name + "))";
      Diagnostic d =
          phase == plan::Phase::fetch
              ? warning(task + " has nothing to fetch", "the parameters that it reads are where they are used",
                        "split what is fetched: trans fetch(*) dim0 by …")
              : warning(task + " has nothing to move", "nothing of " + name + " is kept in host memory",
                        "write 'trans " + name + " offload'");
      d.file = w_.d.plan.file;
      d.line = w_.d.plan.statements[static_cast<std::size_t>(statement)].line;
      w_.diagnostics.push_back(std::move(d));
      return;
    }
  }

  Work& w_;
  Program& p_;
  std::map<std::tuple<int, plan::Phase, plan::Phase>, int> named_;  // (unit, phase, of) -> statement
};

}  // namespace

bool set_around(Work& w) {
  Around(w).run();
  return true;
}

}  // namespace planscope::build
