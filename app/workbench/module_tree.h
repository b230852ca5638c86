#pragma once
// The modules of a model as a tree for screens. Numbered modules with equal contents are one row: `layers`, "× 32, all
// equal", whose children are those of one layer with `*` for the number in their paths. Leaves are modules that call no
// other; operators of the root alone are not shown.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/graph/graph.h"

namespace planscope {

struct ModuleNode {
  std::string name, path;  // "mlp", "layers.3.mlp"
  std::string note;        // what a row says beside the name: "8.03 B", "× 32, all equal", "linear"
  std::vector<std::pair<std::string, std::string>> facts;
  std::vector<ModuleNode> children;
  std::string kind = {};        // type of the module
  std::int64_t count = 1;       // equal ones that the row stands for
  std::int64_t operators = 0, parameters = 0;  // in all of them
};

std::vector<ModuleNode> module_tree(const Graph&);

}  // namespace planscope
