#pragma once
// The inputs that a model was exported with. The archive holds them as torch.save writes them: a pair of positional and
// named arguments; reading that is the worker's (engine/runtime/given_inputs.h).
#include <string>

#include "engine/base/diagnostic.h"

namespace planscope {

// The bytes of the record; empty: the archive has none.
Result<std::string> read_example_inputs(const std::string& path);

}  // namespace planscope
