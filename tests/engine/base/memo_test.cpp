#include "engine/base/memo.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

using planscope::Memo;

TEST_CASE("what several threads ask for at once is made once, and stays where it is") {
  Memo<int, std::string> memo;
  std::atomic<int> made = 0;
  const auto ask = [&](int key) -> const std::string& {
    return memo.at(key, [&] {
      ++made;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      return std::to_string(key);
    });
  };
  const std::string* const first = &ask(0);
  std::vector<std::vector<const std::string*>> seen(4);
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < seen.size(); ++t)
      threads.emplace_back([&, t] {
        for (int key = 0; key < 8; ++key) seen[t].push_back(&ask(t % 2 ? key : 7 - key));
      });
  }
  CHECK(made == 8);
  CHECK(memo.size() == 8);
  for (int key = 0; key < 8; ++key) {
    CHECK(*memo.find(key) == std::to_string(key));
    for (std::size_t t = 0; t < seen.size(); ++t)
      CHECK(seen[t][static_cast<std::size_t>(t % 2 ? key : 7 - key)] == memo.find(key));
  }
  CHECK(memo.find(0) == first);
}

TEST_CASE("a key is asked for before its value is there, and what throws is made again") {
  Memo<int, int> memo;
  CHECK_FALSE(memo.asked(1));
  CHECK(memo.find(1) == nullptr);
  bool asked = false, there = true;
  const int value = memo.at(1, [&] {
    asked = memo.asked(1);
    there = memo.find(1) != nullptr;
    return 5;
  });
  CHECK(value == 5);
  CHECK(asked);
  CHECK_FALSE(there);
  CHECK_THROWS_AS(memo.at(2, []() -> int { throw 1; }), int);
  CHECK(memo.find(2) == nullptr);
  CHECK(memo.at(2, [] { return 6; }) == 6);
}
