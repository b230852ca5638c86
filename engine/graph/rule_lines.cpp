#include "engine/graph/rule_text.h"

namespace planscope {

const std::vector<std::string>& text_rule_lines() {
  static const std::vector<std::string> lines = {
      // products
      "aten::linear : input b.. k, weight n k, bias +n -> b.. n ; sum k=in, free n=out ; linear input|weight ; saves "
      "input weight ; product",
      "aten::addmm : mat1 m k, mat2 k n, self +n -> m n ; sum k=in, free n=out ; linear mat1|mat2 ; saves mat1 mat2 ; "
      "product",
      "aten::addmm : mat1 m k, mat2 k n, self +m n -> m n ; sum k=in, free n=out ; linear mat1|mat2 ; saves mat1 mat2 "
      "; product",
      "aten::mm : self m k, mat2 k n -> m n ; sum k=in, free n=out ; linear self|mat2 ; saves self mat2 ; product",
      "aten::bmm : self b m k, mat2 b k n -> b m n ; sum k=in, free n=out ; linear self|mat2 ; saves self mat2 ; "
      "product",
      "aten::baddbmm : batch1 b m k, batch2 b k n, self +b m n -> b m n ; sum k=in, free n=out ; linear batch1|batch2 "
      "; saves batch1 batch2 ; product",
      "aten::matmul : self k, other k -> ; sum k=in ; linear self|other ; saves self other ; product",
      "aten::matmul : self b.. k, other k -> b.. ; sum k=in ; linear self|other ; saves self other ; product",
      "aten::matmul : self b.. m k, other k n -> b.. m n ; sum k=in, free n=out ; linear self|other ; saves self other "
      "; product",
      "aten::matmul : self b.. m k, other b.. k n -> b.. m n ; sum k=in, free n=out ; linear self|other ; saves self "
      "other ; product",
      "aten::mv : self m k, vec k -> m ; sum k=in ; linear self|vec ; saves self vec ; product",
      "aten::dot : self k, tensor k -> ; sum k=in ; linear self|tensor ; saves self tensor ; product",
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
      "; shard offset_index",
      "planscope::pick : self b.. v, target b.. -> b.. ; sum v=vocab ; linear self ; saves target ; shard offset_index",
      // the loss
      "planscope::lse : self b.. v -> b.. ; merge v=vocab ; saves self ~0",
      "planscope::token_mask : target b.. -> b..",
      // convolution with spatial dimensions whole
      "aten::conv1d : input b c x, weight o c p, bias +o -> b o y ; sum c=in, free o=out, frozen x=width \"windows "
      "overlap\", frozen y=width \"windows overlap\", frozen p=kernel \"slides\" ; linear input|weight ; saves input "
      "weight ; product",
      "aten::conv2d : input b c x u, weight o c p q, bias +o -> b o y w ; sum c=in, free o=out, frozen x=height "
      "\"windows overlap\", frozen u=width \"windows overlap\", frozen y=height \"windows overlap\", frozen w=width "
      "\"windows overlap\", frozen p=kernel \"slides\", frozen q=kernel \"slides\" ; linear input|weight ; saves input "
      "weight ; product",
      "aten::max_pool2d : self b c x u -> b c y w ; frozen x=height \"windows overlap\", frozen u=width \"windows "
      "overlap\", frozen y=height \"windows overlap\", frozen w=width \"windows overlap\" ; saves self ~0",
      "aten::avg_pool2d : self b c x u -> b c y w ; frozen x=height \"windows overlap\", frozen u=width \"windows "
      "overlap\", frozen y=height \"windows overlap\", frozen w=width \"windows overlap\" ; linear self",
      "aten::adaptive_avg_pool2d : self b c x u -> b c y w ; frozen x=height \"windows overlap\", frozen u=width "
      "\"windows overlap\", frozen y=height \"windows overlap\", frozen w=width \"windows overlap\" ; linear self",
      "aten::adaptive_avg_pool1d : self b c x -> b c y ; frozen x=width \"windows overlap\", frozen y=width \"windows "
      "overlap\" ; linear self",
  };
  return lines;
}

}  // namespace planscope
