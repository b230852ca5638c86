#include "engine/graph/element_types.h"

namespace planscope {

bool is_complex(DType type) { return real_type(type) != type; }

bool carries_gradient(DType type) { return is_floating(type) || is_complex(type); }

DType real_type(DType type) {
  switch (type) {
    case DType::c32:
      return DType::f16;
    case DType::c64:
      return DType::f32;
    case DType::c128:
      return DType::f64;
    default:
      return type;
  }
}

int optimizer_units(DType type) {
  return (is_complex(type) ? 2 : 1) * (real_type(type) == DType::f64 ? 2 : 1);
}

}  // namespace planscope
