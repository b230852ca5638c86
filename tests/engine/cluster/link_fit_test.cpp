#include "engine/cluster/link_fit.h"

#include <catch2/catch.hpp>

using namespace planscope;

namespace {

std::vector<LinkSample> exact(const LinkFit& link) {
  std::vector<LinkSample> out;
  for (const Collective kind : {Collective::send, Collective::all_reduce})
    for (std::int64_t bytes = 1024; bytes <= 64 << 20; bytes *= 4)
      out.push_back({kind, {bytes}, fitted_time(link, kind, {bytes})});
  return out;
}

}  // namespace

TEST_CASE("a link is found again from the times that it gives") {
  for (const LinkFit& link : {LinkFit{{3}, 5e9}, LinkFit{{250}, 1e7}}) {
    const std::optional<LinkFit> f = fit_link(exact(link));
    REQUIRE(f);
    CHECK(f->latency.count == Approx(link.latency.count));
    CHECK(f->bandwidth == Approx(link.bandwidth));
  }
}

TEST_CASE("relative errors count, so that small messages say as much as large ones") {
  std::vector<LinkSample> samples = exact({{10}, 1e9});
  for (std::size_t k = 0; k < samples.size(); ++k) samples[k].time.count *= k % 2 == 0 ? 1.1 : 0.9;
  const std::optional<LinkFit> f = fit_link(samples);
  REQUIRE(f);
  CHECK(f->latency.count == Approx(10).epsilon(0.15));
  CHECK(f->bandwidth == Approx(1e9).epsilon(0.15));
}

TEST_CASE("a latency is never negative, and what does not grow with its size fits nothing") {
  const std::optional<LinkFit> f = fit_link({{Collective::send, {1000}, {1}}, {Collective::send, {1'000'000}, {2000}}});
  REQUIRE(f);
  CHECK(f->latency.count == 0);
  CHECK(f->bandwidth > 0);
  CHECK_FALSE(fit_link({}));
  CHECK_FALSE(fit_link({{Collective::send, {1000}, {1}}}));
  CHECK_FALSE(fit_link({{Collective::send, {1000}, {5}}, {Collective::send, {1000}, {6}}}));
  CHECK_FALSE(fit_link({{Collective::send, {1000}, {5}}, {Collective::send, {1'000'000}, {1}}}));
}
