// `scaled_dot_product_attention` becomes `planscope::attention` with groups: query head x reads key and value head
// x / groups; its second result is the log-sum-exps of the scores, by which blocks of keys are put together. With dropout
// it is decomposed, because its draws need positions in the whole score matrix.
#include <cmath>
#include <limits>

#include "engine/graph/arguments.h"
#include "engine/graph/canonical/passes.h"
#include "engine/graph/canonical/rewriter.h"
#include "engine/graph/functional/views.h"

namespace planscope {
namespace {

using Sizes = std::vector<std::int64_t>;

struct Attention {
  ValueId query = -1, key = -1, value = -1, mask = -1;
  bool causal = false;
  double dropout = 0, scale = 1;
  std::int64_t groups = 1;
};

std::int64_t heads(const Sizes& sizes) { return sizes.size() < 3 ? 1 : sizes[sizes.size() - 3]; }

std::optional<Attention> read(const Rewriter& rewriter, const Node& node) {
  Attention a{tensor_argument(node, "query"),
              tensor_argument(node, "key"),
              tensor_argument(node, "value"),
              tensor_argument(node, "attn_mask"),
              bool_argument(node, "is_causal").value_or(false),
              number_argument(node, "dropout_p").value_or(0),
              1,
              1};
  if (a.query < 0 || a.key < 0 || a.value < 0 || node.outputs.size() != 1 || node.outputs[0] < 0) return std::nullopt;
  const Sizes &q = rewriter.value(a.query).sizes, &k = rewriter.value(a.key).sizes, &v = rewriter.value(a.value).sizes;
  if (q.size() < 2 || k.size() < 2 || v.size() < 2 || q.back() < 1) return std::nullopt;
  a.scale = number_argument(node, "scale").value_or(1 / std::sqrt(static_cast<double>(q.back())));
  bool grouped = bool_argument(node, "enable_gqa").value_or(false);
  if (grouped && heads(k) == heads(v) && heads(k) > 0 && heads(q) % heads(k) == 0)
    a.groups = heads(q) / heads(k);
  else if (grouped)
    return std::nullopt;
  return a;
}

// What `repeated` repeats along the head dimension, `groups` times each: unsqueeze, expand, reshape or
// repeat_interleave.
ValueId before_repeat(const Rewriter& rewriter, ValueId repeated, std::int64_t groups) {
  const Sizes& sizes = rewriter.value(repeated).sizes;
  const Node* last = rewriter.producer(repeated);
  if (!last || sizes.size() < 3 || groups < 2) return -1;
  std::size_t head = sizes.size() - 3;
  ValueId source = sole_operand(*last);
  if (source < 0) return -1;
  Sizes expected = sizes;
  expected[head] /= groups;
  if (last->target == "aten::repeat_interleave.self_int") {
    auto dim = int_argument(*last, "dim");
    bool fits = dim && wrap_dim(*dim, sizes.size()) == static_cast<std::int64_t>(head) &&
                int_argument(*last, "repeats") == groups;
    return fits && rewriter.value(source).sizes == expected ? source : -1;
  }
  const Node* expand = last->target == "aten::view" ? rewriter.producer(source) : nullptr;
  if (!expand || expand->target != "aten::expand") return -1;
  Sizes wide = expected, narrow = expected;
  wide.insert(wide.begin() + static_cast<std::ptrdiff_t>(head) + 1, groups);
  narrow.insert(narrow.begin() + static_cast<std::ptrdiff_t>(head) + 1, 1);
  ValueId inserted = sole_operand(*expand);
  if (inserted < 0 || rewriter.value(source).sizes != wide || rewriter.value(inserted).sizes != narrow) return -1;
  const Node* view = rewriter.producer(inserted);
  ValueId original = view && view->target == "aten::view" ? sole_operand(*view) : -1;
  return original >= 0 && rewriter.value(original).sizes == expected ? original : -1;
}

// The repeat count of the key's heads, as its last reshape tells.
std::int64_t repeat_count(const Rewriter& rewriter, ValueId key) {
  const Node* last = rewriter.producer(key);
  if (!last) return 1;
  if (last->target == "aten::repeat_interleave.self_int") return int_argument(*last, "repeats").value_or(1);
  ValueId wide = last->target == "aten::view" ? sole_operand(*last) : -1;
  if (wide < 0) return 1;
  const Sizes& sizes = rewriter.value(wide).sizes;
  return sizes.size() == rewriter.value(key).sizes.size() + 1 && sizes.size() >= 4 ? sizes[sizes.size() - 3] : 1;
}

void find_groups(const Rewriter& rewriter, Attention& a) {
  std::int64_t groups = repeat_count(rewriter, a.key);
  if (a.groups != 1 || groups < 2 || heads(rewriter.value(a.query).sizes) % groups != 0) return;
  ValueId key = before_repeat(rewriter, a.key, groups), value = before_repeat(rewriter, a.value, groups);
  if (key < 0 || value < 0) return;
  a.key = key;
  a.value = value;
  a.groups = groups;
}

// Leading dimensions of keys and values as the query has them (groups apart).
ValueId with_leading(Rewriter& rewriter, const Node& node, ValueId id, const Sizes& query, std::int64_t groups) {
  Sizes sizes = rewriter.value(id).sizes, leading(query.begin(), query.end() - 2);
  if (!leading.empty()) leading.back() /= groups;
  leading.insert(leading.end(), sizes.end() - 2, sizes.end());
  return rewriter.emit_expand(node, id, leading);
}

ValueId repeat_heads(Rewriter& rewriter, const Node& node, ValueId id, std::int64_t groups) {
  if (groups == 1) return id;
  Sizes sizes = rewriter.value(id).sizes;
  auto after_head = sizes.end() - 2;
  Sizes narrow(sizes.begin(), after_head), wide, flat = sizes;
  narrow.push_back(1);
  narrow.insert(narrow.end(), after_head, sizes.end());
  wide = narrow;
  wide[wide.size() - 3] = groups;
  flat[flat.size() - 3] *= groups;
  id = rewriter.emit_expand(node, rewriter.emit_view(node, id, narrow), wide);
  return rewriter.emit_view(node, id, flat);
}

ValueId emit_matmul(Rewriter& rewriter, const Node& node, ValueId a, ValueId b) {
  Sizes sizes = rewriter.value(a).sizes;
  sizes.back() = rewriter.value(b).sizes.back();
  return rewriter.emit(node, "aten::matmul", {{"self", Tensor{a}}, {"other", Tensor{b}}}, rewriter.value(a).dtype,
                       sizes);
}

ValueId emit_masked(Rewriter& rewriter, const Node& node, ValueId scores, ValueId mask) {
  const Value before = rewriter.value(scores), m = rewriter.value(mask);
  if (m.dtype != DType::boolean)
    return rewriter.emit(node, "aten::add.Tensor",
                         {{"self", Tensor{scores}}, {"other", Tensor{mask}}, {"alpha", std::int64_t{1}}}, before.dtype,
                         before.sizes);
  ValueId hidden = rewriter.emit(node, "aten::logical_not", {{"self", Tensor{mask}}}, DType::boolean, m.sizes);
  return rewriter.emit(
      node, "aten::masked_fill.Scalar",
      {{"self", Tensor{scores}}, {"mask", Tensor{hidden}}, {"value", -std::numeric_limits<double>::infinity()}},
      before.dtype, before.sizes);
}

ValueId emit_causal_mask(Rewriter& rewriter, const Node& node, std::int64_t rows, std::int64_t columns) {
  Sizes sizes = {rows, columns};
  ValueId ones = rewriter.emit(
      node, "aten::ones",
      {{"size", sizes}, {"dtype", DType::boolean}, {"layout", None{}}, {"device", None{}}, {"pin_memory", None{}}},
      DType::boolean, sizes);
  return rewriter.emit(node, "aten::tril", {{"self", Tensor{ones}}, {"diagonal", std::int64_t{0}}}, DType::boolean,
                       sizes);
}

ValueId decompose(Rewriter& rewriter, const Node& node, const Attention& a) {
  const Value query = rewriter.value(a.query);
  ValueId key = repeat_heads(rewriter, node, a.key, a.groups), value = repeat_heads(rewriter, node, a.value, a.groups);
  std::size_t rank = rewriter.value(key).sizes.size();
  Sizes dims(rank);
  for (std::size_t i = 0; i < rank; ++i) dims[i] = static_cast<std::int64_t>(i);
  std::swap(dims[rank - 1], dims[rank - 2]);
  ValueId scores = emit_matmul(rewriter, node, a.query, rewriter.emit_permute(node, key, dims));
  const Sizes sizes = rewriter.value(scores).sizes;
  scores = rewriter.emit(node, "aten::mul.Scalar", {{"self", Tensor{scores}}, {"other", a.scale}}, query.dtype, sizes);
  if (a.causal)
    scores = emit_masked(rewriter, node, scores, emit_causal_mask(rewriter, node, sizes[rank - 2], sizes[rank - 1]));
  if (a.mask >= 0) scores = emit_masked(rewriter, node, scores, a.mask);
  std::string softmax = a.mask >= 0 ? "aten::_safe_softmax" : "aten::softmax.int";  // rows that are all masked are 0
  ValueId weights = rewriter.emit(
      node, softmax, {{"self", Tensor{scores}}, {"dim", static_cast<std::int64_t>(rank) - 1}, {"dtype", None{}}},
      query.dtype, sizes);
  weights = rewriter.emit(node, "aten::dropout", {{"input", Tensor{weights}}, {"p", a.dropout}, {"train", true}},
                          query.dtype, sizes);
  rewriter.model.nodes.back().random = true;
  return emit_matmul(rewriter, node, weights, value);
}

}  // namespace

Model attention(Model model) {
  return rewrite(std::move(model), [](Rewriter& rewriter, Node& node) {
    if (node.target != "aten::scaled_dot_product_attention") return false;
    auto a = read(rewriter, node);
    if (!a) return false;
    find_groups(rewriter, *a);
    const Sizes query = rewriter.value(a->query).sizes;
    if (rewriter.value(a->key).sizes.size() > query.size() || rewriter.value(a->value).sizes.size() > query.size())
      return false;
    a->key = with_leading(rewriter, node, a->key, query, a->groups);
    a->value = with_leading(rewriter, node, a->value, query, a->groups);
    const Value result = rewriter.value(node.outputs[0]);
    if (a->dropout > 0) {
      rewriter.replace(node.outputs[0], decompose(rewriter, node, *a));
      return true;
    }
    ValueId now = rewriter.emit(node, "planscope::attention",
                                {{"query", Tensor{a->query}},
                                 {"key", Tensor{a->key}},
                                 {"value", Tensor{a->value}},
                                 {"attn_mask", a->mask < 0 ? Argument(None{}) : Argument(Tensor{a->mask})},
                                 {"is_causal", a->causal},
                                 {"scale", a->scale},
                                 {"groups", a->groups}},
                                result.dtype, result.sizes);
    const DType sums = result.dtype == DType::f64 ? DType::f64 : DType::f32;
    rewriter.model.nodes.back().outputs.push_back(
        rewriter.add_value(sums, {result.sizes.begin(), result.sizes.end() - 1}));
    rewriter.replace(node.outputs[0], now);
    return true;
  });
}

}  // namespace planscope
