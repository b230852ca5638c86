#include "planner/search/schedule/symmetry.h"

#include <algorithm>
#include <tuple>

namespace planscope::schedule {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Whether mapping tasks a[i] <-> b[i] and the devices that follow from it leaves the problem as it is.
bool mirrored(const Problem& p, const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<int> task(p.tasks.size(), -1), resource(at(p.resources), -1);
  for (std::size_t i = 0; i < a.size(); ++i) {
    task[at(a[i])] = b[i];
    task[at(b[i])] = a[i];
  }
  const int streams = p.devices > 0 ? p.resources / p.devices : 1;
  std::vector<int> device(at(p.devices), -1);
  for (std::size_t t = 0; t < p.tasks.size(); ++t) {
    if (task[t] < 0) return false;  // a third part
    const Task& x = p.tasks[t];
    const Task& y = p.tasks[at(task[t])];
    if (x.time != y.time || x.memory != y.memory || x.devices.size() != y.devices.size()) return false;
    if (x.devices.size() != 1 || x.resources[0] % streams != y.resources[0] % streams) return false;
    int& image = device[at(x.devices[0])];
    if (image >= 0 && image != y.devices[0]) return false;
    image = y.devices[0];
  }
  for (int d = 0; d < p.devices; ++d)
    if (device[at(d)] >= 0 && (device[at(device[at(d)])] != d || p.memory[at(d)] != p.memory[at(device[at(d)])]))
      return false;
  std::vector<Edge> image = p.edges, edges = p.edges;
  for (Edge& e : image) e = {task[at(e.from)], task[at(e.to)], e.span, e.distance, -1};
  for (Edge& e : edges) e.row = -1;
  const auto less = [](const Edge& x, const Edge& y) {
    return std::tie(x.from, x.to, x.span, x.distance) < std::tie(y.from, y.to, y.span, y.distance);
  };
  std::sort(image.begin(), image.end(), less);
  std::sort(edges.begin(), edges.end(), less);
  return image == edges;
}

}  // namespace

std::vector<std::pair<int, int>> mirrored_parts(const Problem& p, const Links& l) {
  if (l.parts != 2) return {};
  std::vector<std::vector<int>> tasks(2);
  for (int t : p.topological) tasks[at(l.part[at(t)])].push_back(t);
  if (tasks[0].size() != tasks[1].size() || !mirrored(p, tasks[0], tasks[1])) return {};
  return {{tasks[0][0], tasks[1][0]}};
}

}  // namespace planscope::schedule
