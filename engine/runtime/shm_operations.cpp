#include "engine/runtime/shm_operations.h"

#include <algorithm>
#include <cstring>

#include "engine/runtime/copy_bytes.h"
#include "engine/runtime/shm_reduce.h"

namespace planscope {

ShmOperation::ShmOperation(ShmNode& node, std::string label, std::vector<at::Tensor> tensors)
    : node_(node), label_(std::move(label)), tensors_(std::move(tensors)), bytes_(0) {
  for (const at::Tensor& t : tensors_) bytes_ += static_cast<double>(t.nbytes());
}

void ShmOperation::wait() {
  if (!complete_) node_.wait(*this);
}

bool ShmOperation::advance() {
  if (complete_) return true;
  if (!work()) return false;
  finish();
  complete_ = true;
  tensors_.clear();
  return true;
}

std::size_t ShmSource::available() const {
  const std::uint64_t ready = deposit->ready.load(std::memory_order_acquire);
  return ready <= begin ? 0 : std::min<std::size_t>(bytes, ready - begin);
}

ShmReading::ShmReading(ShmNode& node, std::string label, std::vector<at::Tensor> tensors, What what,
                       std::vector<ShmSource> sources)
    : ShmOperation(node, std::move(label), std::move(tensors)), what_(what), sources_(std::move(sources)) {}

bool ShmReading::meet() {
  bool all = true;
  for (ShmSource& s : sources_) {
    if (s.deposit != nullptr) continue;
    const std::optional<Announcement> a = node_.take(s.rank, what_.key);
    if (!a) {
      all = false;
      continue;
    }
    s.deposit = &node_.deposit(*a);
    s.begin = a->begin;
    const std::string there = ", rank " + std::to_string(s.rank) + " has ";
    if (s.deposit->statement != what_.statement) {
      throw TransportError(
          label() + ": this rank has " + describe(what_.statement) + there + describe(s.deposit->statement),
          FailureOrigin::own);
    }
    if (a->bytes != s.bytes) {
      throw TransportError(label() + ": this rank has room for " + std::to_string(s.bytes) + " bytes" + there +
                               std::to_string(a->bytes) + " for it",
                           FailureOrigin::own);
    }
  }
  return all;
}

std::uint32_t ShmReading::events() const {
  const auto missing =
      std::count_if(sources_.begin(), sources_.end(), [](const ShmSource& s) { return s.deposit == nullptr; });
  return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(missing));
}

std::vector<int> ShmReading::waits_for() const {
  std::vector<int> ranks;
  for (const ShmSource& s : sources_) {
    if (s.deposit == nullptr || s.available() < s.bytes) ranks.push_back(s.rank);
  }
  return ranks;
}

void ShmReading::finish() {
  for (const ShmSource& s : sources_) {
    ShmNode::release(*s.deposit);
    if (what_.statement.kind == ShmKind::transfer) node_.ring(s.rank);  // which may wait in ShmSent
  }
  if (what_.own != nullptr) ShmNode::release(*what_.own);
}

bool ShmExchange::work() {
  bool all = meet();
  for (ShmSource& s : sources_) {
    if (s.deposit == nullptr) continue;
    const std::size_t available = s.available();
    if (available > s.done) copy_bytes(s.to + s.done, s.data() + s.done, available - s.done);
    s.done = available;
    all = all && s.done == s.bytes;
  }
  return all;
}

ShmCombine::ShmCombine(ShmNode& node, std::string label, std::vector<at::Tensor> tensors, What what,
                       std::vector<ShmSource> sources, const ShmReduction& reduction)
    : ShmReading(node, std::move(label), std::move(tensors), what, std::move(sources)), reduction_(reduction) {}

namespace {

// What all members have, in their order: the others at `there` in their deposits, this rank at `here`.
std::vector<const std::byte*> in_order(const std::vector<ShmSource>& sources, const ShmReduction& r, std::size_t there,
                                       std::size_t here) {
  std::vector<const std::byte*> all;
  for (const ShmSource& s : sources) all.push_back(s.data() + there);
  all.insert(all.begin() + static_cast<std::ptrdiff_t>(r.self), r.own + here);
  return all;
}

constexpr std::size_t shared_chunk = 128u << 10;  // at most
constexpr std::size_t slots = 32;

}  // namespace

bool ShmCombine::work() {
  if (!meet()) return false;
  std::size_t limit = reduction_.bytes;
  for (const ShmSource& s : sources_) limit = std::min(limit, s.available());
  limit -= limit % reduction_.element;
  if (limit > done_) {
    reduce(reduction_.out + done_, in_order(sources_, reduction_, done_, done_),
           static_cast<std::int64_t>((limit - done_) / reduction_.element), reduction_.type, reduction_.reduction);
    done_ = limit;
  }
  return done_ == reduction_.bytes;
}

