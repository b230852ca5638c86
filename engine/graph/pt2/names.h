#pragma once
// Module paths, operator names and source lines from the metadata that torch.export attaches to a node.
#include <string>
#include <string_view>

#include "engine/graph/model.h"

namespace planscope {

struct ModuleCall {
  std::string path;  // `model.layers.0.mlp`; empty: the root
  std::string type;  // `LlamaMLP`
  int call = 0;      // `@1` of a repeated call, else 0
};

// The innermost entry of an `nn_module_stack` text: entries `key,path,type` with `;` between them. Paths of the strict
// exporter, `L['self'].layers`, are written without their root.
ModuleCall innermost_module(std::string_view stack);

// The last `File "…/name.py", line N` of a traceback that does not lie in a folder `torch`, where the model's own line
// called PyTorch; if all do, the last one: `name.py:N`. Empty if there is none.
std::string source_line(std::string_view trace);

// `torch.ops.aten.add.Tensor` -> `aten::add.Tensor`; `.default` is dropped; other targets stay as they are.
std::string operator_name(std::string_view target);

// `aten::add_.Tensor` -> `add`
std::string short_name(std::string_view target);

// Call numbers only where a module is called several times; paths as scripts write them (engine/base/module_path.h).
void tidy_names(Model&);

// Ordinals among the nodes of equal module, call and kind.
void number_nodes(Model&);

}  // namespace planscope
