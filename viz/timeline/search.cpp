#include "viz/timeline/search.h"

#include <algorithm>
#include <cctype>
#include <tuple>

namespace planscope::viz {

namespace {

bool has(const std::string& text, const std::string& wanted) {
  return lower_case(text).find(wanted) != std::string::npos;
}

bool meet(const std::vector<std::int32_t>& a, const std::set<std::int32_t>& b) {
  return std::any_of(a.begin(), a.end(), [&](std::int32_t x) { return b.contains(x); });
}

using Position = std::tuple<double, int, int, int>;
Position position(const TimelineModel& m, const BlockRef& r) {
  return {m.at(r).start.value, r.lane, r.stream, r.block};
}

}  // namespace

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::vector<BlockRef> find_blocks(const TimelineModel& m, std::string_view text, const NamedThings& named) {
  const std::string wanted = lower_case(text);
  std::vector<BlockRef> out;
  if (wanted.empty()) return out;
  std::vector<char> computes, communicates;  // by detail
  for (const BlockDetail& d : m.details) {
    const bool here = has(d.title, wanted) || has(d.task, wanted);
    const bool sends = std::any_of(d.communicators.begin(), d.communicators.end(),
                                   [&](const std::string& c) { return has(c, wanted); });
    computes.push_back(here || meet(d.operators, named.operators));
    communicates.push_back(here || sends || meet(d.tensors, named.tensors));
  }
  for (int l = 0; l < static_cast<int>(m.lanes.size()); ++l)
    for (int s = 0; s < static_cast<int>(m.lanes[static_cast<std::size_t>(l)].streams.size()); ++s) {
      const Stream& stream = m.lanes[static_cast<std::size_t>(l)].streams[static_cast<std::size_t>(s)];
      const std::vector<char>& of = stream.kind == StreamKind::communication ? communicates : computes;
      for (int b = 0; b < static_cast<int>(stream.blocks.size()); ++b) {
        const Block& block = stream.blocks[static_cast<std::size_t>(b)];
        const bool by_detail = block.instruction >= 0 && of[static_cast<std::size_t>(block.instruction)];
        if (by_detail || (!block.label.empty() && has(block.label, wanted))) out.push_back({l, s, b});
      }
    }
  std::sort(out.begin(), out.end(),
            [&](const BlockRef& a, const BlockRef& b) { return position(m, a) < position(m, b); });
  return out;
}

int next_block(const TimelineModel& m, const std::vector<BlockRef>& all, const std::optional<BlockRef>& from,
               bool forward) {
  const int count = static_cast<int>(all.size());
  if (!from) return forward ? 0 : count - 1;
  const auto before = [&](const BlockRef& a, const BlockRef& b) { return position(m, a) < position(m, b); };
  if (forward) {
    const auto behind = std::upper_bound(all.begin(), all.end(), *from, before) - all.begin();
    return static_cast<int>(behind) % count;
  }
  const auto here = std::lower_bound(all.begin(), all.end(), *from, before) - all.begin();
  return (static_cast<int>(here) + count - 1) % count;
}

TimelineView show_block(TimelineView v, const TimelineModel& m, const BlockRef& ref) {
  constexpr double least = 4, most = 40;  // of the time that is shown, in lengths of the block
  const Block& b = m.at(ref);
  const double block = std::max(b.duration.value, 1e-3);
  const double length = std::min(std::clamp(v.range.length().value, least * block, most * block),
                                 std::max(block, m.duration.value));
  const double middle = b.start.value + b.duration.value / 2;
  const double begin = std::clamp(middle - length / 2, 0.0, std::max(0.0, m.duration.value - length));
  v.range = {Microseconds{begin}, Microseconds{begin + length}};
  // Its lane is the first one below those that are pinned.
  v.scroll = 0;
  const TimelineLayout whole = lay_out(m, v, {0, 0, 1200, natural_height(m, v.show_memory)});
  if (!m.lanes[static_cast<std::size_t>(ref.lane)].pinned)
    v.scroll = std::max(0.0, whole.lanes[static_cast<std::size_t>(ref.lane)].label.y - whole.scrolled.y - 6);
  return v;
}

}  // namespace planscope::viz
