#include "engine/launch/position_board.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

namespace planscope {

struct PositionBoard::Page {
  std::int64_t instruction;
  std::int64_t step, steps, instructions;
  std::atomic<std::uint64_t> changes;  // written last; 0: nothing was written
  double expected_us;
  bool waiting;
  char what[200];  // cut off there, ends with 0
};

PositionBoard PositionBoard::create() {
  const int fd = ::memfd_create("planscope-position", MFD_CLOEXEC);
  if (fd >= 0 && ::ftruncate(fd, sizeof(Page)) == 0) return open(fd);
  if (fd >= 0) ::close(fd);
  return {};
}

PositionBoard PositionBoard::open(int fd) {
  PositionBoard board;
  struct stat about{};
  if (::fstat(fd, &about) != 0 || about.st_size != sizeof(Page)) return board;
  void* memory = ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return board;
  board.fd_ = fd;
  board.page_ = static_cast<Page*>(memory);
  return board;
}

PositionBoard::~PositionBoard() {
  if (page_ != nullptr) ::munmap(page_, sizeof(Page));
  if (fd_ >= 0) ::close(fd_);
}

PositionBoard::PositionBoard(PositionBoard&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), page_(std::exchange(other.page_, nullptr)) {}

PositionBoard& PositionBoard::operator=(PositionBoard&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(page_, other.page_);
  return *this;
}

void PositionBoard::write(const Position& p) {
  if (page_ == nullptr) return;
  page_->instruction = p.instruction;
  page_->step = p.step;
  page_->steps = p.steps;
  page_->instructions = p.instructions;
  page_->expected_us = p.expected.count;
  page_->waiting = p.waiting;
  const std::size_t size = std::min(p.what.size(), sizeof(page_->what) - 1);
  std::memcpy(page_->what, p.what.data(), size);
  page_->what[size] = 0;
  page_->changes.store(p.changes, std::memory_order_release);
}

std::optional<Position> PositionBoard::read() const {
  if (page_ == nullptr) return std::nullopt;
  Position p;
  p.changes = page_->changes.load(std::memory_order_acquire);
  if (p.changes == 0) return std::nullopt;
  p.instruction = page_->instruction;
  p.step = page_->step;
  p.steps = page_->steps;
  p.instructions = page_->instructions;
  p.expected = {page_->expected_us};
  p.waiting = page_->waiting;
  p.what.assign(page_->what, ::strnlen(page_->what, sizeof(page_->what)));
  return p;
}

}  // namespace planscope
