// Each element k times along a dimension, `repeat_interleave(k, dim)` or an index by `arange(n k) // k`, is a view, an
// expand and a view; so is the whole k times, `repeat(k, …)` or `tile`. The coordinates of a grid (`meshgrid`) are each vector along a
// dimension of its own, as often as there are places in the others.
#include <algorithm>
#include <functional>
#include <numeric>

#include "engine/graph/arguments.h"
#include "engine/graph/canonical/counters.h"
#include "engine/graph/canonical/literal_ones.h"
#include "engine/graph/canonical/passes.h"
#include "engine/graph/canonical/rewriter.h"
#include "engine/graph/functional/views.h"

namespace planscope {
namespace {

using Sizes = std::vector<std::int64_t>;

struct Repeat {
  ValueId self = -1;
  std::int64_t dim = 0, count = 0;
};

Repeat by_interleaving(Rewriter& rewriter, const Node& node) {
  const ValueId self = tensor_argument(node, "self");
  auto count = int_argument(node, "repeats"), dim = int_argument(node, "dim");
  if (node.target != "aten::repeat_interleave.self_int" || self < 0 || !count || *count < 1) return {};
  if (!dim) {  // of all elements in a row
    const Sizes& sizes = rewriter.value(self).sizes;
    const std::int64_t elements = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
    return {rewriter.emit_view(node, self, {elements}), 0, *count};
  }
  auto wrapped = wrap_dim(*dim, rewriter.value(self).sizes.size());
  return wrapped ? Repeat{self, *wrapped, *count} : Repeat{};
}

// The only index is that of dimension `dim`.
Repeat by_index(const Rewriter& rewriter, const Node& node) {
  const ValueId self = tensor_argument(node, "self");
  const auto* indices = tensors_argument(node, "indices");
  if (node.target != "aten::index.Tensor" || self < 0 || !indices || indices->empty()) return {};
  for (std::size_t dim = 0; dim + 1 < indices->size(); ++dim)
    if ((*indices)[dim].id >= 0) return {};
  return {self, static_cast<std::int64_t>(indices->size()) - 1, times_each(rewriter, indices->back().id)};
}

// The whole of `self` some times along each dimension, new ones in front.
bool tile(Rewriter& rewriter, const Node& node, const LiteralOnes& ones) {
  const ValueId self = tensor_argument(node, "self");
  const auto given = ints_argument(node, node.target == "aten::tile" ? "dims" : "repeats");
  if ((node.target != "aten::repeat" && node.target != "aten::tile") || self < 0 || !given) return false;
  const Sizes own = rewriter.value(self).sizes, result = rewriter.value(node.outputs[0]).sizes;
  Sizes counts = *given;  // `tile` leaves leading ones out
  if (node.target == "aten::tile" && counts.size() < result.size())
    counts.insert(counts.begin(), result.size() - counts.size(), 1);
  if (counts.size() != result.size() || result.size() < own.size()) return false;
  Sizes before, after;  // with a dimension in front of each that is repeated
  for (std::size_t d = 0; d < result.size(); ++d) {
    const std::size_t lead = result.size() - own.size();
    const std::int64_t size = d < lead ? 1 : own[d - lead], count = counts[d];
    if (count < 1 || size * count != result[d]) return false;
    if (count > 1) before.push_back(1), after.push_back(count);
    if (count > 1 && size == 1) continue;
    before.push_back(size);
    after.push_back(size);
  }
  const ValueId view = ones.kept(rewriter, node, rewriter.emit_view(node, self, before));
  rewriter.replace(node.outputs[0], rewriter.emit_view(node, rewriter.emit_expand(node, view, after), result));
  return true;
}

bool grid(Rewriter& rewriter, const Node& node) {
  const auto* vectors = tensors_argument(node, "tensors");
  if (!node.target.starts_with("aten::meshgrid") || !vectors || vectors->size() != node.outputs.size())
    return false;
  const bool swapped = string_argument(node, "indexing") == "xy" && vectors->size() > 1;
  if (std::any_of(vectors->begin(), vectors->end(), [](const Tensor& t) { return t.id < 0; })) return false;
  for (std::size_t k = 0; k < vectors->size(); ++k) {
    if (node.outputs[k] < 0) continue;
    const Sizes sizes = rewriter.value(node.outputs[k]).sizes;
    const std::size_t own = swapped && k < 2 ? 1 - k : k;
    Sizes alone(sizes.size(), 1);
    alone.at(own) = sizes.at(own);
    rewriter.replace(node.outputs[k], rewriter.emit_expand(node, rewriter.emit_view(node, (*vectors)[k].id, alone), sizes));
  }
  return true;
}

}  // namespace

Model repeats(Model model) {
  const LiteralOnes ones(model);
  return rewrite(std::move(model), [&](Rewriter& rewriter, Node& node) {
    if (grid(rewriter, node)) return true;
    if (node.outputs.size() != 1 || node.outputs[0] < 0) return false;
    if (tile(rewriter, node, ones)) return true;
    Repeat repeat = by_interleaving(rewriter, node);
    if (repeat.self < 0) repeat = by_index(rewriter, node);
    if (repeat.self < 0 || repeat.count < 1) return false;
    Sizes sizes = rewriter.value(repeat.self).sizes;
    const Sizes result = rewriter.value(node.outputs[0]).sizes;
    const auto dim = static_cast<std::size_t>(repeat.dim);
    if (dim >= sizes.size() || result.size() != sizes.size() || result[dim] % repeat.count != 0) return false;
    Sizes expected = result;
    expected[dim] /= repeat.count;
    if (sizes != expected) return false;
    sizes.insert(sizes.begin() + repeat.dim + 1, 1);
    ValueId now = rewriter.emit_view(node, repeat.self, sizes);
    sizes[dim + 1] = repeat.count;
    rewriter.replace(node.outputs[0], rewriter.emit_view(node, rewriter.emit_expand(node, now, sizes), result));
    return true;
  });
}

}  // namespace planscope
