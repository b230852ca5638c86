#pragma once
// Operators that LibTorch does not have: those of libraries and of torch.library, and those that the file does not let us
// read. The file says what they read and make, not what they compute. A trial runs a stand-in in their place.
#include <string>

#include "engine/graph/model.h"

namespace planscope {

bool is_foreign(const Node&);
std::string foreign_name(const Node&);  // as the file names it

}  // namespace planscope
