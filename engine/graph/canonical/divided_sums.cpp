// A sum over n elements that is divided by the number n is their mean, however the file came to the number: `x.sum() /
// x.shape[0]` stands in it as `sum / 8`. So that the number is that of the elements at any size of the batch, it is
// kept together with the dimensions that it counts (Node::like); so is that of a mean which is multiplied by n.
//
//   div(sum(x, [0, 1]), 8), x: [8, 10]     statistics::divide_by_count(sum, dim=[0], count=8), like x
//
// A product that contracts the first dimension of both its operands, as `u.T @ v` does, is a sum over that one.
//
// Whether the number was meant so cannot be known: resize() says where it changes (counted_literals.h).
#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/graph/arguments.h"
#include "engine/graph/canonical/passes.h"
#include "engine/graph/canonical/rewriter.h"
#include "engine/graph/einsum.h"

namespace planscope {
namespace {

using Sizes = std::vector<std::int64_t>;

struct Counted {
  ValueId of = -1;
  Sizes dims;  // neighbours among the reduced ones, whose sizes multiply to the number
};

// The first dimensions of those that are reduced: the batch is in front.
std::optional<Sizes> counted_dims(const Sizes& sizes, Sizes reduced, std::int64_t count) {
  std::sort(reduced.begin(), reduced.end());
  for (std::size_t first = 0; first < reduced.size(); ++first) {
    std::int64_t product = 1;
    for (std::size_t last = first; last < reduced.size(); ++last) {
      if (last > first && reduced[last] != reduced[last - 1] + 1) break;
      const std::int64_t size = sizes[static_cast<std::size_t>(reduced[last])];
      if (size == 0 || product > count / size) break;
      product *= size;
      if (product == count)
        return Sizes(reduced.begin() + static_cast<std::ptrdiff_t>(first),
                     reduced.begin() + static_cast<std::ptrdiff_t>(last) + 1);
    }
  }
  return std::nullopt;
}

// Operands in which the operator is linear, each while the others stay.
std::vector<ValueId> linear_in(const Node& node) {
  for (const char* one : {"aten::mul.Scalar", "aten::div.Scalar", "aten::neg", "aten::to.dtype", "aten::view",
                          "statistics::divide_by_count", "statistics::multiply_by_count"})
    if (node.target == one) return {tensor_argument(node, "self")};
  for (const char* two : {"aten::add.Tensor", "aten::sub.Tensor", "aten::mul.Tensor"})
    if (node.target == two) return {tensor_argument(node, "self"), tensor_argument(node, "other")};
  if (node.target == "aten::div.Tensor") return {tensor_argument(node, "self")};
  return {};
}

// The second operand of a product of two that contracts the first dimension of both, else -1.
ValueId summed_rows(const Rewriter& rewriter, const Node& node) {
  const auto rank = [&](ValueId id) { return id < 0 ? 0 : rewriter.value(id).sizes.size(); };
  if (node.target == "aten::mm" || node.target == "aten::matmul") {
    const ValueId other = tensor_argument(node, node.target == "aten::mm" ? "mat2" : "other");
    const Node* turned = rewriter.producer(tensor_argument(node, "self"));
    const Sizes* dims = turned && turned->target == "aten::permute" ? ints_argument(*turned, "dims") : nullptr;
    return dims && *dims == Sizes{1, 0} && rank(other) == 2 ? other : -1;
  }
  const auto* tensors = node.target == "aten::einsum" ? tensors_argument(node, "tensors") : nullptr;
  if (!tensors || tensors->size() != 2) return -1;
  const ValueId one = (*tensors)[0].id, other = (*tensors)[1].id;
  const auto e = parse_equation(string_argument(node, "equation").value_or(""), {rank(one), rank(other)});
  if (!e || e->operands[0].empty() || e->operands[1].empty()) return -1;
  const char first = e->operands[0][0];
  return e->operands[1][0] == first && e->result.find(first) == std::string::npos ? other : -1;
}

// The nearest reduction by `target` that the value is linear in, and that runs over `count` elements.
std::optional<Counted> find_counted(const Rewriter& rewriter, ValueId id, const char* target, std::int64_t count) {
  constexpr std::size_t most = 64;  // values that are looked at
  const bool sums = std::string_view(target) == "aten::sum.dim_IntList";
  std::vector<ValueId> from = {id};
  for (std::size_t k = 0; k < from.size() && k < most; ++k) {
    const Node* node = rewriter.producer(from[k]);
    if (!node) continue;
    const ValueId self = tensor_argument(*node, "self");
    const Sizes* reduced = ints_argument(*node, "dim");
    if (node->target == target && self >= 0 && reduced) {
      if (auto dims = counted_dims(rewriter.value(self).sizes, *reduced, count)) return Counted{self, std::move(*dims)};
      continue;
    }
    if (const ValueId rows = sums ? summed_rows(rewriter, *node) : -1; rows >= 0) {
      if (rewriter.value(rows).sizes[0] == count) return Counted{rows, {0}};
      continue;
    }
    for (const ValueId next : linear_in(*node))
      if (next >= 0) from.push_back(next);
  }
  return std::nullopt;
}

std::optional<std::int64_t> whole_number(double number) {
  constexpr double most = 1e15;
  if (!(number >= 1 && number <= most) || number != std::floor(number)) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

// The n of `x * (1 / n)`.
std::optional<std::int64_t> reciprocal(double number) {
  if (!(number > 0 && number < 1)) return std::nullopt;
  const auto n = whole_number(std::round(1 / number));
  return n && std::abs(number * static_cast<double>(*n) - 1) < 1e-12 ? n : std::nullopt;
}

struct Found {
  Counted counted;
  std::int64_t count = 1;
  bool divides = true;
};

std::optional<Found> find(const Rewriter& rewriter, const Node& node) {
  const bool divides = node.target == "aten::div.Scalar", multiplies = node.target == "aten::mul.Scalar";
  const ValueId self = tensor_argument(node, "self");
  const auto number = number_argument(node, "other");
  if ((!divides && !multiplies) || self < 0 || !number || !is_floating(rewriter.value(self).dtype)) return std::nullopt;
  const auto look = [&](std::optional<std::int64_t> count, const char* target, bool divided) -> std::optional<Found> {
    const auto counted = count ? find_counted(rewriter, self, target, *count) : std::nullopt;
    return counted ? std::optional(Found{*counted, *count, divided}) : std::nullopt;
  };
  if (divides) return look(whole_number(*number), "aten::sum.dim_IntList", true);
  if (auto found = look(reciprocal(*number), "aten::sum.dim_IntList", true)) return found;
  return *number > 1 ? look(whole_number(*number), "aten::mean.dim", false) : std::nullopt;
}

}  // namespace

Model divided_sums(Model model) {
  return rewrite(std::move(model), [](Rewriter& rewriter, Node& node) {
    if (node.outputs.size() != 1 || node.outputs[0] < 0) return false;
    const auto found = find(rewriter, node);
    if (!found) return false;
    node.arguments = {
        {"self", Tensor{tensor_argument(node, "self")}}, {"dim", found->counted.dims}, {"count", found->count}};
    node.target = found->divides ? "statistics::divide_by_count" : "statistics::multiply_by_count";
    node.like = found->counted.of;
    return false;
  });
}

}  // namespace planscope
