#include "engine/graph/rule_text.h"

namespace planscope {

const std::vector<std::string>& text_rule_lines() {
  static const std::vector<std::string> lines = {
      // products
      "aten::linear : input b.. k, weight n k, bias +n -> b.. n ; sum k=in, free n=out ; linear input|weight ; saves "
      "input weight ; product",
      "aten::addmm : mat1 m k, mat2 k n, self +n -> m n ; sum k=in, free n=out ; linear mat1|mat2 ; saves mat1 mat2 ; "
      "product ; arguments beta alpha",
      "aten::addmm : mat1 m k, mat2 k n, self +m n -> m n ; sum k=in, free n=out ; linear mat1|mat2 ; saves mat1 mat2 "
      "; product ; arguments beta alpha",
      "aten::mm : self m k, mat2 k n -> m n ; sum k=in, free n=out ; linear self|mat2 ; saves self mat2 ; product",
      "aten::bmm : self b m k, mat2 b k n -> b m n ; sum k=in, free n=out ; linear self|mat2 ; saves self mat2 ; "
      "product",
      "aten::baddbmm : batch1 b m k, batch2 b k n, self +b m n -> b m n ; sum k=in, free n=out ; linear batch1|batch2 "
      "; saves batch1 batch2 ; product ; arguments beta alpha",
      "aten::matmul : self k, other k -> ; sum k=in ; linear self|other ; saves self other ; product",
      "aten::matmul : self b.. k, other k -> b.. ; sum k=in ; linear self|other ; saves self other ; product",
      "aten::matmul : self b.. m k, other k n -> b.. m n ; sum k=in, free n=out ; linear self|other ; saves self other "
      "; product",
      "aten::matmul : self b.. m k, other b.. k n -> b.. m n ; sum k=in, free n=out ; linear self|other ; saves self "
      "other ; product",
      "aten::mv : self m k, vec k -> m ; sum k=in ; linear self|vec ; saves self vec ; product",
      "aten::dot : self k, tensor k -> ; sum k=in ; linear self|tensor ; saves self tensor ; product",
      "aten::addbmm : batch1 b m k, batch2 b k n, self +m n -> m n ; sum b, sum k=in, free n=out ; linear "
      "batch1|batch2 ; "
      "saves batch1 batch2 ; product",
      "aten::addmv : mat m k, vec k, self +m -> m ; sum k=in ; linear mat|vec ; saves mat vec ; product",
      "aten::vdot : self k, other k -> ; sum k=in ; linear self|other ; saves self other ; product",
      "aten::outer : self m, vec2 n -> m n ; linear self|vec2 ; saves self vec2",
      // each row with the matrix of its group
      "planscope::grouped_mm : self r k, weight e k n, index r -> r n ; sum k=in, sum e=expert, free n=out ; keyed "
      "e by index over r ; linear self|weight ; saves self weight index ; shard offset_index ; product",
      "transformers::grouped_mm_fallback : input r k, weight e k n, offs e -> r n ; frozen r=rows \"sorted by "
      "group\", sum k=in, frozen e=expert \"rows are sorted by it\", free n=out ; linear input|weight ; saves input "
      "weight offs ; product",
      "aten::_grouped_mm : self r k, mat2 e k n, offs e -> r n ; frozen r=rows \"sorted by group\", sum k=in, frozen "
      "e=expert \"rows are sorted by it\", free n=out ; linear self|mat2 ; saves self mat2 offs ; product",
      // look-ups
      "aten::embedding : weight v d, indices i.. -> i.. d ; sum v=vocab, free d=hidden ; linear weight ; saves indices "
      "; shard offset_index ; arguments padding_idx",
      "planscope::embedding_bag : weight v d, indices b n -> b d ; frozen v=vocab \"a bag reads rows anywhere\", "
      "frozen n=bag "
      "\"a bag is reduced as a whole\", free d=hidden ; linear weight ; saves indices ; arguments mode",
      "planscope::pick : self b.. v, target b.. -> b.. ; sum v=vocab ; linear self ; saves target ; shard offset_index",
      "planscope::index_rows : self b v r.., index b -> b r.. ; frozen v=in \"looked up by index\" ; linear self ; saves index",
      "planscope::index_rows : self b v r.., index b i -> b i r.. ; frozen v=in \"looked up by index\" ; linear self ; saves "
      "index",
      // complex numbers, and windows that are transformed
      "aten::view_as_complex : self b.. r -> b.. ; frozen r=complex \"real and imaginary part\" ; linear self",
      "aten::view_as_real : self b.. -> b.. r ; frozen r=complex \"real and imaginary part\" ; linear self",
      "aten::stft : self b.. t, window w -> b.. f n ; frozen t=time \"windows overlap\", frozen w=window \"slides\", "
      "frozen f=frequencies \"transformed along it\", frozen n=frames \"windows overlap\" ; linear self|window ; saves "
      "self window ; arguments n_fft hop_length win_length normalized onesided return_complex",
      // the loss
      "planscope::lse : self b.. v -> b.. ; merge v=vocab ; saves self ~0",
      "planscope::token_mask : target b.. -> b..",
      // rows against rows
      "aten::multi_margin_loss : self b c, target b, weight c -> b ; frozen c=classes \"the margin is to all of them\" "
      "; "
      "saves self target weight ; arguments p margin reduction=0",
      "aten::multilabel_margin_loss : self b c, target b c -> b ; frozen c=classes \"the margin is to all of them\" ; "
      "saves self target ; arguments reduction=0",
      "aten::triplet_margin_loss : anchor b c, positive b c, negative b c -> b ; frozen c=in \"distances are over it\" ; "
      "arguments margin p eps swap reduction=0",
      "aten::cosine_embedding_loss : input1 b c, input2 b c, target b -> b ; frozen c=in \"distances are over it\" ; "
      "saves input1 input2 target ; arguments margin reduction=0",
      "aten::cdist : x1 b.. m c, x2 b.. n c -> b.. m n ; frozen c=in \"distances are over it\" ; saves x1 x2 ~0 ; "
      "arguments p compute_mode",
      "aten::bilinear : input1 b.. i, input2 b.. j, weight o i j, bias +o -> b.. o ; sum i=in, sum j=in, free o=out ; "
      "linear input1|input2|weight ; saves input1 input2 weight",
      // columns of an equation, each by itself
      "aten::linalg_solve_triangular : self b.. m n, B b.. m k -> b.. n k ; frozen m=rows \"solved as a whole\", frozen "
      "n=unknowns \"solved as a whole\" ; linear B ; saves self ~0 ; arguments upper unitriangular",
      // functions of whole matrices, each of a batch by itself
      "aten::linalg_inv : A b.. m n -> b.. m n ; frozen m=rows \"inverted as a whole\", frozen n=columns "
      "\"inverted as a whole\" ; saves ~0",
      "aten::linalg_pinv.atol_rtol_tensor : self b.. m n -> b.. n m ; frozen m=rows \"inverted as a whole\", "
      "frozen n=columns \"inverted as a whole\" ; saves self ~0 ; arguments hermitian",
      "aten::linalg_det : A b.. m n -> b.. ; frozen m=rows \"a determinant is of all of them\", frozen n=columns "
      "\"a determinant is of all of them\" ; saves A ~0",
      "aten::linalg_slogdet : A b.. m n -> b.., b.. ; frozen m=rows \"a determinant is of all of them\", frozen "
      "n=columns \"a determinant is of all of them\" ; saves A ~0",
      "aten::logdet : self b.. m n -> b.. ; frozen m=rows \"a determinant is of all of them\", frozen n=columns "
      "\"a determinant is of all of them\" ; saves self",
      "aten::linalg_solve : A m n, B m -> n ; frozen m=rows \"solved as a whole\", frozen n=unknowns \"solved as a "
      "whole\" ; linear B ; saves A ~0",
      "aten::linalg_solve : A b m n, B b m -> b n ; frozen m=rows \"solved as a whole\", frozen n=unknowns "
      "\"solved as a whole\" ; linear B ; saves A ~0",
      "aten::linalg_solve : A b.. m n, B b.. m k -> b.. n k ; frozen m=rows \"solved as a whole\", frozen "
      "n=unknowns \"solved as a whole\" ; linear B ; saves A ~0",
      "aten::cholesky_solve : self b.. m k, input2 b.. m n -> b.. n k ; frozen m=rows \"solved as a whole\", "
      "frozen n=unknowns \"solved as a whole\" ; linear self ; saves self input2 ~0 ; arguments upper",
      "aten::cholesky_inverse : self b.. m n -> b.. m n ; frozen m=rows \"inverted as a whole\", frozen n=columns "
      "\"inverted as a whole\" ; saves self ~0 ; arguments upper",
      "aten::linalg_cholesky : self b.. m n -> b.. m n ; frozen m=rows \"factored as a whole\", frozen n=columns "
      "\"factored as a whole\" ; saves ~0 ; arguments upper",
      "aten::linalg_qr : A b.. m n -> b.. m k, b.. k n ; frozen m=rows \"factored as a whole\", frozen n=columns "
      "\"factored as a whole\", frozen k=vectors \"factored as a whole\" ; saves ~0 ~1 ; arguments mode",
      "aten::linalg_eigh : self b.. m n -> b.. m, b.. n m ; frozen m=rows \"factored as a whole\", frozen "
      "n=columns \"factored as a whole\" ; saves ~0 ~1 ; arguments UPLO",
      "aten::linalg_eigvalsh : self b.. m n -> b.. m ; frozen m=rows \"factored as a whole\", frozen n=columns "
      "\"factored as a whole\" ; saves ~0 ; arguments UPLO",
      "aten::linalg_svd : A b.. m n -> b.. m u, b.. k, b.. v n ; frozen m=rows \"factored as a whole\", frozen "
      "n=columns \"factored as a whole\", frozen u=left \"factored as a whole\", frozen k=values \"factored as a "
      "whole\", frozen v=right \"factored as a whole\" ; saves ~0 ~1 ~2 ; arguments full_matrices driver",
      "aten::linalg_svdvals : A b.. m n -> b.. k ; frozen m=rows \"factored as a whole\", frozen n=columns "
      "\"factored as a whole\", frozen k=values \"factored as a whole\" ; saves ~0 ; arguments driver",
      "aten::linalg_matrix_exp : self b.. m n -> b.. m n ; frozen m=rows \"powers are products of whole "
      "matrices\", frozen n=columns \"powers are products of whole matrices\" ; saves self",
      // each element with a small table
      "aten::bucketize.Tensor : self b.., boundaries n -> b.. ; frozen n=bins \"elements fall into any of them\" ; "
      "arguments out_int32 right",
      "aten::searchsorted.Tensor : self b.., sorted_sequence n -> b.. ; frozen n=bins \"elements fall into any of them\" "
      "; arguments out_int32 right side",
      "aten::searchsorted.Tensor : sorted_sequence b.. n, self b.. k -> b.. k ; frozen n=bins \"elements fall into any "
      "of them\" ; arguments out_int32 right side",
      "aten::isin.Tensor_Tensor : elements b.., test_elements n -> b.. ; frozen n=elements \"each is looked up in all\" ; "
      "arguments assume_unique invert",
      "aten::prelu : self b c s.., weight c -> b c s.. ; saves self weight",
      // places of a plane by their coordinates
      "aten::grid_sampler : input b c x u, grid b y w t -> b c y w ; frozen x=height \"looked up by place\", frozen "
      "u=width \"looked up by place\", frozen t=coordinates \"they are a place\" ; linear input ; saves input grid ; "
      "arguments interpolation_mode padding_mode align_corners",
      "aten::grid_sampler_2d : input b c x u, grid b y w t -> b c y w ; frozen x=height \"looked up by place\", frozen "
      "u=width \"looked up by place\", frozen t=coordinates \"they are a place\" ; linear input ; saves input grid ; "
      "arguments interpolation_mode padding_mode align_corners",
  };
  return lines;
}

}  // namespace planscope
