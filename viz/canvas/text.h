#pragma once
// Text of pictures: the few styles that canvases use, and how wide a text is in DejaVu Sans (a table of the advances of
// ASCII and some signs; other characters count as 0.6 em). Widths are the same for all back ends, so a layout does not
// depend on where it is painted; painted widths differ by rounding to whole pixels (a few per cent).
//
//   std::string s = elided("layers.31.mlp.up_proj", TextStyle::normal, Pixels{60});   // "layers.3…"
#include <string>
#include <string_view>

#include "viz/canvas/units.h"

namespace planscope::viz {

enum class TextStyle { small, normal, strong };

struct TextMetrics {
  Pixels em, ascent, descent;
  bool bold = false;
};

TextMetrics metrics(TextStyle style);
Pixels text_width(std::string_view utf8, TextStyle style);

// The text, or its beginning and "…" where it is wider than `limit`; empty if not even one character and "…" fit.
std::string elided(std::string_view utf8, TextStyle style, Pixels limit);

// The character that begins at `position`, which moves behind it. Bytes that are no UTF-8 give U+FFFD each.
char32_t next_character(std::string_view utf8, std::size_t& position);

}  // namespace planscope::viz
