#pragma once
// Operators that draw random numbers, so that the same seed gives the same numbers under every plan.
//
// Those that draw one number for each element of their result (dropout, rand, randn, bernoulli, uniform, normal,
// exponential, …) draw it by
// (seed, operator, index of the element in the whole tensor): a block of it is a block of the whole. Dropout keeps
// nothing for its backward, which draws again. All others are not split: they run with the default generator seeded by
// (seed, operator).
//
//   RandomRun run = *drawn_by_element(node, {random_key(seed, node.name()), whole, region}, at::kFloat);
//   at::Tensor y = run({x})[0];
#include <functional>
#include <optional>

#include "engine/runtime/blocks.h"
#include "engine/runtime/operator_call.h"

namespace planscope {

// A block of a whole tensor whose parts have the sizes `whole`.
struct ElementDraws {
  std::uint64_t key = 0;
  std::vector<std::vector<std::int64_t>> whole;
  Region region;
};

using RandomRun = std::function<TensorList(const TensorList&)>;

// Nothing: the operator does not draw by element. `type`: of the result.
std::optional<RandomRun> drawn_by_element(const Node&, const ElementDraws&, at::ScalarType type);
RandomRun drawn_whole(OperatorCall, std::uint64_t key);

}  // namespace planscope
