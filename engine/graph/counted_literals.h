#pragma once
// Numbers in a model file that may be the size of an input dimension: torch.export writes `x.sum() / x.shape[0]` of a
// batch of 8 as `sum / 8`, just as it writes a division by the number 8.
//
// A sum that is divided by the number of elements it runs over (canonical/divided_sums.cpp) follows the size. Any
// other number that something is computed with stays as it is. Which part of a dimension a slice, a split or a view takes
// follows its size as far as the rule says (family_shape.cpp).
#include <vector>

#include "engine/base/diagnostic.h"
#include "engine/graph/graph.h"

namespace planscope {

// A warning for each operator whose number follows a size that is not that of the file, or may be made of the file's size
// and does not follow, and for each that takes a part of a dimension by numbers: which is meant cannot be known.
std::vector<Diagnostic> counted_literals(const Graph&);

}  // namespace planscope
