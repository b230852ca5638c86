// One name where torch has several for the same operator and arguments; these have the names of the one's schema.
#include <map>

#include "engine/graph/arguments.h"
#include "engine/graph/canonical/passes.h"
#include "engine/graph/schemas.h"

namespace planscope {

Model spellings(Model model) {
  static const std::map<std::string_view, std::string_view> names = {
      {"aten::__and__.Tensor", "aten::bitwise_and.Tensor"},
      {"aten::__and__.Scalar", "aten::bitwise_and.Scalar"},
      {"aten::__or__.Tensor", "aten::bitwise_or.Tensor"},
      {"aten::__or__.Scalar", "aten::bitwise_or.Scalar"},
      {"aten::__xor__.Tensor", "aten::bitwise_xor.Tensor"},
      {"aten::__xor__.Scalar", "aten::bitwise_xor.Scalar"},
      {"aten::multiply.Tensor", "aten::mul.Tensor"},
      {"aten::multiply.Scalar", "aten::mul.Scalar"},
      {"aten::divide.Tensor", "aten::div.Tensor"},
      {"aten::true_divide.Tensor", "aten::div.Tensor"},
      {"aten::divide.Tensor_mode", "aten::div.Tensor_mode"},
      {"aten::greater.Tensor", "aten::gt.Tensor"},
      {"aten::greater.Scalar", "aten::gt.Scalar"},
      {"aten::greater_equal.Tensor", "aten::ge.Tensor"},
      {"aten::greater_equal.Scalar", "aten::ge.Scalar"},
      {"aten::less.Tensor", "aten::lt.Tensor"},
      {"aten::less.Scalar", "aten::lt.Scalar"},
      {"aten::less_equal.Tensor", "aten::le.Tensor"},
      {"aten::less_equal.Scalar", "aten::le.Scalar"},
      {"aten::not_equal.Tensor", "aten::ne.Tensor"},
      {"aten::not_equal.Scalar", "aten::ne.Scalar"},
      {"aten::subtract.Tensor", "aten::sub.Tensor"},
      {"aten::subtract.Scalar", "aten::sub.Scalar"},
      {"aten::negative", "aten::neg"},
      {"aten::absolute", "aten::abs"},
      {"aten::clip", "aten::clamp"},
      {"aten::concat", "aten::cat"},
      {"aten::concatenate", "aten::cat"},
      {"aten::special_expit", "aten::sigmoid"},
      {"aten::special_digamma", "aten::digamma"},
      {"aten::special_erf", "aten::erf"},
      {"aten::special_erfc", "aten::erfc"},
      {"aten::special_erfinv", "aten::erfinv"},
      {"aten::special_exp2", "aten::exp2"},
      {"aten::special_expm1", "aten::expm1"},
      {"aten::special_gammaln", "aten::lgamma"},
      {"aten::special_i0", "aten::i0"},
      {"aten::special_log1p", "aten::log1p"},
      {"aten::special_logit", "aten::logit"},
      {"aten::special_polygamma", "aten::polygamma"},
      {"aten::special_psi", "aten::digamma"},
      {"aten::special_sinc", "aten::sinc"},
      {"aten::max.other", "aten::maximum"},
      {"aten::min.other", "aten::minimum"},
      {"aten::det", "aten::linalg_det"},
      {"aten::slogdet", "aten::linalg_slogdet"},
      {"aten::inverse", "aten::linalg_inv"},
      {"aten::cholesky", "aten::linalg_cholesky"},
      {"aten::matrix_exp", "aten::linalg_matrix_exp"},
  };
  for (Node& node : model.nodes) {
    if (auto name = names.find(node.target); name != names.end()) {
      node.target = name->second;
      const auto schema = find_schema(node.target);
      if (schema && schema->arguments.size() == node.arguments.size())
        for (std::size_t i = 0; i < node.arguments.size(); ++i) node.arguments[i].name = schema->arguments[i].name;
    }
    // The gradient of a table is the same numbers, whether those that are 0 are written or not.
    if (node.target == "aten::embedding" || node.target.starts_with("aten::embedding_bag"))
      if (Argument* sparse = find_argument(node, "sparse")) *sparse = false;
  }
  return model;
}

}  // namespace planscope
