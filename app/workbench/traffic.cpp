#include "app/workbench/traffic.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "app/workbench/communication_times.h"
#include "app/workbench/communicator_names.h"
#include "engine/base/enumeration.h"
#include "engine/program/transfer.h"
#include "planner/cost/operator_cost.h"
#include "planner/simulate/groups.h"
#include "planner/simulate/steps.h"

namespace planscope {

namespace {

constexpr std::int64_t most_rows = 64;
constexpr std::size_t intervals = 240, most_members = 256;

template <class T>
const T& at(const std::vector<T>& list, int k) {
  return list[static_cast<std::size_t>(k)];
}
template <class T>
T& at(std::vector<T>& list, int k) {
  return list[static_cast<std::size_t>(k)];
}

const std::vector<ProgramValueId>& values_sent(const Program& p, const Instruction& i) {
  return i.transfer >= 0 ? at(p.transfers, i.transfer).to : i.out;
}

// What one class of devices does with groups of one kind.
struct Share {
  int device_class = 0;
  PlaceId place = -1;
  std::vector<Digit> digits;  // of a collective
  struct Sent {
    std::int64_t count = 0;
    double runs = 0;  // that the bytes are of: less than the count where a range of time cuts some
  };
  std::map<int, Sent> transfers;                  // of a send
  std::map<std::int64_t, MessageSize> messages;   // by bytes
  std::string kind, over, name;  // name: communicator_name()
  std::int64_t size = 1, count = 0;
  double bytes = 0, sent = 0;
  int level = 0;
  std::vector<double> by_level;
  double busy_us = 0, exposed_us = 0, first_us = 0, last_us = 0;
  bool timed = false;
  std::set<TensorId> tensors;
  std::vector<double> bursts = {};  // by interval, of one device
};

// Runs of a step in one device class.
std::int64_t runs_of(const Step& step, std::int64_t all) {
  if (all == 0) return 0;
  if (step.last) return 1;
  if (step.but_last) return all - 1;
  const std::optional<Runs>& one_of = step.restore_after ? step.restore_after : step.offload_with;
  return one_of ? all / one_of->runs : all;
}

class Counter {
 public:
  Counter(const Evaluation& e, const Cluster& c, const TrafficBrush& brush)
      : g_(*e.made.graph),
        p_(e.made.program),
        s_(e.simulation),
        cluster_(c),
        brush_(brush),
        parties_(p_),
        steps_(make_steps(g_, p_, c, e.options, parties_)),
        times_(communication_times(p_, c, s_, window(brush))) {}

  TrafficFacts run() {
    out_.devices = p_.device_count;
    TrafficRows rows = traffic_rows(p_);
    out_.devices_per_row = rows.devices_per_row;
    out_.rows = std::move(rows.names), out_.row_devices = std::move(rows.devices), out_.places = std::move(rows.places);
    row_of_ = std::move(rows.row_of);
    out_.duration_us = s_.step_us();
    for (const ClassTimeline& t : s_.classes)
      out_.duration_us = std::max(out_.duration_us, static_cast<double>(t.makespan) / 1000);
    for (int c = 0; c < static_cast<int>(p_.classes.size()); ++c) count(c);
    join();
    return std::move(out_);
  }

 private:
  static std::optional<Window> window(const TrafficBrush& b) {
    if (!b.time_us) return std::nullopt;
    const auto ns = [](double us) { return static_cast<Nanoseconds>(std::llround(us * 1000)); };
    return Window{ns(b.time_us->first), ns(b.time_us->second)};
  }

  const std::string& level_name(int level) const {
    return cluster_.levels[std::min(cluster_.levels.size() - 1, static_cast<std::size_t>(level))].name;
  }

