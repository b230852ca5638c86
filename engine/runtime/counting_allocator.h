#pragma once
// Counts the bytes of tensors on the CPU that are alive, and the most that ever were. Installed once, before the first
// tensor is made; memory that LibTorch does not allocate itself (mapped files, the transport's buffers) is not counted.
// Large tensors have blocks of their own that are kept for the next ones (block_cache.h).
#include <cstdint>

namespace planscope {

void install_counting_allocator();

std::int64_t live_bytes();
std::int64_t peak_bytes();  // since the last reset
void reset_peak_bytes();    // to what is alive now
void release_unused_blocks();

}  // namespace planscope
