// Operators that move elements: views, permutations, broadcasts, selections, joins. All are linear and save nothing.
#include <algorithm>
#include <numeric>

#include "engine/graph/batch_of_one.h"
#include "engine/graph/draft.h"

namespace planscope {

namespace {

std::int64_t product(const std::vector<std::int64_t>& v) {
  return std::accumulate(v.begin(), v.end(), std::int64_t{1}, std::multiplies<>());
}

// Ties every dimension but `except` of input i to a factor of its own; returns the factors (-1 at `except`).
std::vector<int> tie_all_but(RuleContext& c, int i, int except) {
  std::vector<int> factors;
  const int rank = static_cast<int>(c.draft.inputs[static_cast<std::size_t>(i)].dims.size());
  for (int d = 0; d < rank; ++d) {
    if (d == except) {
      factors.push_back(-1);
      continue;
    }
    const int f = c.factor("", FactorKind::free, c.parts_of(i, d));
    c.tie(i, d, f);
    factors.push_back(f);
  }
  return factors;
}

// How many elements of the input stand behind part k of its dimension d, to the end of that dimension, or of the next one that has
// more than one.
std::int64_t right_of(RuleContext& c, std::size_t d, std::size_t k, const AskedSizes& sizes) {
  const std::vector<int> leaves = c.parts.leaves(c.parts_of(0, static_cast<int>(d)));
  std::int64_t right = 1;
  for (++k; k < leaves.size(); ++k) right *= c.parts.size(leaves[k]);
  for (++d; right == 1 && d < sizes.size(); ++d) right = sizes[d];
  return right;
}

// Size-1 parts of the input that a view carries over. The sizes do not say which dimension of the output takes one that stands between
// two: an output dimension of size 1 in its place does; else the one on the right, where that is part of a dimension of the input
// ([tokens, batch, features] as [tokens, batch * heads, features of a head]) or is one that another one follows ([tokens, batch, heads,
// features of a head] as [tokens, batch * heads, features of a head]); else the one on the left (either as [tokens * batch, features]).
void carry_units(RuleContext& c, const std::vector<std::int64_t>& out_sizes, std::vector<std::vector<int>>& out) {
  const AskedSizes in_sizes = c.sizes(c.draft.inputs[0].tensor);
  std::int64_t left = 1;
  for (std::size_t d = 0; d < in_sizes.size(); ++d) {
    const std::vector<int> leaves = c.parts.leaves(c.parts_of(0, static_cast<int>(d)));
    for (std::size_t k = 0; k < leaves.size(); ++k) {
      left *= c.parts.size(leaves[k]);
      if (c.parts.size(leaves[k]) != 1) continue;
      std::size_t o = 0;  // the dimension that the unit stands in or in front of
      std::int64_t out_left = 1;
      const auto passes = [&] {
        return out_left * out_sizes[o] <= left && (out_sizes[o] != 1 || out_left != left || !out[o].empty());
      };
      for (; o < out_sizes.size() && passes(); ++o) out_left *= out_sizes[o];
      if (out_left != left) {
        std::vector<int> parts = c.parts.leaves(out[o]);
        auto at = parts.begin();
        while (at != parts.end() && out_left < left) out_left *= c.parts.size(*at++);
        parts.insert(at, leaves[k]);
        out[o] = std::move(parts);
        continue;
      }
      const bool last = o + 1 >= out_sizes.size();
      const std::int64_t right = right_of(c, d, k, in_sizes);
      if (o < out_sizes.size() &&
          (o == 0 || out[o].empty() || out_sizes[o] < right || (out_sizes[o] == right && !last)))
        out[o].insert(out[o].begin(), leaves[k]);
      else if (o > 0)
        out[o - 1].push_back(leaves[k]);
    }
  }
}

bool view(RuleContext& c) {
  const AskedSizes out_sizes = c.output_sizes();
  const TensorId in = c.draft.inputs[0].tensor;
  if (product(c.sizes(in)) != product(out_sizes)) return false;
  std::vector<std::vector<int>> out;
  std::vector<int> in_flat, out_flat;
  for (const std::int64_t s : out_sizes) out.push_back(c.fresh(s));
  for (std::size_t d = 0; d < c.sizes(in).size(); ++d) {
    const auto& p = c.parts_of(0, static_cast<int>(d));
    in_flat.insert(in_flat.end(), p.begin(), p.end());
  }
  for (const auto& p : out) out_flat.insert(out_flat.end(), p.begin(), p.end());
  if (!c.agree(in_flat, out_flat)) return false;
  carry_units(c, out_sizes, out);
  c.draft.leafwise = true;
  const int f = c.factor("", FactorKind::free, in_flat);
  int k = 0;
  for (std::size_t d = 0; d < c.sizes(in).size(); ++d)
    for (std::size_t p = 0; p < c.parts_of(0, static_cast<int>(d)).size(); ++p)
      c.draft.inputs[0].dims[d].push_back({f, k++});
  c.begin_outputs();
  for (const auto& nodes : out) {
    std::vector<DraftRef> refs;
    for (const int n : nodes) refs.push_back({-1, n});  // found again by class when the draft is finished
    c.draft.outputs[0].dims.push_back(refs);
  }
  c.draft.shard = ShardForm::output_sizes;
  return true;
}

bool permute(RuleContext& c) {
  const std::vector<int> f = tie_all_but(c, 0, -1);
  c.begin_outputs();
  for (const std::int64_t d : c.integers("dims")) {
    if (d < 0 || d >= static_cast<std::int64_t>(f.size())) return false;
    c.output_dim(0, f[static_cast<std::size_t>(d)]);
  }
  return c.draft.outputs[0].dims.size() == f.size();
}

// Parts of size 1 of the tensor whose sizes the result has (Node::like), if it has any in this dimension.
const std::vector<int>* follows(const RuleContext& c, int dim) {
  if (c.node.like < 0) return nullptr;
  const auto& dims = c.dims[static_cast<std::size_t>(c.node.like)];
  if (static_cast<std::size_t>(dim) >= dims.size()) return nullptr;
  const std::vector<int>& own = dims[static_cast<std::size_t>(dim)];
  return own.empty() || c.total(own) != 1 ? nullptr : &own;
}

bool expand(RuleContext& c) {
  const AskedSizes in = c.sizes(c.draft.inputs[0].tensor);
  const AskedSizes out = c.output_sizes();
  const int lead = static_cast<int>(out.size()) - static_cast<int>(in.size());
  if (lead < 0) return false;
  // A 1 that is named where nothing is expanded, or a new first 1, may be a batch that is 1 in the file (canonical/literal_ones.h).
  const bool may_be_batch = c.node.like < 0 && batch_of_one(c.model);
  const std::vector<std::int64_t> named = in == out ? c.integers("size") : std::vector<std::int64_t>{lead > 0 ? 1 : -1};
  const auto to_batch = [&](int d) {
    const auto k = static_cast<std::size_t>(d);
    return may_be_batch && k < named.size() && named[k] == 1 && out[k] == 1;
  };
  std::vector<int> factors;
  for (int d = 0; d < static_cast<int>(out.size()); ++d) {
    const int own = d - lead;
    bool same = own >= 0 && in[static_cast<std::size_t>(own)] == out[static_cast<std::size_t>(d)];
    if (const std::vector<int>* like = follows(c, d); same && like && c.total(c.parts_of(0, own)) == 1) {
      c.untied(0, own);
      factors.push_back(c.factor("", FactorKind::free, *like));
      continue;
    }
    if (to_batch(d)) {
      if (own >= 0) c.untied(0, own);
      factors.push_back(c.factor("", FactorKind::free, std::vector<int>{c.parts.make(1, true)}));
      continue;
    }
    const int f = c.factor("", FactorKind::free, same ? c.parts_of(0, own) : c.fresh(out[static_cast<std::size_t>(d)]));
    if (own >= 0 && same) c.tie(0, own, f);
    if (own >= 0 && !same) c.untied(0, own);
    factors.push_back(f);
  }
  c.begin_outputs();
  for (const int f : factors) c.output_dim(0, f);
  c.draft.shard = ShardForm::output_sizes;
  return true;
}

// Of a table that the file holds, as one of positions, as many rows are taken as something else has: `positions[:, :T]`.
bool takes_first_rows(const RuleContext& c, std::int64_t start, std::int64_t step, bool to_end) {
  const ValueKind kind = c.model.values[static_cast<std::size_t>(c.draft.inputs[0].tensor)].kind;
  return (kind == ValueKind::buffer || kind == ValueKind::constant) && start == 0 && step == 1 && !to_end &&
         c.node.like < 0;
}

// [k x n] -> n where the piece is a whole one of k equal ones; else the dimension is frozen.
bool slice(RuleContext& c) {
  const int dim = static_cast<int>(c.integer("dim"));
  const std::int64_t start = c.integer("start"), step = c.integer("step", 1);
  const std::int64_t size = c.sizes(c.draft.inputs[0].tensor)[static_cast<std::size_t>(dim)];
  const std::int64_t length = c.output_sizes()[static_cast<std::size_t>(dim)];
  const std::vector<int> f = tie_all_but(c, 0, dim);
  int out_factor = -1;
  const bool to_end = start + length * step >= size, counted_from_end = c.node.like >= 0;
  // One element is no piece of a size that may change, unless it may be all that `x[7:]` has of 8.
  const bool follows_others = takes_first_rows(c, start, step, to_end);
  const bool piece = !follows_others && !counted_from_end && (length > 1 || (start > 0 && to_end));
  if (piece && step == 1 && length > 0 && size % length == 0 && start % length == 0 && size / length <= 8) {
    const std::vector<int> elements = c.fresh(length), pieces = c.fresh(size / length);
    std::vector<int> both = pieces;
    both.insert(both.end(), elements.begin(), elements.end());
    if (!c.agree(c.parts_of(0, dim), both)) return false;
    const int k = c.factor("", FactorKind::frozen, pieces, "a slice takes one of its pieces");
    c.counted(k);
    out_factor = c.factor("", FactorKind::free, elements);
    auto& refs = c.draft.inputs[0].dims[static_cast<std::size_t>(dim)];
    if (!pieces.empty()) refs.push_back({k, 0});
    if (!elements.empty()) refs.push_back({out_factor, 0});
  } else {
    const int in_factor = c.factor("", FactorKind::frozen, c.parts_of(0, dim), "a slice crosses blocks");
    c.tie(0, dim, in_factor);
    const std::vector<int> out = c.fresh(length);
    out_factor = c.factor("", FactorKind::frozen, out, "a slice crosses blocks");
    // As many of the last ones at any size, or of the first ones. What ends nearer to the end is taken to be counted from
    // there; where the file does not say so, whoever changes the size is told (counted_literals.h).
    const bool last = counted_from_end && to_end, first = !counted_from_end && !to_end && 2 * (start + length) < size;
    if (!follows_others && (last || (first && step == 1)))
      c.relate(out, {}, length);
    else if (!follows_others && step == 1)
      c.relate(out, {c.parts_of(0, dim)}, length - size);
  }
  c.begin_outputs();
  for (int d = 0; d < static_cast<int>(f.size()); ++d)
    c.output_dim(0, d == dim ? out_factor : f[static_cast<std::size_t>(d)]);
  return true;
}

bool select(RuleContext& c) {
  const int dim = static_cast<int>(c.integer("dim"));
  const std::vector<int> f = tie_all_but(c, 0, dim);
  const int taken = c.factor("", FactorKind::frozen, c.parts_of(0, dim), "one element is selected");
  c.tie(0, dim, taken);
  if (c.node.target == "aten::unbind.int") c.counted(taken);
  c.begin_outputs();
  for (std::size_t o = 0; o < c.node.outputs.size(); ++o)
    for (int d = 0; d < static_cast<int>(f.size()); ++d)
      if (d != dim) c.output_dim(static_cast<int>(o), f[static_cast<std::size_t>(d)]);
  return true;
}

bool split(RuleContext& c) {
  const int dim = static_cast<int>(c.integer("dim"));
  const std::vector<std::int64_t> sizes = c.integers("split_sizes");
  if (sizes.size() != c.node.outputs.size() || sizes.empty()) return false;
  const std::vector<int> f = tie_all_but(c, 0, dim);
  const bool equal = std::all_of(sizes.begin(), sizes.end(), [&](std::int64_t s) { return s == sizes[0]; });
  std::vector<int> out_factors;
  if (equal) {
    const std::vector<int> pieces = c.fresh(static_cast<std::int64_t>(sizes.size())), piece = c.fresh(sizes[0]);
    std::vector<int> both = pieces;
    both.insert(both.end(), piece.begin(), piece.end());
    if (!c.agree(c.parts_of(0, dim), both)) return false;
    const int k = c.factor("", FactorKind::frozen, pieces, "it is split into its pieces");
    c.counted(k);
    const int p = c.factor("", FactorKind::free, piece);
    auto& refs = c.draft.inputs[0].dims[static_cast<std::size_t>(dim)];
    if (!pieces.empty()) refs.push_back({k, 0});
    if (!piece.empty()) refs.push_back({p, 0});
    out_factors.assign(sizes.size(), p);
  } else {
    c.tie(0, dim, c.factor("", FactorKind::frozen, c.parts_of(0, dim), "pieces of different sizes"));
    for (const std::int64_t s : sizes)
      out_factors.push_back(c.factor("", FactorKind::frozen, c.fresh(s), "pieces of different sizes"));
  }
  c.begin_outputs();
  for (std::size_t o = 0; o < sizes.size(); ++o)
    for (int d = 0; d < static_cast<int>(f.size()); ++d)
      c.output_dim(static_cast<int>(o), d == dim ? out_factors[o] : f[static_cast<std::size_t>(d)]);
  return true;
}

// cat of equal pieces along `dim` makes the parts [k x n]; stack makes a new dimension.
bool join(RuleContext& c, bool stack) {
  Draft& d = c.draft;
  if (d.inputs.empty()) return false;
  const int dim = static_cast<int>(c.integer("dim"));
  const std::int64_t count = static_cast<std::int64_t>(d.inputs.size());
  const AskedSizes first = c.sizes(d.inputs[0].tensor);
  const int rank = static_cast<int>(first.size());
  bool equal = true;
  for (const DraftOperand& o : d.inputs) {
    if (c.sizes(o.tensor).size() != first.size()) return false;
    if (!stack)
      equal = equal && c.sizes(o.tensor)[static_cast<std::size_t>(dim)] == first[static_cast<std::size_t>(dim)];
  }
  std::vector<int> out;
  const auto common = [&](int own) {
    std::size_t first_parts = 0;  // a size of 1 may have none
    while (first_parts + 1 < d.inputs.size() && c.parts_of(static_cast<int>(first_parts), own).empty()) ++first_parts;
    const int f = c.factor("", FactorKind::free, c.parts_of(static_cast<int>(first_parts), own));
    for (std::size_t i = 0; i < d.inputs.size(); ++i)
      if (!c.tie(static_cast<int>(i), own, f)) return -1;
    return f;
  };
  c.begin_outputs();
  for (int o = 0; o < static_cast<int>(c.output_sizes().size()); ++o) {
    const int own = stack && o > dim ? o - 1 : o;
    if (o != dim) {
      if (own >= rank) return false;
      const int f = common(own);
      if (f < 0) return false;
      c.output_dim(0, f);
    } else if (stack) {
      const int k = c.factor("", FactorKind::frozen, c.fresh(count), "tensors are stacked");
      c.counted(k);
      c.output_dim(0, k);
    } else if (equal) {
      const int f = common(dim);
      if (f < 0) return false;
      const int k = c.factor("", FactorKind::frozen, c.fresh(count), "tensors are joined");
      c.counted(k);
      c.output_dim(0, k);
      auto& refs = d.outputs[0].dims.back();
      for (std::size_t p = 0; p < d.factors[static_cast<std::size_t>(f)].nodes.size(); ++p)
        refs.push_back({f, static_cast<int>(p)});
    } else {
      std::vector<std::vector<int>> terms;
      for (std::size_t i = 0; i < d.inputs.size(); ++i) {
        terms.push_back(c.parts_of(static_cast<int>(i), dim));
        c.tie(static_cast<int>(i), dim,
              c.factor("", FactorKind::frozen, terms.back(), "tensors of different sizes are joined"));
      }
      const std::vector<int> nodes = c.fresh(c.output_sizes()[static_cast<std::size_t>(dim)]);
      c.relate(nodes, terms, 0);
      c.output_dim(0, c.factor("", FactorKind::frozen, nodes, "tensors of different sizes are joined"));
    }
  }
  return true;
}

// Dimensions in which `frozen` is set are whole; sizes there may change.
bool move_along(RuleContext& c, const std::vector<bool>& frozen, const std::string& reason) {
  const TensorId in = c.draft.inputs[0].tensor;
  const AskedSizes in_sizes = c.sizes(in);
  const AskedSizes out_sizes = c.output_sizes();
  if (in_sizes.size() != out_sizes.size()) return false;
  std::vector<int> out;
  for (std::size_t d = 0; d < in_sizes.size(); ++d) {
    const bool fixed = frozen[d];
    const int f = c.factor("", fixed ? FactorKind::frozen : FactorKind::free, c.parts_of(0, static_cast<int>(d)),
                           fixed ? reason : "");
    c.tie(0, static_cast<int>(d), f);
    if (in_sizes[d] == out_sizes[d]) {
      out.push_back(f);
      continue;
    }
    const std::vector<int> nodes = c.fresh(out_sizes[d]);
    c.relate(nodes, {c.parts_of(0, static_cast<int>(d))}, out_sizes[d] - in_sizes[d]);
    out.push_back(c.factor("", FactorKind::frozen, nodes, reason));
  }
  c.begin_outputs();
  for (const int f : out) c.output_dim(0, f);
  return true;
}

bool pad(RuleContext& c) {
  const std::vector<std::int64_t> pads = c.integers("pad");
  const std::size_t rank = c.draft.inputs[0].dims.size();
  std::vector<bool> frozen(rank, false);
  for (std::size_t k = 0; k + 1 < pads.size() && k / 2 < rank; k += 2)
    frozen[rank - 1 - k / 2] = pads[k] != 0 || pads[k + 1] != 0;
  return move_along(c, frozen, "it is padded");
}

bool listed(RuleContext& c, const char* argument, const std::string& reason) {
  const std::vector<std::int64_t> dims = c.integers(argument);
  std::vector<bool> frozen(c.draft.inputs[0].dims.size(), dims.empty());  // none: along all of them, as one
  for (const std::int64_t d : dims)
    if (d >= 0 && d < static_cast<std::int64_t>(frozen.size())) frozen[static_cast<std::size_t>(d)] = true;
  return move_along(c, frozen, reason);
}

const char* const crosses = "the diagonal crosses blocks";

bool triangle(RuleContext& c) {
  std::vector<bool> frozen(c.draft.inputs[0].dims.size(), false);
  if (frozen.size() < 2) return false;
  frozen[frozen.size() - 1] = frozen[frozen.size() - 2] = true;
  return move_along(c, frozen, crosses);
}

// A dimension that counts from the end where it is negative. -1: there is none.
int place(RuleContext& c, std::string_view argument, int rank, int otherwise) {
  const auto dim = static_cast<int>(c.integer(argument, otherwise));
  const int own = dim < 0 ? dim + rank : dim;
  return own >= 0 && own < rank ? own : -1;
}

// diagonal: the two dimensions are whole, and so is what is taken along them, the last dimension of the result. The main
// diagonal of a square matrix has the size of both.
bool diagonal(RuleContext& c) {
  const AskedSizes sizes = c.sizes(c.draft.inputs[0].tensor);
  const int rank = static_cast<int>(sizes.size());
  const int rows = place(c, "dim1", rank, 0), columns = place(c, "dim2", rank, 1);
  if (rows < 0 || columns < 0 || rows == columns || c.output_sizes().empty()) return false;
  const bool square = sizes[static_cast<std::size_t>(rows)] == sizes[static_cast<std::size_t>(columns)];
  const bool main = c.integer("offset") == 0 && square;
  if (main && !c.agree(c.parts_of(0, rows), c.parts_of(0, columns))) return false;
  c.begin_outputs();
  int taken = -1;
  for (int d = 0; d < rank; ++d) {
    const bool whole = d == rows || d == columns;
    const int f = c.factor("", whole ? FactorKind::frozen : FactorKind::free, c.parts_of(0, d), whole ? crosses : "");
    c.tie(0, d, f);
    if (!whole) c.output_dim(0, f);
    if (d == rows) taken = f;
  }
  c.output_dim(0, main ? taken : c.factor("", FactorKind::frozen, c.fresh(c.output_sizes().back()), crosses));
  return true;
}

// diag_embed: the last dimension is laid along two of the result.
bool diagonal_matrices(RuleContext& c) {
  const int rank = static_cast<int>(c.draft.inputs[0].dims.size());
  const int rows = place(c, "dim1", rank + 1, -2), columns = place(c, "dim2", rank + 1, -1);
  if (rank < 1 || rows < 0 || columns < 0 || rows == columns) return false;
  const std::int64_t offset = c.integer("offset");
  std::vector<int> free;
  for (int d = 0; d < rank; ++d) {
    const bool last = d == rank - 1;
    const int f = c.factor("", last ? FactorKind::frozen : FactorKind::free, c.parts_of(0, d), last ? crosses : "");
    c.tie(0, d, f);
    free.push_back(f);
  }
  std::vector<int> side = c.parts_of(0, rank - 1);
  if (offset != 0) {
    const std::vector<int> vector = side;
    side = c.fresh(c.output_sizes()[static_cast<std::size_t>(rows)]);
    c.relate(side, {vector}, offset < 0 ? -offset : offset);
  }
  c.begin_outputs();
  for (int d = 0, next = 0; d <= rank; ++d)
    if (d == rows || d == columns)
      c.output_dim(0, c.factor("", FactorKind::frozen, side, crosses));
    else
      c.output_dim(0, free[static_cast<std::size_t>(next++)]);
  return true;
}

// diagonal_scatter: what is written is whole, as the two dimensions are.
bool scatter_diagonal(RuleContext& c) {
  const int self = c.input("self"), src = c.input("src");
  if (self < 0 || src < 0) return false;
  const int rank = static_cast<int>(c.draft.inputs[static_cast<std::size_t>(self)].dims.size());
  const int rows = place(c, "dim1", rank, 0), columns = place(c, "dim2", rank, 1);
  if (rows < 0 || columns < 0 || rows == columns) return false;
  c.any("offset");
  c.begin_outputs();
  for (int d = 0, own = 0; d < rank; ++d) {
    const bool whole = d == rows || d == columns;
    const int f =
        c.factor("", whole ? FactorKind::frozen : FactorKind::free, c.parts_of(self, d), whole ? crosses : "");
    c.tie(self, d, f);
    c.output_dim(0, f);
    if (!whole && !c.tie(src, own++, f)) return false;
  }
  c.tie(src, rank - 2, c.factor("", FactorKind::frozen, c.parts_of(src, rank - 2), "it is written as a whole"));
  return true;
}

bool scatter_slice(RuleContext& c) {
  const int dim = static_cast<int>(c.integer("dim"));
  const int self = c.input("self"), src = c.input("src");
  if (self < 0 || src < 0) return false;
  const bool selects = c.node.target == "aten::select_scatter";
  const int rank = static_cast<int>(c.draft.inputs[static_cast<std::size_t>(self)].dims.size());
  c.begin_outputs();
  for (int d = 0; d < rank; ++d) {
    const bool fixed = d == dim;
    const int f = c.factor("", fixed ? FactorKind::frozen : FactorKind::free, c.parts_of(self, d),
                           fixed ? "a part of it is written" : "");
    c.tie(self, d, f);
    c.output_dim(0, f);
    const int own = selects && d > dim ? d - 1 : d;
    if (!fixed) {
      if (c.sizes(c.draft.inputs[static_cast<std::size_t>(src)].tensor)[static_cast<std::size_t>(own)] !=
          c.sizes(c.draft.inputs[static_cast<std::size_t>(self)].tensor)[static_cast<std::size_t>(d)])
        return false;
      if (!c.tie(src, own, f)) return false;
    } else if (!selects) {
      c.tie(src, own, c.factor("", FactorKind::frozen, c.parts_of(src, own), "it is written as a whole"));
    }
  }
  return true;
}

}  // namespace

bool apply_shape_family(RuleContext& c) {
  const std::string& t = c.node.target;
  if (c.draft.inputs.empty()) return false;
  bool done = false;
  if (t == "aten::view")
    c.any("size"), done = view(c);
  else if (t == "aten::permute")
    done = permute(c);
  else if (t == "aten::expand")
    c.any("size implicit"), done = expand(c);
  else if (t == "aten::slice.Tensor")
    c.any("end"), done = slice(c);
  else if (t == "aten::select.int" || t == "aten::unbind.int")
    c.any("index"), done = select(c);
  else if (t == "aten::split_with_sizes")
    done = split(c);
  else if (t == "aten::cat")
    done = join(c, false);
  else if (t == "aten::stack")
    done = join(c, true);
  else if (t == "aten::pad" || t == "aten::constant_pad_nd")
    c.any("mode value"), done = pad(c);
  else if (t == "aten::roll" || t == "aten::flip")
    c.any("shifts"), done = listed(c, "dims", "elements move along it");
  else if (t == "aten::tril" || t == "aten::triu")
    c.any("diagonal"), done = triangle(c);
  else if (t == "aten::diagonal")
    done = diagonal(c);
  else if (t == "aten::diag_embed")
    done = diagonal_matrices(c);
  else if (t == "aten::diagonal_scatter")
    done = scatter_diagonal(c);
  else if (t == "aten::slice_scatter" || t == "aten::select_scatter")
    c.any("start end step index"), done = scatter_slice(c);
  if (!done) return false;
  c.draft.rule = t.substr(6);
  std::vector<int> all;
  for (std::size_t i = 0; i < c.draft.inputs.size(); ++i) all.push_back(static_cast<int>(i));
  const bool affine = (t == "aten::pad" || t == "aten::constant_pad_nd") && c.number("value", 0) != 0;
  if (!affine) c.draft.linear.push_back(all);
  const Argument* mode = c.argument("mode");
  const auto* word = mode ? std::get_if<std::string>(mode) : nullptr;
  if (word && (*word == "reflect" || *word == "replicate")) c.draft.saves = {0};  // for its sizes
  return true;
}

}  // namespace planscope
