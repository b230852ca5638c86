#include "engine/runtime/row_blocks.h"

#include <utility>

namespace planscope {

namespace {

std::size_t at_dim(const RowBlock& b) { return static_cast<std::size_t>(b.dim); }

void set_rows(RowBlock& b, at::Tensor rows) {
  b.rows = std::move(rows);
  b.region[at_dim(b)] = {{0, b.rows.numel()}};
}

// Where rows stand in a block that has them.
at::Tensor places(const RowBlock& have, const RowBlock& of) { return at::searchsorted(have.rows, of.rows); }

// The block with the rows of `of` in place of its own.
Region with_rows(Region region, const RowBlock& of) {
  region[at_dim(of)] = of.region[at_dim(of)];
  return region;
}

}  // namespace

RowNumbers::RowNumbers(const Graph& graph, TensorId key, at::Tensor values, Region key_region, int dim)
    : graph_(graph), key_(key), values_(std::move(values)), key_region_(std::move(key_region)), dim_(dim) {}

RowBlock RowNumbers::block(const Region& region, const Layout& layout, const Point& at) const {
  RowBlock out;
  out.dim = dim_;
  out.region = region;
  const at::Tensor all = at::arange(values_.numel(), at::kLong);
  at::Tensor rows = cut(all, key_region_, {out.region[at_dim(out)]});
  for (const Split& s : layout.splits) {
    if (s.dim != dim_ || s.part != kByKey) continue;
    const ClassId domain = graph_.tensors[static_cast<std::size_t>(key_)].domain;
    const Interval keys = block_of(graph_.classes[static_cast<std::size_t>(domain)].size, s.digits, at);
    const at::Tensor own = values_.index_select(0, rows);
    rows = rows.masked_select(own.ge(keys.begin).logical_and(own.lt(keys.end)));
  }
  set_rows(out, rows);
  return out;
}

std::vector<std::int64_t> sizes(const RowBlock& b) { return sizes(b.region); }

std::int64_t elements(const RowBlock& b) { return elements(b.region); }

RowBlock intersection(const RowBlock& a, const RowBlock& b) {
  RowBlock out = a;
  out.region = intersection(a.region, b.region);
  set_rows(out, a.rows.masked_select(at::isin(a.rows, b.rows)));
  return out;
}

at::Tensor cut(const at::Tensor& tensor, const RowBlock& have, const RowBlock& want) {
  const at::Tensor rows = tensor.index_select(have.dim, places(have, want));
  return cut(rows, with_rows(have.region, want), want.region);
}

void paste(const at::Tensor& into, const RowBlock& have, const at::Tensor& block, const RowBlock& at) {
  const at::Tensor index = places(have, at);
  const at::Tensor rows = into.index_select(have.dim, index);
  paste(rows, with_rows(have.region, at), block, at.region);
  into.index_copy_(have.dim, index, rows);
}

}  // namespace planscope
