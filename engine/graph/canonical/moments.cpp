// Variances, deviations, norms and weights that are normalized, as sums: split where these are. A variance is the
// mean of squares of what is left after the mean is taken off, of n / (n - correction); a norm is the root of a sum
// of squares, or a sum of sizes.
#include <numeric>

#include "engine/graph/arguments.h"
#include "engine/graph/canonical/passes.h"
#include "engine/graph/canonical/rewriter.h"
#include "engine/graph/functional/arithmetic.h"
#include "engine/graph/functional/views.h"

namespace planscope {
namespace {

using Sizes = std::vector<std::int64_t>;

// The dimensions that are reduced: all of them where none is named. Nothing: not of this tensor.
std::optional<Sizes> reduced_dims(const Node& node, std::size_t rank) {
  Sizes dims;
  if (const auto* given = ints_argument(node, "dim"))
    dims = *given;
  else if (const auto one = int_argument(node, "dim"))
    dims = {*one};
  if (dims.empty()) {
    dims.resize(rank);
    std::iota(dims.begin(), dims.end(), 0);
  }
  for (std::int64_t& d : dims) {
    const auto wrapped = wrap_dim(d, rank);
    if (!wrapped) return std::nullopt;
    d = *wrapped;
  }
  return dims;
}

bool begins(const std::string& target, std::string_view name) {
  return target == name || (target.starts_with(name) && target[name.size()] == '.');
}

bool variance(Rewriter& rewriter, const Node& node) {
  const std::string& t = node.target;
  const bool pair = begins(t, "aten::var_mean") || begins(t, "aten::std_mean");
  const bool root = begins(t, "aten::std") || begins(t, "aten::std_mean");
  if (!pair && !root && !begins(t, "aten::var")) return false;
  const ValueId self = tensor_argument(node, "self");
  if (self < 0 || node.outputs.size() != (pair ? 2u : 1u)) return false;
  const Value given = rewriter.value(self);
  const auto dims = reduced_dims(node, given.sizes.size());
  if (!dims || dims->empty() || !is_floating(given.dtype)) return false;
  double correction = 1;
  if (const auto unbiased = bool_argument(node, "unbiased"); unbiased) correction = *unbiased ? 1 : 0;
  if (const auto number = number_argument(node, "correction")) correction = *number;
  const bool keepdim = bool_argument(node, "keepdim").value_or(false);
  Arithmetic a(rewriter, node);
  const ValueId x = a.cast(self, wide(given.dtype));
  const ValueId mean = a.mean(x, *dims, true);
  const ValueId squares = a.mean(a.square(a.sub(x, mean)), *dims, keepdim);
  ValueId result = a.unbias(squares, x, *dims, correction);
  if (root) result = a.root(result);
  if (node.outputs[0] >= 0) rewriter.replace(node.outputs[0], a.cast(result, given.dtype));
  if (pair && node.outputs[1] >= 0)
    rewriter.replace(node.outputs[1], a.cast(a.view(mean, rewriter.value(node.outputs[1]).sizes), given.dtype));
  return true;
}

// Its order, where it is a vector's; nothing: another norm.
std::optional<double> order_of(const Node& node, std::size_t rank) {
  const std::string& t = node.target;
  if (t == "aten::linalg_vector_norm") return number_argument(node, "ord").value_or(2);
  if (begins(t, "aten::norm")) return is_none(node, "p") ? 2 : number_argument(node, "p").value_or(2);
  const auto* dims = ints_argument(node, "dim");
  const bool vector = (dims && dims->size() == 1) || (rank == 1 && is_none(node, "dim"));
  if (t == "aten::linalg_norm" && is_none(node, "ord")) return 2;
  if (t == "aten::linalg_norm" && vector) return number_argument(node, "ord");
  if (t == "aten::frobenius_norm.dim") return 2;
  if (t == "aten::linalg_matrix_norm.str_ord" && string_argument(node, "ord") == "fro") return 2;
  return std::nullopt;
}

bool norm(Rewriter& rewriter, const Node& node) {
  const ValueId self = tensor_argument(node, "self");
  if (self < 0 || node.outputs.size() != 1 || node.outputs[0] < 0) return false;
  const Value given = rewriter.value(self), result = rewriter.value(node.outputs[0]);
  const auto order = order_of(node, given.sizes.size());
  const auto dims = reduced_dims(node, given.sizes.size());
  if (!order || (*order != 1 && *order != 2) || !dims || dims->empty() || !is_floating(given.dtype)) return false;
  const bool keepdim = bool_argument(node, "keepdim").value_or(false);
  Arithmetic a(rewriter, node);
  const ValueId x = a.cast(self, wide(result.dtype));
  const ValueId made = *order == 1 ? a.sum(a.unary("aten::abs", x), *dims, keepdim)
                                   : a.root(a.sum(a.square(x), *dims, keepdim));
  if (a.value(made).sizes != result.sizes) return false;
  rewriter.replace(node.outputs[0], a.cast(made, result.dtype));
  return true;
}

// weight_norm: v times g over the norms of v along all dimensions but one (all of them: -1); g has the sizes of the
// norms.
bool weight_norm(Rewriter& rewriter, const Node& node) {
  const bool both = node.target == "aten::_weight_norm_interface";
  if (node.target != "aten::_weight_norm" && !both) return false;
  const ValueId v = tensor_argument(node, "v"), g = tensor_argument(node, "g");
  if (v < 0 || g < 0 || node.outputs.size() != (both ? 2u : 1u) || node.outputs[0] < 0) return false;
  const Value given = rewriter.value(v);
  const auto kept = int_argument(node, "dim").value_or(0);
  Sizes dims;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(given.sizes.size()); ++d)
    if (d != kept) dims.push_back(d);
  if (dims.empty() || !is_floating(given.dtype) || kept >= static_cast<std::int64_t>(given.sizes.size()) || kept < -1)
    return false;
  Arithmetic a(rewriter, node);
  const ValueId x = a.cast(v, wide(given.dtype));
  const ValueId norms = a.root(a.sum(a.square(x), dims, true));
  if (kept >= 0 && a.value(norms).sizes != rewriter.value(g).sizes) return false;
  if (kept < 0 && element_count(rewriter.value(g).sizes) != 1) return false;
  const ValueId wide_g = a.cast(g, wide(given.dtype));
  const ValueId scale = a.div(wide_g, kept < 0 ? a.view(norms, rewriter.value(g).sizes) : norms);
  rewriter.replace(node.outputs[0], a.cast(a.mul(x, scale), given.dtype));
  if (both && node.outputs[1] >= 0)
    rewriter.replace(node.outputs[1], a.cast(a.view(norms, rewriter.value(node.outputs[1]).sizes),
                                             rewriter.value(node.outputs[1]).dtype));
  return true;
}

}  // namespace

Model moments(Model model) {
  return rewrite(std::move(model), [](Rewriter& rewriter, Node& node) {
    return variance(rewriter, node) || norm(rewriter, node) || weight_norm(rewriter, node);
  });
}

}  // namespace planscope
