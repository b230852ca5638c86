#include "engine/runtime/block_cache.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>

namespace planscope {

namespace {

constexpr std::size_t page = 4096, huge_page = std::size_t{2} << 20;

std::size_t rounded(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

// A part of what is used or of a block that may be wasted.
std::size_t slack(std::size_t bytes) { return bytes / 16; }

void* map(std::size_t bytes) {
  const bool large = bytes >= huge_page;
  const std::size_t wanted = large ? bytes + huge_page : bytes;
  void* mapped = ::mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  if (!large) return mapped;
  char* const first = static_cast<char*>(mapped);
  const std::size_t before =
      rounded(reinterpret_cast<std::uintptr_t>(first), huge_page) - reinterpret_cast<std::uintptr_t>(first);
  if (before > 0) ::munmap(first, before);
  if (before < huge_page) ::munmap(first + before + bytes, huge_page - before);
  ::madvise(first + before, bytes, MADV_HUGEPAGE);  // where the system allows it
  return first + before;
}

}  // namespace

BlockCache::Block BlockCache::take(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  bytes = rounded(std::max(bytes, page), page);
  if (const Block known = reuse(bytes); known.data != nullptr) return known;
  const std::size_t most = std::max(most_, used_ + bytes);
  drop_until(most + slack(most) - used_ - bytes);
  void* data = map(bytes);
  if (data == nullptr) {
    drop_until(0);
    data = map(bytes);
  }
  if (data == nullptr) return {};
  use(bytes);
  return {data, bytes};
}

void BlockCache::give(const Block& block) {
  const std::lock_guard lock(mutex_);
  used_ -= block.bytes;
  unused_ += block.bytes;
  by_size_.emplace(block.bytes, ~given_);
  kept_.emplace(given_++, block);
}

void BlockCache::trim() {
  const std::lock_guard lock(mutex_);
  drop_until(0);
}

std::size_t BlockCache::used() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

std::size_t BlockCache::unused() const {
  const std::lock_guard lock(mutex_);
  return unused_;
}

// The newest of the smallest that are large enough: it may still be in the processor's cache.
BlockCache::Block BlockCache::reuse(std::size_t bytes) {
  const auto found = by_size_.lower_bound({bytes, 0});
  if (found == by_size_.end() || found->first > bytes + slack(bytes)) return {};
  const auto kept = kept_.find(~found->second);
  const Block block = kept->second;
  kept_.erase(kept);
  by_size_.erase(found);
  unused_ -= block.bytes;
  use(block.bytes);
  return block;
}

void BlockCache::use(std::size_t bytes) {
  used_ += bytes;
  most_ = std::max(most_, used_);
}

// Unused blocks go, the longest unused first, until no more than `room` bytes of them are left.
void BlockCache::drop_until(std::size_t room) {
  while (unused_ > room) {
    const auto [number, block] = *kept_.begin();
    by_size_.erase({block.bytes, ~number});
    kept_.erase(kept_.begin());
    unused_ -= block.bytes;
    ::munmap(block.data, block.bytes);
  }
}

}  // namespace planscope
