#include "viz/timeline/beside.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <tuple>

namespace planscope::viz {

namespace {

constexpr std::size_t most_facts = 100'000;  // ghost blocks with facts of their own

// What a block does, by which it is found in another timeline: the n-th of its kind, label and micro-batch in a lane.
using Task = std::tuple<BlockKind, std::string, std::int32_t, int>;

std::vector<std::pair<Task, const Block*>> tasks_of(const Lane& lane) {
  std::vector<std::pair<Task, const Block*>> out;
  std::map<std::tuple<BlockKind, std::string, std::int32_t>, int> seen;
  for (const Stream& s : lane.streams) {
    if (s.kind != StreamKind::compute) continue;
    for (const Block& b : s.blocks) {
      if (is_idle(b.kind)) continue;
      const int n = seen[{b.kind, b.label, b.micro_batch}]++;
      out.emplace_back(Task{b.kind, b.label, b.micro_batch, n}, &b);
    }
    break;
  }
  return out;
}

// The longest rising subsequence, as positions in the list.
std::vector<std::size_t> rising(const std::vector<std::size_t>& values) {
  std::vector<std::size_t> ends, before(values.size());  // ends: by length, where the lowest such sequence ends
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto at =
        std::partition_point(ends.begin(), ends.end(), [&](std::size_t e) { return values[e] < values[i]; });
    before[i] = at == ends.begin() ? values.size() : *std::prev(at);
    if (at == ends.end())
      ends.push_back(i);
    else
      *at = i;
  }
  std::vector<std::size_t> out;
  if (ends.empty()) return out;
  for (std::size_t i = ends.back(); i < values.size(); i = before[i]) out.push_back(i);
  std::reverse(out.begin(), out.end());
  return out;
}

// Where a time of a lane is drawn: straight between anchors, in real time behind the last one. Where one task ends as
// the next begins, and not so in the first timeline, a time has two places: as an end and as a start.
class Axis {
 public:
  explicit Axis(double by = 1) : by_(by) {}
  void anchor(double time, double drawn) {
    if (anchors_.empty() || (time >= anchors_.back().first && drawn >= anchors_.back().second))
      anchors_.emplace_back(time, drawn);
  }
  Microseconds at(Microseconds t, bool start) const {
    if (anchors_.empty()) return t * by_;
    const auto next = std::partition_point(anchors_.begin(), anchors_.end(), [&](const auto& a) {
      return start ? a.first <= t.value : a.first < t.value;
    });
    if (next == anchors_.end()) return {anchors_.back().second + t.value - anchors_.back().first};
    if (next == anchors_.begin()) {  // never before 0
      const double scale = next->first > 0 ? next->second / next->first : 1;
      return {t.value * scale};
    }
    const auto& [a, drawn_a] = *std::prev(next);
    return {drawn_a + (t.value - a) / (next->first - a) * (next->second - drawn_a)};
  }

 private:
  double by_;
  std::vector<std::pair<double, double>> anchors_;  // rising in both
};

Axis task_axis(const Lane& base, const Lane& lane) {
  std::map<Task, std::size_t> where;
  const auto wanted = tasks_of(base);
  for (std::size_t k = 0; k < wanted.size(); ++k) where[wanted[k].first] = k;
  std::vector<std::size_t> positions;
  std::vector<const Block*> mine;
  for (const auto& [task, block] : tasks_of(lane))
    if (const auto found = where.find(task); found != where.end())
      positions.push_back(found->second), mine.push_back(block);
  Axis out;
  for (const std::size_t k : rising(positions)) {
    const Block& b = *wanted[positions[k]].second;
    out.anchor(mine[k]->start.value, b.start.value);
    out.anchor(mine[k]->end().value, b.end().value);
  }
  return out;
}

// The lane of a timeline that does what a lane of another one does: of the same name, else in the same place.
int lane_like(const TimelineModel& base, const TimelineModel& other, std::size_t lane) {
  for (std::size_t k = 0; k < base.lanes.size(); ++k)
    if (base.lanes[k].name == other.lanes[lane].name) return static_cast<int>(k);
  return base.lanes.size() == other.lanes.size() ? static_cast<int>(lane) : -1;
}

std::string percent(double from, double to) {
  char text[32];
  std::snprintf(text, sizeof text, "%+.1f %%", 100 * (to / from - 1));
  return text;
}

class Beside {
 public:
  Beside(const std::vector<NamedTimeline>& all, Alignment alignment) : all_(all), alignment_(alignment) {}

