#pragma once
// Attention, whole or over a block of keys.
//
// A block of keys gives the average of its values, and the log-sum-exp of its scores, by which averages of several blocks
// are weighed (Milakov, Gimelshein, "Online normalizer calculation for softmax", 2018; Liu et al., "Ring Attention", 2023):
//
//   l = log sum_j exp s_j,  r = sum_j exp(s_j - l) v_j        L = log(exp l + exp l'),  R = exp(l - L) r + exp(l' - L) r'
//
// Its backward is written on the whole results (Dao et al., "FlashAttention", 2022), so that what it gives for the query is
// a part of a sum over the blocks, and what it gives for keys and values is all of theirs:
//
//   p_j = exp(s_j - L),  dv_j = p_j dR,  ds_j = p_j (dR . v_j - dR . R)
//
// Scores of a block are a tensor (queries x keys of the block); they are not kept. A block of which no query sees a key costs
// a look at its mask: its results are zero, its log-sum-exps -inf, its gradients zero.
#include <memory>

#include "engine/runtime/tensor_types.h"

namespace planscope {

struct AttentionOperands {
  at::Tensor query, key, value;  // heads of keys and values: those of the query, or a divisor (groups)
  at::Tensor mask;               // true where a query sees a key, or a number to add; may be undefined
  double scale = 1;
};

// The mask with the keys behind a query hidden; `rows` and `columns`: positions of the queries and of the keys.
at::Tensor causal_mask(const at::Tensor& mask, const at::Tensor& rows, const at::Tensor& columns);

at::Tensor whole_attention(const AttentionOperands&, bool causal);

// {r, l}. `whole` holds {R, L} when backward runs.
TensorList block_attention(const AttentionOperands&, const std::shared_ptr<TensorList>& whole);

// Puts a block {r, l} to the blocks so far {R, L}, in place. No keys so far: L is -inf.
void join_block(at::Tensor& results, at::Tensor& log_sums, const at::Tensor& block_results,
                const at::Tensor& block_log_sums);

}  // namespace planscope
