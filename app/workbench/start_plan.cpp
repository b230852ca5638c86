#include "app/workbench/start_plan.h"

#include <map>
#include <set>

#include "engine/base/text.h"
#include "engine/plan/parser.h"

namespace planscope {

namespace {

// Paths with numbered children, outermost: `model.layers`, `encoder.block`.
std::vector<std::string> layer_lists(const Graph& g) {
  std::vector<std::string> order;
  std::map<std::string, std::set<std::string>> numbers;
  for (OpId o = 0; o < static_cast<OpId>(g.ops.size()); ++o) {
    const std::vector<std::string> parts = split(g.node(o).module, '.');
    std::string path;
    for (const std::string& part : parts) {
      if (!part.empty() && part.find_first_not_of("0123456789") == std::string::npos) {
        if (numbers[path].empty()) order.push_back(path);
        numbers[path].insert(part);
        break;
      }
      path += (path.empty() ? "" : ".") + part;
    }
  }
  std::erase_if(order, [&](const std::string& p) { return p.empty() || numbers[p].size() < 2; });
  return order;
}

}  // namespace

plan::Plan start_plan(const Graph& graph, const Cluster& cluster) {
  const std::string n = std::to_string(cluster.device_count());
  std::vector<std::string> layers = layer_lists(graph);
  for (std::string& l : layers) l += "[*]";
  std::string text = "devices " + n + " as data=?data tensor=?tensor where ?data * ?tensor = " + n + "\n";
  if (!layers.empty()) text += "let L = " + join(layers, ", ") + "\n";
  text += "trans * batch by data\n";
  if (!layers.empty()) text += "use tp(L, tensor)\n";
  return std::move(*plan::parse_plan(text, "").value);
}

}  // namespace planscope
