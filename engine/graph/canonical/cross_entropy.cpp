// `cross_entropy_loss` of class indices in pieces that vocabulary shards, ignored labels and micro-batches keep exact:
//
//   loss = Σ_t mask_t · (lse(logits_t) − logits_t[label_t]) / Σ_t mask_t
#include <numeric>

#include "engine/graph/arguments.h"
#include "engine/graph/canonical/passes.h"
#include "engine/graph/canonical/rewriter.h"

namespace planscope {
namespace {

using Sizes = std::vector<std::int64_t>;
constexpr std::int64_t no_reduction = 0, mean = 1, sum = 2;

bool is_integer(DType type) { return type == DType::i64 || type == DType::i32 || type == DType::u8; }

// Logits [n.., C] for labels [n..]: the class dimension, second in the operator's own form, goes last.
ValueId classes_last(Rewriter& rewriter, const Node& node, ValueId logits) {
  Sizes dims(rewriter.value(logits).sizes.size());
  std::iota(dims.begin(), dims.end(), 0);
  if (dims.size() > 2) {
    dims.erase(dims.begin() + 1);
    dims.push_back(1);
  }
  return rewriter.emit_permute(node, logits, dims);
}

bool is_supported(const Rewriter& rewriter, const Node& node) {
  ValueId logits = tensor_argument(node, "self"), labels = tensor_argument(node, "target");
  if (logits < 0 || labels < 0 || node.outputs.size() != 1 || node.outputs[0] < 0) return false;
  const Value &l = rewriter.value(logits), &t = rewriter.value(labels);
  auto reduction = int_argument(node, "reduction");
  if (!is_none(node, "weight") || number_argument(node, "label_smoothing") != 0.0 || !is_floating(l.dtype))
    return false;
  if (!reduction || *reduction < no_reduction || *reduction > sum || !int_argument(node, "ignore_index")) return false;
  if (!is_integer(t.dtype) || l.sizes.empty() || l.sizes.size() != t.sizes.size() + 1) return false;
  Sizes without_classes = l.sizes;
  without_classes.erase(without_classes.begin() + (l.sizes.size() > 1 ? 1 : 0));
  return without_classes == t.sizes;
}

ValueId emit_sum(Rewriter& rewriter, const Node& node, ValueId id) {
  Sizes dims(rewriter.value(id).sizes.size());
  std::iota(dims.begin(), dims.end(), 0);
  return rewriter.emit(node, "aten::sum.dim_IntList",
                       {{"self", Tensor{id}}, {"dim", dims}, {"keepdim", false}, {"dtype", None{}}},
                       rewriter.value(id).dtype, {});
}

ValueId emit_loss(Rewriter& rewriter, const Node& node, DType type) {
  ValueId logits = classes_last(rewriter, node, tensor_argument(node, "self"));
  ValueId labels = tensor_argument(node, "target");
  Argument ignored = *int_argument(node, "ignore_index");
  std::int64_t reduction = *int_argument(node, "reduction");
  logits = rewriter.emit_cast(node, logits, type);
  const Sizes tokens = rewriter.value(labels).sizes;
  auto last = static_cast<std::int64_t>(tokens.size());
  ValueId lse = rewriter.emit(node, "planscope::lse", {{"self", Tensor{logits}}, {"dim", last}}, type, tokens);
  ValueId picked =
      rewriter.emit(node, "planscope::pick",
                    {{"self", Tensor{logits}}, {"target", Tensor{labels}}, {"ignore_index", ignored}}, type, tokens);
  ValueId loss =
      rewriter.emit(node, "aten::sub.Tensor",
                    {{"self", Tensor{lse}}, {"other", Tensor{picked}}, {"alpha", std::int64_t{1}}}, type, tokens);
  ValueId mask = rewriter.emit(node, "planscope::token_mask",
                               {{"target", Tensor{labels}}, {"ignore_index", ignored}, {"dtype", type}}, type, tokens);
  loss = rewriter.emit(node, "aten::mul.Tensor", {{"self", Tensor{loss}}, {"other", Tensor{mask}}}, type, tokens);
  if (reduction == no_reduction) return loss;
  loss = emit_sum(rewriter, node, loss);
  if (reduction == sum) return loss;
  ValueId count = emit_sum(rewriter, node, mask);
  return rewriter.emit(node, "aten::div.Tensor", {{"self", Tensor{loss}}, {"other", Tensor{count}}}, type, {});
}

}  // namespace

Model cross_entropy(Model model) {
  return rewrite(std::move(model), [](Rewriter& rewriter, Node& node) {
    if (node.target != "aten::cross_entropy_loss" || !is_supported(rewriter, node)) return false;
    DType given = rewriter.value(tensor_argument(node, "self")).dtype;
    DType type = byte_size(given) < 4 ? DType::f32 : given;
    ValueId loss = emit_loss(rewriter, node, type);
    rewriter.replace(node.outputs[0], rewriter.emit_cast(node, loss, rewriter.value(node.outputs[0]).dtype));
    return true;
  });
}

}  // namespace planscope
