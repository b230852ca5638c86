#include "planner/verify/rendezvous.h"

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>

#include "engine/base/text.h"

namespace planscope::verification {

namespace {

template <class T>
const T& at(const std::vector<T>& list, int k) {
  return list[static_cast<std::size_t>(k)];
}
template <class T>
T& at(std::vector<T>& list, int k) {
  return list[static_cast<std::size_t>(k)];
}

enum class Kind : std::uint8_t { send, receive, collective };

struct Communication {
  Kind kind = Kind::send;
  int instruction = -1;
  int transfer = -1;
  int communicators = -1;  // collective: index into Rendezvous::groups_
};

// For a collective: per class, the classes with which it shares a communicator (itself included).
using Groups = std::vector<std::vector<int>>;

class Rendezvous {
 public:
  Rendezvous(const Program& p, const Occupancy& o, Ledger& ledger)
      : p_(p), occupancy_(o), ledger_(ledger), state_(p.classes.size()) {}

  void run() {
    collect();
    for (int c = 0; c < static_cast<int>(p_.classes.size()); ++c) at(state_, c).runs = slots(at(p_.classes, c));
    for (int c = 0; c < static_cast<int>(p_.classes.size()); ++c) ready_.push_back(c);
    while (!ready_.empty() && !broken_) {
      const int c = ready_.front();
      ready_.pop_front();
      while (!broken_ && advance(c)) {
      }
    }
    if (!broken_) report();
  }

 private:
  struct Message {
    int transfer = -1;
    std::vector<std::int64_t> index;  // of the value's free axes
    bool operator==(const Message&) const = default;
  };
  struct ClassState {
    std::vector<SlotRun> runs;
    std::size_t slot = 0, position = 0;
    bool finished = false;
  };

  // The communications of every segment that concern more than one class.
  void collect() {
    communications_.resize(p_.segments.size());
    for (SegmentId s = 0; s < static_cast<SegmentId>(p_.segments.size()); ++s) {
      const Segment& segment = at(p_.segments, s);
      for (int k = 0; k < static_cast<int>(segment.instructions.size()); ++k) {
        const Instruction& i = at(segment.instructions, k);
        if (i.code == Code::send) at(communications_, s).push_back({Kind::send, k, i.transfer, -1});
        if (i.code == Code::receive) at(communications_, s).push_back({Kind::receive, k, i.transfer, -1});
        if (i.code != Code::issue || at(occupancy_.classes_on, segment.place).size() < 2) continue;
        at(communications_, s).push_back({Kind::collective, k, -1, groups_of(segment.place, i.move.digits)});
      }
    }
  }

  int groups_of(PlaceId place, std::vector<Digit> digits) {
    std::sort(digits.begin(), digits.end());
    const auto [known, fresh] = groups_by_.emplace(std::pair(place, digits), static_cast<int>(groups_.size()));
    if (!fresh) return known->second;
    std::vector<int> root(p_.classes.size());
    std::iota(root.begin(), root.end(), 0);
    const auto find = [&](int c) {
      while (at(root, c) != c) c = at(root, c) = at(root, at(root, c));
      return c;
    };
    std::map<Point, int> first;  // coordinates without the digits -> a class
    for (const int d : devices(p_, at(p_.places, place))) {
      Point point = point_of(p_, at(p_.places, place), d);
      for (const Digit& x : digits) {
        std::int64_t& c = point[static_cast<std::size_t>(x.axis)];
        c -= (c / x.stride) % x.size * x.stride;
      }
      const int c = at(occupancy_.class_of, d);
      if (c < 0) continue;
      const auto [other, alone] = first.emplace(std::move(point), c);
      if (!alone) at(root, find(c)) = find(other->second);
    }
    Groups groups(p_.classes.size());
    for (const int a : at(occupancy_.classes_on, place))
      for (const int b : at(occupancy_.classes_on, place))
        if (find(a) == find(b)) at(groups, a).push_back(b);
    groups_.push_back(std::move(groups));
    return known->second;
  }

  // The communication at which a class stands; null: it has finished.
  const Communication* current(int c) {
    ClassState& s = at(state_, c);
    while (s.slot < s.runs.size() && s.position >= at(communications_, s.runs[s.slot].segment).size()) {
      ++s.slot;
      s.position = 0;
    }
    s.finished = s.slot >= s.runs.size();
    return s.finished ? nullptr : &at(communications_, s.runs[s.slot].segment)[s.position];
  }

  Message message(const SlotRun& run, const Communication& x) const {
    const Segment& segment = at(p_.segments, run.segment);
    Message m{x.transfer, {}};
    for (const AxisId a : at(p_.values, at(p_.transfers, x.transfer).from).indexed)
      for (std::size_t k = 0; k < segment.free_axes.size(); ++k)
        if (segment.free_axes[k] == a) m.index.push_back(run.index[k]);
    return m;
  }

  // One step of a class; false: it has finished or must wait.
  bool advance(int c) {
    const Communication* x = current(c);
    if (x == nullptr) return false;
    switch (x->kind) {
      case Kind::send:
        return send(c, *x);
      case Kind::receive:
        return receive(c, *x);
      case Kind::collective:
        return collective(c, *x);
    }
    return false;
  }

