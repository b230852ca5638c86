#pragma once
// op-order: which tasks run before which. (OSDI'24 nnScaler, Table 1: op-order(a, b); Table 4 for 1F1B.)
//
// A task is `phase(units)[index]`: the work of those operators at that index of the free axes; an axis that is not named
// means all its indices. vTensors stay as they are: order changes when, not what. A row orders all tasks that exist, on
// every device that runs both. Rows add up; none overrides another.
//
//   devices 4 as pipe=4
//   axis mb=8
//   let S = cut model.layers[*] into |pipe|
//   assign S[i] to pipe=i
//   order f(S[i])[m+n-1-i] < b(S[i])[m] < f(S[i])[m+n-i] where n = |S|
//
// Names without a value are variables: the row holds for all integers for which two of its tasks exist. Variables that
// count units (`i`), and those defined by them (`n`), are expanded here, one row for each value; indices of free axes
// (`m`) stay symbolic (OrderRow), because rows must not cost per micro-batch. `[m]` without an axis is the first free
// axis, `[m, k]` the first two. Legal in any number; contradictions are found when tasks are sequenced.
//
// Rows over steps, `order f(X)[step=t+1] < b(X)[step=t]`, hold for every t: each task says its step as t plus a number, and
// only the differences stay (TaskFamily::step).
//
// Messages: a variable without bounds, tasks that share no device, `w(…)` without grad_split, a step that is not t + a
// number.
#include "engine/plan/context.h"

namespace planscope::plan {

void bind_order(Context&, const OrderStatement&);

// `forbid order A < B`: no task of A runs before one of B where both run; tasks of a device run one after the other, so
// this is `order B < A`.
void forbid_order(Context&, const OrderStatement&);

}  // namespace planscope::plan
