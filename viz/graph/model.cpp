#include "viz/graph/model.h"

#include <algorithm>
#include <cmath>

namespace planscope::viz {

Span32 span_of(const std::vector<std::int32_t>& ends, int k) {
  return {k == 0 ? 0 : ends[static_cast<std::size_t>(k - 1)], ends[static_cast<std::size_t>(k)]};
}

std::int32_t GraphModel::intern(const std::string& s) {
  const auto [known, fresh] = interned.try_emplace(s, static_cast<std::int32_t>(texts.size()));
  if (fresh) texts.push_back(s);
  return known->second;
}

int GraphModel::find(const std::string& node_id) const {
  for (std::size_t k = 0; k < id.size(); ++k)
    if (text(id[k]) == node_id) return static_cast<int>(k);
  return -1;
}

int GraphModel::add_node(const NodeAbout& n, const Rect& r) {
  id.push_back(intern(n.id)), title.push_back(intern(n.title)), kind.push_back(intern(n.kind)), within.push_back(intern(n.within));
  command.push_back(intern(n.command)), parent.push_back(n.parent);
  state.push_back(static_cast<std::uint8_t>(n.state));
  found.push_back(n.found);
  x.push_back(static_cast<float>(r.x)), y.push_back(static_cast<float>(r.y));
  w.push_back(static_cast<float>(r.width)), h.push_back(static_cast<float>(r.height));
  level.push_back(static_cast<float>(n.level));
  for (const std::string& l : n.lines) line.push_back(intern(l));
  for (const std::string& f : n.facts) fact.push_back(intern(f));
  for (const auto& [c, share] : n.bands) {
    band.push_back(static_cast<std::int16_t>(c));
    band_share.push_back(static_cast<float>(share));
  }
  line_end.push_back(static_cast<std::int32_t>(line.size())), fact_end.push_back(static_cast<std::int32_t>(fact.size()));
  band_end.push_back(static_cast<std::int32_t>(band.size()));
  for (const auto& [kind, text] : n.lane)
    lane_kind.push_back(static_cast<std::uint8_t>(kind)), lane_text.push_back(intern(text));
  lane_end.push_back(static_cast<std::int32_t>(lane_text.size()));
  width = std::max(width, r.right()), height = std::max(height, r.bottom());
  return nodes() - 1;
}

int GraphModel::add_edge(int from_node, int to_node, const std::vector<Point>& points, const std::string& about,
                         const std::string& run, bool to_next) {
  from.push_back(from_node), to.push_back(to_node), edge_text.push_back(intern(about)), edge_command.push_back(intern(run));
  next.push_back(to_next);
  for (const Point& p : points) point_x.push_back(static_cast<float>(p.x)), point_y.push_back(static_cast<float>(p.y));
  point_end.push_back(static_cast<std::int32_t>(point_x.size()));
  return edges() - 1;
}

void GraphModel::add_chip(int edge, const ChipAbout& c) {
  chip_edge.push_back(edge), chip_title.push_back(intern(c.title)), chip_about.push_back(intern(c.about));
  chip_gradient.push_back(c.gradient), chip_exposed.push_back(c.exposed);
  for (const std::string& f : c.facts) chip_fact.push_back(intern(f));
  chip_fact_end.push_back(static_cast<std::int32_t>(chip_fact.size()));
}

namespace {

bool within(const std::vector<std::int32_t>& places, std::size_t size, std::int32_t least = 0) {
  return std::all_of(places.begin(), places.end(), [&](std::int32_t p) { return p >= least && p < static_cast<std::int64_t>(size); });
}

bool ascending(const std::vector<std::int32_t>& ends, std::size_t size) {
  if (ends.empty()) return size == 0;
  return std::is_sorted(ends.begin(), ends.end()) && ends.front() >= 0 && static_cast<std::size_t>(ends.back()) == size;
}

bool finite(const std::vector<float>& all) {
  return std::all_of(all.begin(), all.end(), [](float v) { return std::isfinite(v); });
}

template <class... T>
bool all_of_size(std::size_t n, const T&... columns) {
  return ((columns.size() == n) && ...);
}

}  // namespace

std::string first_problem(const GraphModel& m) {
  const std::size_t n = m.id.size(), e = m.from.size(), c = m.chip_edge.size(), t = m.texts.size();
  if (!all_of_size(n, m.title, m.kind, m.within, m.command, m.parent, m.state, m.found, m.x, m.y, m.w, m.h, m.level, m.line_end,
                   m.fact_end, m.band_end, m.lane_end))
    return "columns of nodes have unequal lengths";
  if (!all_of_size(e, m.to, m.edge_text, m.edge_command, m.next, m.point_end)) return "columns of edges have unequal lengths";
  if (!all_of_size(c, m.chip_title, m.chip_about, m.chip_gradient, m.chip_exposed, m.chip_fact_end))
    return "columns of chips have unequal lengths";
  if (!within(m.id, t) || !within(m.title, t) || !within(m.kind, t) || !within(m.within, t) || !within(m.command, t) || !within(m.line, t) ||
      !within(m.fact, t) || !within(m.lane_text, t) || !within(m.edge_text, t) || !within(m.edge_command, t) ||
      !within(m.chip_title, t) || !within(m.chip_about, t) || !within(m.chip_fact, t) || !within(m.category, t))
    return "a text is not there";
  if (!ascending(m.line_end, m.line.size()) || !ascending(m.fact_end, m.fact.size()) ||
      !ascending(m.band_end, m.band.size()) || !ascending(m.lane_end, m.lane_text.size()) ||
      m.lane_kind.size() != m.lane_text.size() || !ascending(m.point_end, m.point_x.size()) ||
      !ascending(m.chip_fact_end, m.chip_fact.size()) || m.band.size() != m.band_share.size() ||
      m.point_x.size() != m.point_y.size())
    return "ends are out of order";
  if (!within(m.from, n) || !within(m.to, n) || !within(m.chip_edge, e)) return "a node or an edge is not there";
  for (std::size_t k = 0; k < n; ++k) {
    const std::int32_t p = m.parent[k];
    if (p < -1 || p >= static_cast<std::int64_t>(k) || (p >= 0 && m.state_of(p) != NodeState::expanded)) return "a node is in no box";
    if (m.state[k] > static_cast<std::uint8_t>(NodeState::expanded)) return "a node has no such state";
  }
  for (const std::uint8_t k : m.lane_kind)
    if (k > static_cast<std::uint8_t>(LaneKind::update)) return "a line of parameters has no such kind";
  for (const std::int16_t b : m.band)
    if (b < 0 || static_cast<std::size_t>(b) >= m.category.size()) return "a category is not there";
  if (!finite(m.x) || !finite(m.y) || !finite(m.w) || !finite(m.h) || !finite(m.level) || !finite(m.band_share) || !finite(m.point_x) ||
      !finite(m.point_y) || !std::isfinite(m.width) || !std::isfinite(m.height))
    return "a number is not finite";
  if (m.colour > ColourKind::communication) return "there is no such colouring";
  return {};
}

}  // namespace planscope::viz