  // Which share of a message's bytes is of the tensors that are asked for; 0: none, or it is not asked for at all.
  double share_of(int c, PlaceId place, const Instruction& i, const Traffic& t) const {
    if (!brush_.kinds.empty() && !brush_.kinds.contains(t.kind)) return 0;
    if (brush_.classes && !brush_.classes->contains(c)) return 0;
    if (!brush_.communicators.empty() && !brush_.communicators.contains({communicator_name(p_, place, i), c})) return 0;
    const double over = share_over_level(t);
    if (!brush_.tensors || over == 0) return over;
    double all = 0, asked = 0;
    for (const ProgramValueId v : values_sent(p_, i)) {
      const double bytes = std::max(1.0, static_cast<double>(value_bytes(g_, p_, v).count));
      all += bytes;
      if (brush_.tensors->contains(at(p_.values, v).tensor)) asked += bytes;
    }
    return all > 0 ? over * asked / all : 0;
  }

  // What of a message goes over the level that is asked for.
  double share_over_level(const Traffic& t) const {
    if (brush_.level.empty()) return 1;
    double out = 0;
    for (std::size_t l = 0; l < t.by_level.size(); ++l)
      if (brush_.level == level_name(static_cast<int>(l)) && t.sent > 0) out += t.by_level[l] / t.sent;
    return out;
  }

  void count(int c) {
    std::vector<std::int64_t> runs(p_.segments.size(), 0);
    for (const Loop& loop : at(p_.classes, c).loops)
      for (const SlotStep& slot : loop.body) at(runs, slot.segment) += loop.count;
    const std::size_t first = shares_.size();
    for (SegmentId s = 0; s < static_cast<SegmentId>(p_.segments.size()); ++s)
      for (const Step& step : at(steps_.segments, s).steps) {
        const std::int64_t n = step.traffic < 0 ? 0 : runs_of(step, at(runs, s));
        if (n == 0) continue;
        const Segment& segment = at(p_.segments, s);
        const double part =
            share_of(c, segment.place, at(segment.instructions, step.instruction), at(steps_.traffic, step.traffic));
        if (part > 0) add(share(c, s, step, first), s, step, n, part);
      }
  }

  std::size_t share(int c, SegmentId s, const Step& step, std::size_t first) {
    const Segment& segment = at(p_.segments, s);
    const Instruction& i = at(segment.instructions, step.instruction);
    const Traffic& t = at(steps_.traffic, step.traffic);
    Share wanted;
    wanted.device_class = c, wanted.place = segment.place, wanted.kind = t.kind, wanted.size = t.group;
    wanted.level = t.level;
    wanted.over = communicator_over(p_, i), wanted.name = communicator_name(p_, segment.place, i);
    if (step.kind != StepKind::send) wanted.digits = communicator(i.move);
    const auto same = [&](const Share& o) {
      return o.place == wanted.place && o.kind == wanted.kind && o.over == wanted.over && o.level == wanted.level &&
          o.size == wanted.size;
    };
    const auto found = std::find_if(shares_.begin() + static_cast<std::ptrdiff_t>(first), shares_.end(), same);
    if (found != shares_.end()) return static_cast<std::size_t>(found - shares_.begin());
    shares_.push_back(std::move(wanted));
    return shares_.size() - 1;
  }

  void add(std::size_t number, SegmentId s, const Step& step, std::int64_t n, double part) {
    Share& share = shares_[number];
    const Traffic& t = at(steps_.traffic, step.traffic);
    const Instruction& i = at(at(p_.segments, s).instructions, step.instruction);
    const CommunicationTime* time = times_.find(share.device_class, s, step.instruction);
    const std::vector<double> over = over_levels(t, part);
    // Of the devices at the place of a send some may send nothing, as they have what they would get.
    std::vector<double> load = over;
    if (step.kind == StepKind::send && t.sent > 0)
      for (double& bytes : load) bytes *= sent_by_device(share.device_class, i.transfer) / t.sent;
    sendings_[{share.device_class, s, times_.detailed ? step.instruction : -1, stream_of(step)}].push_back(
        {number, static_cast<double>(n) * part * t.sent, static_cast<double>(n), std::move(load)});
    double in_range = 1;  // of the bytes
    std::int64_t count = n;
    if (brush_.time_us) {
      if (!time || time->within <= 0) return;
      in_range = time->within / static_cast<double>(time->messages);
      count = times_.detailed ? time->runs : std::max<std::int64_t>(1, std::llround(static_cast<double>(n) * in_range));
    }
    const double bytes = part * in_range * static_cast<double>(n), of_all = in_range * static_cast<double>(n);
    for (const TensorId tensor : tensors_sent(p_, i)) share.tensors.insert(tensor);
    share.count += count, share.bytes += bytes * static_cast<double>(t.payload.count);
    share.sent += bytes * t.sent;
    share.by_level.resize(std::max(share.by_level.size(), over.size()), 0);
    for (std::size_t l = 0; l < over.size(); ++l) share.by_level[l] += of_all * over[l];
    add_messages(share, std::llround(part * static_cast<double>(t.payload.count)), count, time);
    if (step.kind == StepKind::send) {
      Share::Sent& sent = share.transfers[i.transfer];
      sent.count += count, sent.runs += in_range * static_cast<double>(n);
    }
    share.busy_us += times_.detailed && time ? time->busy_us : in_range * static_cast<double>(n * t.time) / 1000;
    if (!time) return;
    share.exposed_us += time->exposed_us;
    share.first_us = share.timed ? std::min(share.first_us, time->first_us) : time->first_us;
    share.last_us = std::max(share.last_us, time->last_us);
    share.timed = true;
  }

