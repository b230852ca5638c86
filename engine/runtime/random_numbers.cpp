#include "engine/runtime/random_numbers.h"

#include <ATen/Dispatch.h>

#include <cmath>

#include "engine/base/text.h"

namespace planscope {

std::uint64_t random_bits(std::uint64_t key, std::uint64_t index) {
  std::uint64_t z = key + (index + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

std::uint64_t random_key(std::uint64_t seed, std::string_view name) { return random_bits(digest(name), seed); }

namespace {

template <class T, class F>
at::Tensor draw(at::ScalarType type, std::uint64_t key, const std::vector<std::vector<std::int64_t>>& whole,
                const Region& region, F number) {
  const at::Tensor out = at::empty(sizes(region), at::TensorOptions().dtype(type));
  T* next = out.mutable_data_ptr<T>();
  for_each_run(whole, region, [&](std::int64_t begin, std::int64_t count) {
    for (std::int64_t i = begin; i < begin + count; ++i)
      *next++ = number(random_bits(key, static_cast<std::uint64_t>(i)));
  });
  return out;
}

double uniform(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

}  // namespace

at::Tensor random_uniform(std::uint64_t key, const std::vector<std::vector<std::int64_t>>& whole,
                          const Region& region) {
  return draw<double>(at::kDouble, key, whole, region, uniform);
}

at::Tensor random_normal(std::uint64_t key, const std::vector<std::vector<std::int64_t>>& whole, const Region& region) {
  const double unit = std::sqrt(3.0) / 65536.0;  // four uniform numbers of variance 1/12 each
  return draw<double>(at::kDouble, key, whole, region, [unit](std::uint64_t bits) {
    const std::uint64_t sum = (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
    return (static_cast<double>(sum) + 2.0 - 131072.0) * unit;
  });
}

at::Tensor random_normal(std::uint64_t key, const std::vector<std::vector<std::int64_t>>& whole, const Region& region,
                         bool complex) {
  const at::Tensor real = random_normal(key, whole, region);
  if (!complex) return real;
  return at::complex(real, random_normal(random_key(key, "imaginary part"), whole, region)).mul(std::sqrt(0.5));
}

at::Tensor random_integers(std::uint64_t key, std::int64_t bound, const std::vector<std::vector<std::int64_t>>& whole,
                           const Region& region) {
  return draw<std::int64_t>(at::kLong, key, whole, region, [bound](std::uint64_t bits) {
    return static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(bound));
  });
}

at::Tensor random_dropout(std::uint64_t key, const std::vector<std::vector<std::int64_t>>& whole, const Region& region,
                          double p, at::ScalarType type) {
  at::Tensor out;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, type, "random_dropout", [&] {
    const auto kept = static_cast<scalar_t>(p < 1 ? 1 / (1 - p) : 0);
    out = draw<scalar_t>(type, key, whole, region,
                         [=](std::uint64_t bits) { return uniform(bits) < p ? scalar_t(0) : kept; });
  });
  return out;
}

}  // namespace planscope
