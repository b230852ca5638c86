#pragma once
// Blocks of tensors. A Region names, for every part of every dimension, a half-open interval of the whole tensor's part
// (program.h: region()); a device's tensor holds one region, densely, in the order of the dimensions. A region of a
// dimension with several parts is not one range of it, so blocks are cut part by part.
//
//   hidden dimension 12 x 64, heads [6, 9):  cut(x, {{{0, 12}, {0, 64}}}, {{{6, 9}, {0, 64}}})   // 3 x 64 = 192
//   columns
#include <functional>

#include "engine/program/program.h"
#include "engine/runtime/tensor_types.h"

namespace planscope {

using Region = std::vector<std::vector<Interval>>;  // [dimension][part]

Region whole_region(const Graph&, TensorId);
std::vector<std::int64_t> sizes(const Region&);  // per dimension
std::int64_t elements(const Region&);
Region intersection(const Region& a, const Region& b);  // inside a; may be empty: elements() is 0

// The block `want` of a tensor that holds `have`; `want` lies inside `have`. Contiguous, with memory of its own.
at::Tensor cut(const at::Tensor&, const Region& have, const Region& want);

// The same, written to a contiguous tensor of as many elements.
void cut_to(const at::Tensor& into, const at::Tensor&, const Region& have, const Region& want);

// Writes `block`, which holds `at`, into a contiguous tensor that holds `have`; `at` lies inside `have`.
void paste(const at::Tensor& into, const Region& have, const at::Tensor& block, const Region& at);

// Calls visit(begin, count) for every run of elements that are neighbours in the whole tensor: `begin` is the flat
// index in the whole tensor of sizes `whole`, `count` the length, in the order of the region's own elements.
void for_each_run(const std::vector<std::vector<std::int64_t>>& whole, const Region&,
                  const std::function<void(std::int64_t begin, std::int64_t count)>& visit);
std::vector<std::vector<std::int64_t>> part_sizes(const Graph&, TensorId);

}  // namespace planscope
