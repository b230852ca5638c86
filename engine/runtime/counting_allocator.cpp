#include "engine/runtime/counting_allocator.h"

#include <ATen/ATen.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/alloc_cpu.h>

#include <atomic>
#include <cstring>

#include "engine/runtime/block_cache.h"

namespace planscope {

namespace {

// The one exception to "no globals": LibTorch's allocator is one per process, and is called without a context.
std::atomic<std::int64_t> live{0}, peak{0};

BlockCache& blocks() {
  static BlockCache* cache = new BlockCache;  // tensors may outlive everything static
  return *cache;
}

// Each block begins with its size, so that the pointer that a caller has is also what frees it (raw_allocate needs
// that).
struct Header {
  std::int64_t bytes = 0;       // that were asked for
  std::size_t block_bytes = 0;  // of the block in the cache; 0: LibTorch's own
};
constexpr std::size_t header = 64;         // keeps LibTorch's alignment
constexpr std::size_t large = 128u << 10;  // bytes from which the cache is asked

void drop(void* data) {
  if (!data) return;
  char* block = static_cast<char*>(data) - header;
  Header h;
  std::memcpy(&h, block, sizeof h);
  live.fetch_sub(h.bytes, std::memory_order_relaxed);
  if (h.block_bytes > 0)
    blocks().give({block, h.block_bytes});
  else
    c10::free_cpu(block);
}

class CountingAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    const c10::Device cpu(c10::kCPU);
    if (bytes == 0) return {nullptr, nullptr, &drop, cpu};
    Header h{static_cast<std::int64_t>(bytes), 0};
    char* block = nullptr;
    if (bytes >= large) {
      const BlockCache::Block taken = blocks().take(bytes + header);
      TORCH_CHECK(taken.data != nullptr, "no memory for a tensor of ", bytes, " bytes; ", live_bytes(),
                  " bytes of tensors are alive");
      block = static_cast<char*>(taken.data);
      h.block_bytes = taken.bytes;
    } else {
      block = static_cast<char*>(c10::alloc_cpu(bytes + header));
    }
    std::memcpy(block, &h, sizeof h);
    const std::int64_t now = live.fetch_add(h.bytes, std::memory_order_relaxed) + h.bytes;
    std::int64_t most = peak.load(std::memory_order_relaxed);
    while (most < now && !peak.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
    }
    return {block + header, block + header, &drop, cpu};
  }

  c10::DeleterFnPtr raw_deleter() const override { return &drop; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { default_copy_data(to, from, bytes); }
};

}  // namespace

void install_counting_allocator() {
  static CountingAllocator allocator;
  c10::SetCPUAllocator(&allocator, 100);
}

std::int64_t live_bytes() { return live.load(std::memory_order_relaxed); }

std::int64_t peak_bytes() { return peak.load(std::memory_order_relaxed); }

void release_unused_blocks() { blocks().trim(); }

void reset_peak_bytes() { peak.store(live_bytes(), std::memory_order_relaxed); }

}  // namespace planscope
