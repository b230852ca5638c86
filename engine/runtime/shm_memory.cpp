#include "engine/runtime/shm_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <random>
#include <sstream>
#include <utility>

#include "engine/base/text.h"

namespace planscope {

namespace {

constexpr std::uint64_t page = 4096, line = 64;
constexpr std::uint64_t growth = 1u << 20;
constexpr std::uint64_t most_address_space = 16ull << 40;  // of the 128 TiB that a process has

std::uint64_t round_up(std::uint64_t size, std::uint64_t unit) { return (size + unit - 1) / unit * unit; }

// As much as the machine has: no rank can hold more.
std::uint64_t window_of(int ranks) {
  const auto memory = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * page;
  return round_up(std::min(memory, most_address_space / static_cast<std::uint64_t>(ranks)), page);
}

// Tells this trial's memory from anything else that may have the same number on another host.
std::string random_name() {
  std::random_device source;
  std::uint64_t bits = source();
  return "planscope-trial-" + hex(bits << 32 | source());
}

Diagnostic failed(const std::string& what) { return no_shared_memory(what + ": " + std::strerror(errno)); }

}  // namespace

Diagnostic no_shared_memory(const std::string& why) { return error("the ranks cannot share memory", why); }

Result<SharedMemory> SharedMemory::create(int ranks) {
  SharedMemory m;
  m.name_ = random_name();
  m.window_ = window_of(ranks);
  const std::uint64_t size = m.window_ * static_cast<std::uint64_t>(ranks);
  rlimit files{};  // a file beyond this limit is a signal, not an error
  if (::getrlimit(RLIMIT_FSIZE, &files) == 0 && files.rlim_cur < size)
    return no_shared_memory("the size of files is limited");
  m.fd_ = ::memfd_create(m.name_.c_str(), MFD_CLOEXEC);
  if (m.fd_ < 0) return failed("memfd_create");
  if (::ftruncate(m.fd_, static_cast<off_t>(size)) != 0) return failed("ftruncate");
  if (const std::string why = m.map(ranks); !why.empty()) return no_shared_memory(why);
  return m;
}

std::string SharedMemory::address() const {
  return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(fd_) + " " + name_ + " " +
         std::to_string(window_);
}

Result<SharedMemory> SharedMemory::open(const std::string& address, int ranks) {
  SharedMemory m;
  std::istringstream words(address);
  std::string path;
  if (!(words >> path >> m.name_ >> m.window_)) return no_shared_memory("'" + address + "' is no address");
  std::array<char, 256> target{};
  const ssize_t length = ::readlink(path.c_str(), target.data(), target.size() - 1);
  if (length < 0) return failed(path);
  if (std::string_view(target.data()).find(m.name_) == std::string_view::npos)
    return no_shared_memory(path + " is of another host");
  m.fd_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (m.fd_ < 0) return failed(path);
  if (const std::string why = m.map(ranks); !why.empty()) return no_shared_memory(why);
  return m;
}

std::string SharedMemory::map(int ranks) {
  size_ = window_ * static_cast<std::uint64_t>(ranks);
  void* memory = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd_, 0);
  if (memory == MAP_FAILED)
    return "mmap of " + std::to_string(size_ >> 20) + " MiB of address space: " + std::strerror(errno);
  base_ = static_cast<std::byte*>(memory);
  ::madvise(memory, size_, MADV_DONTDUMP);  // a core file of a crashed rank is about the rank
  return {};
}

SharedMemory::~SharedMemory() {
  if (base_ != nullptr) ::munmap(base_, size_);
  if (fd_ >= 0) ::close(fd_);
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept { *this = std::move(other); }

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(base_, other.base_);
  std::swap(window_, other.window_);
  std::swap(size_, other.size_);
  std::swap(name_, other.name_);
  return *this;
}

std::string SharedMemory::commit(std::uint64_t position, std::uint64_t size) const {
  while (::fallocate(fd_, 0, static_cast<off_t>(position), static_cast<off_t>(size)) != 0) {
    if (errno != EINTR) return "fallocate of " + std::to_string(size) + " bytes: " + std::strerror(errno);
  }
  return {};
}

Result<std::uint64_t> Arena::allocate(std::uint64_t size) {
  if (const std::uint64_t position = reuse(size); position != 0) return position;
  size = round_up(size, line);
  // What is free at the end is used together with the new memory.
  const bool joins = !free_.empty() && free_.rbegin()->first + free_.rbegin()->second == committed_;
  const std::uint64_t lacking = joins ? size - free_.rbegin()->second : size;
  if (lacking > end_ - committed_) {
    return error("no shared memory left", std::to_string(bytes_used_ >> 20) + " MiB are on their way to other ranks");
  }
  const std::uint64_t more = std::min(round_up(lacking, growth), end_ - committed_);
  if (const std::string why = memory_.commit(committed_, more); !why.empty())
    return error("no shared memory left", why);
  add_free(committed_, more);
  committed_ += more;
  return reuse(size);
}

std::uint64_t Arena::reuse(std::uint64_t size) {
  size = round_up(size, line);
  auto it = free_.end();
  for (auto block = free_.begin(); block != free_.end(); ++block) {
    if (block->second >= size && (it == free_.end() || block->second < it->second)) it = block;
  }
  if (it == free_.end()) return 0;
  const auto [position, available] = *it;
  free_.erase(it);
  if (available > size) free_[position + size] = available - size;
  used_[position] = size;
  bytes_used_ += size;
  return position;
}

void Arena::free(std::uint64_t position) {
  const auto it = used_.find(position);
  const std::uint64_t size = it->second;
  used_.erase(it);
  bytes_used_ -= size;
  add_free(position, size);
}

void Arena::add_free(std::uint64_t position, std::uint64_t size) {
  const auto next = free_.lower_bound(position);
  if (next != free_.end() && position + size == next->first) {
    size += next->second;
    free_.erase(next);
  }
  const auto after = free_.lower_bound(position);
  if (after != free_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == position) {
      before->second += size;
      return;
    }
  }
  free_[position] = size;
}

}  // namespace planscope
