#include "engine/program/conversion.h"

#include <algorithm>
#include <map>
#include <queue>
#include <set>

#include "engine/cluster/communication.h"
#include "engine/program/bucket.h"
#include "engine/program/conversion_moves.h"

namespace planscope {

namespace {

DeviceGroup group_of(const ConversionSpace& w, const std::vector<Digit>& digits) {
  const Grid& grid =
      w.program.grids[static_cast<std::size_t>(w.program.places[static_cast<std::size_t>(w.place)].grid)];
  DeviceGroup group;
  group.first = grid.first;
  for (const Digit& d : digits)
    for (std::size_t a = 0; a < grid.axes.size(); ++a)
      if (grid.axes[a] == d.axis) group.axes.push_back({d.size, d.stride * grid.strides[a]});
  std::sort(group.axes.begin(), group.axes.end(),
            [](const GroupAxis& a, const GroupAxis& b) { return a.stride > b.stride; });
  return group;
}

struct MoveTime {
  Microseconds alone;
  Microseconds shared;  // with the others of its bucket: by which moves are compared
  double part = 1;      // of the bucket
};

MoveTime move_time(const ConversionSpace& w, const Layout& from, const Layout& to, const Move& m) {
  if (is_local(m.kind)) return {};
  const double element =
      static_cast<double>(byte_size(w.graph.model->values[static_cast<std::size_t>(w.tensor)].dtype));
  const double in = static_cast<double>(local_elements(w.graph, w.tensor, from)) * element;
  const double out = static_cast<double>(local_elements(w.graph, w.tensor, to)) * element;
  const bool rotates = m.kind == MoveKind::rotate || m.kind == MoveKind::rotate_back;
  const Collective kind = m.kind == MoveKind::all_gather       ? Collective::all_gather
                          : m.kind == MoveKind::reduce_scatter ? Collective::reduce_scatter
                          : m.kind == MoveKind::all_reduce     ? Collective::all_reduce
                          : rotates                            ? Collective::send
                                                               : Collective::all_to_all;
  const Bytes bytes{static_cast<std::int64_t>(rotates ? std::min(in, out) : std::max(in, out))};
  const DeviceGroup group = group_of(w, m.digits);
  const Microseconds alone = collective_time(w.cluster, kind, bytes, group);
  // One of many in a bucket, which holds so many bytes of whole tensors (build/buckets.cpp).
  const Value& value = w.graph.model->values[static_cast<std::size_t>(w.tensor)];
  if (value.kind != ValueKind::parameter || !makes_buckets(m)) return {alone, alone};
  const double whole = static_cast<double>(w.graph.elements(w.tensor)) * element;
  const double part = std::min(1.0, whole / static_cast<double>(kBucketBytes));
  return {alone, {alone.count - (1 - part) * collective_time(w.cluster, kind, Bytes{}, group).count}, part};
}

// A little for each move, less for a local one.
double cost_of(const Move& m, MoveTime time) { return is_local(m.kind) ? 1e-3 : 1e-2 * time.part + time.shared.count; }

}  // namespace

Microseconds ConversionPath::time() const {
  Microseconds sum{};
  for (const Microseconds& t : times) sum.count += t.count;
  return sum;
}

double move_cost(const ConversionSpace& w, const Layout& from, const Move& m) {
  return cost_of(m, move_time(w, from, apply(from, m), m));
}

std::optional<ConversionPath> cheapest_conversion(const ConversionSpace& w, const Layout& from, const Layout& to) {
  struct Step {
    double cost;
    int node;
    bool operator>(const Step& o) const { return cost != o.cost ? cost > o.cost : node > o.node; }
  };
  struct Via {
    int from = -1;
    Move move;
    Microseconds time;
  };
  std::vector<Layout> nodes = {from};
  std::vector<double> best = {0};
  std::vector<Via> via(1);
  std::map<Layout, int> ids = {{from, 0}};
  std::priority_queue<Step, std::vector<Step>, std::greater<>> queue;
  queue.push({0, 0});
  while (!queue.empty()) {
    const Step s = queue.top();
    queue.pop();
    if (s.cost > best[static_cast<std::size_t>(s.node)]) continue;
    if (nodes[static_cast<std::size_t>(s.node)] == to) {
      ConversionPath path;
      path.cost = s.cost;
      for (int n = s.node; via[static_cast<std::size_t>(n)].from >= 0; n = via[static_cast<std::size_t>(n)].from) {
        path.moves.push_back(via[static_cast<std::size_t>(n)].move);
        path.times.push_back(via[static_cast<std::size_t>(n)].time);
      }
      std::reverse(path.moves.begin(), path.moves.end());
      std::reverse(path.times.begin(), path.times.end());
      return path;
    }
    const Layout now = nodes[static_cast<std::size_t>(s.node)];
    for (const Move& m : moves_from(w, now, to)) {
      const Layout next = apply(now, m);
      const MoveTime time = move_time(w, now, next, m);
      const double cost = s.cost + cost_of(m, time);
      const auto [it, fresh] = ids.emplace(next, static_cast<int>(nodes.size()));
      if (fresh) {
        nodes.push_back(next);
        best.push_back(cost);
        via.push_back({s.node, m, time.alone});
      } else if (cost < best[static_cast<std::size_t>(it->second)]) {
        best[static_cast<std::size_t>(it->second)] = cost;
        via[static_cast<std::size_t>(it->second)] = {s.node, m, time.alone};
      } else {
        continue;
      }
      queue.push({cost, it->second});
    }
    if (nodes.size() > 5000) break;
  }
  return std::nullopt;
}

std::vector<ConversionPath> conversions(const ConversionSpace& w, const Layout& from, const Layout& to,
                                        std::size_t limit) {
  struct Open {
    ConversionPath path;
    std::vector<Layout> visited;
  };
  const auto dearer = [](const Open& a, const Open& b) { return a.path.cost > b.path.cost; };
  std::vector<Open> heap;
  heap.push_back({{}, {from}});
  std::vector<ConversionPath> out;
  for (int looked = 0; !heap.empty() && out.size() < limit && looked < 5000; ++looked) {
    std::pop_heap(heap.begin(), heap.end(), dearer);
    Open open = std::move(heap.back());
    heap.pop_back();
    if (open.visited.back() == to) {
      out.push_back(std::move(open.path));
      continue;
    }
    for (const Move& m : moves_from(w, open.visited.back(), to)) {
      const Layout next = apply(open.visited.back(), m);
      if (std::find(open.visited.begin(), open.visited.end(), next) != open.visited.end()) continue;
      Open longer = open;
      const MoveTime time = move_time(w, open.visited.back(), next, m);
      longer.path.moves.push_back(m);
      longer.path.times.push_back(time.alone);
      longer.path.cost += cost_of(m, time);
      longer.visited.push_back(next);
      heap.push_back(std::move(longer));
      std::push_heap(heap.begin(), heap.end(), dearer);
    }
  }
  return out;
}

}  // namespace planscope
