#pragma once
// Blocks of tensors whose rows are told apart by a key (program.h: Split by key). The key is at hand for a region of the
// rows that holds those of all members of a move, so each member knows, without asking, which rows every other one has and
// wants: rows are numbered in that region, ascending, and a block is a list of them with a region of the other dimensions.
//
//   key [2 0 1 0 2 1], experts 0 and 1 here, 2 there:   rows here [1 2 3 5], there [0 4]
//
// Bound and cost: a look at the whole key for each block (one comparison an element).
#include "engine/runtime/site.h"

namespace planscope {

struct RowBlock {
  int dim = 0;
  at::Tensor rows;  // numbers, ascending
  Region region;    // of the other dimensions; of `dim`: 0 to the number of rows
};

// Rows of dimension `dim` of tensors whose key is read as `key_region` (of its one dimension) says.
class RowNumbers {
 public:
  RowNumbers(const Graph&, TensorId key, at::Tensor values, Region key_region, int dim);

  // The rows of a region that a layout selects at a point.
  RowBlock block(const Region&, const Layout&, const Point&) const;

 private:
  const Graph& graph_;
  TensorId key_;
  at::Tensor values_;
  Region key_region_;
  int dim_;
};

std::vector<std::int64_t> sizes(const RowBlock&);
std::int64_t elements(const RowBlock&);
RowBlock intersection(const RowBlock&, const RowBlock&);

// As cut and paste of regions (blocks.h): `want` and `at` lie inside `have`.
at::Tensor cut(const at::Tensor&, const RowBlock& have, const RowBlock& want);
void paste(const at::Tensor& into, const RowBlock& have, const at::Tensor& block, const RowBlock& at);

}  // namespace planscope
