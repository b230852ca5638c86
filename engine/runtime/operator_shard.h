#pragma once
// Runs one operator of a Graph on the blocks that one device holds (or whole: every region is the whole tensor).
//
// Most arguments do not depend on sizes. The ShardForm of graph.h says what else to do: sizes become local ones, ranges
// are cut, look-ups subtract the offset of the block and give zero outside, a mean divides by the global count. Slices
// and splits at whole pieces of a dimension speak of local pieces; attention over a block of keys gives its log-sum-exps
// too, and a causal one knows where its queries and keys stand. Where all results are empty nothing is called. Arguments of a resized graph (resize()) follow its
// sizes in the same way.
//
//   OperatorShard op(graph, id, {region_of_x, region_of_weight}, {region_of_y});
//   at::Tensor y = op({x, weight})[0];
//
// Operands are in the order of Op::inputs. An operator that draws random numbers draws them by (seed, operator, index
// of the element in the whole tensor), so that every split gives the same numbers.
#include <memory>

#include "engine/runtime/blocks.h"
#include "engine/runtime/operator_call.h"

namespace planscope {

struct ShardOptions {
  Precision precision = Precision::model;
  std::uint64_t seed = 0;
  bool prefix = false;     // attention over all keys that its queries see: its results are whole
  bool stand_ins = false;  // run in the place of operators that LibTorch does not have (stand_in_operator.h)
};

class OperatorShard {
 public:
  OperatorShard(const Graph&, OpId, const std::vector<Region>& inputs, const std::vector<Region>& outputs,
                const ShardOptions& = {});
  static OperatorShard whole(const Graph&, OpId, const ShardOptions& = {});

  // `whole`: of an operator over a block of a `softmax` factor, filled with its whole results before backward runs.
  TensorList operator()(const TensorList& inputs, const std::shared_ptr<TensorList>& whole = nullptr) const;

  struct Implementation;

 private:
  explicit OperatorShard(std::shared_ptr<const Implementation>);
  std::shared_ptr<const Implementation> implementation_;
};

}  // namespace planscope
