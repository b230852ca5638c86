#include "engine/runtime/counting_allocator.h"

#include <ATen/ATen.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/CPUAllocator.h>

#include <atomic>

namespace planscope {

namespace {

// The one exception to "no globals": LibTorch's allocator is one per process, and is called without a context.
std::atomic<std::int64_t> live{0}, peak{0};

struct Block {
  c10::DataPtr memory;
  std::int64_t bytes = 0;
};

void drop(void* context) {
  auto* block = static_cast<Block*>(context);
  live.fetch_sub(block->bytes, std::memory_order_relaxed);
  delete block;
}

class CountingAllocator final : public c10::Allocator {
 public:
  explicit CountingAllocator(c10::Allocator* base) : base_(base) {}

  c10::DataPtr allocate(std::size_t bytes) override {
    auto* block = new Block{base_->allocate(bytes), static_cast<std::int64_t>(bytes)};
    const std::int64_t now = live.fetch_add(block->bytes, std::memory_order_relaxed) + block->bytes;
    std::int64_t most = peak.load(std::memory_order_relaxed);
    while (most < now && !peak.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
    }
    void* data = block->memory.get();
    return {data, block, &drop, c10::Device(c10::kCPU)};
  }

  void copy_data(void* to, const void* from, std::size_t bytes) const override { base_->copy_data(to, from, bytes); }

 private:
  c10::Allocator* base_;
};

}  // namespace

void install_counting_allocator() {
  static CountingAllocator allocator(c10::GetCPUAllocator());
  c10::SetCPUAllocator(&allocator, 100);
}

std::int64_t live_bytes() {
  return live.load(std::memory_order_relaxed);
}

std::int64_t peak_bytes() {
  return peak.load(std::memory_order_relaxed);
}

void reset_peak_bytes() {
  peak.store(live_bytes(), std::memory_order_relaxed);
}

}  // namespace planscope
