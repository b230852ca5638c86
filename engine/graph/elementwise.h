#pragma once
// Which operators compute every element of their result from the elements at the same place of their operands, which
// are broadcast: `aten::mul.Tensor`, `aten::silu`, `aten::to.dtype`, … Random ones count: they draw for every element.
#include <string>

namespace planscope {

bool is_elementwise(const std::string& target);

}  // namespace planscope
