#include "engine/program/build/work.h"

namespace planscope::build {

// Tensors of equal parts and type are converted alike, but for the gradients of parameters, which go in buckets.
const std::optional<ConversionPath>& Work::path(TensorId t, PlaceId place, LayoutId from, LayoutId to) {
  const DType type = g.model->values[static_cast<std::size_t>(t)].dtype;
  const bool parameter = kind(t) == ValueKind::parameter;
  const std::vector<std::vector<ClassId>>& dims = g.tensors[static_cast<std::size_t>(t)].dims;
  const auto known = paths_.find(std::tie(dims, type, parameter, place, from, to));
  if (known != paths_.end()) return known->second;
  const Layout a = p.layouts[static_cast<std::size_t>(from)], b = p.layouts[static_cast<std::size_t>(to)];
  return paths_
      .emplace(std::tuple(dims, type, parameter, place, from, to), cheapest_conversion({g, p, cluster, t, place}, a, b))
      .first->second;
}

// So they cross, and alike between places that lie alike.
const Crossing& Work::crossing(TensorId t, PlaceId from, const std::vector<CrossingEnd>& held, PlaceId to,
                               const std::vector<CrossingEnd>& read, const CrossingPair& usual) {
  const DType type = g.model->values[static_cast<std::size_t>(t)].dtype;
  const auto& dims = g.tensors[static_cast<std::size_t>(t)].dims;
  const auto [a, b] =
      alike_pairs(p, p.places[static_cast<std::size_t>(from)], p.places[static_cast<std::size_t>(to)]).front();
  const auto [it, fresh] = crossings_.try_emplace(
      std::tuple(dims, type, std::pair(a.grid, a.fixed), std::pair(b.grid, b.fixed), held, read, usual));
  if (fresh) it->second = crossings({g, p, cluster, t, from, to}, held, read, usual, 1).front();
  return it->second;
}

const std::vector<Move>* conversion(Work& w, TensorId t, PlaceId place, LayoutId from, LayoutId to) {
  static const std::vector<Move> none;
  if (from == to) return &none;
  const std::optional<ConversionPath>& path = w.path(t, place, from, to);
  return path ? &path->moves : nullptr;
}

double conversion_cost(Work& w, TensorId t, PlaceId place, LayoutId from, LayoutId to) {
  if (from == to) return 0;
  const std::optional<ConversionPath>& path = w.path(t, place, from, to);
  return path ? path->cost : 1e18;
}

}  // namespace planscope::build
