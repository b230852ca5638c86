#include "viz/canvas/geometry.h"

#include <catch2/catch.hpp>

using namespace planscope::viz;

TEST_CASE("time and pixels map onto each other") {
  const TimeScale scale{{Microseconds{100}, Microseconds{300}}, Pixels{50}, Pixels{400}};
  CHECK(scale.to_x(Microseconds{100}) == Pixels{50});
  CHECK(scale.to_x(Microseconds{200}) == Pixels{250});
  CHECK(scale.to_width(Microseconds{10}) == Pixels{20});
  for (const double x : {-13.0, 50.0, 77.25, 449.0, 1000.0})
    CHECK(scale.to_x(scale.to_time(Pixels{x})).value == Approx(x));
}

TEST_CASE("zooming keeps the point under the mouse") {
  const TimeRange range{Microseconds{0}, Microseconds{1000}};
  const TimeRange closer = zoom(range, Microseconds{250}, 0.5);
  CHECK(closer == TimeRange{Microseconds{125}, Microseconds{625}});
  CHECK(zoom(closer, Microseconds{250}, 2) == range);
}

TEST_CASE("a visible range stays near the data") {
  const TimeRange whole{Microseconds{0}, Microseconds{1000}};
  CHECK(clamp_to({Microseconds{-5000}, Microseconds{9000}}, whole, Microseconds{1}) ==
        TimeRange{Microseconds{-50}, Microseconds{1050}});
  CHECK(clamp_to({Microseconds{-300}, Microseconds{200}}, whole, Microseconds{1}) ==
        TimeRange{Microseconds{-50}, Microseconds{450}});
  CHECK(clamp_to({Microseconds{900}, Microseconds{1400}}, whole, Microseconds{1}) ==
        TimeRange{Microseconds{550}, Microseconds{1050}});
  CHECK(clamp_to({Microseconds{500}, Microseconds{500.1}}, whole, Microseconds{10}).length().value == Approx(10));
}

TEST_CASE("rectangles intersect") {
  CHECK(intersection({0, 0, 10, 10}, {5, 6, 10, 10}) == Rect{5, 6, 5, 4});
  CHECK(intersection({0, 0, 10, 10}, {20, 0, 5, 5}).empty());
}
