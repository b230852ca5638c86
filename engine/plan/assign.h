#pragma once
// op-assign: place operators on a grid, a sub-grid, or listed devices. (OSDI'24 nnScaler, Table 1: op-assign(op, d).)
//
// vTensors of `y = relu(x)` in stage 2 of `devices 8 as pipe=4 data=2`, before and after `assign S[i] to pipe=i`:
//
//   before   x, y follow what is around them
//   after    x, y live on the devices with pipe=2 (4 and 5): a grid `data=2`; axes of that grid can split them
//
// A statement decides the place of each operator of its units; the last one wins. A grid's name, axes of one grid with
// values (`pipe=i`: the rest of the grid is where it lives; `pipe=[0:2]`: a shorter axis), or device numbers are places;
// `pipe=0|1`, `?x` and `?x[i]` leave it open. Operators that no statement places follow (engine/program). A place of its
// own costs point-to-point transfers.
//
//   devices 4 as pipe=2 data=2
//   let S = cut model.layers[*] into |pipe|
//   trans * batch by data
//   assign S[i] to pipe=i
//   order f(S[i]) < b(S[i])
//
// `X[mb=m]` places the work of X at index m of a free axis alone: Chimera's two directions (`assign S[i][mb=m] to pipe=i
// where m % 2 = 0` and the reverse for odd m), single sub-operators on listed devices. What follows X follows it index by
// index. An operator that is not split over the axis is where index 0 is.
//
// Messages: no such axis or grid (did you mean), a value that the axis lacks, a device that is not there, indices that no
// line places, places of update, grad and fetch.
#include "engine/plan/context.h"

namespace planscope::plan {

void bind_assign(Context&, const AssignStatement&);

// The indices of free axes that a group names; an axis of which it names all is not listed.
std::optional<std::vector<AxisIndices>> named_indices(Context&, const Group&, const Bindings&);

}  // namespace planscope::plan