  // Bytes of one message that a device sends over each level, of what is asked for.
  std::vector<double> over_levels(const Traffic& t, double part) const {
    std::vector<double> out(t.by_level.size(), 0);
    const double share = share_over_level(t);
    for (std::size_t l = 0; l < out.size(); ++l)
      if (brush_.level.empty() || brush_.level == level_name(static_cast<int>(l)))
        out[l] = share > 0 ? part / share * t.by_level[l] : 0;
    return out;
  }

  static void add_messages(Share& share, std::int64_t bytes, std::int64_t count, const CommunicationTime* time) {
    MessageSize& m = share.messages[bytes];
    m.bytes = bytes;
    if (time) {
      m.first_us = m.last_us > 0 ? std::min(m.first_us, time->first_us) : time->first_us;
      m.last_us = std::max(m.last_us, time->last_us);
    }
    m.count += count;
  }

  void put(std::vector<double>& bytes, double from, double to, double sent) const {
    bytes.resize(intervals, 0);
    const double width = out_.duration_us / static_cast<double>(intervals);
    if (!(width > 0)) return;
    const auto last = std::min(intervals - 1, static_cast<std::size_t>(to / width));
    for (std::size_t k =
        std::min(intervals - 1, static_cast<std::size_t>(std::max(0.0, from) / width)); k <= last; ++k) {
      const double begin = static_cast<double>(k) * width;
      const double share = std::max(0.0, std::min(to, begin + width) - std::max(from, begin)) / (to - from);
      bytes[k] += to > from ? sent * share : sent;
    }
  }

  void spread(int level, const std::vector<double>& bytes) {
    auto found = std::find_if(out_.links.begin(), out_.links.end(),
        [&](const LinkLoad& l) { return l.level == level; });
    if (found == out_.links.end()) {
      const Level& l = cluster_.levels[std::min(cluster_.levels.size() - 1, static_cast<std::size_t>(level))];
      out_.links.push_back({level, l.name, l.bandwidth / std::max(1, l.sharing), std::vector<double>(intervals, 0)});
      found = out_.links.end() - 1;
    }
    const double sent = std::accumulate(bytes.begin(), bytes.end(), 0.0);
    if (sent > found->sent) found->sent = sent, found->bytes = bytes;
  }

  static Stream stream_of(const Step& step) {
    return step.kind == StepKind::send ? Stream::transfer : step.network ? Stream::network : Stream::collective;
  }

