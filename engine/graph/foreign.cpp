#include "engine/graph/foreign.h"

#include <algorithm>
#include <array>

#include "engine/graph/arguments.h"

namespace planscope {

bool is_foreign(const Node& node) {
  static constexpr std::array<std::string_view, 9> known = {"aten",       "planscope", "statistics", "quantized",
                                                            "_quantized", "mkldnn",    "prepacked",  "xnnpack",
                                                            "mkldnn_prepacked"};
  if (node.target == "planscope::opaque") return true;
  if (node.target == "transformers::grouped_mm_fallback") return false;  // the worker has it
  const std::string_view name = std::string_view(node.target).substr(0, node.target.find("::"));
  return std::find(known.begin(), known.end(), name) == known.end();
}

std::string foreign_name(const Node& node) {
  return node.target == "planscope::opaque" ? string_argument(node, "operator").value_or(node.target) : node.target;
}

}  // namespace planscope
