// `cross_entropy_loss` of class indices, and `nll_loss` of logarithms, in pieces that vocabulary shards, ignored labels and
// micro-batches keep exact:
//
//   loss = Σ_t mask_t · (lse(logits_t) − (1 − s) · logits_t[label_t] − s · mean(logits_t)) / Σ_t mask_t
//
// with label smoothing s. With weights w of the classes, each token has that of its label in both sums, and what is
// smoothed is
//
//   (1 − s) · w[label_t] · (lse(logits_t) − logits_t[label_t]) + s · mean(w · (lse(logits_t) − logits_t))
//
// What nll_loss is given has a log-sum-exp of 0; if log_softmax has made it, its logits are read.
#include <numeric>

#include "engine/graph/arguments.h"
#include "engine/graph/canonical/passes.h"
#include "engine/graph/canonical/rewriter.h"
#include "engine/graph/functional/arithmetic.h"
#include "engine/graph/functional/views.h"

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
  if (!is_floating(l.dtype)) return false;
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

// The operand of a log_softmax over the classes; -1: something else has made the logarithms.
ValueId before_log_softmax(const Rewriter& rewriter, ValueId logs) {
  const Node* made = rewriter.producer(logs);
  if (!made || made->target != "aten::log_softmax.int") return -1;
  const std::size_t rank = rewriter.value(logs).sizes.size();
  const auto dim = wrap_dim(int_argument(*made, "dim").value_or(-1), rank);
  if (dim != (rank > 1 ? 1 : 0)) return -1;
  const ValueId self = tensor_argument(*made, "self");
  return rewriter.value(self).dtype == rewriter.value(logs).dtype ? self : -1;
}

ValueId emit_scaled(Rewriter& rewriter, const Node& node, ValueId id, double factor) {
  return rewriter.emit(node, "aten::mul.Scalar", {{"self", Tensor{id}}, {"other", factor}}, rewriter.value(id).dtype,
                       rewriter.value(id).sizes);
}

ValueId emit_difference(Rewriter& rewriter, const Node& node, ValueId a, ValueId b) {
  return rewriter.emit(node, "aten::sub.Tensor",
                       {{"self", Tensor{a}}, {"other", Tensor{b}}, {"alpha", std::int64_t{1}}}, rewriter.value(a).dtype,
                       rewriter.value(a).sizes);
}

// The weight of each label's class; some weight where a label is ignored.
ValueId emit_weights(Rewriter& rewriter, const Node& node, ValueId weight, ValueId labels, DType type) {
  Arithmetic a(rewriter, node);
  const Value given = rewriter.value(labels);
  const DType index = given.dtype == DType::i32 ? DType::i32 : DType::i64;
  const ValueId ignored = rewriter.emit(
      node, "aten::eq.Scalar", {{"self", Tensor{labels}}, {"other", *find_argument(node, "ignore_index")}},
      DType::boolean, given.sizes);
  const ValueId known = rewriter.emit(
      node, "aten::masked_fill.Scalar",
      {{"self", Tensor{a.cast(labels, index)}}, {"mask", Tensor{ignored}}, {"value", std::int64_t{0}}}, index,
      given.sizes);
  const ValueId table = a.view(a.cast(weight, type), {element_count(rewriter.value(weight).sizes), 1});
  Sizes looked_up = given.sizes;
  looked_up.push_back(1);
  const ValueId found = rewriter.emit(node, "aten::embedding",
                                      {{"weight", Tensor{table}},
                                       {"indices", Tensor{known}},
                                       {"padding_idx", std::int64_t{-1}},
                                       {"scale_grad_by_freq", false},
                                       {"sparse", false}},
                                      type, looked_up);
  return a.view(found, given.sizes);
}

// Labels that are a distribution over the classes: sum of p · (lse - logits), a row for each.
bool soft_labels(Rewriter& rewriter, const Node& node) {
  const ValueId given = tensor_argument(node, "self"), target = tensor_argument(node, "target");
  const auto reduction = int_argument(node, "reduction");
  if (node.target != "aten::cross_entropy_loss" || given < 0 || target < 0 || !reduction || node.outputs.size() != 1)
    return false;
  const Sizes sizes = rewriter.value(given).sizes;
  const DType from = rewriter.value(given).dtype;
  if (!is_floating(from) || !is_floating(rewriter.value(target).dtype) || rewriter.value(target).sizes != sizes ||
      sizes.empty())
    return false;
  Arithmetic a(rewriter, node);
  const ValueId logits = a.cast(classes_last(rewriter, node, given), wide(from));
  ValueId p = a.cast(classes_last(rewriter, node, target), wide(from));
  const double smoothing = number_argument(node, "label_smoothing").value_or(0);
  Sizes rows = rewriter.value(logits).sizes;
  const auto last = static_cast<std::int64_t>(rows.size()) - 1;
  if (smoothing != 0) p = a.add(a.mul(p, 1 - smoothing), smoothing / static_cast<double>(rows.back()));
  if (const ValueId weight = tensor_argument(node, "weight"); weight >= 0) p = a.mul(p, a.cast(weight, wide(from)));
  rows.pop_back();
  const ValueId lse = rewriter.emit(node, "planscope::lse", {{"self", Tensor{logits}}, {"dim", last}}, wide(from), rows);
  const ValueId whole = a.mul(lse, a.sum(p, {last}, false));
  ValueId loss = a.sub(whole, a.sum(a.mul(p, logits), {last}, false));
  Sizes dims(rows.size());
  std::iota(dims.begin(), dims.end(), 0);
  if (*reduction != no_reduction) loss = *reduction == mean ? a.mean(loss, dims, false) : a.sum(loss, dims, false);
  rewriter.replace(node.outputs[0], a.cast(loss, rewriter.value(node.outputs[0]).dtype));
  return true;
}

