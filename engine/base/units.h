#pragma once
// Unit types. A bare number never says what it counts: sizes are `Bytes`, durations and moments are `Microseconds`.
// Values are exact where they can be: Bytes are whole, Microseconds are double. No checks for overflow or for sign.
//
//   const Bytes weights{12 * sizeof(float)};
//   const Microseconds moved = 2.0 * Microseconds{1.5};
#include <compare>
#include <cstdint>

namespace planscope {

struct Bytes {
  std::int64_t count = 0;

  auto operator<=>(const Bytes&) const = default;
  Bytes& operator+=(Bytes b) {
    count += b.count;
    return *this;
  }
  Bytes& operator-=(Bytes b) {
    count -= b.count;
    return *this;
  }
};
inline Bytes operator+(Bytes a, Bytes b) { return {a.count + b.count}; }
inline Bytes operator-(Bytes a, Bytes b) { return {a.count - b.count}; }
inline Bytes operator*(std::int64_t n, Bytes b) { return {n * b.count}; }
inline Bytes operator*(Bytes b, std::int64_t n) { return {n * b.count}; }

struct Microseconds {
  double count = 0;

  auto operator<=>(const Microseconds&) const = default;
  Microseconds& operator+=(Microseconds b) {
    count += b.count;
    return *this;
  }
  Microseconds& operator-=(Microseconds b) {
    count -= b.count;
    return *this;
  }
};
inline Microseconds operator+(Microseconds a, Microseconds b) { return {a.count + b.count}; }
inline Microseconds operator-(Microseconds a, Microseconds b) { return {a.count - b.count}; }
inline Microseconds operator*(double n, Microseconds b) { return {n * b.count}; }
inline Microseconds operator*(Microseconds b, double n) { return {n * b.count}; }

}  // namespace planscope
