#pragma once
// A bucket: one `issue` of several values that are moved alike, in[k] -> out[k], as one message. Reductions of gradients
// are, where no order stands between them: what a collective costs at least is paid once. Each value is what it would be
// alone. Only sums make buckets; an `issue` by key has one value, and its key behind it. A `send` and its `receive` of
// several values between two places are one message for each pair of devices likewise.
//
//   issue all_reduce over data  %12 d wte, %15 d ln.weight -> %20, %21
//   send #3 %7 h, %9 mask
//
// Source: PyTorch DistributedDataParallel, Li et al., VLDB 2020, section 3.2.3 (gradient bucketing).
#include <span>

#include "engine/program/program.h"

namespace planscope {

// Large enough that latency does not matter, small enough that the last bucket, behind which nothing is left to compute,
// takes little time: that of DistributedDataParallel. Of whole tensors, so that the instructions of a plan do not depend on
// how many devices it has.
inline constexpr std::int64_t kBucketBytes = std::int64_t{25} << 20;

// Whether several values can be moved so as one message.
inline bool makes_buckets(const Move& m) {
  return (m.kind == MoveKind::all_reduce || m.kind == MoveKind::reduce_scatter) && m.reduce == PartialKind::sum &&
         m.key < 0;
}

// The values from which the k-th result of an `issue` or of a `local` is made.
inline std::span<const ProgramValueId> operands_of(const Instruction& i, std::size_t k) {
  return i.out.size() > 1 ? std::span(i.in).subspan(k, 1) : std::span(i.in);
}

}  // namespace planscope
