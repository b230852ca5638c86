#pragma once
// Large blocks of memory for tensors on the CPU, kept when they are given back: a step asks for the same sizes again and
// again, and new pages cost a fault and a clearing each.
//
// Blocks are mapped by themselves, in whole pages, so nothing is lost between them. What is kept unused is bounded: kept
// and used blocks together never take more than the most that was ever in use at once, and a sixteenth. Blocks of 2 MiB
// and more lie so that the system can back them by huge pages.
//
//   BlockCache cache;
//   BlockCache::Block a = cache.take(3'000'000);     // 3'002'368 bytes
//   cache.give(a);                                   // kept
//   BlockCache::Block b = cache.take(2'950'000);     // the same, a little larger than asked for
//
// Of all threads. A block without data: the system has no more memory.
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <utility>

namespace planscope {

class BlockCache {
 public:
  BlockCache() = default;
  ~BlockCache() { trim(); }
  BlockCache(const BlockCache&) = delete;
  BlockCache& operator=(const BlockCache&) = delete;

  struct Block {
    void* data = nullptr;
    std::size_t bytes = 0;  // of the block, at least what was asked for
  };

  Block take(std::size_t bytes);
  void give(const Block&);
  void trim();  // gives all that is unused back to the system

  std::size_t used() const;    // bytes of blocks that are in use
  std::size_t unused() const;  // of those that are kept

 private:
  Block reuse(std::size_t bytes);
  void drop_until(std::size_t room);
  void use(std::size_t bytes);

  mutable std::mutex mutex_;
  std::uint64_t given_ = 0;                                  // blocks, ever
  std::map<std::uint64_t, Block> kept_;                      // by the number under which they were given back
  std::set<std::pair<std::size_t, std::uint64_t>> by_size_;  // and the number's complement: the newest first
  std::size_t used_ = 0, unused_ = 0, most_ = 0;
};

}  // namespace planscope
