#pragma once
// Operators that have sub-graphs (Node::bodies): branches and loops. They run as they are written, one operator after the
// other, so that autograd gives their backward.
//
//   planscope::cond(predicate, operands)                         the first body where the predicate holds, else the second
//   planscope::while_loop(carried, additional)                   the second body while the first says so
//   planscope::scan(carried, elements, additional)               carried, element -> carried, result; results are stacked
//   planscope::associative_scan(elements, additional)            a result and an element are combined
//   planscope::map(elements, additional)                         results are stacked
// `elements` are cut along their first dimension; `additional` go to every body behind the others.
#include <functional>

#include "engine/runtime/operator_call.h"

namespace planscope {

// Operands in the order of the node's arguments, as OperatorCall gets them.
std::function<TensorList(const TensorList&)> call_with_bodies(const Node&, Precision);

}  // namespace planscope
