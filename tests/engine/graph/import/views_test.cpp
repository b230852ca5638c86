#include <catch2/catch.hpp>

#include "engine/graph/functional/views.h"

using namespace planscope;

TEST_CASE("A tensor can be seen with other sizes if its elements keep their places") {
  CHECK(can_view({4, 8}, {8, 1}, {32}));
  CHECK(can_view({4, 8}, {8, 1}, {2, 2, 1, 8}));
  CHECK_FALSE(can_view({8, 4}, {1, 8}, {32}));  // transposed
  CHECK(can_view({8, 4}, {1, 8}, {2, 4, 4}));   // a part of one dimension
  CHECK_FALSE(can_view({4, 3}, {8, 1}, {12}));  // a slice
  CHECK(can_view({4, 3}, {8, 1}, {2, 2, 3}));
  CHECK(can_view({4, 1, 3}, {3, 77, 1}, {12}));  // the stride of a size of 1 means nothing
  CHECK(can_view({}, {}, {1, 1}));
  CHECK_FALSE(can_view({4}, {0}, {3}));
}

TEST_CASE("Dimensions are wrapped or refused") {
  CHECK(wrap_dim(-1, 3) == 2);
  CHECK(wrap_dim(0, 0) == 0);
  CHECK_FALSE(wrap_dim(3, 3));
  CHECK_FALSE(wrap_dim(-4, 3));
}
