// Contradictions between operators and the sizes in the file: only those forms that later code takes apart by size.
#include <algorithm>
#include <map>
#include <numeric>

#include "engine/graph/arguments.h"
#include "engine/graph/canonical/canonical.h"

namespace planscope {
namespace {

using Sizes = std::vector<std::int64_t>;

struct Check {
  const Model& model;
  const Node& node;
  const std::vector<Sizes>* others =
      nullptr;  // of all values, instead of those of the file; numbers of the file are not compared

  const Sizes& sizes(ValueId id) const {
    return others ? (*others)[static_cast<std::size_t>(id)] : model.values[static_cast<std::size_t>(id)].sizes;
  }
  const Sizes* operand(std::string_view name) const {
    ValueId id = tensor_argument(node, name);
    return id < 0 ? nullptr : &sizes(id);
  }
  const Sizes& result(std::size_t k = 0) const { return sizes(node.outputs[k]); }
};

bool broadcasts(const Sizes& from, const Sizes& to) {
  if (from.size() > to.size()) return false;
  return std::equal(from.rbegin(), from.rend(), to.rbegin(),
                    [](std::int64_t a, std::int64_t b) { return a == b || a == 1; });
}

bool in_range(std::optional<std::int64_t> dim, const Sizes& sizes) {
  return dim && *dim >= 0 && *dim < static_cast<std::int64_t>(sizes.size());
}

Sizes with(Sizes sizes, std::int64_t dim, std::int64_t size) {
  sizes[static_cast<std::size_t>(dim)] = size;
  return sizes;
}

bool view(const Check& c) {
  const Sizes *self = c.operand("self"), *size = ints_argument(c.node, "size");
  return self && size && (c.others || *size == c.result()) && element_count(*self) == element_count(c.result());
}

bool permute(const Check& c) {
  const Sizes *self = c.operand("self"), *dims = ints_argument(c.node, "dims");
  if (!self || !dims || dims->size() != self->size() || c.result().size() != self->size()) return false;
  std::vector<bool> seen(self->size(), false);
  for (std::size_t i = 0; i < dims->size(); ++i) {
    if (!in_range((*dims)[i], *self) || seen[static_cast<std::size_t>((*dims)[i])]) return false;
    seen[static_cast<std::size_t>((*dims)[i])] = true;
    if (c.result()[i] != (*self)[static_cast<std::size_t>((*dims)[i])]) return false;
  }
  return true;
}

bool expand(const Check& c) {
  const Sizes *self = c.operand("self"), *size = ints_argument(c.node, "size"), &result = c.result();
  if (!self || !size || size->size() != result.size() || !broadcasts(*self, result)) return false;
  for (std::size_t d = 0, lead = result.size() - self->size(); d < result.size(); ++d)
    if (!c.others && (*size)[d] != result[d] && ((*size)[d] != -1 || d < lead || (*self)[d - lead] != result[d]))
      return false;
  return true;
}

bool slice(const Check& c) {
  if (c.others) return true;
  const Sizes* self = c.operand("self");
  auto dim = int_argument(c.node, "dim"), start = int_argument(c.node, "start"), end = int_argument(c.node, "end"),
       step = int_argument(c.node, "step");
  if (!self || !in_range(dim, *self) || !start || !end || !step) return false;
  std::int64_t size = (*self)[static_cast<std::size_t>(*dim)];
  if (*start < 0 || *start > *end || *end > size || *step < 1) return false;
  std::int64_t left = (*end - *start) / *step + ((*end - *start) % *step != 0);
  const Sizes* source = c.operand("src");
  return source ? *source == with(*self, *dim, left) && *self == c.result() : c.result() == with(*self, *dim, left);
}

bool select(const Check& c) {
  const Sizes* self = c.operand("self");
  auto dim = int_argument(c.node, "dim"), index = int_argument(c.node, "index");
  if (!self || !in_range(dim, *self) || !index || *index < 0 || *index >= (*self)[static_cast<std::size_t>(*dim)])
    return false;
  Sizes left = *self;
  left.erase(left.begin() + *dim);
  const Sizes* source = c.operand("src");
  return source ? *source == left && *self == c.result() : c.result() == left;
}

bool split(const Check& c) {
  const Sizes *self = c.operand("self"), *parts = ints_argument(c.node, "split_sizes");
  auto dim = int_argument(c.node, "dim");
  if (!self || !parts || !in_range(dim, *self) || parts->size() != c.node.outputs.size()) return false;
  std::int64_t total = 0;
  for (std::size_t k = 0; k < parts->size(); ++k) {
    if (c.result(k).size() != self->size()) return false;
    const std::int64_t part = c.others ? c.result(k)[static_cast<std::size_t>(*dim)] : (*parts)[k];
    total += part;
    if (c.result(k) != with(*self, *dim, part)) return false;
  }
  return total == (*self)[static_cast<std::size_t>(*dim)];
}

bool unbind(const Check& c) {
  const Sizes* self = c.operand("self");
  auto dim = int_argument(c.node, "dim");
  if (!self || !in_range(dim, *self)) return false;
  Sizes left = *self;
  left.erase(left.begin() + *dim);
  for (std::size_t k = 0; k < c.node.outputs.size(); ++k)
    if (c.result(k) != left) return false;
  return static_cast<std::int64_t>(c.node.outputs.size()) == (*self)[static_cast<std::size_t>(*dim)];
}

bool concatenate(const Check& c) {
  const auto* tensors = tensors_argument(c.node, "tensors");
  auto dim = int_argument(c.node, "dim");
  if (!tensors || tensors->empty() || !in_range(dim, c.result())) return false;
  std::int64_t total = 0;
  for (Tensor tensor : *tensors) {
    if (tensor.id < 0) return false;
    const Sizes& part = c.sizes(tensor.id);
    if (part == Sizes{0}) continue;  // an empty list of old
    if (part.size() != c.result().size() || with(part, *dim, 0) != with(c.result(), *dim, 0)) return false;
    total += part[static_cast<std::size_t>(*dim)];
  }
  return total == c.result()[static_cast<std::size_t>(*dim)];
}

bool linear(const Check& c) {
  const Sizes *input = c.operand("input"), *weight = c.operand("weight"), *bias = c.operand("bias");
  if (!input || !weight || input->empty() || weight->empty() || weight->size() > 2 || input->back() != weight->back())
    return false;
  Sizes expected(input->begin(), input->end() - 1);
  if (weight->size() == 2) expected.push_back((*weight)[0]);
  return expected == c.result() && (!bias || broadcasts(*bias, expected));
}

bool addmm(const Check& c) {
  const Sizes *a = c.operand("mat1"), *b = c.operand("mat2"), *self = c.operand("self");
  return a && b && self && a->size() == 2 && b->size() == 2 && (*a)[1] == (*b)[0] &&
         c.result() == Sizes{(*a)[0], (*b)[1]} && broadcasts(*self, c.result());
}

bool matmul(const Check& c) {
  const Sizes *a = c.operand("self"), *b = c.operand(c.node.target == "aten::bmm" ? "mat2" : "other");
  if (!a || !b || a->empty() || b->empty()) return false;
  if (a->back() != (b->size() == 1 ? b->back() : (*b)[b->size() - 2])) return false;
  std::size_t rank = std::max({a->size(), b->size(), std::size_t{2}}) - (a->size() == 1) - (b->size() == 1);
  if (c.result().size() != rank) return false;
  if (a->size() < 2 || b->size() < 2) return true;
  const Sizes leading(c.result().begin(), c.result().end() - 2);
  const auto fits = [&](const Sizes& operand) { return broadcasts({operand.begin(), operand.end() - 2}, leading); };
  return fits(*a) && fits(*b);
}

bool baddbmm(const Check& c) {
  const Sizes *self = c.operand("self"), *a = c.operand("batch1"), *b = c.operand("batch2");
  return self && a && b && a->size() == 3 && b->size() == 3 && (*a)[0] == (*b)[0] && (*a)[2] == (*b)[1] &&
         c.result() == Sizes{(*a)[0], (*a)[1], (*b)[2]} && broadcasts(*self, c.result());
}

bool embedding(const Check& c) {
  const Sizes *weight = c.operand("weight"), *indices = c.operand("indices");
  if (!weight || !indices || weight->size() != 2) return false;
  Sizes expected = *indices;
  expected.push_back(weight->back());
  return expected == c.result();
}

bool attend(const Check& c) {
  const Sizes *q = c.operand("query"), *k = c.operand("key"), *v = c.operand("value"), *mask = c.operand("attn_mask");
  auto groups = int_argument(c.node, "groups");
  if (!q || !k || !v || !groups || *groups < 1 || q->size() < 2 || k->size() != q->size() || v->size() != q->size())
    return false;
  std::size_t rank = q->size();
  Sizes leading(q->begin(), q->end() - 2), scores = *q, expected = *q;
  if (!leading.empty()) {
    if (leading.back() % *groups != 0) return false;
    leading.back() /= *groups;
  }
  scores.back() = (*k)[rank - 2];
  expected.back() = v->back();
  return Sizes(k->begin(), k->end() - 2) == leading && Sizes(v->begin(), v->end() - 2) == leading &&
         k->back() == q->back() && (*k)[rank - 2] == (*v)[rank - 2] && c.result() == expected &&
         (!mask || broadcasts(*mask, scores));
}

bool grouped_product(const Check& c) {
  const Sizes *self = c.operand("self"), *weight = c.operand("weight"), *index = c.operand("index");
  return self && weight && index && self->size() == 2 && weight->size() == 3 && (*self)[1] == (*weight)[1] &&
         *index == Sizes{(*self)[0]} && c.result() == Sizes{(*self)[0], (*weight)[2]};
}

bool elementwise(const Check& c) {
  for (std::string_view name : {"self", "other", "condition", "mask"})
    if (const Sizes* operand = c.operand(name); operand && !broadcasts(*operand, c.result())) return false;
  return true;
}

bool same_as_input(const Check& c) {
  const Sizes *self = c.operand("self"), *input = c.operand("input");
  return (self && *self == c.result()) || (input && *input == c.result());
}

bool reduce(const Check& c) {
  const Sizes *self = c.operand("self"), *dims = ints_argument(c.node, "dim");
  if (!self || !dims) return false;
  Sizes expected;
  bool keeps = bool_argument(c.node, "keepdim").value_or(false);
  for (std::int64_t dim : *dims)
    if (!in_range(dim, *self)) return false;
  for (std::size_t i = 0; i < self->size(); ++i) {
    bool reduced = std::count(dims->begin(), dims->end(), static_cast<std::int64_t>(i)) > 0;
    if (!reduced || keeps) expected.push_back(reduced ? 1 : (*self)[i]);
  }
  return expected == c.result();
}

using Function = bool (*)(const Check&);

Function find_check(std::string_view target) {
  static const std::map<std::string_view, Function> checks = {
      {"aten::view", view},
      {"aten::permute", permute},
      {"aten::expand", expand},
      {"aten::slice.Tensor", slice},
      {"aten::slice_scatter", slice},
      {"aten::select.int", select},
      {"aten::select_scatter", select},
      {"aten::split_with_sizes", split},
      {"aten::unbind.int", unbind},
      {"aten::cat", concatenate},
      {"aten::linear", linear},
      {"aten::addmm", addmm},
      {"aten::matmul", matmul},
      {"aten::bmm", matmul},
      {"aten::baddbmm", baddbmm},
      {"aten::embedding", embedding},
      {"planscope::attention", attend},
      {"planscope::grouped_mm", grouped_product},
      {"aten::sum.dim_IntList", reduce},
      {"aten::mean.dim", reduce},
      {"aten::layer_norm", same_as_input},
      {"aten::rms_norm", same_as_input},
      {"aten::softmax.int", same_as_input},
      {"aten::log_softmax.int", same_as_input},
      {"aten::dropout", same_as_input},
      {"aten::gelu", same_as_input},
      {"aten::silu", same_as_input},
      {"aten::relu", same_as_input},
      {"aten::tanh", same_as_input},
      {"aten::to.dtype", same_as_input},
      {"aten::neg", same_as_input},
      {"aten::rsqrt", same_as_input},
      {"aten::cumsum", same_as_input},
      {"aten::pow.Tensor_Scalar", same_as_input},
      {"aten::masked_fill.Scalar", elementwise},
      {"aten::where.self", elementwise},
      {"aten::where.ScalarOther", elementwise},
      {"aten::add.Tensor", elementwise},
      {"aten::sub.Tensor", elementwise},
      {"aten::mul.Tensor", elementwise},
      {"aten::div.Tensor", elementwise},
      {"aten::bitwise_and.Tensor", elementwise},
      {"aten::le.Tensor", elementwise},
      {"aten::eq.Tensor", elementwise},
      {"aten::ne.Scalar", elementwise},
  };
  auto check = checks.find(target);
  return check == checks.end() ? nullptr : check->second;
}

bool fits(const Check& c) {
  const auto is_bounded = [&](ValueId id) {
    return id >= 0 && !c.model.values[static_cast<std::size_t>(id)].bounded.empty();
  };
  bool bounded = std::any_of(c.node.outputs.begin(), c.node.outputs.end(), is_bounded);
  for_each_tensor(c.node, [&](ValueId id) { bounded = bounded || is_bounded(id); });
  const Function check = find_check(c.node.target);
  if (bounded || !check) return true;  // upper bounds need not fit
  const bool has_results = !c.node.outputs.empty() && std::count(c.node.outputs.begin(), c.node.outputs.end(), -1) == 0;
  return has_results && check(c);
}

}  // namespace

const Node* first_misfit(const Model& model, const std::vector<std::vector<std::int64_t>>& sizes) {
  const auto misfit = [&](const Node& node) { return !fits({model, node, &sizes}); };
  const auto found = std::find_if(model.nodes.begin(), model.nodes.end(), misfit);
  return found == model.nodes.end() ? nullptr : &*found;
}

std::vector<Diagnostic> check_shapes(const Model& model) {
  std::vector<Diagnostic> diagnostics;
  for (const Node& node : model.nodes) {
    if (fits({model, node})) continue;
    Diagnostic diagnostic = error("sizes of its operands and results do not fit together", node.target,
                                  "copy or export the file again; if PyTorch loads it, this is a fault of planscope");
    diagnostic.subject = node.name();
    diagnostics.push_back(std::move(diagnostic));
    if (diagnostics.size() == 20) break;
  }
  return diagnostics;
}

}  // namespace planscope