  // What a class sends is divided equally over the blocks in which it does so.
  void spread_over_time() {
    for (int c = 0; c < static_cast<int>(s_.classes.size()); ++c) {
      const ClassTimeline& t = at(s_.classes, c);
      std::map<Sendings::key_type, std::vector<const InstructionBlock*>> blocks;
      for (const InstructionBlock& b : t.communication)
        blocks[{c, at(t.slots, b.slot).segment, times_.detailed ? b.instruction : -1, b.stream}].push_back(&b);
      std::map<int, std::vector<double>> load;  // by level: bytes in each interval
      for (const auto& [key, within] : blocks) {
        const auto known = sendings_.find(key);
        if (known == sendings_.end()) continue;
        const double each = 1 / static_cast<double>(within.size());
        for (const InstructionBlock* b : within) {
          const double from = static_cast<double>(b->start) / 1000, to = static_cast<double>(b->end) / 1000;
          for (const SentOverTime& s : known->second) {
            put(shares_[s.share].bursts, from, to, each * s.sent);
            for (std::size_t l = 0; l < s.by_level.size(); ++l)
              if (s.by_level[l] > 0) put(load[static_cast<int>(l)], from, to, each * s.runs * s.by_level[l]);
          }
        }
      }
      for (const auto& [level, bytes] : load) spread(level, bytes);
    }
    std::sort(out_.links.begin(), out_.links.end(),
        [](const LinkLoad& a, const LinkLoad& b) { return a.level < b.level; });
  }

  static bool same_sizes(const std::map<std::int64_t, MessageSize>& a, const std::map<std::int64_t, MessageSize>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
      return x.first == y.first && x.second.count == y.second.count;
    });
  }

  // Shares of several classes that are alike become one communicator.
  void join() {
    spread_over_time();
    std::erase_if(shares_, [](const Share& s) { return s.count == 0; });
    std::stable_sort(shares_.begin(), shares_.end(), [](const Share& a, const Share& b) { return a.bytes > b.bytes; });
    std::vector<std::vector<const Share*>> members;
    for (const Share& s : shares_) {
      const auto alike = [&](const std::vector<const Share*>& m) {
        const Share& o = *m.front();
        const bool over = s.kind == "send" || s.over == o.over;
        return o.kind == s.kind && over && o.size == s.size && o.count == s.count && same_sizes(o.messages, s.messages) &&
               o.level == s.level && std::llround(o.bytes) == std::llround(s.bytes);
      };
      const auto found = std::find_if(members.begin(), members.end(), alike);
      found == members.end() ? members.push_back({&s}) : found->push_back(&s);
    }
    for (const auto& m : members) {
      const int id = static_cast<int>(out_.communicators.size());
      out_.communicators.push_back(communicator_of(m));
      for (const Share* s : m) matrix(*s, id);
    }
    name_communicators(out_.communicators);
    for (const auto& [key, cell] : cells_) out_.cells.push_back(cell);
  }

  Communicator communicator_of(const std::vector<const Share*>& m) const {
    Communicator out;
    const Share& first = *m.front();
    out.kind = first.kind, out.size = first.size, out.count = first.count;
    out.bytes = std::llround(first.bytes), out.sent = std::llround(first.sent);
    out.over = and_more(first.over, first.kind == "send" ? m.size() - 1 : 0);
    out.level = first.level;
    out.level_name = level_name(first.level);
    out.by_level = first.by_level;
    for (const auto& [bytes, size] : first.messages) {
      MessageSize all = size;
      for (const Share* s : m) {
        const MessageSize& one = s->messages.at(bytes);
        all.first_us = std::min(all.first_us, one.first_us), all.last_us = std::max(all.last_us, one.last_us);
      }
      out.messages.push_back(all);
    }
    std::vector<std::int64_t> all;
    bool timed = false;
    for (const Share* s : m) {
      const DeviceClass& c = at(p_.classes, s->device_class);
      out.classes.push_back(c.name);
      out.parts.push_back({s->name, s->device_class, {s->tensors.begin(), s->tensors.end()}});
      const std::vector<int> own = devices(p_, c);
      all.insert(all.end(), own.begin(), own.end());
      out.bursts.resize(intervals, 0);
      for (std::size_t k = 0; k < s->bursts.size(); ++k) out.bursts[k] += s->bursts[k] * static_cast<double>(own.size());
      out.busy_us = std::max(out.busy_us, s->busy_us);
      out.exposed_us = std::max(out.exposed_us, s->exposed_us);
      if (!s->timed) continue;
      out.first_us = timed ? std::min(out.first_us, s->first_us) : s->first_us;
      out.last_us = std::max(out.last_us, s->last_us);
      timed = true;
    }
    if (!times_.detailed) out.exposed_us = -1;
    for (const Share* s : m) add_members(*s, out.members);
    out.groups = std::max<std::int64_t>(1, std::ssize(all) / (first.kind == "send" ? 1 : out.size));
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    out.devices = devices_text({DeviceGroup{.first = all.empty() ? 0 : all.front(), .axes = {}, .listed = all}});
    return out;
  }

