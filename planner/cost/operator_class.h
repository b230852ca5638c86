#pragma once
// What limits an operator: the classes that the roofline has an efficiency for. The class follows from the operator's
// target and from its rule; an operator that no list names is `pointwise` (bound by memory traffic).
//
//   classify(graph, op) == OperatorClass::product            // aten::linear
//   classify(graph, view) == OperatorClass::view             // makes no data: costs nothing, shares its operand's storage
#include <cstdint>
#include <string_view>

#include "engine/graph/graph.h"

namespace planscope {

enum class OperatorClass : std::uint8_t {
  view,       // the result shares the storage of the first operand
  product,    // matrix products and convolutions
  attention,  // fused scaled dot product attention
  reduction,  // normalizations, softmax, sums: several passes over the operand
  index,      // reads chosen rows of a table
  pointwise,  // the rest
};
constexpr int kOperatorClasses = 6;
std::string_view to_string(OperatorClass);

OperatorClass classify(const Graph&, OpId);

}  // namespace planscope
