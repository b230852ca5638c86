// Rows times the matrix of their group, against a product for each row.
#include "engine/runtime/grouped_product.h"

#include <catch2/catch.hpp>

#include "engine/runtime/tensor_types.h"
#include "tests/engine/runtime/compare.h"

using namespace planscope;
using testing::check_equal;
using testing::random_leaf;

namespace {

at::Tensor row_by_row(const at::Tensor& self, const at::Tensor& weight, const at::Tensor& index) {
  TensorList rows;
  for (std::int64_t r = 0; r < self.size(0); ++r) {
    const std::int64_t group = index[r].item<std::int64_t>();
    const bool known = group >= 0 && group < weight.size(0);
    rows.push_back(known ? at::mv(weight[group].t(), self[r]) : at::zeros({weight.size(2)}, self.options()));
  }
  return at::stack(rows);
}

}  // namespace

TEST_CASE("a grouped product looks the matrix of each row up") {
  at::manual_seed(1);
  const at::Tensor x = random_leaf({7, 4}), w = random_leaf({3, 4, 5});
  const auto index = GENERATE(std::vector<std::int64_t>{2, 0, 1, 1, 2, 0, 2},    // every group
                              std::vector<std::int64_t>{2, 2, 2, 0, 0, 2, 2},    // one without rows
                              std::vector<std::int64_t>{1, 1, 1, 1, 1, 1, 1},    // one with all
                              std::vector<std::int64_t>{-1, 0, 3, 2, 9, 1, 0});  // rows of no group are zero
  for (const at::ScalarType type : {at::kLong, at::kInt}) {
    const at::Tensor groups = at::tensor(index, at::kLong).to(type);
    check_equal(grouped_product(x, w, groups), row_by_row(x, w, groups), {x, w});
  }
}

TEST_CASE("a device without groups or without rows has zeros or nothing") {
  const at::Tensor x = random_leaf({3, 4}), none = at::empty({0, 4}, at::kDouble);
  CHECK(at::equal(grouped_product(x, at::empty({0, 4, 5}, at::kDouble), at::zeros({3}, at::kLong)),
                  at::zeros({3, 5}, at::kDouble)));
  CHECK(grouped_product(none, random_leaf({2, 4, 5}), at::empty({0}, at::kLong)).sizes() == at::IntArrayRef({0, 5}));
}

TEST_CASE("rows sorted by group need the ends of the groups alone") {
  at::manual_seed(2);
  const at::Tensor x = random_leaf({7, 4}), w = random_leaf({3, 4, 5});
  const at::Tensor index = at::tensor({0, 0, 2, 2, 2, 3, 3}, at::kLong);  // the last two belong to none
  check_equal(sorted_grouped_product(x, w, at::tensor({2, 2, 5}, at::kInt)), row_by_row(x, w, index), {x, w});
}