  // Each group once, whichever of its devices' classes it is of.
  void add_members(const Share& s, std::vector<std::string>& out) const {
    if (s.kind == "send") return;
    const std::vector<int> all = devices(p_, at(p_.classes, s.device_class));
    const std::set<int> own(all.begin(), all.end());
    for (const DeviceGroup& group : Coordinates(p_, at(p_.places, s.place), s.digits).groups()) {
      if (out.size() == most_members) return;
      const std::vector<std::int64_t> in_it = planscope::members(group, group.size());
      if (std::none_of(in_it.begin(), in_it.end(), [&](std::int64_t d) { return own.contains(static_cast<int>(d)); })) continue;
      const std::string text = devices_text({group});
      if (std::find(out.begin(), out.end(), text) == out.end()) out.push_back(text);
    }
  }

  void put(int communicator, int from, int to, double bytes, double messages, double us) {
    TrafficCell& cell = cells_[{communicator, from, to}];
    cell.communicator = communicator, cell.from = from, cell.to = to;
    cell.bytes += bytes, cell.messages += messages, cell.us = std::max(cell.us, us);
  }

  void matrix(const Share& s, int id) {
    if (s.kind == "send") return sends(s, id);
    std::set<int> senders;
    for (const int d : devices(p_, at(p_.classes, s.device_class))) senders.insert(d);
    const Coordinates coordinates(p_, at(p_.places, s.place), s.digits);
    const double each = s.sent / static_cast<double>(std::max<std::int64_t>(1, s.size - 1));
    for (const DeviceGroup& group : coordinates.groups()) {
      std::map<int, std::int64_t> sending, all;  // devices by row
      for (const std::int64_t d : members(group, group.size())) {
        const int row = at(row_of_, static_cast<int>(d));
        ++all[row];
        if (senders.contains(static_cast<int>(d))) ++sending[row];
      }
      for (const auto& [from, n] : sending)
        for (const auto& [to, others] : all) {
          const auto pairs = static_cast<double>(n * (others - (from == to ? 1 : 0)));
          if (pairs > 0) put(id, from, to, pairs * each, pairs * static_cast<double>(s.count), s.busy_us);
        }
    }
  }

  // Stages of a pipeline send alike: what goes between one pair of them is the same for all, other devices along.
  void sends(const Share& s, int id) {
    std::set<int> senders;
    for (const int d : devices(p_, at(p_.classes, s.device_class))) senders.insert(d);
    for (const auto& [transfer, of] : s.transfers)
      for (const Sending& sending : sendings(p_, at(p_.transfers, transfer))) {
        if (brush_.tensors && !brush_.tensors->contains(sending.tensor)) continue;
        const int first = base(sending.from);
        const std::vector<PointToPoint>& all = messages_between(sending);
        for (const PointToPoint& m : all) {
          if (!senders.contains(m.from + first)) continue;
          put(id, at(row_of_, static_cast<int>(m.from + first)), at(row_of_, static_cast<int>(m.to + first)),
              static_cast<double>(m.bytes.count) * of.runs,
              static_cast<double>(of.count), s.busy_us);
        }
      }
  }

  // What one device of a class sends in one run of a transfer, in the mean over its devices.
  double sent_by_device(int c, int transfer) {
    const auto [it, fresh] = sent_by_device_.try_emplace({c, transfer}, 0);
    if (!fresh) return it->second;
    const std::vector<int> all = devices(p_, at(p_.classes, c));
    const std::set<std::int64_t> senders(all.begin(), all.end());
    for (const Sending& sending : sendings(p_, at(p_.transfers, transfer)))
      for (const PointToPoint& m : messages_between(sending))
        if (senders.contains(m.from + base(sending.from))) it->second += static_cast<double>(m.bytes.count);
    return it->second /= static_cast<double>(all.size());
  }

