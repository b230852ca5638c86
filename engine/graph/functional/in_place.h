#pragma once
// The pure operator behind an in-place one: `aten::add_.Tensor` is `aten::add.Tensor`, `copy_` a cast and an expand of
// its source, `fill_` and `zero_` factories.
#include <string>

#include "engine/graph/functional/storage.h"
#include "engine/graph/schemas.h"

namespace planscope {

// The value that the first operand has afterwards, of its type and sizes. -1 and `why`: there is no pure form.
// `node` has its operands replaced by their current values.
ValueId emit_pure_form(Builder&, const Node& node, std::string& why);

// A batch_norm that trains: nodes for the running statistics after it, and the operator without them.
struct RunningStatistics {
  ValueId mean = -1, variance = -1;  // after; -1: there are none
};
RunningStatistics emit_running_statistics(Builder&, Node& batch_norm);

}  // namespace planscope
