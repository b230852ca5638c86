#include "engine/runtime/tensor_types.h"

#include <stdexcept>

#include "engine/graph/element_types.h"

namespace planscope {

at::ScalarType scalar_type(DType type, Precision precision) {
  if (precision == Precision::float64 && is_floating(type)) return at::kDouble;
  if (precision == Precision::float64 && is_complex(type)) return at::kComplexDouble;
  switch (type) {
    case DType::u8:
      return at::kByte;
    case DType::i8:
      return at::kChar;
    case DType::i16:
      return at::kShort;
    case DType::i32:
      return at::kInt;
    case DType::i64:
      return at::kLong;
    case DType::f16:
      return at::kHalf;
    case DType::f32:
      return at::kFloat;
    case DType::f64:
      return at::kDouble;
    case DType::c32:
      return at::kComplexHalf;
    case DType::c64:
      return at::kComplexFloat;
    case DType::c128:
      return at::kComplexDouble;
    case DType::boolean:
      return at::kBool;
    case DType::bf16:
      return at::kBFloat16;
    case DType::other:
      break;
  }
  throw std::runtime_error("an element type that the runtime cannot compute with");
}

DType dtype_of(at::ScalarType type) {
  for (const DType candidate : {DType::u8, DType::i8, DType::i16, DType::i32, DType::i64, DType::f16, DType::f32,
                                DType::f64, DType::c32, DType::c64, DType::c128, DType::boolean, DType::bf16}) {
    if (scalar_type(candidate) == type) return candidate;
  }
  return DType::other;
}

}  // namespace planscope
