#pragma once
// Numbers for tensors that no file gives: inputs, parameters of models exported without weights, operands of the audit.
//
// Integers must be legal indices: the bound of an integer tensor is the smallest dimension that it is found to index
// when it is followed forward through operators that only move or select integers (view, slice, where, masked_fill, …)
// to look-ups (embedding, pick, gather, index). An integer that indexes nothing is 0, 1 or 2,
// a bool true three times of four; both hold at the first place of a row (the integer is 1), so that no row of a mask hides
// everything. Floats are about normal: inputs of variance 1; weights of two or more dimensions with
// standard deviation 0.02; vectors 1 + 0.02 n if their name ends in `weight`, else 0.02 n.
#include <optional>

#include "engine/runtime/random_numbers.h"

namespace planscope {

// The size of the dimension that input `input` of the operator indexes; empty: it indexes nothing.
std::optional<std::int64_t> index_bound(const Graph&, OpId, std::size_t input);

// The smallest bound over all readers, direct and indirect.
std::optional<std::int64_t> index_bound(const Graph&, TensorId);

// The block `region` of an input, parameter, buffer or constant, by (seed, name, index in the whole tensor).
at::Tensor sample_value(const Graph&, TensorId, const Region& region, std::uint64_t seed, Precision);

// An operand of an operator by itself, of these sizes (per dimension and part): legal indices, masks of which no row is
// empty, numbers of which it has a logarithm. Floating ones in float64, complex ones in complex128.
at::Tensor sample_operand(const Graph&, OpId, std::size_t input, const std::vector<std::vector<std::int64_t>>& sizes,
                          std::uint64_t key);

}  // namespace planscope
