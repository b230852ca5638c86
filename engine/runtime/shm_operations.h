#pragma once
// The operations of the shared-memory transport, as state machines: `advance` does what can be done now. Each knows the
// sources that it reads (deposits of other ranks, shm_node.h) and says what it still waits for.
//
//   Exchange         copies each source to its place          all_gather, all_to_all, broadcast, barrier, receive
//   Combine          reduces the sources, every rank by itself          reduce_scatter, small all_reduce
//   SharedCombine    reduces in chunks that any rank may claim          large all_reduce
//   Sent             waits until the receiver has taken the data        send
//
// SharedCombine: whoever waits claims the next chunk, reduces it in rank order, and puts the result into the first
// member's deposit, from where all copy it. The work divides itself among those who are there; a rank that is late
// finds it done, and who does it makes no difference to a single bit. A deposit has slots for the first 4 MiB; each
// later chunk takes the slot of one that all have copied, so that large tensors pass through the caches.
#include "engine/runtime/shm_node.h"

namespace planscope {

class ShmOperation : public Pending {
 public:
  ShmOperation(ShmNode& node, std::string label, std::vector<at::Tensor> tensors);
  void wait() final;
  const std::string& label() const final { return label_; }

  bool advance();  // true: complete
  bool complete() const { return complete_; }
  double bytes() const { return bytes_; }             // of its tensors
  virtual std::uint32_t events() const { return 1; }  // rings that must come before it can be complete
  virtual std::vector<int> waits_for() const = 0;     // ranks

 protected:
  void forget_tensors() { tensors_.clear(); }
  virtual bool work() = 0;  // true: complete
  virtual void finish() = 0;

  ShmNode& node_;

 private:
  bool complete_ = false;
  std::string label_;
  std::vector<at::Tensor> tensors_;  // kept alive
  double bytes_;
};

struct ShmSource {
  int rank;           // of the trial
  std::size_t bytes;  // expected
  std::byte* to;      // Exchange: where they go
  std::size_t done = 0;
  Deposit* deposit = nullptr;  // null: not announced yet
  std::size_t begin = 0;

  const std::byte* data() const { return deposit->data() + begin; }
  std::size_t available() const;  // bytes that are there
};

class ShmReading : public ShmOperation {
 public:
  struct What {
    ShmKey key;
    ShmStatement statement;
    Deposit* own;  // to be released at the end; null: none
  };
  ShmReading(ShmNode& node, std::string label, std::vector<at::Tensor> tensors, What what,
             std::vector<ShmSource> sources);
  std::uint32_t events() const override;
  std::vector<int> waits_for() const override;

 protected:
  bool meet();  // takes announcements; true: all are there. Throws TransportError if a rank says something else
  void finish() override;

  What what_;
  std::vector<ShmSource> sources_;
};

class ShmExchange final : public ShmReading {
 public:
  using ShmReading::ShmReading;

 private:
  bool work() override;
};

struct ShmReduction {
  std::byte* out;
  const std::byte* own;  // this rank's elements; may be `out`
  std::size_t self;      // this rank among the members: its place in the order
  c10::ScalarType type;
  Reduction reduction;
  std::size_t element, bytes;  // of one element, of all
};

class ShmCombine final : public ShmReading {
 public:
  ShmCombine(ShmNode& node, std::string label, std::vector<at::Tensor> tensors, What what,
             std::vector<ShmSource> sources, const ShmReduction& reduction);

 private:
  bool work() override;
  ShmReduction reduction_;
  std::size_t done_ = 0;
};

class ShmSharedCombine final : public ShmReading {
 public:
  // How a tensor is divided; the same on all members.
  struct Division {
    Division(std::size_t bytes, std::size_t members);
    std::size_t chunk, count;    // bytes of a chunk, number of chunks
    std::size_t window;          // bytes of a deposit's slots
    std::size_t progress_bytes;  // of the flags and counters behind the first member's slots
    std::size_t begin_of(std::size_t k) const { return k * chunk; }
    std::size_t slot_of(std::size_t k) const { return k * chunk % window; }
  };

  ShmSharedCombine(ShmNode& node, std::string label, std::vector<at::Tensor> tensors, What what,
                   std::vector<ShmSource> sources, const ShmReduction& reduction);
  std::vector<int> waits_for() const override;

 private:
  bool work() override;
  bool copy_done_chunks();
  bool claim_chunk();
  bool deposit_chunk();
  std::size_t size_of(std::size_t chunk) const;
  Deposit& first() const;
  std::atomic<std::uint32_t>* progress()
      const;                          // per chunk: it is combined; then per member: chunks that it has copied
  std::size_t copied_by_all() const;  // chunks

  ShmReduction reduction_;
  Division division_;
  std::size_t deposited_, copied_ = 0;  // chunks of this rank that others may read, that are in `out`
  std::vector<bool> made_here_;         // chunks that are in `out` out of turn
};

class ShmSent final : public ShmOperation {
 public:
  ShmSent(ShmNode& node, std::string label, const at::Tensor& tensor, Deposit& deposit, int to)
      : ShmOperation(node, std::move(label), {tensor}), deposit_(&deposit), to_(to) {
    forget_tensors();  // all of it is in the deposit
  }
  ~ShmSent() override { ShmSent::finish(); }
  std::vector<int> waits_for() const override { return {to_}; }

 private:
  bool work() override { return deposit_->readers.load(std::memory_order_acquire) == 1; }
  void finish() override;
  Deposit* deposit_;
  int to_;
};

}  // namespace planscope