// At least four chunks a member, if they are not too small then.
ShmSharedCombine::Division::Division(std::size_t bytes, std::size_t members)
    : chunk((std::clamp<std::size_t>(bytes / (4 * members), 8192, shared_chunk) + 63) / 64 * 64),
      count((bytes + chunk - 1) / chunk),
      window(std::min(count, slots) * chunk),
      progress_bytes((count + members) * sizeof(std::uint32_t)) {}

ShmSharedCombine::ShmSharedCombine(ShmNode& node, std::string label, std::vector<at::Tensor> tensors, What what,
                                   std::vector<ShmSource> sources, const ShmReduction& reduction)
    : ShmReading(node, std::move(label), std::move(tensors), what, std::move(sources)),
      reduction_(reduction),
      division_(reduction.bytes, sources_.size() + 1),
      deposited_(std::min(division_.count, slots)),
      made_here_(division_.count, false) {}

std::size_t ShmSharedCombine::size_of(std::size_t chunk) const {
  return std::min(division_.chunk, reduction_.bytes - division_.begin_of(chunk));
}

Deposit& ShmSharedCombine::first() const { return reduction_.self == 0 ? *what_.own : *sources_.front().deposit; }

std::atomic<std::uint32_t>* ShmSharedCombine::progress() const {
  return reinterpret_cast<std::atomic<std::uint32_t>*>(first().data() + division_.window);
}

std::size_t ShmSharedCombine::copied_by_all() const {
  const std::atomic<std::uint32_t>* copied = progress() + division_.count;
  std::uint32_t least = copied[0].load(std::memory_order_acquire);
  for (std::size_t m = 1; m <= sources_.size(); ++m) least = std::min(least, copied[m].load(std::memory_order_acquire));
  return least;
}

// A member leaves only when it has copied all chunks: one that is gone before has died.
std::vector<int> ShmSharedCombine::waits_for() const {
  std::vector<int> ranks;
  for (const ShmSource& s : sources_) ranks.push_back(s.rank);
  return ranks;
}

bool ShmSharedCombine::work() {
  if (!meet()) return false;
  while (copy_done_chunks() || deposit_chunk() || claim_chunk()) {
  }
  return copied_ == division_.count;
}

bool ShmSharedCombine::copy_done_chunks() {
  const std::size_t before = copied_;
  while (copied_ < division_.count) {
    if (!made_here_[copied_]) {
      if (progress()[copied_].load(std::memory_order_acquire) == 0) break;
      copy_bytes(reduction_.out + division_.begin_of(copied_), first().data() + division_.slot_of(copied_),
                 size_of(copied_));
    }
    ++copied_;
  }
  if (copied_ == before) return false;
  progress()[division_.count + reduction_.self].store(static_cast<std::uint32_t>(copied_), std::memory_order_release);
  // Others may wait for the slots.
  if (before + slots < division_.count) {
    for (const ShmSource& s : sources_) node_.ring(s.rank);
  }
  return true;
}

bool ShmSharedCombine::deposit_chunk() {
  if (deposited_ == division_.count || deposited_ >= copied_by_all() + slots) return false;
  copy_bytes(what_.own->data() + division_.slot_of(deposited_), reduction_.own + division_.begin_of(deposited_),
             size_of(deposited_));
  what_.own->ready.store(division_.begin_of(deposited_) + size_of(deposited_), std::memory_order_release);
  ++deposited_;
  for (const ShmSource& s : sources_) node_.ring(s.rank);
  return true;
}

bool ShmSharedCombine::claim_chunk() {
  std::uint32_t next = first().claimed.load(std::memory_order_relaxed);
  if (next >= deposited_) return false;
  const std::size_t begin = division_.begin_of(next), slot = division_.slot_of(next), size = size_of(next);
  for (const ShmSource& s : sources_) {
    if (s.available() < begin + size) return false;
  }
  if (!first().claimed.compare_exchange_strong(next, next + 1, std::memory_order_relaxed)) return true;  // once more
  std::byte* result = first().data() + slot;
  reduce(result, in_order(sources_, reduction_, slot, begin), static_cast<std::int64_t>(size / reduction_.element),
         reduction_.type, reduction_.reduction);
  copy_bytes(reduction_.out + begin, result, size);
  made_here_[next] = true;
  progress()[next].store(1, std::memory_order_release);
  for (const ShmSource& s : sources_) node_.ring(s.rank);
  return true;
}

void ShmSent::finish() {
  if (deposit_ != nullptr) ShmNode::release(*deposit_);
  deposit_ = nullptr;
}

}  // namespace planscope
