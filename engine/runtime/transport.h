#pragma once
// How ranks move tensors between each other: groups with collectives, and sends by tag. One interface; implementations
// for the CPU are shared memory (shm_transport.h) and Gloo (gloo_transport.h), of which transport_choice.h takes one.
// What to send where is the Program's business, not this one's.
//
// Issue and wait are apart: every operation is issued at once and gives a Pending to wait for. The tensors must stay
// unchanged (inputs) and untouched (outputs) until then; the Pending keeps them alive. Members of a group must issue
// its collectives in the same order; sends and receives match by (peer, tag) in any order. Tensors are contiguous, on
// the CPU, of equal type and size on all members; blocks are along dimension 0. What is sent may change or lose its memory
// as soon as it is issued. Shared memory lets go of what a reduce_scatter reads when it is issued: others have their
// blocks then, and its own is where the sum will be.
//
// While a wait blocks, the rank's position says what for (the Pending's label and the current instruction), so that the
// launcher can tell a deadlock; and kind, type and sizes of each operation are compared, so that members that disagree
// are named. Errors: TransportError when a peer is gone, a time limit passes, or sizes disagree;
// the transport is unusable afterwards (treat it as the end of the trial).
//
//   transport->prepare({{0, 1}, {2, 3}, {0, 2}, {1, 3}});            // all groups of the program, on every rank
//   Communicator& g = transport->group({0, 1});
//   auto sum = g.all_reduce(gradient, Reduction::sum, "all_reduce wte.weight");
//   …compute…
//   sum->wait();
//   auto to = transport->world().send(activation, 3, /*tag*/ 17, "send stage 0 -> 1");
#include <ATen/core/Tensor.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/launch/control_channel.h"

namespace planscope {

enum class Reduction : std::uint8_t { sum, max, min };

class TransportError : public std::runtime_error {
 public:
  TransportError(const std::string& reason, FailureOrigin origin) : std::runtime_error(reason), origin_(origin) {}
  FailureOrigin origin() const { return origin_; }  // peer: another rank is gone; own: this rank asked for nonsense

 private:
  FailureOrigin origin_;
};

// An operation that was issued. (Not `Transfer`: program.h has one.)
class Pending {
 public:
  virtual ~Pending() = default;
  virtual void wait() = 0;  // outputs are ready afterwards; a second call does nothing
  virtual const std::string& label() const = 0;
};
using PendingPtr = std::shared_ptr<Pending>;

class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual const std::vector<int>& members() const = 0;  // ranks of the whole trial, ascending
  virtual int rank() const = 0;                         // of this process among the members
  int size() const { return static_cast<int>(members().size()); }

  // n members; sizes along dimension 0. `label` is for messages: "all_reduce wte.weight".
  virtual PendingPtr all_reduce(at::Tensor in_out, Reduction reduction, std::string label) = 0;
  virtual PendingPtr all_gather(at::Tensor out, at::Tensor in, std::string label) = 0;  // out: n x in
  virtual PendingPtr reduce_scatter(at::Tensor out, at::Tensor in, Reduction reduction, std::string label) = 0;
  virtual PendingPtr all_to_all(at::Tensor out, at::Tensor in, std::string label) = 0;  // n equal blocks each
  // Uneven: block i of `in` (in_rows[i] rows) goes to member i; block j of `out` (out_rows[j] rows) comes from member
  // j.
  virtual PendingPtr all_to_all(at::Tensor out, at::Tensor in, std::vector<std::int64_t> out_rows,
                                std::vector<std::int64_t> in_rows, std::string label) = 0;
  virtual PendingPtr broadcast(at::Tensor in_out, int root, std::string label) = 0;
  virtual PendingPtr send(at::Tensor tensor, int to, std::uint32_t tag, std::string label) = 0;
  virtual PendingPtr receive(at::Tensor tensor, int from, std::uint32_t tag, std::string label) = 0;
  virtual void barrier(std::string label) = 0;  // blocks
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual Communicator& world() = 0;

  // Makes the groups that this rank is in. Making a group blocks until all its members make it, so every rank passes
  // the same list (members ascending; order of the list does not matter) once, before the first step.
  virtual void prepare(std::vector<std::vector<int>> groups) = 0;
  // A group that was not prepared is made now. A group of all ranks is world().
  virtual Communicator& group(const std::vector<int>& members) = 0;
};

struct TransportSettings {
  // For making a group, and for one operation. The launcher notices much earlier who hangs, and who is merely slow.
  std::chrono::milliseconds connect_limit{600000};
  std::chrono::milliseconds wait_limit{600000};
  double slowest_bandwidth = 50e6;                 // bytes per second; how long a large transfer may rightly take
};

}  // namespace planscope
