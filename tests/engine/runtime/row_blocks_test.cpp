#include "engine/runtime/row_blocks.h"

#include <catch2/catch.hpp>

#include "tests/engine/program/tiny_experts.h"

using namespace planscope;

namespace {

// The rows of the first product: (batch 8 x seq 6) rows of 32, four experts, over two devices of one axis.
struct Rows {
  Graph graph = tiny::tiny_experts();
  TensorId tensor = -1, key = -1;
  at::Tensor keys = at::arange(48).mul(7).remainder(4);

  Rows() {
    for (const Op& op : graph.ops)
      for (const Factor& f : op.factors)
        if (f.key >= 0 && key < 0) key = f.key, tensor = op.outputs[0].tensor;
  }
  Layout by_key() const { return {{{0, kByKey, {{0, 2, 1}}, key}}, {}}; }
  Layout by_seq() const { return {{{0, 1, {{0, 2, 1}}}}, {}}; }
  RowBlock block(const Layout& l, std::int64_t device) const {
    return RowNumbers(graph, key, keys, whole_region(graph, key), 0)
        .block(region(graph, tensor, l, {device}), l, {device});
  }
};

}  // namespace

TEST_CASE_METHOD(Rows, "a key names the rows of every block, in the order of the whole tensor") {
  REQUIRE(key >= 0);
  const RowBlock first = block(by_key(), 0), second = block(by_key(), 1);
  CHECK(first.rows.numel() + second.rows.numel() == 48);
  CHECK(elements(intersection(first, second)) == 0);
  CHECK(keys.index_select(0, first.rows).lt(2).all().item<bool>());
  CHECK(keys.index_select(0, second.rows).ge(2).all().item<bool>());
  CHECK(first.rows.diff().gt(0).all().item<bool>());
  CHECK((sizes(first) == std::vector<std::int64_t>{first.rows.numel(), 32}));
}

TEST_CASE_METHOD(Rows, "rows that come from several blocks stand where they stood in the whole tensor") {
  // Blocks of `seq` are no ranges of rows: what arrives from one device stands between what arrives from the other.
  const at::Tensor whole = at::arange(48 * 32).view({48, 32});
  const Region all = whole_region(graph, tensor);
  const RowBlock mine = block(by_key(), 1);
  const at::Tensor got = at::zeros(sizes(mine), whole.options());
  for (const std::int64_t device : {0, 1}) {
    const RowBlock from = block(by_seq(), device), common = intersection(from, mine);
    CHECK(common.rows.numel() > 0);
    const at::Tensor held = cut(whole, all, region(graph, tensor, by_seq(), {device}));
    paste(got, mine, cut(held, from, common), common);
  }
  CHECK(at::equal(got, whole.index_select(0, mine.rows)));
}

TEST_CASE_METHOD(Rows, "other dimensions are cut and pasted with the rows") {
  const at::Tensor whole = at::arange(48 * 32).view({48, 32});
  Layout narrow = by_key();
  narrow.splits.push_back({1, 0, {{1, 2, 1}}});
  const RowNumbers rows(graph, key, keys, whole_region(graph, key), 0);
  const RowBlock wide = block(by_key(), 0);
  const RowBlock half = rows.block(region(graph, tensor, narrow, {0, 1}), narrow, {0, 1});
  const at::Tensor held = whole.index_select(0, wide.rows);
  const at::Tensor right = cut(held, wide, half);
  CHECK(at::equal(right, held.narrow(1, 16, 16)));
  const at::Tensor back = at::zeros_like(held);
  paste(back, wide, right, half);
  CHECK(at::equal(back.narrow(1, 16, 16), right));
  CHECK(back.narrow(1, 0, 16).eq(0).all().item<bool>());
}

TEST_CASE_METHOD(Rows, "a block without rows") {
  keys = at::zeros({48}, at::kLong);
  const RowBlock none = block(by_key(), 1);
  CHECK(elements(none) == 0);
  const at::Tensor whole = at::ones({48, 32});
  const RowBlock all = block(Layout{}, 0);
  CHECK(cut(whole, all, none).sizes() == at::IntArrayRef({0, 32}));
  paste(whole, all, at::zeros({0, 32}), none);
  CHECK(whole.eq(1).all().item<bool>());
}
