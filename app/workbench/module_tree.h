#pragma once
// The modules of a model as a tree for screens. Numbered modules with equal contents are one row: `layers`, "× 32, all
// equal", whose children are those of one layer with `*` for the number in their paths. Leaves are modules that call no
// other; operators of the root alone are not shown.
#include <vector>

#include "app/workbench/session_view.h"
#include "engine/graph/graph.h"

namespace planscope {

std::vector<ModuleNode> module_tree(const Graph&);

}  // namespace planscope
