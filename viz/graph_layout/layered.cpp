#include <algorithm>
#include <numeric>

#include "viz/graph_layout/layout.h"

namespace planscope::viz {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Each box by itself, from the innermost: what is in it in ranks, every rank in the order in which it is given. An edge between
// boxes counts as one between the outermost boxes that it joins.
class Layered {
 public:
  explicit Layered(const LayoutRequest& r) : r_(r), inside_(r.nodes.size() + 1), edges_(r.nodes.size() + 1) {
    out_.nodes.resize(r.nodes.size());
    for (std::size_t k = 0; k < r.nodes.size(); ++k) inside_[at(r.nodes[k].parent + 1)].push_back(static_cast<int>(k));
    for (const LayoutEdge& e : r.edges) lift(e);
  }

  GraphLayout run() {
    for (std::size_t k = r_.nodes.size(); k-- > 0;)
      if (r_.nodes[k].box) {
        const Size inner = place(static_cast<int>(k) + 1);
        out_.nodes[k].width = std::max(r_.nodes[k].width, inner.width + 2 * layout_box_margin);
        out_.nodes[k].height = std::max(r_.nodes[k].height, inner.height + layout_box_margin + layout_box_header);
      } else {
        out_.nodes[k].width = r_.nodes[k].width;
        out_.nodes[k].height = r_.nodes[k].height;
      }
    out_.size = place(0);
    for (std::size_t k = 0; k < r_.nodes.size(); ++k) {
      const int parent = r_.nodes[k].parent;
      if (parent < 0) continue;
      out_.nodes[k].x += out_.nodes[at(parent)].x + layout_box_margin;
      out_.nodes[k].y += out_.nodes[at(parent)].y + layout_box_header;
    }
    for (const LayoutEdge& e : r_.edges) out_.edges.push_back(curve(out_.nodes[at(e.from)], out_.nodes[at(e.to)]));
    return std::move(out_);
  }

 private:
  void lift(const LayoutEdge& e) {
    std::vector<int> from, to;
    for (int n = e.from; n >= 0; n = r_.nodes[at(n)].parent) from.push_back(n);
    for (int n = e.to; n >= 0; n = r_.nodes[at(n)].parent) to.push_back(n);
    while (!from.empty() && !to.empty() && from.back() == to.back()) from.pop_back(), to.pop_back();
    if (from.empty() || to.empty()) return;
    edges_[at(r_.nodes[at(from.back())].parent + 1)].push_back({from.back(), to.back()});
  }

  // Coordinates within the box; the size that is taken.
  Size place(int box) {
    const std::vector<int>& all = inside_[at(box)];
    std::vector<int> rank(r_.nodes.size(), 0);
    std::vector<LayoutEdge> edges = edges_[at(box)];
    std::sort(edges.begin(), edges.end(), [](const auto& a, const auto& b) { return std::pair(a.from, a.to) < std::pair(b.from, b.to); });
    for (const LayoutEdge& e : edges)  // ascending: all that leads to `from` has been seen
      if (e.from < e.to) rank[at(e.to)] = std::max(rank[at(e.to)], rank[at(e.from)] + 1);
    int last = 0;
    for (const int k : all) last = std::max(last, rank[at(k)]);
    std::vector<double> width(at(last) + 1, 0), height(at(last) + 1, 0);
    for (const int k : all) {
      const std::size_t r = at(rank[at(k)]);
      width[r] = std::max(width[r], out_.nodes[at(k)].width);
      height[r] += out_.nodes[at(k)].height + (height[r] > 0 ? layout_node_gap : 0);
    }
    Size out;
    for (const double h : height) out.height = std::max(out.height, h);
    std::vector<double> x(width.size(), 0), y(width.size(), 0);
    for (std::size_t r = 0; r < width.size(); ++r) {
      x[r] = r == 0 ? 0 : x[r - 1] + width[r - 1] + layout_rank_gap;
      y[r] = (out.height - height[r]) / 2;
    }
    out.width = x.back() + width.back();
    for (const int k : all) {
      const std::size_t r = at(rank[at(k)]);
      Rect& rect = out_.nodes[at(k)];
      rect.x = x[r] + (width[r] - rect.width) / 2;
      rect.y = y[r];
      y[r] += rect.height + layout_node_gap;
    }
    return out;
  }

  static std::vector<Point> curve(const Rect& from, const Rect& to) {
    const Point a{from.right(), from.y + from.height / 2}, b{to.x, to.y + to.height / 2};
    std::vector<Point> out;
    const double reach = std::max(30.0, std::abs(b.x - a.x) / 2);
    constexpr int pieces = 12;
    for (int i = 0; i <= pieces; ++i) {
      const double t = static_cast<double>(i) / pieces, s = 1 - t;
      const double p[] = {s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t};
      out.push_back({p[0] * a.x + p[1] * (a.x + reach) + p[2] * (b.x - reach) + p[3] * b.x, (p[0] + p[1]) * a.y + (p[2] + p[3]) * b.y});
    }
    return out;
  }

  const LayoutRequest& r_;
  std::vector<std::vector<int>> inside_;         // by box + 1
  std::vector<std::vector<LayoutEdge>> edges_;  // by box + 1
  GraphLayout out_;
};

}  // namespace

GraphLayout layered_layout(const LayoutRequest& r) { return Layered(r).run(); }

}  // namespace planscope::viz
