#pragma once
// In-place operators as pure ones.
//
// Every tensor is a place in some storage: a root, or a view (a chain of view operators) of one. A write makes a new
// value of the place written, and new values of everything that it is a view of, up to the root:
//
//   y = x * 2;  v = y[:, 2:5];  v.mul_(3)     y1 = mul(x, 2);  v1 = slice(y1, 1, 2, 5);  v2 = mul(v1, 3)
//   z = y + 1                                 y2 = slice_scatter(y1, v2, 1, 2, 5);  z1 = add(y2, 1)
//
// Another view of the same storage that is read later is derived again from the new root. A parameter, buffer, constant
// or input whose storage has changed at the end becomes a Mutation. An operator that changes its running statistics
// without saying so (batch_norm in training) gets nodes that compute the new statistics.
//
// Errors: a write through a view that cannot be undone (expand, unfold …), in-place operators that change sizes, and
// operators that write into several operands.
#include "engine/base/diagnostic.h"
#include "engine/graph/pt2/raw_model.h"

namespace planscope {

Result<Model> purify(RawModel);

}  // namespace planscope
