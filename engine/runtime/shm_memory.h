#pragma once
// Memory that the ranks of one host share: one anonymous file (memfd), mapped by all, with an equal window for each
// rank. It has no name in any file system, /dev/shm included, and its size is no limit of /dev/shm: nothing can clash,
// and the kernel takes it back when the last rank is gone, however that ended. Windows are as large as the machine's
// memory; a page costs memory only from its first use on, and `commit` asks for pages beforehand, so that "no memory
// left" is an error and not a signal.
//
//   Result<SharedMemory> ours = SharedMemory::create(4);                  // rank 0; tells the others ours->address()
//   Result<SharedMemory> theirs = SharedMemory::open(address, 4);         // they must be of the same host and user
//   std::byte* memory = theirs->at(theirs->window(2));                    // positions are the same in all ranks
//
// Errors: the kernel has no memfd, address space or file size are limited too tightly, the address belongs to another
// host or user.
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "engine/base/diagnostic.h"

namespace planscope {

Diagnostic no_shared_memory(const std::string& why);

class SharedMemory {
 public:
  static Result<SharedMemory> create(int ranks);
  static Result<SharedMemory> open(const std::string& address, int ranks);
  ~SharedMemory();
  SharedMemory(SharedMemory&&) noexcept;
  SharedMemory& operator=(SharedMemory&&) noexcept;

  std::string address() const;  // for open(); valid as long as this process lives

  std::uint64_t window_size() const { return window_; }
  std::uint64_t window(int rank) const { return window_ * static_cast<std::uint64_t>(rank); }
  std::byte* at(std::uint64_t position) const { return base_ + position; }

  // Makes sure that there is memory behind these positions; empty: there is, else why not.
  std::string commit(std::uint64_t position, std::uint64_t size) const;

 private:
  SharedMemory() = default;
  std::string map(int ranks);

  int fd_ = -1;
  std::byte* base_ = nullptr;
  std::uint64_t window_ = 0, size_ = 0;
  std::string name_;
};

// Blocks of one rank's window, given out and taken back by that rank alone. Best fit, so that small ones do not
// break up the place of large ones; aligned to cache lines; memory that was used once stays committed.
class Arena {
 public:
  Arena(const SharedMemory& memory, std::uint64_t begin, std::uint64_t end)
      : memory_(memory), committed_(begin), end_(end) {}

  // A position. Error: the window is full, or the machine has no memory left.
  Result<std::uint64_t> allocate(std::uint64_t size);
  // From what is committed already; 0: nothing there is large enough.
  std::uint64_t reuse(std::uint64_t size);
  void free(std::uint64_t position);
  std::uint64_t used() const { return bytes_used_; }

 private:
  void add_free(std::uint64_t position, std::uint64_t size);

  const SharedMemory& memory_;
  std::uint64_t committed_, end_;
  std::uint64_t bytes_used_ = 0;
  std::map<std::uint64_t, std::uint64_t> free_, used_;  // position -> size
};

}  // namespace planscope
