#pragma once
// Colours with straight (not premultiplied) alpha.
#include <cstdint>
#include <string>

namespace planscope::viz {

struct Colour {
  std::uint8_t r = 0, g = 0, b = 0, a = 255;
  friend constexpr bool operator==(const Colour&, const Colour&) = default;
};

constexpr Colour rgb(std::uint32_t hex) {
  return {static_cast<std::uint8_t>(hex >> 16), static_cast<std::uint8_t>(hex >> 8), static_cast<std::uint8_t>(hex),
          255};
}

constexpr Colour with_alpha(Colour c, double alpha) {
  c.a = static_cast<std::uint8_t>(alpha * 255 + 0.5);
  return c;
}

// `share` 0: a, 1: b.
constexpr Colour mix(Colour a, Colour b, double share) {
  const auto part = [share](std::uint8_t x, std::uint8_t y) {
    return static_cast<std::uint8_t>(x + (y - x) * share + 0.5);
  };
  return {part(a.r, b.r), part(a.g, b.g), part(a.b, b.b), part(a.a, b.a)};
}

// Black or white, whichever can be read better on it.
constexpr Colour ink_on(Colour ground) {
  const auto part = [](std::uint8_t x) { return x / 255.0 * x / 255.0; };  // sRGB's curve is near a square
  const double light = 0.2126 * part(ground.r) + 0.7152 * part(ground.g) + 0.0722 * part(ground.b);
  return light < 0.21 ? rgb(0xffffff) : rgb(0x0c1014);
}

std::string hex_text(Colour);  // "#rrggbb"

}  // namespace planscope::viz
