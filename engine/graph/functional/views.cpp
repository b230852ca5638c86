#include "engine/graph/functional/views.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string_view>

#include "engine/graph/arguments.h"

namespace planscope {
namespace {

using Dims = std::vector<std::int64_t>;

Dims identity(std::size_t rank) {
  Dims dims(rank);
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

std::optional<Dims> swapped(const Node& node, std::size_t rank, std::string_view first, std::string_view second) {
  auto a = int_argument(node, first), b = int_argument(node, second);
  if (!a || !b) return std::nullopt;
  a = wrap_dim(*a, rank), b = wrap_dim(*b, rank);
  if (!a || !b) return std::nullopt;
  Dims dims = identity(rank);
  if (rank > 0) std::swap(dims[static_cast<std::size_t>(*a)], dims[static_cast<std::size_t>(*b)]);
  return dims;
}

std::optional<Dims> wrapped(Dims dims, std::size_t rank) {
  std::set<std::int64_t> seen;
  for (std::int64_t& dim : dims) {
    auto plain = wrap_dim(dim, rank);
    if (!plain || !seen.insert(*plain).second) return std::nullopt;
    dim = *plain;
  }
  return dims;
}

std::optional<Dims> moved(const Dims& sources, const Dims& targets, std::size_t rank) {
  auto from = wrapped(sources, rank), to = wrapped(targets, rank);
  if (!from || !to || from->size() != to->size()) return std::nullopt;
  Dims dims(rank, -1);
  for (std::size_t i = 0; i < from->size(); ++i) dims[static_cast<std::size_t>((*to)[i])] = (*from)[i];
  std::int64_t next = 0;
  for (std::int64_t& dim : dims) {
    if (dim >= 0) continue;
    while (std::count(from->begin(), from->end(), next)) ++next;
    dim = next++;
  }
  return dims;
}

Dims listed(const Node& node, std::string_view name) {
  if (const Dims* dims = ints_argument(node, name)) return *dims;
  if (auto dim = int_argument(node, name)) return {*dim};
  return {};
}

}  // namespace

std::optional<std::int64_t> wrap_dim(std::int64_t dim, std::size_t rank) {
  auto limit = static_cast<std::int64_t>(std::max<std::size_t>(rank, 1));
  if (dim < -limit || dim >= limit) return std::nullopt;
  return dim < 0 ? dim + limit : dim;
}

bool conjugates(const Node& node) {
  return node.target == "aten::matrix_H" || node.target == "aten::mH" || node.target == "aten::adjoint";
}

std::optional<Dims> permutation_of(const Node& node, std::size_t rank) {
  const std::string& target = node.target;
  if (target == "aten::transpose.int") return swapped(node, rank, "dim0", "dim1");
  if (target == "aten::swapaxes") return swapped(node, rank, "axis0", "axis1");
  if (target == "aten::swapdims") return swapped(node, rank, "dim0", "dim1");
  if (target == "aten::permute") {
    auto dims = wrapped(listed(node, "dims"), rank);
    return dims && dims->size() == rank ? dims : std::nullopt;
  }
  if (target.starts_with("aten::movedim")) return moved(listed(node, "source"), listed(node, "destination"), rank);
  if (target.starts_with("aten::moveaxis")) return moved(listed(node, "source"), listed(node, "destination"), rank);
  Dims dims = identity(rank);
  if (target == "aten::numpy_T" || (target == "aten::t" && rank <= 2)) {
    std::reverse(dims.begin(), dims.end());
    return dims;
  }
  if ((target == "aten::mT" || conjugates(node)) && rank >= 2) {
    std::swap(dims[rank - 1], dims[rank - 2]);
    return dims;
  }
  return std::nullopt;
}

Dims inverse(const Dims& permutation) {
  Dims result(permutation.size());
  for (std::size_t i = 0; i < permutation.size(); ++i)
    result[static_cast<std::size_t>(permutation[i])] = static_cast<std::int64_t>(i);
  return result;
}

bool is_reshape(const Node& node) {
  static const std::set<std::string_view> targets = {
      "aten::view",           "aten::reshape",    "aten::_unsafe_view",
      "aten::view_as",        "aten::reshape_as", "aten::flatten.using_ints",
      "aten::unflatten.int",  "aten::squeeze",    "aten::squeeze.dim",
      "aten::squeeze.dims",   "aten::unsqueeze",  "aten::ravel",
      "aten::_reshape_alias", "aten::atleast_1d", "aten::atleast_2d"};
  return targets.contains(node.target);
}

bool can_view(const Dims& sizes, const Dims& strides, const Dims& result) {
  std::int64_t next = static_cast<std::int64_t>(result.size()) - 1;  // dimension of `result` to be filled
  if (element_count(sizes) == 0) return true;
  std::int64_t run = 1, filled = 1, base = strides.empty() ? 1 : strides.back();
  for (std::size_t dim = sizes.size(); dim-- > 0;) {
    run *= sizes[dim];
    std::int64_t step = 0;
    bool overflows = __builtin_mul_overflow(run, base, &step);
    bool ends = dim == 0 || (sizes[dim - 1] != 1 && (overflows || strides[dim - 1] != step));
    if (!ends) continue;
    while (next >= 0 && (filled < run || result[static_cast<std::size_t>(next)] == 1))
      filled *= result[static_cast<std::size_t>(next--)];
    if (filled != run) return false;
    if (dim > 0) base = strides[dim - 1];
    run = filled = 1;
  }
  return std::all_of(result.begin(), result.begin() + (next + 1), [](std::int64_t size) { return size == 1; });
}

std::optional<Slice> slice_of(const Node& node, std::int64_t size) {
  auto wrapped_end = [&](std::int64_t index) {
    return std::clamp<std::int64_t>(index < 0 ? index + size : index, 0, size);
  };
  Slice slice{0, size, 1};
  if (node.target == "aten::narrow") {
    auto start = int_argument(node, "start"), length = int_argument(node, "length");
    if (!start || !length) return std::nullopt;
    slice.start = *start < 0 ? *start + size : *start;
    if (slice.start < 0 || *length < 0 || slice.start > size || *length > size - slice.start) return std::nullopt;
    slice.end = slice.start + *length;
    return slice;
  }
  slice.step = int_argument(node, "step").value_or(1);
  if (slice.step < 1) return std::nullopt;
  if (auto start = int_argument(node, "start")) slice.start = wrapped_end(*start);
  if (auto end = int_argument(node, "end")) slice.end = wrapped_end(*end);
  slice.end = std::max(slice.start, slice.end);
  return slice;
}

}  // namespace planscope