  TimelineModel build() {
    for (const NamedTimeline& t : all_) longest_ = std::max(longest_, t.model->duration);
    place_lanes();
    out_.compared = true;
    for (std::size_t k = 0; k < all_.size(); ++k) add(k);
    for (std::size_t k = 0; k < all_.size(); ++k)
      if (all_[k].over >= 0) lay_over(k);
    std::stable_sort(out_.critical.begin(), out_.critical.end(),
                     [](const PathPart& a, const PathPart& b) { return a.start < b.start; });
    out_.duration = longest_;
    for (const Lane& l : out_.lanes) {
      for (const Stream& s : l.streams)
        if (!s.blocks.empty()) out_.duration = std::max(out_.duration, s.blocks.back().end());
      if (!l.memory.empty()) out_.duration = std::max(out_.duration, l.memory.back().at);
    }
    for (const auto& [at, label] : ends_) out_.markers.push_back({std::min(at, out_.duration), label});
    return std::move(out_);
  }

 private:
  const TimelineModel& model(std::size_t k) const { return *all_[k].model; }
  bool is_ghost(std::size_t k) const { return all_[k].over >= 0; }

  // Lane by lane of each timeline; or stage by stage.
  void place_lanes() {
    where_.resize(all_.size());
    std::size_t most = 0;
    for (std::size_t k = 0; k < all_.size(); ++k) {
      where_[k].assign(model(k).lanes.size(), -1);
      most = std::max(most, model(k).lanes.size());
    }
    int next = 0;
    if (alignment_ == Alignment::task) {
      for (std::size_t lane = 0; lane < most; ++lane)
        for (std::size_t k = 0; k < all_.size(); ++k)
          if (lane < where_[k].size() && !hidden(k, lane)) where_[k][lane] = next++;
    } else {
      for (std::size_t k = 0; k < all_.size(); ++k)
        for (std::size_t lane = 0; lane < where_[k].size(); ++lane)
          if (!hidden(k, lane)) where_[k][lane] = next++;
    }
    out_.lanes.resize(static_cast<std::size_t>(next));
  }

  // A ghost has no lane of its own, unless the other timeline has none like it.
  bool hidden(std::size_t k, std::size_t lane) const {
    return is_ghost(k) && lane_like(model(static_cast<std::size_t>(all_[k].over)), model(k), lane) >= 0;
  }

  Axis axis(std::size_t k, std::size_t lane) const {
    const TimelineModel& m = model(k);
    if (alignment_ == Alignment::share) return Axis(m.duration.value > 0 ? longest_ / m.duration : 1);
    if (alignment_ == Alignment::time || k == 0) return Axis();
    const int base = lane_like(model(0), m, lane);
    return base < 0 ? Axis() : task_axis(model(0).lanes[static_cast<std::size_t>(base)], m.lanes[lane]);
  }

  static void draw_on(const Axis& axis, std::vector<Block>& blocks, std::int32_t first_detail) {
    for (Block& b : blocks) {
      const Microseconds end = axis.at(b.end(), false);
      b.start = axis.at(b.start, true);
      b.duration = std::max(Microseconds{0}, end - b.start);
      if (b.instruction >= 0) b.instruction += first_detail;
    }
  }

  void add(std::size_t k) {
    const TimelineModel& m = model(k);
    const auto first_detail = static_cast<std::int32_t>(out_.details.size());
    first_detail_.push_back(first_detail);
    std::vector<Axis> axes;
    for (std::size_t i = 0; i < m.lanes.size(); ++i) {
      axes.push_back(axis(k, i));
      if (where_[k][i] < 0) continue;
      Lane lane = m.lanes[i];
      lane.name = lane_beside(all_[k].name, lane.name);
      for (Stream& s : lane.streams) draw_on(axes.back(), s.blocks, first_detail);
      for (MemoryStep& step : lane.memory) step.at = axes.back().at(step.at, true);
      if (lane.peak_at.value >= 0) lane.peak_at = axes.back().at(lane.peak_at, true);
      out_.lanes[static_cast<std::size_t>(where_[k][i])] = std::move(lane);
    }
    for (BlockDetail d : m.details) {
      d.subtitle = all_[k].name + (d.subtitle.empty() ? "" : " · " + d.subtitle);
      for (std::int32_t& r : d.reads) r += first_detail;
      out_.details.push_back(std::move(d));
    }
    for (Link l : m.links) {
      l.from.lane = where_[k][static_cast<std::size_t>(l.from.lane)],
      l.to.lane = where_[k][static_cast<std::size_t>(l.to.lane)];
      if (l.from.lane >= 0 && l.to.lane >= 0) out_.links.push_back(l);
    }
    for (PathPart p : m.critical) {
      const Axis& a = axes[static_cast<std::size_t>(p.lane)];
      const Microseconds end = a.at(p.start + p.duration, false);
      p.lane = where_[k][static_cast<std::size_t>(p.lane)];
      p.start = a.at(p.start, true);
      p.duration = std::max(Microseconds{0}, end - p.start);
      if (p.lane >= 0) out_.critical.push_back(p);
    }
    const double by = alignment_ == Alignment::share && m.duration.value > 0 ? longest_ / m.duration : 1;
    if (alignment_ != Alignment::task || k == 0)
      ends_.emplace_back(m.duration * by, all_[k].name + ": " + format_time(m.duration));
  }

