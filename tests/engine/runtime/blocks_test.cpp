#include <catch2/catch.hpp>

#include "engine/runtime/blocks.h"
#include "engine/runtime/random_numbers.h"

using namespace planscope;

namespace {

Region whole(const std::vector<std::vector<std::int64_t>>& sizes) {
  Region region;
  for (const auto& dim : sizes) {
    region.emplace_back();
    for (const std::int64_t size : dim) region.back().push_back({0, size});
  }
  return region;
}

const std::vector<std::vector<std::int64_t>> kParts = {{2, 3}, {4}, {}, {5, 2}};
const Region kBlock = {{{1, 2}, {0, 2}}, {{1, 4}}, {}, {{2, 5}, {1, 2}}};

}  // namespace

TEST_CASE("a block is cut part by part and pasted back where it was") {
  const at::Tensor x = at::arange(6 * 4 * 10).view({6, 4, 1, 10});
  const at::Tensor cut_out = cut(x, whole(kParts), kBlock);
  REQUIRE(cut_out.sizes() == at::IntArrayRef({2, 3, 1, 3}));
  CHECK(cut_out[0][0][0][0].item<std::int64_t>() == x[3][1][0][5].item<std::int64_t>());
  CHECK(cut_out[1][2][0][2].item<std::int64_t>() == x[4][3][0][9].item<std::int64_t>());
  const at::Tensor row = at::zeros({18}, at::kLong);
  cut_to(row, x, whole(kParts), kBlock);
  CHECK(at::equal(row, cut_out.view({-1})));
  const at::Tensor empty = at::zeros_like(x);
  paste(empty, whole(kParts), cut_out, kBlock);
  CHECK(at::equal(cut(empty, whole(kParts), kBlock), cut_out));
  CHECK(empty.ne(0).sum().item<std::int64_t>() == elements(kBlock));
}

TEST_CASE("a block of a block") {
  const at::Tensor x = at::arange(6 * 4 * 10).view({6, 4, 1, 10});
  const Region inner = {{{1, 2}, {1, 2}}, {{2, 4}}, {}, {{2, 4}, {1, 2}}};
  CHECK(at::equal(cut(cut(x, whole(kParts), kBlock), kBlock, inner), cut(x, whole(kParts), inner)));
  CHECK((intersection(kBlock, inner) == inner));
  CHECK(elements(intersection(kBlock, {{{0, 1}, {0, 3}}, {{0, 4}}, {}, {{0, 5}, {0, 2}}})) == 0);
}

TEST_CASE("runs name the elements of a block in its own order") {
  const at::Tensor x = at::arange(6 * 4 * 10);
  std::vector<std::int64_t> found;
  for_each_run(kParts, kBlock, [&](std::int64_t begin, std::int64_t count) {
    for (std::int64_t i = begin; i < begin + count; ++i) found.push_back(i);
  });
  const at::Tensor expected = cut(x.view({6, 4, 1, 10}), whole(kParts), kBlock);
  CHECK(at::equal(at::tensor(found, at::kLong), expected.reshape({-1})));
}

TEST_CASE("random numbers do not depend on the layout") {
  const std::uint64_t key = random_key(3, "wte.weight");
  const at::Tensor all = random_normal(key, kParts, whole(kParts));
  CHECK(at::equal(random_normal(key, kParts, kBlock), cut(all, whole(kParts), kBlock)));
  CHECK(std::abs(all.mean().item<double>()) < 0.2);
  CHECK(std::abs(all.std().item<double>() - 1) < 0.2);
  CHECK_FALSE(at::equal(all, random_normal(random_key(4, "wte.weight"), kParts, whole(kParts))));
  CHECK(random_integers(key, 7, kParts, whole(kParts)).max().item<std::int64_t>() == 6);
}
