#pragma once
// One rank's end of the shared memory (shm_memory.h): how it hands data to other ranks and how it waits for theirs.
// The transport's operations (shm_operations.h) are written with it.
//
// A rank that issues an operation copies what the others need into a *deposit* in its own window, and tells each of
// them by an *announcement* in the ring that leads there. The others read the deposit where it is; when all have said
// that they are finished with it, the owner may use its memory again. So issuing never waits for anybody, and a rank
// that computes keeps nobody waiting for data that it has issued. Large deposits are announced with their first chunk,
// and read while the rest follows.
//
// Waiting: poll for 50 µs (giving the core away in between if there are fewer than ranks), then sleep on this rank's bell (shm_sync.h).
// While a rank waits for one operation it goes on with all others that are under way. Every 50 ms it looks whether the
// ranks that it waits for are still alive.
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>

#include "engine/runtime/shm_memory.h"
#include "engine/runtime/shm_sync.h"
#include "engine/runtime/transport.h"

namespace planscope {

constexpr std::size_t shm_chunk = 256u << 10;  // bytes; half of a second-level cache

enum class ShmKind : std::uint8_t {
  transfer,
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  uneven_all_to_all,
  broadcast,
  barrier
};

// What a rank is about to do together with others. All members of one communication must say the same.
struct ShmStatement {
  ShmKind kind = ShmKind::barrier;
  Reduction reduction = Reduction::sum;
  std::int8_t type = 0;
  std::int8_t dims = 0;
  std::int32_t root = 0;
  std::int64_t sizes[12] = {};  // further dimensions are multiplied into the last
  bool operator==(const ShmStatement&) const = default;
};
ShmStatement statement(ShmKind, const at::Tensor&, Reduction = Reduction::sum, int root = 0);
std::string describe(const ShmStatement&);  // "all_reduce sum of Float [4, 5]"

// Names one communication: the same for all members, used only once.
struct ShmKey {
  std::uint64_t group = 0, number = 0;
  bool operator==(const ShmKey&) const = default;
};

// In shared memory, in front of its data.
struct alignas(64) Deposit {
  std::atomic<std::uint32_t> readers{0};  // that may still look at it, the owner's operation included
  std::atomic<std::uint32_t> claimed{0};  // all_reduce: chunks that somebody combines or has combined
  std::atomic<std::uint64_t> ready{0};    // bytes that are there
  ShmStatement statement;
  const std::byte* data() const { return reinterpret_cast<const std::byte*>(this + 1); }
  std::byte* data() { return reinterpret_cast<std::byte*>(this + 1); }
};

struct alignas(64) Announcement {
  ShmKey key;
  std::uint64_t deposit = 0;  // position
  std::uint64_t begin = 0;    // of the bytes for this reader, in the deposit's data
  std::uint64_t bytes = 0;
};

class ShmOperation;

class ShmNode {
 public:
  // The memory with a desk in each window (open_desk), all ranks have theirs.
  ShmNode(SharedMemory, ControlChannel&, const TransportSettings&);
  ~ShmNode();
  ShmNode(const ShmNode&) = delete;
  ShmNode& operator=(const ShmNode&) = delete;

  // Makes this rank's desk, where the others leave announcements. Empty: done, else why not.
  static std::string open_desk(const SharedMemory&, int rank, int ranks);

  struct Piece {
    const void* data;
    std::size_t bytes;
  };
  struct Reader {
    int rank;  // of the trial
    std::size_t begin, bytes;
  };
  // Copies the pieces, one after the other, into a deposit, and announces it. `zeros` more bytes, all 0, follow the
  // data. The caller is a reader too: it must release the deposit.
  Deposit& put(const ShmKey&, const ShmStatement&, const std::vector<Piece>&, const std::vector<Reader>&,
               std::size_t zeros, const std::string& label);
  // What `rank` announced under this key; it is given once.
  std::optional<Announcement> take(int rank, const ShmKey&);
  Deposit& deposit(const Announcement& a) const { return *reinterpret_cast<Deposit*>(memory_.at(a.deposit)); }
  static void release(Deposit& d) { d.readers.fetch_sub(1, std::memory_order_acq_rel); }
  void ring(int rank);  // something that this rank may wait for has happened

  void start(std::shared_ptr<ShmOperation>);  // goes on with it from now on, whenever this rank waits
  void wait(ShmOperation&);                   // until it is complete

 private:
  struct Desk;
  struct KeyHash {
    std::size_t operator()(const ShmKey& k) const { return k.group ^ (k.number * 0x9e3779b97f4a7c15ull); }
  };

  Desk& desk(int rank) const;
  std::uint64_t make_room(std::size_t bytes, const std::string& label);
  void free_read_deposits();
  void announce(int reader, const Announcement&, const std::string& label);
  void collect();
  void advance_all();
  bool poll(std::uint32_t seen) const;
  std::vector<int> ended_of(const std::vector<int>& ranks) const;  // those whose process has ended

  SharedMemory memory_;
  ControlChannel& channel_;
  TransportSettings settings_;
  int rank_, ranks_;
  bool shares_cores_;  // there are more ranks than cores
  Arena arena_;
  std::deque<std::uint64_t> deposits_;                                      // not free yet
  std::size_t look_at_ = 64;                                                // deposits: then look which are free
  std::vector<std::unordered_map<ShmKey, Announcement, KeyHash>> arrived_;  // per sender
  std::vector<std::shared_ptr<ShmOperation>> started_;
  std::vector<int> lives_;  // per rank, a descriptor that becomes readable when its process ends; -1: cannot tell
};

}  // namespace planscope
