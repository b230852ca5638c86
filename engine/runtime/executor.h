#pragma once
// Runs a Program's slots for one device, step after step, on real tensors.
//
// A value lives in a store by its number and the indices of the free axes that it has. Values do not change once made,
// but for accumulators and homes (parameters between steps); a gradient that ends where it is reduced or begins an
// accumulator gives its memory to the result (reuse.h). Collectives are started by `issue` and finished by `wait`
// (or by the first read); receives too; sends are finished at the end of the step.
//
// A home that is read some updates old (ProgramValue::lag) is that many blocks more, all made at the beginning: its update
// writes over the oldest one.
//
// Where steps overlap, step() runs one period (program.h): the first one with those before it, of which there are as many
// as slots are ahead; it ends a step of training and has begun others. Ranks are in the same period at different times, so
// a step is no place for a barrier then.
//
// A value that another one refills loses its storage, not its tensor, when it is freed: what autograd has saved of it
// is there again when the refilling value has been made (autograd.h).
//
// Everything that comes from outside (graph, program, transport) outlives the executor. Errors: ExecutionError with the
// number of the instruction and the operator or tensor; TransportError passes through.
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>

#include "engine/program/reuse.h"
#include "engine/runtime/autograd.h"
#include "engine/runtime/move_runner.h"
#include "engine/runtime/optimizer.h"
#include "engine/runtime/piece_runner.h"
#include "engine/runtime/tensor_source.h"

namespace planscope {

class ExecutionError : public std::runtime_error {
 public:
  ExecutionError(std::int64_t instruction, const std::string& reason)
      : std::runtime_error(reason), instruction_(instruction) {}
  std::int64_t instruction() const { return instruction_; }

 private:
  std::int64_t instruction_;
};

struct ExecutorOptions {
  ShardOptions shards;
  OptimizerSettings optimizer;
  bool keep_gradients = false;  // of the first step, for the comparison with the one-device run
  std::optional<std::int64_t> steps =
      {};  // of the training: nothing is begun of later ones; empty: there is no last one
};

// Called around every instruction; `number` counts the device's instructions of a step from 0.
struct ExecutionObserver {
  std::function<void(std::int64_t number, const Segment&, const Instruction&, const std::string& what)> begin;
  std::function<void(std::int64_t number, const Segment&, const Instruction&)> end;
};

// A block of a parameter as this device stores it.
struct ParameterBlock {
  TensorId tensor = -1;
  Region region;
  at::Tensor value;
  at::Tensor first_gradient;  // undefined: none arrived, or gradients are not kept
};

class Executor {
 public:
  Executor(const Site&, Transport&, TensorSource&, const ExecutorOptions&);

  void step(const ExecutionObserver& = {});

  std::optional<double> loss() const { return loss_; }  // of the last step; empty: this device does not have it
  std::vector<ParameterBlock> parameters() const;
  std::int64_t instructions() const;  // of one step
  bool overlaps() const { return most_ahead_ > 0; }
  void forget_gradients() { first_gradients_.clear(); }

 private:
  using Index = std::vector<std::int64_t>;  // the training step, then free axes
  using Key = std::pair<ProgramValueId, Index>;
  struct Merge {
    at::Tensor share;
    Key combined;
  };
  struct Kept {
    KeptRun run;
    std::vector<Key> outputs;
    int backwards = 0;                  // left to run
    std::vector<ProgramValueId> given;  // to the first one, and so to the others
    bool offloaded = false;             // and not restored
  };

  void period(const ExecutionObserver&);
  void run_slot(const SlotRun&, const ExecutionObserver&);
  void end_step();
  void run(const Segment&, const Instruction&);
  void hold_written();
  void write(const Instruction&);
  void load(const Instruction&);
  void compute(const Segment&, const Instruction&);
  void backward(const Instruction&);
  void seed(const Instruction&);
  void add(const Instruction&);
  void accumulate(const Segment&, const Instruction&);
  void accumulate_apart(const Instruction&, const at::Tensor& term);
  void join(const Instruction&);
  void local(const Instruction&);
  void issue(const Segment&, const Instruction&);
  void issue_bucket(const Instruction&, bool takes);
  void send(const Instruction&);
  void receive(const Instruction&);
  void update(const Instruction&);
  void release(const Segment&, const Instruction&);
  void offload(const Instruction&);
  void restore(const Instruction&);
  std::set<const c10::StorageImpl*> needed_here() const;
  void move_out(const SavedStorage&, const std::set<const c10::StorageImpl*>& needed);
  void move_out_freed(const std::vector<const c10::StorageImpl*>& freed);

  Key key(ProgramValueId) const;
  at::Tensor get(ProgramValueId);
  MoveRunner::Operand operand(const Instruction&);
  at::Tensor take(ProgramValueId);
  void put(ProgramValueId, at::Tensor);
  void finish(const Key&);
  bool present(ProgramValueId) const;
  at::Tensor merged_share(Key) const;
  at::Tensor version(ProgramValueId home) const;
  Index free_index() const;
  std::uint32_t tag(int transfer) const;
  std::string describe(const Instruction&) const;
  const ProgramValue& value(ProgramValueId id) const { return program_.values[static_cast<std::size_t>(id)]; }

  const Site& site_;
  const Program& program_;
  Transport& transport_;
  TensorSource& source_;
  std::map<TensorId, std::map<std::int64_t, at::Tensor>> written_;  // buffers, by the first step that reads them so
  ExecutorOptions options_;
  PieceRunner pieces_;
  MoveRunner moves_;
  Reuse reuse_;
  std::vector<SlotRun> slots_;                   // of a period
  std::vector<std::vector<std::int64_t>> last_;  // by segment: the index of its last run in a step
  std::int64_t most_ahead_ = 0;
  std::vector<bool> refilled_;  // per value: another one refills it
  std::vector<int> backwards_;  // per piece: backward instructions

  Point free_;             // free indices of the slot under way
  std::int64_t step_ = 0;  // of training, of the slot under way
  std::int64_t number_ = 0;
  std::map<Key, at::Tensor> values_;
  std::map<Key, at::Tensor> retired_;                        // freed, to be refilled
  std::map<const c10::StorageImpl*, HostCopy> away_;         // pieces may have saved the same
  std::map<const c10::StorageImpl*, SavedStorage> leaving_;  // offloaded, but for values that are still needed here
  std::map<Key, std::function<at::Tensor()>> pending_;
  std::map<Key, Merge> merges_;
  std::map<std::pair<PieceId, Index>, Kept> kept_;
  std::map<Key, std::vector<std::pair<Region, at::Tensor>>> to_self_;  // by what arrives
  std::vector<std::pair<std::int64_t, std::function<void()>>> sent_;   // with their step
  std::map<ProgramValueId, at::Tensor> homes_;                         // the newest version
  std::map<ProgramValueId, std::deque<at::Tensor>>
      older_;                                       // of homes that are read old: the versions before, oldest first
  std::map<ProgramValueId, std::int64_t> updates_;  // so far; by home that has any
  std::map<ProgramValueId, OptimizerState> optimizers_;  // by home
  std::map<ProgramValueId, ProgramValueId> home_of_;     // of states that are values
  std::map<ProgramValueId, at::Tensor> first_gradients_;
  std::optional<double> loss_;
  std::int64_t period_ = 0;
};

}  // namespace planscope
