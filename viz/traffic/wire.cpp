#include "viz/traffic/wire.h"

#include "viz/canvas/wire.h"

namespace planscope::viz {

namespace {
constexpr std::uint32_t version = 4;
}

template <class Archive>
void fields(Archive& a, TrafficGroup& g) {
  a(g.kind, g.over, g.devices, g.level, g.name, g.size, g.groups, g.count, g.bytes, g.busy, g.exposed, g.first, g.last);
}
template <class Archive>
void fields(Archive& a, TrafficLink& l) {
  a(l.name, l.bandwidth, l.bytes);
}
template <class Archive>
void fields(Archive& a, TrafficModel& m) {
  a(m.devices, m.devices_per_row, m.rows, m.row_devices, m.places, m.communicators, m.from, m.to, m.communicator, m.bytes, m.messages, m.time,
    m.links, m.duration, m.shown, m.range_from, m.range_to);
}

std::string encode(const TrafficModel& m) { return encode("TRAF", version, m); }

std::optional<TrafficModel> decode_traffic(std::string_view bytes) {
  std::optional<TrafficModel> out = decode<TrafficModel>("TRAF", version, bytes);
  return out && first_problem(*out).empty() ? std::move(out) : std::nullopt;
}

}  // namespace planscope::viz
