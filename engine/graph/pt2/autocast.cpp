#include "engine/graph/pt2/autocast.h"

#include <set>

namespace planscope {
namespace {

using Names = std::set<std::string_view>;

const Names cpu_low = {
      "_addmm_activation", "_convolution.deprecated", "_native_multi_head_attention", "addbmm", "addmm", "baddbmm",
      "bmm", "conv1d", "conv1d.padding", "conv2d", "conv2d.padding", "conv3d", "conv3d.padding", "conv_tbc",
      "conv_transpose1d", "conv_transpose2d.input", "conv_transpose3d.input", "linalg_vecdot", "linear", "matmul",
      "mkldnn_rnn_layer", "mm", "prelu", "scaled_dot_product_attention",
};

const Names cpu_full = {
      "_grid_sampler_2d_cpu_fallback", "_lu_with_info", "adaptive_avg_pool3d", "adaptive_max_pool3d", "avg_pool3d",
      "binary_cross_entropy", "binary_cross_entropy_with_logits", "cdist", "cholesky", "cholesky_inverse",
      "cholesky_solve", "cosine_embedding_loss", "cross_entropy_loss", "ctc_loss.IntList", "ctc_loss.Tensor",
      "fake_quantize_per_tensor_affine", "fft_fft", "fft_fft2", "fft_fftn", "fft_hfft", "fft_ifft", "fft_ifft2",
      "fft_ifftn", "fft_ihfft", "fft_irfft", "fft_irfft2", "fft_irfftn", "fft_rfft", "fft_rfft2", "fft_rfftn",
      "fractional_max_pool2d", "fractional_max_pool3d", "geqrf", "grid_sampler", "grid_sampler_2d", "grid_sampler_3d",
      "hinge_embedding_loss", "huber_loss", "inverse", "kl_div", "l1_loss", "linalg_cholesky", "linalg_cholesky_ex",
      "linalg_cond", "linalg_cond.p_str", "linalg_eig", "linalg_eigh", "linalg_eigvals", "linalg_eigvalsh",
      "linalg_householder_product", "linalg_inv", "linalg_inv_ex", "linalg_lstsq", "linalg_matrix_rank",
      "linalg_matrix_rank.atol_rtol_float", "linalg_matrix_rank.atol_rtol_tensor", "linalg_matrix_rank.tol_tensor",
      "linalg_qr", "linalg_solve", "linalg_svd", "linalg_svdvals", "linalg_tensorinv", "linalg_tensorsolve",
      "lu_solve", "margin_ranking_loss", "max_pool3d", "max_unpool2d", "max_unpool3d", "mse_loss",
      "multi_margin_loss", "multilabel_margin_loss", "multilabel_margin_loss_forward", "nanquantile",
      "nanquantile.scalar", "nll_loss", "nll_loss2d", "orgqr", "ormqr", "pinverse", "poisson_nll_loss", "polar",
      "prod", "prod.dim_int", "qr", "quantile", "quantile.scalar", "reflection_pad1d", "reflection_pad2d",
      "replication_pad1d", "replication_pad2d", "replication_pad3d", "smooth_l1_loss", "soft_margin_loss", "stft",
      "stft.center", "svd", "trace", "triangular_solve", "triplet_margin_loss", "view_as_complex",
};

const Names cpu_widest = {
      "cat", "index_copy", "stack",
};

const Names cuda_low = {
      "_convolution", "_convolution.deprecated", "_scaled_dot_product_flash_attention", "_thnn_fused_gru_cell",
      "_thnn_fused_lstm_cell", "addbmm", "addmm", "addmv", "addr", "baddbmm", "bmm", "chain_matmul", "conv1d",
      "conv2d", "conv3d", "conv_tbc", "conv_transpose1d", "conv_transpose2d.input", "conv_transpose3d.input",
      "convolution", "einsum", "gru_cell", "linalg_multi_dot", "linalg_vecdot", "linear", "lstm_cell", "matmul", "mm",
      "mv", "prelu", "rnn_relu_cell", "rnn_tanh_cell", "scaled_dot_product_attention",
};

const Names cuda_full = {
      "_upsample_bicubic2d_aa", "_upsample_bilinear2d_aa", "_upsample_nearest_exact1d", "_upsample_nearest_exact2d",
      "_upsample_nearest_exact3d", "acos", "asin", "binary_cross_entropy_with_logits", "cdist", "cosh",
      "cosine_embedding_loss", "cosine_similarity", "cumprod", "cumsum", "dist", "erfinv", "exp", "expm1",
      "frobenius_norm.dim", "group_norm", "hinge_embedding_loss", "huber_loss", "kl_div", "l1_loss", "layer_norm",
      "linalg_matrix_norm", "linalg_matrix_norm.str_ord", "linalg_vector_norm", "log", "log10", "log1p", "log2",
      "log_softmax.int", "logsumexp", "margin_ranking_loss", "mse_loss", "multi_margin_loss",
      "multilabel_margin_loss", "native_layer_norm", "nll_loss", "nll_loss2d", "norm.Scalar", "norm.ScalarOpt_dim",
      "nuclear_norm", "nuclear_norm.dim", "pdist", "poisson_nll_loss", "pow.Scalar", "pow.Tensor_Scalar",
      "pow.Tensor_Tensor", "prod", "prod.dim_int", "reciprocal", "renorm", "rms_norm", "rsqrt", "sinh",
      "smooth_l1_loss", "soft_margin_loss", "softmax.int", "softplus", "sum", "sum.dim_IntList", "tan",
      "triplet_margin_loss", "upsample_bicubic2d", "upsample_bilinear2d", "upsample_linear1d", "upsample_nearest1d",
      "upsample_nearest2d", "upsample_nearest3d", "upsample_trilinear3d",
};

const Names cuda_widest = {
      "addcdiv", "addcmul", "atan2", "bilinear", "cross", "dot", "grid_sampler", "index_put", "scatter_add",
      "tensordot", "vdot",
};

const Names compositions = {
      "chain_matmul", "conv1d.padding", "conv2d.padding", "conv3d.padding", "cross_entropy_loss", "einsum",
      "gru.input", "inner", "linalg_matmul", "linalg_multi_dot", "linalg_norm", "linalg_norm.ord_str", "lstm.input",
      "nll_loss_nd", "pad", "rnn_relu.input", "rnn_tanh.input", "tensordot",
};

}  // namespace

AutocastPolicy autocast_policy(std::string_view target, bool cuda) {
  constexpr std::string_view prefix = "aten::";
  if (!target.starts_with(prefix)) return AutocastPolicy::none;
  const std::string_view name = target.substr(prefix.size());
  if ((cuda ? cuda_low : cpu_low).contains(name)) return AutocastPolicy::low;
  if ((cuda ? cuda_full : cpu_full).contains(name)) return AutocastPolicy::full;
  if ((cuda ? cuda_widest : cpu_widest).contains(name)) return AutocastPolicy::widest;
  return compositions.contains(name) ? AutocastPolicy::results : AutocastPolicy::none;
}

}  // namespace planscope
