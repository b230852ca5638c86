// Look-ups and writes by index tensors: the indexed dimensions are whole, the others free.
#include <algorithm>

#include "engine/graph/draft.h"

namespace planscope {

namespace {

bool same_size(RuleContext& c, int a, int b) {
  return c.sizes(c.draft.inputs[static_cast<std::size_t>(a)].tensor) ==
         c.sizes(c.draft.inputs[static_cast<std::size_t>(b)].tensor);
}

// index.Tensor with integer indices of equal rank (broadcast against each other) on neighbouring dimensions.
bool index(RuleContext& c) {
  const Argument* a = c.argument("indices");
  const auto* list = a ? std::get_if<std::vector<Tensor>>(a) : nullptr;
  if (!list) return false;
  int first = -1, last = -1, rank = 0;
  for (int d = 0; d < static_cast<int>(list->size()); ++d) {
    const ValueId id = (*list)[static_cast<std::size_t>(d)].id;
    if (id < 0) continue;
    if (c.model.values[static_cast<std::size_t>(id)].dtype == DType::boolean) return false;
    if (first < 0)
      first = d;
    else if (d != last + 1)
      return false;
    last = d;
    rank = std::max(rank, static_cast<int>(c.sizes(id).size()));
  }
  if (first < 0) return false;
  const int self = c.input("self");
  const int self_rank = static_cast<int>(c.draft.inputs[static_cast<std::size_t>(self)].dims.size());
  std::vector<int> out;
  for (int d = 0; d < first; ++d) {
    out.push_back(c.factor("", FactorKind::free, c.parts_of(self, d)));
    c.tie(self, d, out.back());
  }
  for (int r = 0; r < rank; ++r) {
    std::vector<std::pair<int, int>> operands;
    for (int d = first; d <= last; ++d) {
      const int i = c.input("indices", d);
      const AskedSizes s = c.sizes(c.draft.inputs[static_cast<std::size_t>(i)].tensor);
      if (const int own = r - (rank - static_cast<int>(s.size())); own >= 0) operands.emplace_back(i, own);
    }
    const int f = c.factor("", FactorKind::free, c.broadcast_parts(operands));
    for (const auto& [i, own] : operands)
      if (!c.tie_or_broadcast(i, own, f)) return false;
    out.push_back(f);
  }
  for (int d = first; d <= last; ++d)
    c.tie(self, d, c.factor("", FactorKind::frozen, c.parts_of(self, d), "looked up by index"));
  for (int d = last + 1; d < self_rank; ++d) {
    out.push_back(c.factor("", FactorKind::free, c.parts_of(self, d)));
    c.tie(self, d, out.back());
  }
  c.begin_outputs();
  for (const int f : out) c.output_dim(0, f);
  for (std::size_t i = 1; i < c.draft.inputs.size(); ++i) c.draft.saves.push_back(static_cast<int>(i));
  c.draft.linear.push_back({self});
  return c.draft.outputs[0].dims.size() == c.output_sizes().size();
}

// gather, scatter: self, index (and src) of one rank; `dim` whole, other dimensions free where the sizes are equal.
bool gather(RuleContext& c) {
  const int dim = static_cast<int>(c.integer("dim"));
  const int self = c.input("self"), idx = c.input("index"), src = c.input("src");
  if (self < 0 || idx < 0) return false;
  const bool gathers = c.node.target == "aten::gather";
  const AskedSizes ss = c.sizes(c.draft.inputs[static_cast<std::size_t>(self)].tensor);
  const AskedSizes is = c.sizes(c.draft.inputs[static_cast<std::size_t>(idx)].tensor);
  if (ss.size() != is.size() || (src >= 0 && !same_size(c, src, idx))) return false;
  c.begin_outputs();
  for (int d = 0; d < static_cast<int>(ss.size()); ++d) {
    const bool free = d != dim && ss[static_cast<std::size_t>(d)] == is[static_cast<std::size_t>(d)];
    const FactorKind kind = free ? FactorKind::free : FactorKind::frozen;
    const std::string why = free ? "" : "looked up by index";
    const int f = c.factor("", kind, c.parts_of(self, d), why);
    c.tie(self, d, f);
    const int g = free ? f : c.factor("", kind, c.parts_of(idx, d), why);
    if (!c.tie(idx, d, g)) return false;
    if (src >= 0 && !c.tie(src, d, g)) return false;
    c.output_dim(0, gathers ? g : f);
  }
  c.draft.saves = {idx};
  if (gathers) {
    c.draft.linear.push_back({self});
    c.draft.saves.push_back(self);
  }
  return true;
}

bool index_select(RuleContext& c) {
  const int dim = static_cast<int>(c.integer("dim"));
  const int self = c.input("self"), idx = c.input("index");
  if (self < 0 || idx < 0) return false;
  c.begin_outputs();
  for (int d = 0; d < static_cast<int>(c.draft.inputs[static_cast<std::size_t>(self)].dims.size()); ++d) {
    const bool fixed = d == dim;
    const int f = c.factor("", fixed ? FactorKind::frozen : FactorKind::free, c.parts_of(self, d),
                           fixed ? "looked up by index" : "");
    c.tie(self, d, f);
    if (!fixed) {
      c.output_dim(0, f);
      continue;
    }
    const int n =
        c.factor("", FactorKind::free,
                 c.draft.inputs[static_cast<std::size_t>(idx)].dims.empty() ? std::vector<int>{} : c.parts_of(idx, 0));
    if (!c.draft.inputs[static_cast<std::size_t>(idx)].dims.empty()) c.tie(idx, 0, n);
    c.output_dim(0, n);
  }
  c.draft.saves = {idx};
  c.draft.linear.push_back({self});
  return true;
}

// index_put by integer indices of rank 1 on neighbouring dimensions: they are whole, and so is what is written there.
bool index_put(RuleContext& c) {
  const Argument* a = c.argument("indices");
  const auto* list = a ? std::get_if<std::vector<Tensor>>(a) : nullptr;
  const int self = c.input("self"), values = c.input("values");
  if (!list || self < 0 || values < 0) return false;
  const std::string reason = "written by index";
  const int self_rank = static_cast<int>(c.draft.inputs[static_cast<std::size_t>(self)].dims.size());
  int first = -1, last = -1;
  for (int d = 0; d < static_cast<int>(list->size()); ++d) {
    const ValueId id = (*list)[static_cast<std::size_t>(d)].id;
    if (id < 0) continue;
    if (c.model.values[static_cast<std::size_t>(id)].dtype == DType::boolean || c.sizes(id).size() != 1) return false;
    if (first >= 0 && d != last + 1) return false;
    first = first < 0 ? d : first;
    last = d;
    const int i = c.input("indices", d);
    c.tie(i, 0, c.factor("", FactorKind::frozen, c.parts_of(i, 0), reason));
  }
  if (first < 0) return false;
  // The values are broadcast to self's sizes with one dimension in place of the indexed ones.
  const AskedSizes value_sizes = c.sizes(c.draft.inputs[static_cast<std::size_t>(values)].tensor);
  const int value_rank = static_cast<int>(value_sizes.size()), written_rank = self_rank - (last - first);
  if (value_rank > written_rank) return false;
  c.begin_outputs();
  for (int d = 0; d < self_rank; ++d) {
    const bool fixed = d >= first && d <= last;
    const int f = c.factor("", fixed ? FactorKind::frozen : FactorKind::free, c.parts_of(self, d), fixed ? reason : "");
    c.tie(self, d, f);
    c.output_dim(0, f);
    const int own = (d <= first ? d : d - (last - first)) - (written_rank - value_rank);
    if (own < 0 || (fixed && d != first)) continue;
    if (fixed)
      c.tie(values, own, c.factor("", FactorKind::frozen, c.parts_of(values, own), reason));
    else if (!c.tie_or_broadcast(values, own, f))
      return false;
  }
  for (std::size_t i = 0; i < list->size(); ++i)
    if ((*list)[i].id >= 0) c.draft.saves.push_back(c.input("indices", static_cast<int>(i)));
  c.draft.linear.push_back({self, values});
  return true;
}

// What is reduced is read again by backward.
bool keeps_all(RuleContext& c) {
  c.draft.saves = {-1};
  for (std::size_t i = 0; i < c.draft.inputs.size(); ++i) c.draft.saves.push_back(static_cast<int>(i));
  return true;
}

// index_add, index_copy, index_fill: the indexed dimension is whole, and so is what is written there.
bool index_write(RuleContext& c) {
  const int dim = static_cast<int>(c.integer("dim"));
  const int self = c.input("self"), idx = c.input("index"), source = c.input("source");
  if (self < 0 || idx < 0 || c.draft.inputs.size() != (source < 0 ? 2u : 3u)) return false;
  const std::string reason = "written by index";
  const auto rank = c.draft.inputs[static_cast<std::size_t>(self)].dims.size();
  if (source >= 0 && c.draft.inputs[static_cast<std::size_t>(source)].dims.size() != rank) return false;
  for (std::size_t d = 0; d < c.draft.inputs[static_cast<std::size_t>(idx)].dims.size(); ++d)
    c.tie(idx, static_cast<int>(d), c.factor("", FactorKind::frozen, c.parts_of(idx, static_cast<int>(d)), reason));
  c.begin_outputs();
  for (int d = 0; d < static_cast<int>(rank); ++d) {
    const bool fixed = d == dim;
    const int f = c.factor("", fixed ? FactorKind::frozen : FactorKind::free, c.parts_of(self, d), fixed ? reason : "");
    c.tie(self, d, f);
    c.output_dim(0, f);
    if (source < 0) continue;
    if (!c.tie(source, d, fixed ? c.factor("", FactorKind::frozen, c.parts_of(source, d), reason) : f)) return false;
  }
  c.draft.saves = {idx};
  if (source >= 0) c.draft.linear.push_back({self, source});
  return true;
}

// masked_scatter: which element goes where depends on all of the mask in front of it.
bool masked_scatter(RuleContext& c) {
  const int self = c.input("self"), mask = c.input("mask"), source = c.input("source");
  if (self < 0 || mask < 0 || source < 0) return false;
  const auto out = c.output_sizes();
  const std::string reason = "rows are taken in the mask's order";
  std::vector<int> factors;
  for (int d = 0; d < static_cast<int>(out.size()); ++d) {
    int made = -1;
    for (const int i : {self, mask}) {
      const auto sizes = c.sizes(c.draft.inputs[static_cast<std::size_t>(i)].tensor);
      const int own = d - static_cast<int>(out.size() - sizes.size());
      if (own < 0) continue;
      if (sizes[static_cast<std::size_t>(own)] != out[static_cast<std::size_t>(d)]) {
        c.untied(i, own);
        continue;
      }
      if (made < 0) made = c.factor("", FactorKind::frozen, c.parts_of(i, own), reason);
      if (!c.tie(i, own, made)) return false;
    }
    if (made < 0) return false;
    factors.push_back(made);
  }
  for (int d = 0; d < static_cast<int>(c.draft.inputs[static_cast<std::size_t>(source)].dims.size()); ++d)
    c.tie(source, d, c.factor("", FactorKind::frozen, c.parts_of(source, d), reason));
  c.begin_outputs();
  for (const int f : factors) c.output_dim(0, f);
  c.draft.saves = {mask};
  c.draft.linear.push_back({self, source});
  return true;
}

}  // namespace

bool apply_index_family(RuleContext& c) {
  const std::string& t = c.node.target;
  bool done = false;
  c.any("accumulate value alpha reduce include_self");  // not sparse_grad
  if (t == "aten::index.Tensor")
    done = index(c);
  else if (t == "aten::gather" || t == "aten::scatter.src" || t == "aten::scatter.value" || t == "aten::scatter_add")
    done = gather(c);
  else if (t == "aten::index_put")
    done = index_put(c);
  else if (t == "aten::index_select")
    done = index_select(c);
  else if (t == "aten::index_add" || t == "aten::index_copy" || t == "aten::index_fill.int_Scalar")
    done = index_write(c);
  else if (t == "aten::masked_scatter")
    done = masked_scatter(c);
  else if (t == "aten::scatter_reduce.two" && gather(c))
    done = keeps_all(c);
  if (done) c.draft.rule = t.substr(6);
  return done;
}

}  // namespace planscope
