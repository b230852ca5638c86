#include "viz/canvas/svg.h"

#include <catch2/catch.hpp>

using namespace planscope::viz;

TEST_CASE("shapes become SVG elements, text is escaped") {
  Canvas canvas;
  canvas.fill({1, 2, 30, 40}, rgb(0x4c8fd6), 2);
  canvas.push_clip({0, 0, 50, 50});
  canvas.text({4, 18}, "a<b & \"c\"", TextStyle::strong, with_alpha(rgb(0x10141a), 0.5));
  canvas.hatch({0, 0, 10, 10}, rgb(0x414a54));
  canvas.hatch({20, 0, 10, 10}, rgb(0x414a54));
  canvas.pop_clip();
  canvas.line({0, 5}, {10, 5}, rgb(0xff0000), 1, Dash::dashed);
  CHECK(
      to_svg(canvas.list(), {60, 50}, {rgb(0xffffff), "t"}) ==
      R"svg(<svg xmlns="http://www.w3.org/2000/svg" width="60" height="50" viewBox="0 0 60 50" font-family="'DejaVu Sans', Verdana, sans-serif">
<title>t</title>
<defs>
<pattern id="h1" width="6" height="6" patternUnits="userSpaceOnUse"><path d="M-3 3L3 -3M0 6L6 0M3 9L9 3" stroke="#414a54" stroke-width="1"/></pattern>
</defs>
<rect width="60" height="50" fill="#ffffff"/>
<rect x="1" y="2" width="30" height="40" rx="2" fill="#4c8fd6"/>
<clipPath id="c1"><rect x="0" y="0" width="50" height="50"/></clipPath>
<g clip-path="url(#c1)">
<text x="4" y="18" font-size="11" font-weight="bold" fill="#10141a" fill-opacity="0.5">a&lt;b &amp; &quot;c&quot;</text>
<rect x="0" y="0" width="10" height="10" fill="url(#h1)"/>
<rect x="20" y="0" width="10" height="10" fill="url(#h1)"/>
</g>
<line x1="0.5" y1="5.5" x2="10.5" y2="5.5" stroke="#ff0000" stroke-width="1" stroke-dasharray="3"/>
</svg>
)svg");
}

TEST_CASE("clips are intersected and empty shapes are left out") {
  Canvas canvas;
  canvas.push_clip({0, 0, 10, 10});
  canvas.push_clip({5, 5, 10, 10});
  canvas.fill({0, 0, 0, 5}, rgb(0));
  canvas.text({0, 0}, "", TextStyle::normal, rgb(0));
  REQUIRE(canvas.list().size() == 2);
  CHECK(std::get<PushClip>(canvas.list()[1]).rect == Rect{5, 5, 5, 5});
}
