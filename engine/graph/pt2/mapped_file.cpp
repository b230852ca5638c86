#include "engine/graph/pt2/mapped_file.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "engine/base/file_text.h"

namespace planscope {
namespace {

Diagnostic unreadable(const std::string& path, std::string why) {
  Diagnostic diagnostic = error("cannot read the file", std::move(why));
  diagnostic.file = path;
  return diagnostic;
}

// Mappings of this process. A page of a file that has become shorter raises SIGBUS when it is touched; the handler puts a page of
// zeros there and notes it. Only what a signal handler may do is done: looks at atomics, and one system call.
struct Guarded {
  std::atomic<std::uintptr_t> begin = 0, end = 0;  // `end` is written last, and cleared first
  std::atomic<std::atomic<bool>*> cut_off = nullptr;
};
std::array<Guarded, 256> guarded;
std::mutex guarding;
std::uintptr_t page_bytes = 4096;

void on_bus_error(int, siginfo_t* info, void*) {
  const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (Guarded& g : guarded) {
    const std::uintptr_t end = g.end.load(std::memory_order_acquire);
    if (at < g.begin.load(std::memory_order_relaxed) || at >= end) continue;
    void* page = reinterpret_cast<void*>(at / page_bytes * page_bytes);
    if (::mmap(page, page_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) break;
    g.cut_off.load()->store(true);
    return;
  }
  ::signal(SIGBUS, SIG_DFL);  // somebody else's: it comes again
}

// Nothing: there are too many, and this one goes without.
Guarded* guard(void* address, std::size_t size, std::atomic<bool>* cut_off) {
  const std::lock_guard lock(guarding);
  static const bool installed = [] {
    page_bytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    struct sigaction action{};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    return ::sigaction(SIGBUS, &action, nullptr) == 0;
  }();
  if (!installed) return nullptr;
  for (Guarded& g : guarded) {
    if (g.end.load() != 0) continue;
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    g.cut_off = cut_off;
    g.begin = begin;
    g.end.store(begin + (size + page_bytes - 1) / page_bytes * page_bytes, std::memory_order_release);
    return &g;
  }
  return nullptr;
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path) {
  const Result<int> descriptor = open_regular(path);
  if (!descriptor.ok()) {
    const Diagnostic& d = descriptor.diagnostics.front();
    return unreadable(path, d.why.empty() ? std::strerror(ENOENT) : d.why);
  }
  struct stat status{};
  std::string why;
  if (fstat(*descriptor, &status) != 0)
    why = std::strerror(errno);
  else if (status.st_size == 0)
    why = "it is empty";
  void* address = MAP_FAILED;
  auto size = static_cast<std::size_t>(status.st_size);
  if (why.empty()) {
    address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, *descriptor, 0);
    if (address == MAP_FAILED) why = std::strerror(errno);
  }
  ::close(*descriptor);
  if (!why.empty()) return unreadable(path, why);
  MappedFile file;
  file.cut_off_ = std::make_shared<std::atomic<bool>>(false);
  Guarded* const g = guard(address, size, file.cut_off_.get());
  file.mapping_ = std::shared_ptr<const void>(address, [size, g, keep = file.cut_off_](const void* p) {
    if (g) g->end = 0;
    munmap(const_cast<void*>(p), size);
  });
  file.bytes_ = {static_cast<const char*>(address), size};
  return file;
}

}  // namespace planscope
