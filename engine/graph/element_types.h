#pragma once
// What the element types of values are: which are numbers that gradients flow through, and what complex ones are made of.
#include "engine/graph/model.h"

namespace planscope {

bool is_complex(DType);

// Floating and complex values have gradients; integers and booleans have none.
bool carries_gradient(DType);

// float32 of complex64; any other type is its own.
DType real_type(DType);

// What an optimizer keeps of an element, in units of its bytes for a float32: it keeps real numbers of float32 at least. 2 of
// float64 and complex64, 4 of complex128, else 1.
int optimizer_units(DType);

}  // namespace planscope
