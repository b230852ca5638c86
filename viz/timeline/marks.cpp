#include "viz/timeline/marks.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>

namespace planscope::viz {

namespace {

std::optional<int> number(const std::string& text) {
  if (text.empty() || text.size() > 9 || text.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  return std::atoi(text.c_str());
}

template <class T>
bool meet(const std::vector<T>& a, const std::set<T>& b) {
  return std::any_of(a.begin(), a.end(), [&](const T& x) { return b.contains(x); });
}

bool same(Microseconds a, Microseconds b) { return std::fabs(a.value - b.value) <= 0.001; }  // ids have three decimals

bool is_chosen(const Lane& lane, const Stream& stream, const Block& b, const TimelineMarks& m) {
  return m.time && !m.stream.empty() && same(b.start, m.time->first) && same(b.end(), m.time->second) &&
         stream.name == m.stream && m.within.contains(lane.name);
}

}  // namespace

TimelineMarks parse_timeline_marks(const std::vector<std::string>& ids) {
  TimelineMarks out;
  for (const std::string& id : ids) {
    const std::size_t space = id.find(' ');
    if (space == std::string::npos) continue;
    const std::string what = id.substr(0, space), rest = id.substr(space + 1);
    if (what == "lane") out.lanes.insert(rest);
    if (what == "within") out.within.insert(rest);
    if (what == "stream") out.stream = rest;
    if (what == "find") out.find = rest;
    if (what == "communicator") out.communicators.insert(rest);
    if (what == "time") {
      char* end = nullptr;
      const double from = std::strtod(rest.c_str(), &end), to = std::strtod(end, nullptr);
      if (from >= 0 && to >= from && to < 1e15) out.time = {Microseconds{from}, Microseconds{to}};
    }
    const std::optional<int> n = number(rest);
    if (!n) continue;
    if (what == "line") out.lines.insert(*n);
    if (what == "operator") out.operators.insert(*n);
    if (what == "tensor") out.tensors.insert(*n);
    if (what == "found_operator") out.found_operators.insert(*n);
    if (what == "found_tensor") out.found_tensors.insert(*n);
  }
  return out;
}

std::string block_arguments(const std::string& lane, const std::string& stream, Microseconds start, Microseconds end) {
  const auto quoted = [](const std::string& text) {
    std::string out = "\"";
    for (const char c : text) out += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    return out + "\"";
  };
  char time[80];
  std::snprintf(time, sizeof time, "time=%.3f..%.3f", start.value, end.value);
  return std::string(time) + " lane=" + quoted(lane) + " stream=" + quoted(stream);
}

std::string block_arguments(const TimelineModel& m, const BlockRef& ref) {
  const Lane& lane = m.lanes[static_cast<std::size_t>(ref.lane)];
  const Block& b = m.at(ref);
  return block_arguments(lane.name, lane.streams[static_cast<std::size_t>(ref.stream)].name, b.start, b.end());
}

MarkedBlocks marked_blocks(const TimelineModel& model, const TimelineMarks& m) {
  std::vector<char> computes, communicates;  // by detail
  for (const BlockDetail& d : model.details) {
    const bool line = d.plan_line > 0 && m.lines.contains(d.plan_line);
    computes.push_back(line || meet(d.operators, m.operators));
    communicates.push_back(line || meet(d.tensors, m.tensors) || meet(d.communicators, m.communicators));
  }
  MarkedBlocks out{{}, m.lanes};
  for (const Lane& lane : model.lanes) {
    std::vector<std::vector<std::int32_t>>& streams = out.before.emplace_back();
    // What several lanes repeat is marked in those that are meant.
    const bool here = m.lanes.empty() || lane.is_device || m.lanes.contains(lane.name);
    for (const Stream& stream : lane.streams) {
      const std::vector<char>& of = stream.kind == StreamKind::communication ? communicates : computes;
      std::vector<std::int32_t> before = {0};
      for (const Block& b : stream.blocks) {
        const bool marked = (here && b.instruction >= 0 && of[static_cast<std::size_t>(b.instruction)]) ||
                            is_chosen(lane, stream, b, m);
        before.push_back(before.back() + (marked ? 1 : 0));
      }
      streams.push_back(before.back() > 0 ? std::move(before) : std::vector<std::int32_t>{});
    }
  }
  return out;
}

MarkedBlocks these_blocks(const TimelineModel& model, const std::vector<BlockRef>& these) {
  MarkedBlocks out;
  for (const Lane& lane : model.lanes) out.before.emplace_back(lane.streams.size());
  for (const BlockRef& r : these) {
    const auto lane = static_cast<std::size_t>(r.lane), stream = static_cast<std::size_t>(r.stream);
    std::vector<std::int32_t>& before = out.before[lane][stream];
    if (before.empty()) before.assign(model.lanes[lane].streams[stream].blocks.size() + 1, 0);
    before[static_cast<std::size_t>(r.block) + 1] = 1;
  }
  for (std::vector<std::vector<std::int32_t>>& streams : out.before)
    for (std::vector<std::int32_t>& before : streams) std::partial_sum(before.begin(), before.end(), before.begin());
  return out;
}

int marked_within(const MarkedBlocks& m, int lane, int stream, int first, int last) {
  if (static_cast<std::size_t>(lane) >= m.before.size()) return 0;
  const auto& streams = m.before[static_cast<std::size_t>(lane)];
  if (static_cast<std::size_t>(stream) >= streams.size()) return 0;
  const std::vector<std::int32_t>& before = streams[static_cast<std::size_t>(stream)];
  if (static_cast<std::size_t>(last) >= before.size()) return 0;
  return before[static_cast<std::size_t>(last)] - before[static_cast<std::size_t>(first)];
}

std::optional<BlockRef> chosen_block(const TimelineModel& model, const TimelineMarks& m) {
  if (m.stream.empty() || !m.time) return std::nullopt;
  for (int l = 0; l < static_cast<int>(model.lanes.size()); ++l) {
    const Lane& lane = model.lanes[static_cast<std::size_t>(l)];
    for (int k = 0; k < static_cast<int>(lane.streams.size()); ++k) {
      const Stream& stream = lane.streams[static_cast<std::size_t>(k)];
      for (int b = 0; b < static_cast<int>(stream.blocks.size()); ++b)
        if (is_chosen(lane, stream, stream.blocks[static_cast<std::size_t>(b)], m)) return BlockRef{l, k, b};
    }
  }
  return std::nullopt;
}

}  // namespace planscope::viz
