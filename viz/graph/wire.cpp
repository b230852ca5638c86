#include "viz/graph/wire.h"

#include "viz/canvas/wire.h"

namespace planscope::viz {

namespace {
constexpr std::uint32_t version = 3;
}

template <class Archive>
void fields(Archive& a, GraphModel& m) {
  a(m.name, m.empty, m.width, m.height, m.texts);
  a(m.id, m.title, m.kind, m.within, m.command, m.parent, m.state, m.found, m.x, m.y, m.w, m.h, m.level, m.line_end, m.fact_end,
    m.band_end, m.lane_end, m.line, m.fact, m.band, m.band_share, m.lane_kind, m.lane_text);
  a(m.from, m.to, m.edge_text, m.edge_command, m.next, m.point_end, m.point_x, m.point_y);
  a(m.chip_edge, m.chip_title, m.chip_about, m.chip_fact_end, m.chip_fact, m.chip_gradient, m.chip_exposed);
  a(m.colour, m.colour_name, m.category, m.most, m.search);
}

std::string encode(const GraphModel& m) { return encode("GRPH", version, m); }

std::optional<GraphModel> decode_graph(std::string_view bytes) {
  std::optional<GraphModel> out = decode<GraphModel>("GRPH", version, bytes);
  return out && first_problem(*out).empty() ? std::move(out) : std::nullopt;
}

}  // namespace planscope::viz