  int base(const Place& place) const {
    const Grid& g = at(p_.grids, place.grid);
    return g.devices.empty() ? static_cast<int>(Coordinates(p_, place, {}).devices({}).first) : 0;
  }

  // Devices count from the first one of the sending place.
  const std::vector<PointToPoint>& messages_between(const Sending& s) {
    std::vector<std::int64_t> key = g_.sizes(s.tensor);
    key.insert(key.end(), {byte_size(at(g_.model->values, s.tensor).dtype), s.from.grid, s.to.grid,
        base(s.to) - base(s.from)});
    for (const Place* place : {&s.from, &s.to})
      for (const AxisId a : free_axes(p_, *place)) key.push_back(a);
    std::vector<std::vector<ClassId>> dims = at(g_.tensors, s.tensor).dims;
    const auto [it, fresh] = messages_.try_emplace({key, dims, s.sent, s.got});
    if (fresh || !at(p_.grids, s.from.grid).devices.empty() || !at(p_.grids, s.to.grid).devices.empty()) {
      it->second = messages(g_, p_, s);
      for (PointToPoint& m : it->second) m.from -= base(s.from), m.to -= base(s.from);
    }
    return it->second;
  }

  const Graph& g_;
  const Program& p_;
  const Simulation& s_;
  const Cluster& cluster_;
  const TrafficBrush& brush_;
  Parties parties_;
  Steps steps_;
  CommunicationTimes times_;
  std::vector<int> row_of_;
  std::vector<Share> shares_;
  // What an instruction of a class sends in a step, in how many runs, and of one run by level.
  struct SentOverTime {
    std::size_t share = 0;
    double sent = 0, runs = 0;
    std::vector<double> by_level;
  };
  using Sendings = std::map<std::tuple<int, SegmentId, int, Stream>, std::vector<SentOverTime>>;
  Sendings sendings_;
  std::map<std::pair<int, int>, double> sent_by_device_;  // by class and transfer
  std::map<std::tuple<int, int, int>, TrafficCell> cells_;
  std::map<std::tuple<std::vector<std::int64_t>, std::vector<std::vector<ClassId>>, Layout, Layout>,
      std::vector<PointToPoint>> messages_;
  TrafficFacts out_;
};

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

}  // namespace

bool goes_over(const Communicator& c, int level) {
  return level >= 0 && static_cast<std::size_t>(level) < c.by_level.size() && c.by_level[static_cast<std::size_t>(level)] > 0;
}

