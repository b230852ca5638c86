#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <string>

#include "viz/graph_layout/layout.h"

namespace planscope::viz {

namespace {

constexpr double per_inch = 72;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

void write_inside(const LayoutRequest& r, const std::vector<std::vector<int>>& inside, int box, std::string& out) {
  for (const int k : inside[at(box + 1)]) {
    const LayoutNode& n = r.nodes[at(k)];
    if (!n.box) {
      char line[96];
      std::snprintf(line, sizeof line, "n%d [width=%.4f height=%.4f]\n", k, n.width / per_inch, n.height / per_inch);
      out += line;
    } else {
      out += "subgraph cluster_" + std::to_string(k) + " {\n";
      write_inside(r, inside, k, out);
      out += "}\n";
    }
  }
}

// Words and numbers of one line.
class Line {
 public:
  explicit Line(std::string_view text) : text_(text) {}
  std::string_view word() {
    while (!text_.empty() && text_.front() == ' ') text_.remove_prefix(1);
    const std::string_view out = text_.substr(0, text_.find(' '));
    text_.remove_prefix(out.size());
    return out;
  }
  double number() {
    const std::string_view w = word();
    double v = 0;
    good = good && std::from_chars(w.data(), w.data() + w.size(), v).ec == std::errc();
    return v;
  }
  int node(std::size_t nodes) {
    std::string_view w = word();
    int v = -1;
    if (!w.starts_with('n')) return good = false, 0;
    w.remove_prefix(1);
    good = good && std::from_chars(w.data(), w.data() + w.size(), v).ec == std::errc() && v >= 0 && at(v) < nodes;
    return good ? v : 0;
  }
  bool good = true;

 private:
  std::string_view text_;
};

std::vector<Point> sampled(const std::vector<Point>& control) {
  std::vector<Point> out = {control.front()};
  constexpr int pieces = 6;
  for (std::size_t k = 0; k + 3 < control.size(); k += 3)
    for (int i = 1; i <= pieces; ++i) {
      const double t = static_cast<double>(i) / pieces, s = 1 - t;
      const double p[] = {s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t};
      Point q;
      for (std::size_t j = 0; j < 4; ++j) q.x += p[j] * control[k + j].x, q.y += p[j] * control[k + j].y;
      out.push_back(q);
    }
  return out;
}

}  // namespace

std::string to_dot(const LayoutRequest& r) {
  std::vector<std::vector<int>> inside(r.nodes.size() + 1);
  for (std::size_t k = 0; k < r.nodes.size(); ++k) inside[at(r.nodes[k].parent + 1)].push_back(static_cast<int>(k));
  char head[256];
  std::snprintf(head, sizeof head,
                "digraph g {\nrankdir=LR\nnodesep=%.3f\nranksep=%.3f\nnode [shape=box fixedsize=true label=\"\"]\n"
                "edge [arrowhead=none]\n",
                layout_node_gap / per_inch, layout_rank_gap / per_inch);
  std::string out = head;
  char margin[32];
  std::snprintf(margin, sizeof margin, "margin=%d\n", static_cast<int>(layout_box_header));
  out += margin;
  write_inside(r, inside, -1, out);
  for (const LayoutEdge& e : r.edges) out += "n" + std::to_string(e.from) + " -> n" + std::to_string(e.to) + "\n";
  return out + "}\n";
}

std::optional<GraphLayout> read_plain(const LayoutRequest& r, std::string_view plain) {
  GraphLayout out;
  out.nodes.resize(r.nodes.size());
  out.edges.resize(r.edges.size());
  std::map<std::pair<int, int>, std::size_t> edges;
  for (std::size_t k = 0; k < r.edges.size(); ++k) edges[{r.edges[k].from, r.edges[k].to}] = k;
  double height = 0;
  std::size_t nodes = 0, drawn = 0;
  bool ended = false;
  while (!plain.empty() && !ended) {
    const std::size_t end = plain.find('\n');
    Line line(plain.substr(0, end));
    plain.remove_prefix(end == std::string_view::npos ? plain.size() : end + 1);
    const std::string_view what = line.word();
    if (what == "graph") {
      line.number(), line.number();
      height = line.number() * per_inch;
    } else if (what == "node") {
      const int k = line.node(r.nodes.size());
      const double x = line.number() * per_inch, y = height - line.number() * per_inch;
      const LayoutNode& n = r.nodes[at(k)];
      out.nodes[at(k)] = {x - n.width / 2, y - n.height / 2, n.width, n.height};
      ++nodes;
    } else if (what == "edge") {
      const int from = line.node(r.nodes.size()), to = line.node(r.nodes.size());
      const auto known = edges.find({from, to});
      const double count = line.number();
      if (known == edges.end() || !(count >= 4 && count < 100'000)) return std::nullopt;
      std::vector<Point> control;
      for (int i = 0; i < static_cast<int>(count) && line.good; ++i) {
        const double x = line.number() * per_inch;
        control.push_back({x, height - line.number() * per_inch});
      }
      out.edges[known->second] = sampled(control);
      ++drawn;
    } else if (what == "stop") {
      ended = true;
    }
    if (!line.good) return std::nullopt;
  }
  std::size_t boxes = 0;
  for (const LayoutNode& n : r.nodes) boxes += n.box;
  if (!ended || nodes + boxes != r.nodes.size() || drawn != r.edges.size()) return std::nullopt;
  // Boxes around what is in them, from the innermost.
  for (std::size_t k = r.nodes.size(); k-- > 0;) {
    Rect box = out.nodes[k];
    if (r.nodes[k].box && !box.empty()) {
      box.width = std::max(box.width, r.nodes[k].width);
      out.nodes[k] = box = {box.x - layout_box_margin, box.y - layout_box_header, box.width + 2 * layout_box_margin,
                            box.height + layout_box_header + layout_box_margin};
    }
    if (r.nodes[k].parent < 0) continue;
    Rect& around = out.nodes[at(r.nodes[k].parent)];
    if (around.empty()) {
      around = box;
      continue;
    }
    const double right = std::max(around.right(), box.right()), bottom = std::max(around.bottom(), box.bottom());
    around.x = std::min(around.x, box.x), around.y = std::min(around.y, box.y);
    around.width = right - around.x, around.height = bottom - around.y;
  }
  Point least{0, 0};
  for (const Rect& n : out.nodes) least = {std::min(least.x, n.x), std::min(least.y, n.y)};
  for (Rect& n : out.nodes) {
    n.x -= least.x, n.y -= least.y;
    out.size = {std::max(out.size.width, n.right()), std::max(out.size.height, n.bottom())};
  }
  for (auto& e : out.edges)
    for (Point& p : e) {
      p.x -= least.x, p.y -= least.y;
      out.size = {std::max(out.size.width, p.x), std::max(out.size.height, p.y)};
    }
  return out;
}

}  // namespace planscope::viz
