#include <catch2/catch.hpp>

#include "engine/launch/agreement.h"
#include "engine/launch/placement.h"
#include "engine/launch/spans.h"
#include "engine/launch/store.h"

using namespace planscope;

namespace {

StoreRequest request(StoreAction action, std::int64_t id, std::vector<std::string> keys, std::string value = "",
                     std::string expected = "", std::int64_t amount = 0) {
  return {action, id, std::move(keys), std::move(value), std::move(expected), amount};
}

}  // namespace

TEST_CASE("ranks get cores of their own or share them in turn", "[placement]") {
  CHECK(place_ranks(2, {0, 1, 2, 3, 4}) == RankPlacement{{{0, 1}, {2, 3}}, 2, false});
  CHECK(place_ranks(3, {4, 6, 8}) == RankPlacement{{{4}, {6}, {8}}, 1, false});
  CHECK(place_ranks(4, {0, 1}) == RankPlacement{{{0}, {1}, {0}, {1}}, 1, true});
  CHECK_FALSE(available_cores().empty());
}

TEST_CASE("the relay answers, counts and swaps", "[store]") {
  StoreRelay relay;
  CHECK(relay.handle(0, request(StoreAction::set, 0, {"a"}, "1")).empty());
  CHECK(relay.handle(1, request(StoreAction::check, 1, {"a", "b"})).at(0).second.number == 0);
  CHECK(relay.handle(1, request(StoreAction::add, 2, {"a"}, "", "", 4)).at(0).second.number == 5);
  CHECK(relay.handle(1, request(StoreAction::add, 3, {"n"}, "", "", -2)).at(0).second.number == -2);
  CHECK(relay.handle(0, request(StoreAction::swap, 4, {"a"}, "x", "9")).at(0).second.values.at(0) == "5");
  CHECK(relay.handle(0, request(StoreAction::swap, 5, {"a"}, "x", "5")).at(0).second.values.at(0) == "x");
  CHECK(relay.handle(0, request(StoreAction::swap, 6, {"new"}, "y")).at(0).second.values.at(0) == "y");
  CHECK(relay.handle(0, request(StoreAction::count, 7, {})).at(0).second.number == 3);
  CHECK(relay.handle(0, request(StoreAction::remove, 8, {"n"})).at(0).second.number == 1);
  CHECK(relay.handle(0, request(StoreAction::remove, 9, {"n"})).at(0).second.number == 0);
}

TEST_CASE("waits are answered as soon as every key is there", "[store]") {
  StoreRelay relay;
  CHECK(relay.handle(2, request(StoreAction::wait, 1, {"a", "b"})).empty());
  CHECK(relay.handle(1, request(StoreAction::wait, 1, {"b"})).empty());
  CHECK(relay.handle(0, request(StoreAction::set, 0, {"a"}, "A")).empty());
  const auto replies = relay.handle(0, request(StoreAction::set, 5, {"b"}, "B"));
  REQUIRE(replies.size() == 3);
  CHECK(replies[0] == std::pair<int, StoreReply>{0, {5, {}, 0}});
  CHECK(replies[1] == std::pair<int, StoreReply>{2, {1, {"A", "B"}, 0}});
  CHECK(replies[2] == std::pair<int, StoreReply>{1, {1, {"B"}, 0}});
  CHECK(relay.handle(0, request(StoreAction::set, 0, {"b"}, "C")).empty());  // each wait is answered once
}

TEST_CASE("members of a communication must say the same", "[agreement]") {
  AgreementRelay relay;
  CHECK_FALSE(relay.handle(0, {"k#1", "float32 [4]", 2, 7, "all_reduce wte"}).has_value());
  CHECK_FALSE(relay.handle(0, {"k#2", "float32 [5]", 2, 8, "all_reduce wte"}).has_value());
  CHECK_FALSE(relay.handle(1, {"k#1", "float32 [4]", 2, 7, "all_reduce wte"}).has_value());
  CHECK(relay.handle(1, {"k#2", "float32 [6]", 2, 9, "all_reduce wpe"}) ==
        FailureReport{9, "all_reduce wpe: this rank has float32 [6], rank 0 has float32 [5]", FailureOrigin::own});
  CHECK_FALSE(relay.handle(1, {"k#1", "other", 2, 9, ""}).has_value());  // all have spoken: the key is free again
}

TEST_CASE("spans survive printing and reading", "[spans]") {
  const SpanList spans = {
      {0, 17, "compute", {0.125}, {1234.5}}, {1, 18, "all_reduce", {99}, {0}}, {1, 19, "compute", {100}, {2}}};
  CHECK(*parse_spans(print_spans(spans)) == spans);
  CHECK(parse_spans(print_spans({}))->empty());
  for (const char* text : {"", "{}", "[]", R"({"kinds":[],"spans":[[0,1,0,0,0]]})",
                           R"({"kinds":["a"],"spans":[[0,1]]})", R"({"kinds":["a"],"spans":[[0,1,-1,0,0]]})"}) {
    CHECK_FALSE(parse_spans(text).ok());
  }
}
