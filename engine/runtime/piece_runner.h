#pragma once
// Runs the pieces of a Program on the blocks of one device, forward and backward.
//
// A run that is kept for backward records the operators with autograd between leaves of its own (detached from whatever
// made them) and the piece's outputs; nothing else of the Program is ever seen by autograd. Backward hands the outputs'
// gradients in and takes the leaves' out; a leaf that no gradient reaches gets zeros.
//
// A merge-partial output (the log-sum-exp of a vocabulary shard) is combined with those of the other shards after the
// piece. Its gradient comes in as that of the combined value L and is replicated; of the local value l it is
// exp(l - L) times that, because dL/dl = exp(l - L). The caller multiplies (executor.h: merges).
#include <map>
#include <memory>

#include "engine/runtime/operator_shard.h"
#include "engine/runtime/site.h"

namespace planscope {

using SavedStorage = c10::weak_intrusive_ptr<c10::StorageImpl>;

// What a kept run left for its backward.
struct KeptRun {
  // Stand-ins (autograd.h), so that only what an operator has saved is held; undefined where there is no gradient.
  TensorList leaves, outputs;
  // Where the gradients of parameters are computed apart: each operator that reads some, with its own aliases of them,
  // stand-ins of its results, and the gradients of these once those of the other leaves have been computed.
  struct Apart {
    std::vector<int> leaves;
    TensorList parameters, results, gradients;
  };
  std::vector<Apart> apart;
  // Of each operator over a block of a `softmax` factor: its first slot, and the whole results that its backward reads.
  std::vector<std::pair<int, std::shared_ptr<TensorList>>> whole;
  std::vector<SavedStorage> saved;  // where a Program offloads any piece: what operators save for their backward
};

class PieceRunner {
 public:
  PieceRunner(const Site&, ShardOptions);

  // `at` has the device's coordinates and the free indices. Outputs are detached, each with a storage of its own.
  TensorList run(PieceId, const Point& at, const TensorList& leaves, KeptRun* kept);

  // gradients: per output, undefined where none arrives; then the whole values of softmax_outputs(). Result: per leaf,
  // undefined where none is wanted.
  // Of several calls for one run, all but the last keep the graph; the first also finds what the others need.
  TensorList backward(PieceId, KeptRun&, const TensorList& gradients, const std::vector<bool>& wanted, bool keep_graph);

 private:
  struct Prepared {
    std::vector<Region> regions;  // per slot
    std::vector<OperatorShard> ops;
  };
  const Prepared& prepare(PieceId, const Point& at);
  std::vector<int> last_uses(const Piece&) const;
  std::shared_ptr<TensorList> awaited(const Piece&, const PieceOp&, KeptRun&) const;
  void hand_out(PieceId, const KeptRun&, const TensorList& given) const;
  // By slot: views of parameters, whose aliases these are. Who reads such a view reads the parameters.
  using ParameterViews = std::map<int, KeptRun::Apart>;
  static bool only_views(const Piece&, const PieceOp&, const TensorList& inputs, const TensorList& outputs);
  void set_apart(const Piece&, const PieceOp&, const ParameterViews&, TensorList& inputs, KeptRun&) const;
  void note_saved(const PieceOp&, const TensorList& inputs, const TensorList& outputs, KeptRun&) const;
  bool only_parameters(PieceId, const std::vector<bool>& wanted) const;
  static TensorList parameter_gradients(const KeptRun&, const std::vector<bool>& wanted, bool keep_graph);

  const Site& site_;
  ShardOptions options_;
  std::vector<std::vector<bool>> wanted_;  // per piece and leaf: some backward wants its gradient
  std::vector<int> backwards_;             // per piece: backward instructions
  bool offloads_ = false;                  // the Program does
  std::map<PieceId, Prepared> prepared_;   // of the last point
};

}  // namespace planscope