  const std::vector<int>& classes_at(ProgramValueId v) const {
    return at(occupancy_.classes_on, at(p_.values, v).place);
  }

  bool send(int c, const Communication& x) {
    ClassState& s = at(state_, c);
    const Message m = message(s.runs[s.slot], x);
    for (const int to : classes_at(at(p_.transfers, x.transfer).to)) {
      queues_[{c, to}].push_back(m);
      ready_.push_back(to);
    }
    ++s.position;
    return true;
  }

  bool receive(int c, const Communication& x) {
    ClassState& s = at(state_, c);
    const Message m = message(s.runs[s.slot], x);
    const std::vector<int>& from = classes_at(at(p_.transfers, x.transfer).from);
    for (const int sender : from) {
      const auto& queue = queues_[{sender, c}];
      if (queue.empty()) return false;
      if (queue.front() != m) return crossed(c, sender, x, queue.front());
    }
    for (const int sender : from) queues_[{sender, c}].pop_front();
    ++s.position;
    return true;
  }

  bool crossed(int c, int sender, const Communication& x, const Message& next) {
    const SlotRun& run = at(state_, c).runs[at(state_, c).slot];
    const Segment& segment = at(p_.segments, run.segment);
    const Instruction& i = at(segment.instructions, x.instruction);
    const TensorId t = at(p_.values, at(p_.transfers, x.transfer).to).tensor;
    ledger_.fail(FailureKind::order, {segment.place, i.statement, name(p_, segment, i) + index_text(run)}, t,
                 "sends in the order of the receives",
                 at(p_.classes, sender).name + " sends " +
                     ledger_.tensor(at(p_.values, at(p_.transfers, next.transfer).from).tensor) +
                     (next.index.empty() ? "" : " of index " + std::to_string(next.index.back())) + " first");
    broken_ = true;
    return false;
  }

  bool collective(int c, const Communication& x) {
    const std::vector<int>& members = at(at(groups_, x.communicators), c);
    const ClassState& mine = at(state_, c);
    for (const int other : members) {
      if (other == c) continue;
      const Communication* theirs = current(other);
      const ClassState& s = at(state_, other);
      if (theirs != &x || s.runs[s.slot].index != mine.runs[mine.slot].index) return false;
    }
    for (const int member : members) {
      ++at(state_, member).position;
      if (member != c) ready_.push_back(member);
    }
    return true;
  }

  std::string index_text(const SlotRun& run) const {
    std::vector<std::string> out;
    for (std::size_t k = 0; k < run.index.size(); ++k)
      out.push_back(at(p_.axes, at(p_.segments, run.segment).free_axes[k]).name + "=" + std::to_string(run.index[k]));
    return out.empty() ? "" : " at " + join(out, ", ");
  }

  std::string standing(int c) {
    const Communication* x = current(c);
    const ClassState& s = at(state_, c);
    if (x == nullptr) return at(p_.classes, c).name + " has finished";
    const SlotRun& run = s.runs[s.slot];
    const Segment& segment = at(p_.segments, run.segment);
    return at(p_.classes, c).name + " waits at " + name(p_, segment, at(segment.instructions, x->instruction)) +
           index_text(run);
  }

  void report() {
    std::vector<std::string> waiting;
    int first = -1;
    for (int c = 0; c < static_cast<int>(p_.classes.size()); ++c) {
      ledger_.obligation();
      if (current(c) == nullptr) continue;
      if (first < 0) first = c;
      if (waiting.size() < 4) waiting.push_back(standing(c));
    }
    if (first >= 0) {
      const Communication* x = current(first);
      const Segment& segment = at(p_.segments, at(state_, first).runs[at(state_, first).slot].segment);
      const Instruction& i = at(segment.instructions, x->instruction);
      const ProgramValueId v = i.in.empty() ? i.out[0] : i.in[0];
      return ledger_.fail(FailureKind::deadlock, {segment.place, i.statement, name(p_, segment, i)},
                          at(p_.values, v).tensor, "every device reaches the end of the step", join(waiting, "; "));
    }
    for (const auto& [pair, queue] : queues_)
      if (!queue.empty()) {
        const TensorId t = at(p_.values, at(p_.transfers, queue.front().transfer).from).tensor;
        return ledger_.fail(FailureKind::order, {-1, -1, "send"}, t, "a receive for every send",
                            at(p_.classes, pair.first).name + " sends to " + at(p_.classes, pair.second).name +
                                ", which does not receive");
      }
  }

  const Program& p_;
  const Occupancy& occupancy_;
  Ledger& ledger_;
  std::vector<std::vector<Communication>> communications_;  // per segment
  std::vector<Groups> groups_;
  std::map<std::pair<PlaceId, std::vector<Digit>>, int> groups_by_;
  std::vector<ClassState> state_;
  std::map<std::pair<int, int>, std::deque<Message>> queues_;
  std::deque<int> ready_;
  bool broken_ = false;
};

}  // namespace

void check_rendezvous(const Program& p, const Occupancy& o, Ledger& ledger) { Rendezvous(p, o, ledger).run(); }

}  // namespace planscope::verification
