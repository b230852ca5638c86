#include "viz/canvas/text.h"

#include <catch2/catch.hpp>

using namespace planscope::viz;

TEST_CASE("widths are those of DejaVu Sans") {
  CHECK(text_width("e", TextStyle::normal).value == Approx(11 * 1260 / 2048.0));
  CHECK(text_width("e", TextStyle::strong).value == Approx(11 * 1389 / 2048.0));
  CHECK(text_width("", TextStyle::small).value == 0);
  CHECK(text_width("×", TextStyle::normal).value == Approx(11 * 1716 / 2048.0));
}

TEST_CASE("a text that is too wide ends with dots and fits") {
  const std::string text = "layers.31.mlp.up_proj";
  const std::string cut = elided(text, TextStyle::normal, Pixels{60});
  CHECK(cut == "layers.3…");
  CHECK(text_width(cut, TextStyle::normal) <= Pixels{60});
  CHECK(elided(text, TextStyle::normal, Pixels{600}) == text);
  CHECK(elided(text, TextStyle::normal, Pixels{5}).empty());
}

TEST_CASE("broken UTF-8 is read to its end") {
  const std::string bytes = "a\xff\xc3\xe2\x86";
  std::size_t i = 0;
  std::u32string characters;
  while (i < bytes.size()) characters += next_character(bytes, i);
  CHECK(characters == U"a\xfffd\xfffd\xfffd\xfffd");
}
