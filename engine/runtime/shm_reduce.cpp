#include "engine/runtime/shm_reduce.h"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <type_traits>

namespace planscope {

namespace {

constexpr std::int64_t block = 1024;  // elements at a time: what is combined stays in the first cache

template <class T>
T add(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) {
    return a || b;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
  } else {
    return a + b;
  }
}

template <class T>
T larger(T a, T b) {
  return a > b || a != a ? a : b;  // a NaN in b is neither larger nor smaller
}

template <class T>
T smaller(T a, T b) {
  return a < b || a != a ? a : b;
}

// T is how elements are stored, Wide how they are combined.
template <class T, class Wide, class Combine>
void combine(std::byte* out, const std::vector<const std::byte*>& in, std::int64_t elements, Combine both) {
  std::array<Wide, block> total;
  for (std::int64_t begin = 0; begin < elements; begin += block) {
    const std::int64_t count = std::min(block, elements - begin);
    const T* first = reinterpret_cast<const T*>(in.front()) + begin;
    for (std::int64_t i = 0; i < count; ++i) total[static_cast<std::size_t>(i)] = static_cast<Wide>(first[i]);
    for (std::size_t k = 1; k < in.size(); ++k) {
      const T* next = reinterpret_cast<const T*>(in[k]) + begin;
      for (std::int64_t i = 0; i < count; ++i) {
        Wide& t = total[static_cast<std::size_t>(i)];
        t = both(t, static_cast<Wide>(next[i]));
      }
    }
    T* result = reinterpret_cast<T*>(out) + begin;
    for (std::int64_t i = 0; i < count; ++i) result[i] = static_cast<T>(total[static_cast<std::size_t>(i)]);
  }
}

template <class T, class Wide = T>
void reduce_as(std::byte* out, const std::vector<const std::byte*>& in, std::int64_t elements, Reduction reduction) {
  switch (reduction) {
    case Reduction::sum:
      return combine<T, Wide>(out, in, elements, [](Wide a, Wide b) { return add(a, b); });
    case Reduction::max:
      return combine<T, Wide>(out, in, elements, [](Wide a, Wide b) { return larger(a, b); });
    case Reduction::min:
      return combine<T, Wide>(out, in, elements, [](Wide a, Wide b) { return smaller(a, b); });
  }
}

using Reduce = void (*)(std::byte*, const std::vector<const std::byte*>&, std::int64_t, Reduction);

Reduce reduce_of(c10::ScalarType type) {
  switch (type) {
    case c10::ScalarType::Float:
      return reduce_as<float>;
    case c10::ScalarType::Double:
      return reduce_as<double>;
    case c10::ScalarType::BFloat16:
      return reduce_as<c10::BFloat16, float>;
    case c10::ScalarType::Half:
      return reduce_as<c10::Half, float>;
    case c10::ScalarType::Byte:
      return reduce_as<std::uint8_t>;
    case c10::ScalarType::Char:
      return reduce_as<std::int8_t>;
    case c10::ScalarType::Short:
      return reduce_as<std::int16_t>;
    case c10::ScalarType::Int:
      return reduce_as<std::int32_t>;
    case c10::ScalarType::Long:
      return reduce_as<std::int64_t>;
    case c10::ScalarType::Bool:
      return reduce_as<bool>;
    default:
      return nullptr;
  }
}

}  // namespace

bool reducible(c10::ScalarType type) { return reduce_of(c10::toRealValueType(type)) != nullptr; }

void reduce(std::byte* out, const std::vector<const std::byte*>& in, std::int64_t elements, c10::ScalarType type,
            Reduction reduction) {
  const bool pairs = c10::isComplexType(type);  // sums of complex numbers are those of their real and imaginary parts
  const Reduce function = reduce_of(c10::toRealValueType(type));
  if (function == nullptr || (pairs && reduction != Reduction::sum)) throw std::logic_error("elements of this type cannot be combined");
  function(out, in, pairs ? 2 * elements : elements, reduction);
}

}  // namespace planscope
