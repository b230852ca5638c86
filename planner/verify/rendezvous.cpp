#include "planner/verify/rendezvous.h"

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

#include "engine/base/text.h"
#include "engine/program/transfer.h"

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
  bool last = false;       // only in the segment's last run of a step
};

// For a collective: per class, the classes with which it shares a communicator (itself included).
using Groups = std::vector<std::vector<int>>;

class Rendezvous {
 public:
  Rendezvous(const Graph& g, const Program& p, const Occupancy& o, Ledger& ledger)
      : g_(g), p_(p), occupancy_(o), ledger_(ledger), state_(p.classes.size()), traffic_(p.transfers.size()) {}

  void run() {
    collect();
    for (int c = 0; c < static_cast<int>(p_.classes.size()); ++c) {
      at(state_, c).runs = slots(at(p_.classes, c), replayed_steps(p_));
      at(state_, c).last = last_indices(p_, at(p_.classes, c));
    }
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
  using Region = std::vector<std::vector<Interval>>;
  struct Message {
    int transfer = -1;
    std::vector<std::int64_t> index;  // the training step, then of the value's free axes
    bool operator==(const Message&) const = default;
  };
  struct ClassState {
    std::vector<SlotRun> runs;
    std::vector<std::vector<std::int64_t>> last;  // by segment: the index of its last run
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
        at(communications_, s)
            .push_back({Kind::collective, k, -1, groups_of(segment.place, communicator(i.move)), i.last});
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
    for (; s.slot < s.runs.size(); ++s.slot, s.position = 0) {
      const SlotRun& run = s.runs[s.slot];
      const std::vector<Communication>& list = at(communications_, run.segment);
      const bool last_run = run.index == at(s.last, run.segment);
      while (s.position < list.size() && list[s.position].last && !last_run) ++s.position;
      if (s.position < list.size()) return &list[s.position];
    }
    s.finished = true;
    return nullptr;
  }

  Message message(const SlotRun& run, const Communication& x) const {
    const Segment& segment = at(p_.segments, run.segment);
    Message m{x.transfer, {run.step}};
    for (const AxisId a : at(p_.values, at(p_.transfers, x.transfer).from[0]).indexed)
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

  // Pairs of classes (sender, receiver) between which blocks of a transfer go (see Transfer): what a device has itself,
  // too, since it must have been sent when it is received.
  const std::set<std::pair<int, int>>& traffic(int transfer) {
    if (at(traffic_, transfer)) return *at(traffic_, transfer);
    std::set<std::pair<int, int>>& pairs = at(traffic_, transfer).emplace();
    const Transfer& t = at(p_.transfers, transfer);
    for (std::size_t k = 0; k < t.from.size(); ++k) pairs.merge(traffic(t.from[k], t.to[k]));
    return pairs;
  }

  std::set<std::pair<int, int>> traffic(ProgramValueId sent, ProgramValueId got) {
    std::set<std::pair<int, int>> pairs;
    const auto &senders = classes_at(sent), &receivers = classes_at(got);
    if (senders.size() == 1 && receivers.size() == 1 && senders != receivers)
      return pairs.emplace(senders[0], receivers[0]), pairs;
    const ProgramValue &from = at(p_.values, sent), &to = at(p_.values, got);
    if (from.tensor != to.tensor) return pairs;  // has failed already
    const auto key = std::tuple(from.tensor, from.layout, from.place, to.layout, to.place);
    if (const auto known = traffic_by_.find(key); known != traffic_by_.end()) return pairs = known->second;
    for (const bool last : {false, true}) pairs.merge(traffic_at(last, from, to));
    traffic_by_.emplace(key, pairs);
    return pairs;
  }

  // At the first index of free axes, which are equal on both sides, or the last: blocks are largest there, or smallest.
  std::set<std::pair<int, int>> traffic_at(bool last, const ProgramValue& from, const ProgramValue& to) const {
    std::set<std::pair<int, int>> pairs;
    std::map<std::vector<std::int64_t>, std::pair<Region, std::vector<int>>> blocks;  // by their ends: held by
    const Place &place = at(p_.places, from.place), &target = at(p_.places, to.place);
    for (const int d : devices(p_, place)) {
      Region r = region(g_, from.tensor, at(p_.layouts, from.layout), at_end(last, point_of(p_, place, d)));
      std::vector<std::int64_t> ends;
      for (const auto& dim : r)
        for (const Interval& i : dim) ends.insert(ends.end(), {i.begin, i.end});
      auto& block = blocks[ends];
      block.first = std::move(r);
      block.second.push_back(d);
    }
    for (const int d : devices(p_, target)) {
      const Region wanted = region(g_, to.tensor, at(p_.layouts, to.layout), at_end(last, point_of(p_, target, d)));
      for (const auto& [ends, block] : blocks) {
        if (!meet(block.first, wanted)) continue;
        const int from_device = sender_of(p_, place, target, block.second, d);
        pairs.emplace(at(occupancy_.class_of, from_device), at(occupancy_.class_of, d));
      }
    }
    return pairs;
  }

  Point at_end(bool last, Point p) const {
    for (std::size_t a = 0; a < p_.axes.size(); ++a)
      if (p_.axes[a].grid < 0) p[a] = index_at(p_.axes[a], last ? index_count(p_.axes[a]) - 1 : 0);
    return p;
  }

  static bool meet(const std::vector<std::vector<Interval>>& a, const std::vector<std::vector<Interval>>& b) {
    for (std::size_t d = 0; d < a.size(); ++d)
      for (std::size_t k = 0; k < a[d].size(); ++k)
        if (std::max(a[d][k].begin, b[d][k].begin) >= std::min(a[d][k].end, b[d][k].end)) return false;
    return true;
  }

  bool send(int c, const Communication& x) {
    ClassState& s = at(state_, c);
    const Message m = message(s.runs[s.slot], x);
    for (const auto& [from, to] : traffic(x.transfer)) {
      if (from != c) continue;
      under_way_.emplace(std::tuple(c, to, m.transfer, m.index), period_of(s.runs[s.slot]));
      ready_.push_back(to);
    }
    ++s.position;
    return true;
  }

  bool sent(int from, int to, const Message& m) {
    return !traffic(m.transfer).contains({from, to}) || under_way_.contains({from, to, m.transfer, m.index});
  }

  bool receive(int c, const Communication& x) {
    ClassState& s = at(state_, c);
    const Message m = message(s.runs[s.slot], x);
    std::vector<int> from;
    for (const auto& [sender, to] : traffic(x.transfer))
      if (to == c) from.push_back(sender);
    for (const int sender : from)
      if (!sent(sender, c, m)) return false;
    for (const int sender : from) {
      const auto sent = under_way_.find({sender, c, m.transfer, m.index});
      if (sent->second > period_of(s.runs[s.slot])) to_an_earlier_period(c, x);
      under_way_.erase(sent);
    }
    ++s.position;
    return true;
  }

  static std::int64_t period_of(const SlotRun& run) { return run.step - run.ahead; }

  // Where nothing goes to an earlier period, devices that wait for each other do so within one, and all of a period is in
  // what has been replayed.
  void to_an_earlier_period(int c, const Communication& x) {
    const Segment& segment = at(p_.segments, at(state_, c).runs[at(state_, c).slot].segment);
    const Instruction& i = at(segment.instructions, x.instruction);
    ledger_.fail(FailureKind::unproved, {segment.place, i.statement, name(p_, segment, i)},
                 at(p_.values, i.out[0]).tensor,
                 "messages that are received in the period in which they are sent, or later", "one that is sent later");
    broken_ = true;
  }

  bool collective(int c, const Communication& x) {
    const std::vector<int>& members = at(at(groups_, x.communicators), c);
    const ClassState& mine = at(state_, c);
    for (const int other : members) {
      if (other == c) continue;
      const Communication* theirs = current(other);
      const ClassState& s = at(state_, other);
      if (theirs != &x || s.runs[s.slot] != mine.runs[mine.slot]) return false;
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
    if (most_ahead(p_) > 0) out.push_back("step=" + std::to_string(run.step));
    return out.empty() ? "" : " at " + join(out, ", ");
  }

  std::string standing(int c) {
    const Communication* x = current(c);
    const ClassState& s = at(state_, c);
    if (x == nullptr) return at(p_.classes, c).name + " has finished";
    const SlotRun& run = s.runs[s.slot];
    const Segment& segment = at(p_.segments, run.segment);
    return at(p_.classes, c).name + " waits at " + name(p_, segment, at(segment.instructions, x->instruction)) +
           index_text(run) + (x->kind == Kind::receive && !sent(c, c, message(run, *x)) ? " for its own message" : "");
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
    if (under_way_.empty()) return;
    const auto& [sender, receiver, transfer, index] = under_way_.begin()->first;
    const TensorId t = at(p_.values, at(p_.transfers, transfer).from[0]).tensor;
    ledger_.fail(
        FailureKind::order, {-1, -1, "send"}, t, "a receive for every send",
        at(p_.classes, sender).name + " sends to " + at(p_.classes, receiver).name + ", which does not receive");
  }

  const Graph& g_;
  const Program& p_;
  const Occupancy& occupancy_;
  Ledger& ledger_;
  std::vector<std::vector<Communication>> communications_;  // per segment
  std::vector<Groups> groups_;
  std::map<std::pair<PlaceId, std::vector<Digit>>, int> groups_by_;
  std::vector<ClassState> state_;
  // Sender, receiver, transfer, index; in which period it was sent.
  std::map<std::tuple<int, int, int, std::vector<std::int64_t>>, std::int64_t> under_way_;
  std::deque<int> ready_;
  bool broken_ = false;
  std::vector<std::optional<std::set<std::pair<int, int>>>> traffic_;  // per transfer, as far as asked
  std::map<std::tuple<TensorId, LayoutId, PlaceId, LayoutId, PlaceId>, std::set<std::pair<int, int>>> traffic_by_;
};

}  // namespace

void check_rendezvous(const Graph& g, const Program& p, const Occupancy& o, Ledger& ledger) {
  Rendezvous(g, p, o, ledger).run();
}

}  // namespace planscope::verification
