#include "viz/traffic/layout.h"

#include <algorithm>
#include <cmath>

#include "viz/canvas/text.h"
#include "viz/timeline/model.h"

namespace planscope::viz {

namespace {
constexpr double margin = 12, label = 46, head = 44, chart_height = 74, chart_gap = 36, row_height = 34, foot = 62;
}

TrafficLayout lay_out(const TrafficModel& m, const TrafficView& v, const Rect& area) {
  TrafficLayout out;
  out.area = area;
  const auto count = static_cast<double>(std::max<std::size_t>(1, m.rows.size()));
  out.rows = v.rows > 0 ? std::clamp(v.rows, 1.0, count) : count;
  out.from_row = std::clamp(v.from_row, 0.0, count - out.rows);
  out.to_row = std::clamp(v.to_row, 0.0, count - out.rows);
  const double side = std::max(40.0, std::min(area.height - head - foot, (area.width - label - 3 * margin) * 0.55));
  out.matrix = {area.x + margin + label, area.y + head, side, side};
  out.cell = side / out.rows;
  double right = out.matrix.x - label;
  const auto choice = [&](std::string text, std::string command, bool on, int kind = -1) {
    const double wide = text_width(text, TextStyle::small).value + (kind < 0 ? 14 : 26);
    if (right + wide > out.matrix.right() && right > out.matrix.x) return;  // there is no room
    out.choices.push_back({std::move(text), std::move(command), {right, out.matrix.bottom() + 24, wide, 18}, kind, on});
    right += wide + 4;
  };
  choice("bytes", "", v.measure == Measure::bytes);
  choice("messages", "", v.measure == Measure::messages);
  choice("time", "", v.measure == Measure::time);
  right += 10;
  if (!m.shown.empty())
    choice("✕ " + m.shown, "brush", true);
  else if (const std::vector<std::string> all = kinds(m); all.size() > 1)
    for (std::size_t k = 0; k < all.size(); ++k) choice(all[k], "brush kind=" + all[k], false, static_cast<int>(k));
  const double x = out.matrix.right() + 2 * margin, width = std::max(80.0, area.right() - margin - x);
  double y = area.y + head - 8;
  for (std::size_t k = 0; k < m.links.size(); ++k) {
    out.links.push_back({x, y + 14, width, chart_height});
    y += chart_height + chart_gap;
  }
  y += 6;
  out.list = {x, y, width, std::max(0.0, area.bottom() - y)};
  out.list_height = static_cast<double>(m.communicators.size()) * row_height;
  const double scroll = std::clamp(v.scroll, 0.0, std::max(0.0, out.list_height - out.list.height));
  for (std::size_t k = 0; k < m.communicators.size(); ++k)
    out.communicators.push_back({x, y - scroll + static_cast<double>(k) * row_height, width, row_height - 2});
  return out;
}

std::optional<std::pair<int, int>> cell_at(const TrafficModel& m, const TrafficLayout& l, Point p) {
  if (!l.matrix.contains(p)) return std::nullopt;
  const int from = static_cast<int>(std::floor(l.from_row + (p.y - l.matrix.y) / l.cell));
  const int to = static_cast<int>(std::floor(l.to_row + (p.x - l.matrix.x) / l.cell));
  const int count = static_cast<int>(m.rows.size());
  if (from < 0 || to < 0 || from >= count || to >= count) return std::nullopt;
  return std::pair(from, to);
}

TrafficSums sums(const TrafficModel& m, const TrafficView& v) {
  const std::size_t n = m.rows.size();
  TrafficSums out{std::vector<double>(n * n, 0), std::vector<std::int32_t>(n * n, -1), 0};
  std::vector<double> most(n * n, 0);
  for (std::size_t k = 0; k < m.from.size(); ++k) {
    if (v.only >= 0 && m.communicator[k] != v.only) continue;
    const double value = value_of(m, v.measure, k);
    const std::size_t cell = static_cast<std::size_t>(m.from[k]) * n + static_cast<std::size_t>(m.to[k]);
    out.value[cell] += value;
    if (value > most[cell]) most[cell] = value, out.most[cell] = m.communicator[k];
  }
  for (const double value : out.value) out.largest = std::max(out.largest, value);
  return out;
}

double value_of(const TrafficModel& m, Measure measure, std::size_t cell) {
  return measure == Measure::bytes ? m.bytes[cell] : measure == Measure::messages ? m.messages[cell] : m.time[cell];
}

std::string value_text(Measure measure, double value) {
  if (measure == Measure::bytes) return format_bytes({value});
  if (measure == Measure::time) return format_time({value});
  return std::to_string(static_cast<long long>(std::llround(value))) + " messages";
}

Microseconds time_at(const TrafficModel& m, const Rect& chart, double x) {
  return m.duration * std::clamp((x - chart.x) / std::max(1.0, chart.width), 0.0, 1.0);
}

std::vector<std::string> kinds(const TrafficModel& m) {
  std::vector<std::string> out;
  for (const TrafficGroup& g : m.communicators)
    if (std::find(out.begin(), out.end(), g.kind) == out.end()) out.push_back(g.kind);
  return out;
}

}  // namespace planscope::viz
