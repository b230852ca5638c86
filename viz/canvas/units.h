#pragma once
// Quantities of pictures: a number that knows what it measures. Quantities of one unit add and compare; multiplying
// takes a bare number; dividing two of one unit gives a bare number. There is no conversion between units: only a
// TimeScale (geometry.h) turns Microseconds into Pixels.
//
//   Microseconds end = block.start + block.duration;
//   double share = block.duration / model.duration;
#include <compare>
#include <cstdint>

namespace planscope::viz {

template <class Tag>
struct Quantity {
  double value = 0;

  friend constexpr Quantity operator+(Quantity a, Quantity b) { return {a.value + b.value}; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return {a.value - b.value}; }
  friend constexpr Quantity operator-(Quantity a) { return {-a.value}; }
  friend constexpr Quantity operator*(Quantity a, double f) { return {a.value * f}; }
  friend constexpr Quantity operator*(double f, Quantity a) { return {a.value * f}; }
  friend constexpr Quantity operator/(Quantity a, double f) { return {a.value / f}; }
  friend constexpr double operator/(Quantity a, Quantity b) { return a.value / b.value; }
  constexpr Quantity& operator+=(Quantity b) { return value += b.value, *this; }
  constexpr Quantity& operator-=(Quantity b) { return value -= b.value, *this; }
  friend constexpr auto operator<=>(Quantity, Quantity) = default;
};

using Pixels = Quantity<struct PixelTag>;              // of the picture, before any screen scale
using Microseconds = Quantity<struct MicrosecondTag>;  // since the beginning of the step
using Bytes = Quantity<struct ByteTag>;                // exact up to 2^53

}  // namespace planscope::viz
