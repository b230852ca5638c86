#pragma once
// Copies bytes; of none, the pointers may be null (tensors without elements have no storage), which memcpy forbids.
#include <cstddef>
#include <cstring>

namespace planscope {

inline void copy_bytes(void* to, const void* from, std::size_t count) {
  if (count > 0) std::memmove(to, from, count);
}

}  // namespace planscope
