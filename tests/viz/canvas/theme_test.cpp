// Colours that have to be read.
#include "viz/canvas/theme.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

using namespace planscope::viz;

namespace {

// WCAG 2.1: relative luminance and contrast.
double luminance(Colour c) {
  const auto linear = [](std::uint8_t x) {
    const double v = x / 255.0;
    return v <= 0.03928 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(c.r) + 0.7152 * linear(c.g) + 0.0722 * linear(c.b);
}

double contrast(Colour a, Colour b) {
  const double x = luminance(a), y = luminance(b);
  return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

}  // namespace

TEST_CASE("texts and blocks are told from what is behind them") {
  for (const Theme& t : {dark_theme(), light_theme()}) {
    for (const Colour c : {t.text, t.dim, t.accent, t.good, t.bad, t.warning, t.script.word, t.script.policy, t.script.task,
                           t.script.open, t.script.figure, t.script.comment, t.forward, t.backward, t.weight, t.update,
                           t.communication}) {
      INFO(hex_text(c) << " on " << hex_text(t.background));
      CHECK(contrast(c, t.background) >= 4.5);
    }
    for (const Colour c : {t.forward, t.backward, t.weight, t.update, t.communication}) {
      INFO("text on " << hex_text(c));
      CHECK(contrast(ink_on(c), c) >= 4.5);
    }
  }
}

TEST_CASE("a style sheet has the colours of both sets") {
  const std::string css = theme_css();
  const std::size_t light = css.find("\n:root[data-theme=light]{");
  REQUIRE(light != css.npos);
  CHECK(css.find("--panel:" + hex_text(dark_theme().background) + ";") < light);
  CHECK(css.find("--panel:" + hex_text(light_theme().background) + ";") > light);
  CHECK(hex_text(rgb(0x0a0b0c)) == "#0a0b0c");
}
