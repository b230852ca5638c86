#include "viz/timeline/wire.h"

#include "viz/canvas/wire.h"

namespace planscope::viz {

namespace {

constexpr std::uint32_t version = 4;

bool within(const TimelineModel& m, const BlockRef& r) {
  return r.lane >= 0 && static_cast<std::size_t>(r.lane) < m.lanes.size() && r.stream >= 0 &&
         static_cast<std::size_t>(r.stream) < m.lanes[r.lane].streams.size() && r.block >= 0 &&
         static_cast<std::size_t>(r.block) < m.lanes[r.lane].streams[r.stream].blocks.size();
}

bool within(const TimelineModel& m, const PathPart& p) {
  return p.lane >= 0 && static_cast<std::size_t>(p.lane) < m.lanes.size() && p.stream >= 0 &&
         static_cast<std::size_t>(p.stream) < m.lanes[p.lane].streams.size();
}

bool whole(const TimelineModel& m) {
  if (!first_problem(m).empty()) return false;
  for (const Lane& l : m.lanes) {
    for (const AliveLine& a : l.alive)
      if (static_cast<int>(a.kind) >= memory_kinds) return false;
    for (const Stream& s : l.streams) {
      if (s.kind > StreamKind::operators) return false;
      for (const Block& b : s.blocks)
        if (static_cast<int>(b.kind) >= block_kinds || b.instruction >= static_cast<std::int64_t>(m.details.size())) return false;
    }
  }
  for (const BlockDetail& d : m.details)
    for (const std::int32_t r : d.reads)
      if (r < 0 || static_cast<std::size_t>(r) >= m.details.size()) return false;
  for (const PathPart& p : m.critical)
    if (!within(m, p)) return false;
  for (const Link& l : m.links)
    if (!within(m, l.from) || !within(m, l.to)) return false;
  return true;
}

}  // namespace

template <class Archive>
void fields(Archive& a, Block& b) {
  a(b.start, b.duration, b.kind, b.micro_batch, b.instruction, b.label);
}
template <class Archive>
void fields(Archive& a, Stream& s) {
  a(s.name, s.kind, s.blocks);
}
template <class Archive>
void fields(Archive& a, MemoryStep& m) {
  a(m.at, m.bytes, m.kinds);
}
template <class Archive>
void fields(Archive& a, AliveLine& l) {
  a(l.what, l.kind, l.bytes);
}
template <class Archive>
void fields(Archive& a, Detail& d) {
  a(d.begin, d.end, d.operators_per_us);
}
template <class Archive>
void fields(Archive& a, Lane& l) {
  a(l.name, l.devices, l.streams, l.memory, l.capacity, l.peak_at, l.alive, l.pinned, l.folded, l.open, l.is_device, l.about);
}
template <class Archive>
void fields(Archive& a, BlockRef& r) {
  a(r.lane, r.stream, r.block);
}
template <class Archive>
void fields(Archive& a, Link& l) {
  a(l.from, l.to);
}
template <class Archive>
void fields(Archive& a, Marker& m) {
  a(m.at, m.label);
}
template <class Archive>
void fields(Archive& a, BlockDetail& d) {
  a(d.title, d.subtitle, d.facts, d.plan_line, d.operators, d.tensors, d.communicators, d.task, d.index_axes, d.reads);
}
template <class Archive>
void fields(Archive& a, PathPart& p) {
  a(p.lane, p.stream, p.start, p.duration);
}
template <class Archive>
void fields(Archive& a, TimelineModel& m) {
  a(m.lanes, m.details, m.links, m.markers, m.critical, m.duration, m.detail, m.compared);
}

std::string encode(const TimelineModel& m) { return encode("TIML", version, m); }

std::optional<TimelineModel> decode_timeline(std::string_view bytes) {
  std::optional<TimelineModel> out = decode<TimelineModel>("TIML", version, bytes);
  return out && whole(*out) ? std::move(out) : std::nullopt;
}

}  // namespace planscope::viz
