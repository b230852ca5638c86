// Storages that are released and refilled.
#include "engine/runtime/autograd.h"

#include <catch2/catch.hpp>

#include "engine/runtime/counting_allocator.h"

using namespace planscope;

namespace {

std::int64_t counted_bytes() {
  [[maybe_unused]] static const bool installed = (install_counting_allocator(), true);
  return live_bytes();
}

}  // namespace

TEST_CASE("a refilled tensor takes the memory of contents that nothing else holds") {
  counted_bytes();
  const at::Tensor value = at::zeros({4, 1024});
  release_storage(value);
  at::Tensor again = at::rand({4, 1024});
  const at::Tensor expected = again.clone();
  const void* memory = again.const_data_ptr();
  const std::int64_t before = counted_bytes();
  reset_peak_bytes();
  refill_storage(value, std::move(again));
  CHECK(peak_bytes() == before);
  CHECK(value.const_data_ptr() == memory);
  CHECK(at::equal(value, expected));
}

TEST_CASE("contents that share their storage are copied into a refilled tensor") {
  const at::Tensor value = at::zeros({4, 8});
  const at::Tensor whole = at::rand({8, 8});
  for (const at::Tensor& given : {whole.narrow(0, 4, 4), whole.narrow(0, 0, 4), whole.t().narrow(0, 0, 4)}) {
    release_storage(value);
    const at::Tensor expected = given.clone();
    refill_storage(value, given);
    CHECK(at::equal(value, expected));
    CHECK(!share_storage(value, whole));
    CHECK(whole.storage().nbytes() == 8 * 8 * sizeof(float));
  }
}

TEST_CASE("a view of a released storage is refilled at its offset, and leaves the rest as it is") {
  const at::Tensor storage = at::zeros({2, 4});
  const at::Tensor first = storage.narrow(0, 0, 1), second = storage.narrow(0, 1, 1);
  release_storage(storage);
  refill_storage(second, at::full({1, 4}, 2.0));
  CHECK_THROWS_AS(refill_storage(second, at::zeros({2, 2})), std::logic_error);
  CHECK(at::equal(second, at::full({1, 4}, 2.0)));
  refill_storage(first, at::ones({1, 4}));
  CHECK(at::equal(second, at::full({1, 4}, 2.0)));
  CHECK(at::equal(first, at::ones({1, 4})));
}