  void lay_over(std::size_t k) {
    const auto base = static_cast<std::size_t>(all_[k].over);
    for (std::size_t i = 0; i < model(k).lanes.size(); ++i) {
      const int like = lane_like(model(base), model(k), i);
      if (like < 0) continue;
      const Lane &ghost = model(k).lanes[i], &under = model(base).lanes[static_cast<std::size_t>(like)];
      const int lane = where_[base][static_cast<std::size_t>(like)];
      const auto work = std::find_if(ghost.streams.begin(), ghost.streams.end(),
                                     [](const Stream& o) { return o.kind == StreamKind::compute; });
      if (lane < 0 || work == ghost.streams.end()) continue;
      Stream s = *work;
      s.name = all_[k].name;
      s.kind = StreamKind::communication;  // as thin as communication
      std::erase_if(s.blocks, [](const Block& b) { return is_idle(b.kind); });
      facts(k, base, under, ghost, s.blocks);
      draw_on(axis(k, i), s.blocks, 0);
      insert(lane, std::move(s));
    }
  }

  // Of every block how long it takes in both.
  void facts(std::size_t k, std::size_t base, const Lane& under, const Lane& ghost, std::vector<Block>& blocks) {
    std::map<Task, const Block*> known;
    for (const auto& [task, block] : tasks_of(under)) known[task] = block;
    const auto tasks = tasks_of(ghost);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      if (facts_++ >= most_facts) {
        if (blocks[b].instruction >= 0) blocks[b].instruction += first_detail_[k];
        continue;
      }
      BlockDetail d;
      const Block& mine = *tasks[b].second;
      if (mine.instruction >= 0) d = model(k).details[static_cast<std::size_t>(mine.instruction)];
      d.reads.clear();  // what a ghost reads is not drawn
      d.subtitle = all_[k].name + (d.subtitle.empty() ? "" : " · " + d.subtitle);
      d.facts = {{all_[k].name, format_time(mine.duration)}};
      if (const auto found = known.find(tasks[b].first); found != known.end()) {
        const Microseconds was = found->second->duration;
        d.facts.push_back({all_[base].name, format_time(was)});
        if (was.value > 0) d.facts.push_back({"difference", percent(was.value, mine.duration.value)});
      }
      blocks[b].instruction = static_cast<std::int32_t>(out_.details.size());
      out_.details.push_back(std::move(d));
    }
  }

  // Below the work of the lane, and the ghosts that are there already.
  void insert(int lane, Stream s) {
    std::vector<Stream>& streams = out_.lanes[static_cast<std::size_t>(lane)].streams;
    const int at = std::min(static_cast<int>(streams.size()), 1 + ghosts_[lane]++);
    streams.insert(streams.begin() + at, std::move(s));
    const auto shift = [&](int in, auto& stream) {
      if (in == lane && stream >= at) ++stream;
    };
    for (Link& l : out_.links) shift(l.from.lane, l.from.stream), shift(l.to.lane, l.to.stream);
    for (PathPart& p : out_.critical) shift(p.lane, p.stream);
  }

  const std::vector<NamedTimeline>& all_;
  const Alignment alignment_;
  TimelineModel out_;
  Microseconds longest_;
  std::vector<std::vector<int>> where_;     // by timeline and lane: its lane in `out_`; -1: none
  std::map<int, int> ghosts_;               // by lane, how many
  std::vector<std::int32_t> first_detail_;  // by timeline
  std::vector<std::pair<Microseconds, std::string>> ends_;
  std::size_t facts_ = 0;
};

}  // namespace

std::string lane_beside(const std::string& whose, const std::string& lane) { return whose + " · " + lane; }

TimelineModel beside(const std::vector<NamedTimeline>& all, Alignment alignment) {
  return Beside(all, alignment).build();
}

}  // namespace planscope::viz
