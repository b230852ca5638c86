// What run_decompositions() leaves of compound operators, by the names that they are written with: `native_layer_norm` is
// `layer_norm` where nobody reads the statistics beside its result, `convolution` is `conv2d`. One rule serves both. A
// factorization of which the values alone are read is what computes these alone: its backward has less to make.
#include <algorithm>
#include <map>

#include "engine/graph/arguments.h"
#include "engine/graph/canonical/passes.h"
#include "engine/graph/canonical/rewriter.h"
#include "engine/graph/functional/arithmetic.h"
#include "engine/graph/functional/batch_norm.h"
#include "engine/graph/schemas.h"

namespace planscope {
namespace {

// The target that it becomes where nobody reads more than this one of its results.
struct OneResult {
  std::string_view target;
  std::size_t result = 0;
};
const std::map<std::string_view, OneResult>& with_one_result() {
  static const std::map<std::string_view, OneResult> names = {
      {"aten::native_layer_norm", {"aten::layer_norm"}},
      {"aten::native_group_norm", {"aten::group_norm"}},
      {"aten::native_dropout", {"aten::dropout"}},
      {"aten::_scaled_dot_product_flash_attention_for_cpu", {"aten::scaled_dot_product_attention"}},
      {"aten::_scaled_dot_product_flash_attention", {"aten::scaled_dot_product_attention"}},
      {"aten::_scaled_dot_product_efficient_attention", {"aten::scaled_dot_product_attention"}},
      {"aten::max_pool2d_with_indices", {"aten::max_pool2d"}},
      {"aten::max_pool3d_with_indices", {"aten::max_pool3d"}},
      {"aten::nll_loss_forward", {"aten::nll_loss_nd"}},
      {"aten::nll_loss2d_forward", {"aten::nll_loss_nd"}},
      {"aten::_log_softmax", {"aten::log_softmax.int"}},
      {"aten::_softmax", {"aten::softmax.int"}},
      {"aten::_adaptive_avg_pool2d", {"aten::adaptive_avg_pool2d"}},
      {"aten::_adaptive_avg_pool3d", {"aten::adaptive_avg_pool3d"}},
      {"aten::take_along_dim", {"aten::gather"}},
      {"aten::linalg_eigh", {"aten::linalg_eigvalsh"}},
      {"aten::linalg_svd", {"aten::linalg_svdvals", 1}},
  };
  return names;
}

// An argument under its new name.
std::string_view renamed(std::string_view name) {
  return name == "group" ? "num_groups" : name == "attn_bias" ? "attn_mask" : name == "indices" ? "index" : name;
}

// False: an argument says what the new name does not have.
bool rename(Node& node, std::string_view target, std::size_t result = 0) {
  if (bool_argument(node, "half_to_float").value_or(false)) return false;
  if (node.target == "aten::native_dropout" && is_none(node, "train")) return false;
  if (node.target == "aten::take_along_dim" && !int_argument(node, "dim")) return false;
  const auto schema = find_schema(target);
  if (!schema) return false;
  std::vector<NamedArgument> arguments;
  for (const SchemaArgument& wanted : schema->arguments) {
    const auto given = std::find_if(node.arguments.begin(), node.arguments.end(),
                                    [&](const NamedArgument& a) { return renamed(a.name) == wanted.name; });
    if (given == node.arguments.end() && !wanted.initial && !wanted.optional) return false;
    arguments.push_back({wanted.name, given != node.arguments.end() ? given->value
                                      : wanted.initial              ? *wanted.initial
                                                                    : Argument(None{})});
  }
  node.target = target;
  node.arguments = std::move(arguments);
  node.outputs = {node.outputs.at(result)};
  return true;
}

bool convolution(Rewriter& rewriter, Node& node) {
  const ValueId weight = tensor_argument(node, "weight");
  if (node.target != "aten::convolution" || weight < 0) return false;
  const std::size_t rank = rewriter.value(weight).sizes.size();
  if (rank < 3 || rank > 5) return false;
  const std::string plane = std::to_string(rank - 2) + "d";
  const bool transposed = bool_argument(node, "transposed").value_or(false);
  const std::string target = transposed ? "aten::conv_transpose" + plane + (rank > 3 ? ".input" : "") : "aten::conv" + plane;
  return rename(node, target);
}

// Statistics that are read beside the result have the sizes [channels].
bool batch_norm(Rewriter& rewriter, const Node& node) {
  const std::string& t = node.target;
  const bool functional = t == "aten::_native_batch_norm_legit_functional";
  const bool fixed = t == "aten::_native_batch_norm_legit_no_training";
  if (!functional && !fixed && t != "aten::_native_batch_norm_legit.no_stats") return false;
  BatchNormOperands operands = batch_norm_operands(node);
  if (fixed) operands.training = false;
  if (node.outputs.empty() || node.outputs[0] < 0) return false;
  const BatchNorm made = emit_batch_norm(rewriter, node, operands);
  if (made.result < 0) return false;
  const ValueId results[] = {made.result, made.mean, made.rsqrt, made.running_mean, made.running_var};
  for (std::size_t o = 0; o < node.outputs.size() && o < 5; ++o) {
    const ValueId old = node.outputs[o];
    ValueId now = results[o];
    if (now < 0 && o > 2) now = o == 3 ? operands.mean : operands.variance;  // as they were
    if (old < 0 || now < 0) continue;
    now = rewriter.emit_view(node, now, rewriter.value(old).sizes);
    rewriter.replace(old, rewriter.emit_cast(node, now, rewriter.value(old).dtype));
  }
  return true;
}

}  // namespace

Model core_names(Model model) {
  std::vector<bool> read(model.values.size(), false);
  const auto mark = [&](ValueId id) {
    if (id >= 0) read[static_cast<std::size_t>(id)] = true;
  };
  for (const Node& node : model.nodes) for_each_tensor(node, mark);
  for (const ValueId id : model.outputs) mark(id);
  for (const Mutation& m : model.mutations) mark(m.value);
  return rewrite(std::move(model), [&](Rewriter& rewriter, Node& node) {
    if (batch_norm(rewriter, node)) return true;
    if (convolution(rewriter, node)) return false;
    const auto name = with_one_result().find(node.target);
    if (name == with_one_result().end()) return false;
    for (std::size_t o = 0; o < node.outputs.size(); ++o)
      if (o != name->second.result && node.outputs[o] >= 0 && read[static_cast<std::size_t>(node.outputs[o])]) return false;
    rename(node, name->second.target, name->second.result);
    return false;
  });
}

}  // namespace planscope