// 1 for each label that is not ignored.
ValueId emit_mask(Rewriter& rewriter, const Node& node, DType type) {
  const ValueId labels = tensor_argument(node, "target");
  const Argument ignored = *int_argument(node, "ignore_index");
  return rewriter.emit(node, "planscope::token_mask",
                       {{"target", Tensor{labels}}, {"ignore_index", ignored}, {"dtype", type}}, type,
                       rewriter.value(labels).sizes);
}

// The loss of each token times `mask`, reduced as the operator says; a mean is over the sum of `counted`.
ValueId emit_reduced(Rewriter& rewriter, const Node& node, ValueId loss, ValueId mask, ValueId counted) {
  const std::int64_t reduction = *int_argument(node, "reduction");
  const Value each = rewriter.value(loss);
  loss = rewriter.emit(node, "aten::mul.Tensor", {{"self", Tensor{loss}}, {"other", Tensor{mask}}}, each.dtype,
                       each.sizes);
  if (reduction == no_reduction) return loss;
  loss = emit_sum(rewriter, node, loss);
  if (reduction == sum) return loss;
  const ValueId count = emit_sum(rewriter, node, counted);
  return rewriter.emit(node, "aten::div.Tensor", {{"self", Tensor{loss}}, {"other", Tensor{count}}}, each.dtype, {});
}

// The loss of each token by class weights and label smoothing, before ignored ones are masked.
ValueId emit_smoothed(Rewriter& rewriter, const Node& node, ValueId logits, ValueId lse, ValueId picked,
                      ValueId of_label, double smoothing) {
  Arithmetic a(rewriter, node);
  const ValueId weight = a.cast(tensor_argument(node, "weight"), a.value(logits).dtype);
  const auto last = static_cast<std::int64_t>(a.value(logits).sizes.size()) - 1;
  const ValueId own = a.mul(a.mul(a.sub(lse, picked), of_label), 1 - smoothing);
  const ValueId of_lse = a.mul(lse, a.mean(weight, {0}, false));
  const ValueId all = a.sub(of_lse, a.mean(a.mul(logits, weight), {last}, false));
  return a.add(own, a.mul(all, smoothing));
}

ValueId emit_loss(Rewriter& rewriter, const Node& node, DType type) {
  ValueId given = tensor_argument(node, "self");
  bool logarithms = node.target != "aten::cross_entropy_loss";
  if (const ValueId before = logarithms ? before_log_softmax(rewriter, given) : -1; before >= 0)
    given = before, logarithms = false;
  ValueId logits = classes_last(rewriter, node, given);
  ValueId labels = tensor_argument(node, "target");
  Argument ignored = *int_argument(node, "ignore_index");
  const double smoothing = number_argument(node, "label_smoothing").value_or(0);
  logits = rewriter.emit_cast(node, logits, type);
  const Sizes tokens = rewriter.value(labels).sizes;
  auto last = static_cast<std::int64_t>(tokens.size());
  ValueId lse = -1;
  if (!logarithms) lse = rewriter.emit(node, "planscope::lse", {{"self", Tensor{logits}}, {"dim", last}}, type, tokens);
  ValueId picked =
      rewriter.emit(node, "planscope::pick",
                    {{"self", Tensor{logits}}, {"target", Tensor{labels}}, {"ignore_index", ignored}}, type, tokens);
  const ValueId weight = tensor_argument(node, "weight");
  if (weight >= 0 && smoothing != 0) {
    const ValueId of_label = emit_weights(rewriter, node, weight, labels, type);
    const ValueId loss = emit_smoothed(rewriter, node, logits, lse, picked, of_label, smoothing);
    const ValueId mask = emit_mask(rewriter, node, type);
    return emit_reduced(rewriter, node, loss, mask, Arithmetic(rewriter, node).mul(mask, of_label));
  }
  if (smoothing != 0) picked = emit_scaled(rewriter, node, picked, 1 - smoothing);
  ValueId loss = logarithms ? emit_scaled(rewriter, node, picked, -1) : emit_difference(rewriter, node, lse, picked);
  if (smoothing != 0) {
    const ValueId even = rewriter.emit(
        node, "aten::mean.dim", {{"self", Tensor{logits}}, {"dim", Sizes{last}}, {"keepdim", false}, {"dtype", None{}}},
        type, tokens);
    loss = emit_difference(rewriter, node, loss, emit_scaled(rewriter, node, even, smoothing));
  }
  ValueId mask = emit_mask(rewriter, node, type);
  if (weight >= 0) mask = Arithmetic(rewriter, node).mul(mask, emit_weights(rewriter, node, weight, labels, type));
  return emit_reduced(rewriter, node, loss, mask, mask);
}

}  // namespace

Model cross_entropy(Model model) {
  return rewrite(std::move(model), [](Rewriter& rewriter, Node& node) {
    const bool is_loss = node.target == "aten::cross_entropy_loss" || node.target == "aten::nll_loss_nd" ||
                         node.target == "aten::nll_loss";
    if (soft_labels(rewriter, node)) return true;
    if (!is_loss || !is_supported(rewriter, node)) return false;
    DType given = rewriter.value(tensor_argument(node, "self")).dtype;
    DType type = byte_size(given) < 4 ? DType::f32 : given;
    ValueId loss = emit_loss(rewriter, node, type);
    rewriter.replace(node.outputs[0], rewriter.emit_cast(node, loss, rewriter.value(node.outputs[0]).dtype));
    return true;
  });
}

}  // namespace planscope
