#include "engine/runtime/block_cache.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "engine/runtime/process_usage.h"

namespace planscope {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

unsigned char mark(const BlockCache::Block& b) {
  return static_cast<unsigned char>((reinterpret_cast<std::uintptr_t>(b.data) >> 12) % 251);
}

TEST_CASE("a block that is given back is taken again for the same size and for a little less") {
  BlockCache cache;
  const BlockCache::Block a = cache.take(3'000'000);
  CHECK(a.bytes >= 3'000'000);
  CHECK(reinterpret_cast<std::uintptr_t>(a.data) % (2 * mib) == 0);
  std::memset(a.data, 1, a.bytes);
  cache.give(a);
  const BlockCache::Block b = cache.take(2'950'000);
  CHECK(b.data == a.data);
  CHECK(cache.take(2'950'000).data != a.data);  // it is in use
}

TEST_CASE("a block that is much larger is not taken") {
  BlockCache cache;
  const BlockCache::Block a = cache.take(4 * mib);
  cache.give(a);
  CHECK(cache.take(3 * mib).bytes == 3 * mib);
}

TEST_CASE("the block that was given back last is taken first, and the one that is unused longest is dropped first") {
  BlockCache cache;
  const BlockCache::Block a = cache.take(mib), b = cache.take(mib), c = cache.take(mib);
  for (const BlockCache::Block& x : {a, b, c}) cache.give(x);
  const BlockCache::Block whole = cache.take(2 * mib);  // more than 3 MiB and a sixteenth are not kept: a and b go
  CHECK(cache.unused() == mib);
  CHECK(cache.take(mib).data == c.data);
  cache.give(whole);
}

TEST_CASE("used and unused blocks never take more than the most that was in use, and a sixteenth") {
  std::mt19937 random(7);
  BlockCache cache;
  std::vector<BlockCache::Block> used;
  std::size_t most = 0, in_use = 0;
  for (int step = 0; step < 20000; ++step) {
    if (!used.empty() && random() % 2 == 0) {
      const std::size_t k = random() % used.size();
      const auto* data = static_cast<const unsigned char*>(used[k].data);
      REQUIRE(data[0] == mark(used[k]));  // nobody else has written there
      REQUIRE(data[used[k].bytes - 1] == mark(used[k]));
      in_use -= used[k].bytes;
      cache.give(used[k]);
      used.erase(used.begin() + static_cast<std::ptrdiff_t>(k));
    } else {
      used.push_back(cache.take(4096 * (1 + random() % 200)));
      in_use += used.back().bytes;
      std::memset(used.back().data, mark(used.back()), used.back().bytes);
    }
    most = std::max(most, in_use);
    REQUIRE(cache.used() == in_use);
    REQUIRE(cache.used() + cache.unused() <= most + most / 16);
  }
}

TEST_CASE("what the system does not have is not taken") {
  BlockCache cache;
  CHECK(cache.take(std::size_t{1} << 60).data == nullptr);
  CHECK(cache.used() == 0);
  CHECK(cache.take(mib).data != nullptr);
}

TEST_CASE("what is trimmed is no longer resident") {
  BlockCache cache;
  const BlockCache::Block a = cache.take(64 * mib);
  std::memset(a.data, 1, a.bytes);
  cache.give(a);
  const Bytes before = resident_bytes();
  cache.trim();
  CHECK(cache.unused() == 0);
  CHECK(before.count - resident_bytes().count > std::int64_t{60 * mib});
}

}  // namespace
}  // namespace planscope
