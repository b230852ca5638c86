#include "engine/runtime/shm_node.h"

#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "engine/runtime/copy_bytes.h"
#include "engine/runtime/shm_operations.h"
#include "engine/runtime/transport_checks.h"

namespace planscope {

namespace {

using Clock = std::chrono::steady_clock;
using Inbox = Ring<Announcement, 1024>;

constexpr auto poll_limit = std::chrono::microseconds(50);  // about what it costs to sleep and be woken
constexpr int polls_at_once = 32;                           // less than a microsecond
constexpr auto look_interval = std::chrono::milliseconds(50);

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

TransportError is_gone(int rank, const std::string& label) {
  return {label + ": rank " + std::to_string(rank) + " is gone", FailureOrigin::peer};
}

}  // namespace

// The head of each rank's window: its bell, and one ring from each rank.
struct ShmNode::Desk {
  Bell bell;
  std::atomic<std::int32_t> process{0};
  Inbox& from(int rank) { return reinterpret_cast<Inbox*>(this + 1)[rank]; }
  static std::uint64_t bytes(int ranks) { return sizeof(Desk) + sizeof(Inbox) * static_cast<std::uint64_t>(ranks); }
  alignas(64) char end_of_line[64];  // rings begin on a cache line of their own
};

ShmStatement statement(ShmKind kind, const at::Tensor& t, Reduction reduction, int root) {
  ShmStatement s;
  s.kind = kind;
  s.reduction = reduction;
  s.root = root;
  s.type = static_cast<std::int8_t>(t.scalar_type());
  constexpr std::int64_t most = std::size(ShmStatement{}.sizes);
  s.dims = static_cast<std::int8_t>(std::min(t.dim(), most));
  for (std::int64_t d = 0; d < t.dim(); ++d) {
    if (d < most)
      s.sizes[d] = t.size(d);
    else
      s.sizes[most - 1] *= t.size(d);
  }
  // Blocks may differ between members; what all share is the type and the row.
  if (kind == ShmKind::uneven_all_to_all) s.sizes[0] = 0;
  return s;
}

std::string describe(const ShmStatement& s) {
  std::string tensor = std::string(c10::toString(static_cast<c10::ScalarType>(s.type))) + " [";
  for (int d = 0; d < s.dims; ++d) tensor += (d > 0 ? ", " : "") + std::to_string(s.sizes[d]);
  tensor += "]";
  switch (s.kind) {
    case ShmKind::transfer:
      return tensor;
    case ShmKind::all_reduce:
      return std::string("all_reduce ") + name(s.reduction) + " of " + tensor;
    case ShmKind::all_gather:
      return "all_gather of " + tensor;
    case ShmKind::reduce_scatter:
      return std::string("reduce_scatter ") + name(s.reduction) + " of " + tensor;
    case ShmKind::all_to_all:
      return "all_to_all of " + tensor;
    case ShmKind::uneven_all_to_all:
      return "all_to_all of uneven blocks of " + tensor;
    case ShmKind::broadcast:
      return "broadcast from " + std::to_string(s.root) + " of " + tensor;
    case ShmKind::barrier:
      return "barrier";
  }
  return {};
}

std::string ShmNode::open_desk(const SharedMemory& memory, int rank, int ranks) {
  if (memory.window_size() <= Desk::bytes(ranks)) return "there is no room for " + std::to_string(ranks) + " ranks";
  if (std::string why = memory.commit(memory.window(rank), Desk::bytes(ranks)); !why.empty()) return why;
  Desk* desk = new (memory.at(memory.window(rank))) Desk;
  for (int r = 0; r < ranks; ++r) new (&desk->from(r)) Inbox;
  desk->process = ::getpid();
  return {};
}

ShmNode::ShmNode(SharedMemory memory, ControlChannel& channel, const TransportSettings& settings)
    : memory_(std::move(memory)),
      channel_(channel),
      settings_(settings),
      rank_(channel.rank()),
      ranks_(channel.ranks()),
      shares_cores_(channel.ranks() > ::sysconf(_SC_NPROCESSORS_ONLN)),
      arena_(memory_, memory_.window(rank_) + Desk::bytes(ranks_), memory_.window(rank_) + memory_.window_size()),
      arrived_(static_cast<std::size_t>(ranks_)) {
  for (int r = 0; r < ranks_; ++r)
    lives_.push_back(r == rank_ ? -1 : static_cast<int>(::syscall(SYS_pidfd_open, desk(r).process.load(), 0)));
}

ShmNode::~ShmNode() {
  for (const int life : lives_) {
    if (life >= 0) ::close(life);
  }
}

ShmNode::Desk& ShmNode::desk(int rank) const { return *reinterpret_cast<Desk*>(memory_.at(memory_.window(rank))); }

void ShmNode::ring(int rank) { desk(rank).bell.ring(); }

Deposit& ShmNode::put(const ShmKey& key, const ShmStatement& said, const std::vector<Piece>& pieces,
                      const std::vector<Reader>& readers, std::size_t zeros, const std::string& label) {
  std::size_t total = 0;
  for (const Piece& piece : pieces) total += piece.bytes;
  const std::uint64_t position = make_room(sizeof(Deposit) + total + zeros, label);
  auto* deposit = new (memory_.at(position)) Deposit;
  deposit->statement = said;
  deposit->readers = static_cast<std::uint32_t>(readers.size()) + 1;
  std::memset(deposit->data() + total, 0, zeros);
  deposits_.push_back(position);

  std::size_t copied = 0, published = 0;
  bool announced = false;
  const auto publish = [&] {
    deposit->ready.store(copied, std::memory_order_release);
    published = copied;
    for (const Reader& r : readers) {
      if (!announced) announce(r.rank, {key, position, r.begin, r.bytes}, label);
      ring(r.rank);
    }
    announced = true;
  };
  for (const Piece& piece : pieces) {
    for (std::size_t at = 0; at < piece.bytes;) {
      const std::size_t count = std::min(shm_chunk - (copied - published), piece.bytes - at);
      copy_bytes(deposit->data() + copied, static_cast<const std::byte*>(piece.data) + at, count);
      at += count;
      copied += count;
      if (copied - published == shm_chunk) publish();
    }
  }
  if (!announced || copied > published) publish();
  return *deposit;
}

std::uint64_t ShmNode::make_room(std::size_t bytes, const std::string& label) {
  if (deposits_.size() >= look_at_) free_read_deposits();
  if (const std::uint64_t position = arena_.reuse(bytes); position != 0) return position;
  free_read_deposits();
  Result<std::uint64_t> position = arena_.allocate(bytes);
  if (!position.ok()) throw TransportError(label + ": " + to_string(position.diagnostics), FailureOrigin::own);
  return *position;
}

void ShmNode::free_read_deposits() {
  std::deque<std::uint64_t> kept;
  for (const std::uint64_t position : deposits_) {
    if (reinterpret_cast<Deposit*>(memory_.at(position))->readers.load(std::memory_order_acquire) == 0)
      arena_.free(position);
    else
      kept.push_back(position);
  }
  deposits_ = std::move(kept);
  look_at_ = std::max<std::size_t>(64, 2 * deposits_.size());
}

// A full ring is emptied when its reader next waits; meanwhile this rank must go on as if it waited itself.
void ShmNode::announce(int reader, const Announcement& a, const std::string& label) {
  Inbox& there = desk(reader).from(rank_);
  if (there.push(a)) return;
  const WaitScope scope(channel_, label);
  for (;;) {
    const std::uint32_t seen = desk(rank_).bell.rings();
    collect();
    advance_all();
    if (there.push(a)) return;
    ring(reader);  // it may sleep until something else has come as well
    desk(rank_).bell.wait(seen, 1, std::chrono::milliseconds(1));
    if (!ended_of({reader}).empty()) throw is_gone(reader, label);
  }
}

void ShmNode::collect() {
  Announcement a;
  for (int sender = 0; sender < ranks_; ++sender) {
    Inbox& from_there = desk(rank_).from(sender);
    while (from_there.pop(a)) arrived_[static_cast<std::size_t>(sender)].emplace(a.key, a);
  }
}

std::optional<Announcement> ShmNode::take(int rank, const ShmKey& key) {
  auto& from_there = arrived_[static_cast<std::size_t>(rank)];
  const auto it = from_there.find(key);
  if (it == from_there.end()) return std::nullopt;
  const Announcement a = it->second;
  from_there.erase(it);
  return a;
}

void ShmNode::start(std::shared_ptr<ShmOperation> operation) { started_.push_back(std::move(operation)); }

void ShmNode::advance_all() {
  for (const std::shared_ptr<ShmOperation>& o : started_) o->advance();  // may throw
  std::erase_if(started_, [](const std::shared_ptr<ShmOperation>& o) { return o->complete(); });
}

void ShmNode::wait(ShmOperation& operation) {
  const auto forget = [&] {
    std::erase_if(started_, [&](const std::shared_ptr<ShmOperation>& o) { return o.get() == &operation; });
  };
  collect();
  if (operation.advance()) return forget();
  const Microseconds expected{operation.bytes() / settings_.slowest_bandwidth * 1e6};
  const WaitScope scope(channel_, operation.label(), expected);
  const Clock::time_point end = Clock::now() + settings_.wait_limit;
  Bell& bell = desk(rank_).bell;
  for (;;) {
    const std::uint32_t seen = bell.rings();
    collect();
    if (operation.advance()) return forget();
    const bool alone =
        std::all_of(started_.begin(), started_.end(), [&](const auto& o) { return o.get() == &operation; });
    if (!alone) advance_all();
    if (poll(seen)) continue;
    // With other operations under way, anything that happens may be for one of them.
    if (bell.wait(seen, alone ? operation.events() : 1, look_interval)) continue;
    const std::vector<int> gone = ended_of(operation.waits_for());
    collect();  // a rank may have ended after it had done its part
    if (operation.advance()) return forget();
    const std::vector<int> missing = operation.waits_for();
    for (const int rank : gone) {
      if (std::find(missing.begin(), missing.end(), rank) != missing.end()) throw is_gone(rank, operation.label());
    }
    if (Clock::now() > end)
      throw TransportError(operation.label() + ": no answer in time from rank " + numbers(missing),
                           FailureOrigin::peer);
  }
}

// A short look before going to sleep: true if something happened meanwhile. Where ranks share cores, the one that is
// waited for may need this core.
bool ShmNode::poll(std::uint32_t seen) const {
  const Bell& bell = desk(rank_).bell;
  const Clock::time_point end = Clock::now() + poll_limit;
  do {
    for (int k = 0; k < polls_at_once; ++k) {
      if (bell.rings() != seen) return true;
      pause();
    }
    if (shares_cores_) ::sched_yield();
  } while (Clock::now() < end);
  return false;
}

std::vector<int> ShmNode::ended_of(const std::vector<int>& ranks) const {
  std::vector<int> ended;
  for (const int rank : ranks) {
    pollfd life{lives_[static_cast<std::size_t>(rank)], POLLIN, 0};
    if (life.fd >= 0 && ::poll(&life, 1, 0) > 0) ended.push_back(rank);
  }
  return ended;
}

}  // namespace planscope
