#pragma once
// The pure operator behind an in-place one: `aten::add_.Tensor` is `aten::add.Tensor`, `aten::pow_.Scalar` is
// `aten::pow.Tensor_Scalar`, `copy_` a cast and an expand of its source, `fill_` and `zero_` factories. The overload is found
// by the position and type of the arguments. One that has no pure form keeps its name and is run on a copy of what it
// writes.
#include <optional>
#include <string>
#include <vector>

#include "engine/graph/functional/storage.h"
#include "engine/graph/schemas.h"

namespace planscope {

// The value that the first operand has afterwards, of its type and sizes. -1 and `why`: it has no tensor to write.
// `node` has its operands replaced by their current values; `result_sizes` are those that the file gives its result.
ValueId emit_pure_form(Builder&, const Node& node, const std::vector<std::int64_t>& result_sizes, std::string& why);

// `aten::add.out`: `aten::add.Tensor`, without the tensors that its results are written to. Found by the names and types of the
// arguments; the last ones are those that are written. Nothing: it is no such operator.
struct OutForm {
  std::string target;
  std::vector<NamedArgument> arguments;
  std::vector<ValueId> written;  // by result
};
std::optional<OutForm> out_form(const Node&);

}  // namespace planscope