std::vector<TensorId> tensors_sent(const Program& p, const Instruction& i) {
  std::vector<TensorId> out;
  if (i.code != Code::issue && i.transfer < 0) return out;
  for (const ProgramValueId v : values_sent(p, i))
    if (v >= 0) out.push_back(at(p.values, v).tensor);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

TrafficRows traffic_rows(const Program& p) {
  TrafficRows out;
  const std::int64_t count = p.device_count;
  out.row_of.assign(static_cast<std::size_t>(count), -1);
  const auto add = [&](const std::vector<std::int64_t>& together, const std::string& name, const std::string& place) {
    for (const std::int64_t d : together) at(out.row_of, static_cast<int>(d)) = static_cast<int>(out.names.size());
    const std::string which = devices_text({DeviceGroup{.first = together.front(), .axes = {}, .listed = together}});
    out.names.push_back(name.empty() ? which : name);
    out.devices.push_back(which);
    out.places.push_back(place);
    out.devices_per_row = std::max(out.devices_per_row, std::ssize(together));
  };
  if (count <= most_rows) {
    for (std::int64_t d = 0; d < count; ++d) add({d}, "", std::to_string(d));
    return out;
  }
  // As many rows as a class' share of the devices, and one at least.
  const std::int64_t left = std::max<std::int64_t>(0, most_rows - std::ssize(p.classes));
  const auto add_rows = [&](std::vector<std::int64_t> all, const std::string& name) {
    std::sort(all.begin(), all.end());
    std::erase_if(all, [&](std::int64_t d) { return at(out.row_of, static_cast<int>(d)) >= 0; });
    const std::int64_t size = std::ssize(all), rows = std::min(size, 1 + left * size / count);
    const bool place = name.find('=') != name.npos;
    for (std::int64_t k = 0; k < rows; ++k) {
      const std::string part = rows > 1 ? " " + std::to_string(k + 1) + "/" + std::to_string(rows) : "";
      add({all.begin() + k * size / rows, all.begin() + (k + 1) * size / rows}, place ? name + part : "", place ? name : "");
    }
  };
  for (const DeviceClass& c : p.classes) {
    const std::vector<int> all = devices(p, c);
    add_rows({all.begin(), all.end()}, c.name);
  }
  std::vector<std::int64_t> unused;
  for (std::int64_t d = 0; d < count; ++d)
    if (at(out.row_of, static_cast<int>(d)) < 0) unused.push_back(d);
  add_rows(std::move(unused), "");
  return out;
}

double TrafficFacts::sum(int from, int to) const {
  double out = 0;
  for (const TrafficCell& c : cells)
    if (c.from == from && c.to == to) out += c.bytes;
  return out;
}

TrafficFacts traffic(const Evaluation& e, const Cluster& c, const TrafficBrush& b) { return Counter(e, c, b).run(); }

std::set<TensorId> tensors_of(const Graph& g, const std::vector<OpId>& operators) {
  std::set<TensorId> out;
  for (const OpId o : operators) {
    const Op& op = g.ops[static_cast<std::size_t>(o)];
    for (const Operand& x : op.inputs) out.insert(x.tensor);
    for (const Operand& x : op.outputs) out.insert(x.tensor);
  }
  return out;
}

std::string traffic_csv(const TrafficFacts& t) {
  std::string out = "kind,over,devices,size,groups,level,message_bytes,count,first_us,last_us\n";
  for (const Communicator& c : t.communicators)
    for (const MessageSize& m : c.messages) {
      char times[80];
      std::snprintf(times, sizeof times, "%.3f,%.3f", m.first_us, m.last_us);
      out += c.kind + "," + quoted(among(c)) + "," + quoted(c.devices) + "," + std::to_string(c.size) + "," +
          std::to_string(c.groups) + "," +
             c.level_name + "," + std::to_string(m.bytes) + "," + std::to_string(m.count) + "," + times + "\n";
    }
  return out;
}

std::string traffic_json(const TrafficFacts& t) {
  nlohmann::ordered_json communicators = nlohmann::ordered_json::array(), cells = nlohmann::ordered_json::array();
  for (const Communicator& c : t.communicators) {
    nlohmann::ordered_json messages = nlohmann::ordered_json::array();
    for (const MessageSize& m : c.messages) messages.push_back({{"bytes", m.bytes}, {"count", m.count}, {"first_us", m.first_us}, {"last_us", m.last_us}});
    communicators.push_back({{"kind", c.kind}, {"over", among(c)}, {"devices", c.devices}, {"size", c.size},
        {"groups", c.groups}, {"members", c.members},
                             {"level", c.level_name}, {"count", c.count}, {"bytes", c.bytes}, {"sent_bytes", c.sent},
                             {"messages", messages}, {"busy_us", c.busy_us}, {"first_us", c.first_us},
                                 {"last_us", c.last_us}, {"bursts", c.bursts}});
  }
  for (const TrafficCell& c : t.cells)
    cells.push_back({{"from", t.rows[static_cast<std::size_t>(c.from)]},
                     {"to", t.rows[static_cast<std::size_t>(c.to)]},
                     {"communicator", c.communicator},
                     {"bytes", c.bytes},
                     {"messages", c.messages},
                     {"us", c.us}});
  nlohmann::ordered_json links = nlohmann::ordered_json::array();
  for (const LinkLoad& l : t.links)
    links.push_back({{"level", l.name}, {"bandwidth", l.bandwidth},
        {"interval_us", t.duration_us / static_cast<double>(l.bytes.size())},
                     {"bytes", l.bytes}});
  return nlohmann::ordered_json{{"devices", t.devices}, {"devices_per_row", t.devices_per_row},
      {"duration_us", t.duration_us},
                                {"communicators", communicators}, {"matrix", cells}, {"links", links}}.dump(1) + "\n";
}

}  // namespace planscope
