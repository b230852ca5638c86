// Lists of names that are cut short.
#include <catch2/catch.hpp>

#include "engine/base/enumeration.h"

using namespace planscope;

TEST_CASE("a list of names is cut short and says how many more there are", "[enumeration]") {
  CHECK(enumeration({"a", "b", "c", "d"}, 2) == "a, b and 2 more");
  CHECK(enumeration({"a", "b", "c"}, 2) == "a, b and 1 more");
  CHECK(enumeration({"a", "b"}, 2) == "a, b");
  CHECK(enumeration({"a"}, 2) == "a");
  CHECK(enumeration({}, 2) == "");
  CHECK(enumeration({"a", "b", "c"}, 2, " · ", "; ") == "a · b; 1 more");
}

TEST_CASE("the number of further names stands behind those that are written", "[enumeration]") {
  CHECK(and_more("a", 3) == "a and 3 more");
  CHECK(and_more("a", 0) == "a");
  CHECK(and_more("a", 1, "; ") == "a; 1 more");
}
