#include <catch2/catch.hpp>

#include "../../engine/program/small_program.h"
#include "planner/verify/algebra.h"

using namespace planscope;
using namespace planscope::verification;

namespace {

const Digit a{0, 2, 1}, b{1, 2, 1}, c{2, 2, 1};

const Program p = tiny::small_program(tiny::tiny_graph(1));

Layout split(std::vector<Digit> digits, std::vector<Partial> partials = {}) {
  return {{{0, 0, std::move(digits)}}, std::move(partials)};
}

}  // namespace

TEST_CASE("digits of one axis are disjoint if one is above the other") {
  CHECK(disjoint({0, 2, 1}, {0, 3, 2}));
  CHECK(disjoint({0, 3, 2}, {0, 2, 1}));
  CHECK_FALSE(disjoint({0, 4, 1}, {0, 2, 2}));
  CHECK_FALSE(disjoint({0, 2, 1}, {0, 2, 1}));
  CHECK_FALSE(disjoint({0, 4, 1}, {0, 2, 1}));
  CHECK(disjoint({0, 4, 1}, {1, 4, 1}));
}

TEST_CASE("moves act on the minor end of a split") {
  std::string why;
  Move gather{MoveKind::all_gather, {b}, 0, 0, -1, -1, PartialKind::sum};
  CHECK(moved(p, split({a, b}), gather, why) == split({a}));
  gather.digits = {a};  // the blocks of the major digit are not contiguous
  CHECK_FALSE(moved(p, split({a, b}), gather, why));
  CHECK(why == "the axes are not the innermost split of that dimension");
  gather.digits = {b, a};
  CHECK_FALSE(moved(p, split({a, b}), gather, why));
  gather.digits = {a, b};
  CHECK(moved(p, split({a, b}), gather, why) == Layout{});
  const Move scatter{MoveKind::reduce_scatter, {b}, 0, 0, -1, -1, PartialKind::sum};
  CHECK(moved(p, split({a}, {{b, PartialKind::sum}}), scatter, why) == split({a, b}));
  CHECK_FALSE(moved(p, split({a}, {{b, PartialKind::merge}}), scatter, why));
  CHECK_FALSE(moved(p, split({a}), scatter, why));
}

TEST_CASE("a slice needs a replicated value, an all-to-all two dimensions") {
  std::string why;
  const Move slice{MoveKind::slice, {b}, 0, 0, -1, -1, PartialKind::sum};
  CHECK(moved(p, split({a}), slice, why) == split({a, b}));
  CHECK_FALSE(moved(p, split({a, b}), slice, why));
  CHECK_FALSE(moved(p, split({a}, {{b, PartialKind::sum}}), slice, why));
  const Move turn{MoveKind::all_to_all, {b}, 1, 0, 0, 0, PartialKind::sum};
  CHECK(moved(p, split({a, b}), turn, why) == Layout{{{0, 0, {a}}, {1, 0, {b}}}, {}});
  Move merge{MoveKind::to_partial, {b}, -1, -1, -1, -1, PartialKind::merge};
  CHECK_FALSE(moved(p, split({a}), merge, why));
  merge.reduce = PartialKind::sum;
  CHECK(moved(p, split({a}), merge, why) == split({a}, {{b, PartialKind::sum}}));
}

TEST_CASE("sums over free axes need a value that is partial or split over all of them") {
  const Digit mb{3, 4, 1}, half{3, 2, 1}, other{3, 2, 2};
  std::string why;
  CHECK(combined_over(p, split({a}, {{mb, PartialKind::sum}}), {3}, PartialKind::sum, why) == split({a}));
  CHECK(combined_over(p, split({a}, {{half, PartialKind::sum}, {other, PartialKind::sum}}), {3}, PartialKind::sum,
                      why) == split({a}));
  CHECK_FALSE(combined_over(p, split({a}, {{half, PartialKind::sum}}), {3}, PartialKind::sum, why));
  CHECK(combined_over(p, split({mb}), {3}, PartialKind::sum, why) == Layout{});  // blocks put together
  CHECK(combined_over(p, split({a, mb}), {3}, PartialKind::sum, why) == split({a}));
  Digit every = mb;  // blocks that are not one region stay by themselves
  every.reach = Reach::every;
  CHECK(combined_over(p, split({mb, a}), {3}, PartialKind::sum, why) == split({every, a}));
  CHECK_FALSE(combined_over(p, split({half}), {3}, PartialKind::sum, why));
  CHECK_FALSE(combined_over(p, split({a}), {3}, PartialKind::sum, why));
  CHECK_FALSE(combined_over(p, split({a}, {{mb, PartialKind::merge}}), {3}, PartialKind::sum, why));
}

TEST_CASE("blocks rotate between devices and go home as parts of a sum") {
  Program ring = p;
  ring.axes.push_back({"ring", 2, -1});
  const Digit own{4, 2, 1}, turned{4, 2, 1, {}, 1, 1, 1, 0};  // (ring + data) % 2
  const Partial over_data{b, PartialKind::sum}, over_ring{own, PartialKind::sum};
  std::string why;
  const auto after = [&](const Layout& in, MoveKind kind, Digit digit) {
    return moved(ring, in, {kind, {b}, 0, 0, -1, -1, PartialKind::sum, -1, digit}, why);
  };
  CHECK(after(split({a, b}), MoveKind::rotate, turned) == split({a, turned}));
  CHECK_FALSE(after(split({b, a}), MoveKind::rotate, turned));
  CHECK_FALSE(after(split({b}, {over_ring}), MoveKind::rotate, turned));
  CHECK(after(split({turned}, {over_data}), MoveKind::rotate_back, turned) == split({b}, {over_ring}));
  CHECK_FALSE(after(split({turned}), MoveKind::rotate_back, turned));
  CHECK_FALSE(after(split({turned}, {{b, PartialKind::softmax}}), MoveKind::rotate_back, turned));
  CHECK_FALSE(after(split({turned}, {over_data}), MoveKind::rotate_back, {4, 2, 1, {}, 1, 1, 1, 1}));
  CHECK_FALSE(after(split({b}), MoveKind::rotate, {4, 2, 1, {}, 1, 1, 0, 0}));  // every device reads the same block
  CHECK_FALSE(after(split({b}), MoveKind::rotate, {4, 2, 1, {}, 1, 0, 1, 0}));  // a device reads one block twice
  const Layout two{{{0, 0, {b}}, {1, 0, {turned}}}, {}};
  CHECK_FALSE(after(two, MoveKind::rotate, turned));
  CHECK(why == "its devices hold different blocks of another dimension");
}

TEST_CASE("devices that hold different blocks have nothing to reduce or gather") {
  Program ring = p;
  ring.axes.push_back({"ring", 2, -1});
  const Digit turned{4, 2, 1, {}, 1, 1, 1, 0};
  std::string why;
  const Layout sums = split({turned}, {{b, PartialKind::sum}, {c, PartialKind::sum}});
  CHECK_FALSE(moved(ring, sums, {MoveKind::all_reduce, {b}, -1, -1, -1, -1, PartialKind::sum}, why));
  CHECK(why == "its devices hold different blocks, which follow from their coordinates");
  CHECK(moved(ring, sums, {MoveKind::all_reduce, {c}, -1, -1, -1, -1, PartialKind::sum}, why));
  CHECK_FALSE(moved(ring, {{{0, 0, {turned}}, {1, 0, {b}}}, {}},
                    {MoveKind::all_gather, {b}, 1, 0, -1, -1, PartialKind::sum}, why));
  CHECK(combined_over(ring, sums, {4}, PartialKind::sum, why) ==
        Layout{{}, {{b, PartialKind::sum}, {c, PartialKind::sum}}});
}

TEST_CASE("blocks of two axes rotate from where a device has those of every index, and go back there") {
  Program ring = p;
  ring.axes.push_back({"ring", 8, -1});
  const Digit turned{4, 8, 1, {}, 1, 1, 1, 0}, over_ring{4, 8, 1};   // (ring + data) % 8
  Digit mb{3, 4, 1}, every = mb, mirrored{1, 2, 1, {}, 3, 1, 1, 0};  // (data + mb) % 2
  every.reach = Reach::every;
  std::string why;
  const auto after = [&](const Layout& in, MoveKind kind, std::vector<Digit> home, Digit digit) {
    return moved(ring, in, {kind, std::move(home), 0, 0, -1, -1, PartialKind::sum, -1, digit}, why);
  };
  const Layout home = split({every, mirrored});
  CHECK(combined_over(ring, split({mb, mirrored}), {3}, PartialKind::sum, why) == home);
  CHECK_FALSE(combined_over(ring, {{{0, 0, {mb}}, {1, 0, {mirrored}}}, {}}, {3}, PartialKind::sum, why));
  CHECK(why == "its blocks follow from an index that all of them together do not have");
  CHECK(after(home, MoveKind::rotate, {every, mirrored}, turned) == split({turned}));
  CHECK_FALSE(after(split({mb, mirrored}), MoveKind::rotate, {every, mirrored}, turned));
  CHECK_FALSE(after(home, MoveKind::rotate, {mirrored}, turned));
  CHECK_FALSE(after(home, MoveKind::rotate, {every, b}, turned));  // other blocks than it has
  const Layout parts = split({turned}, {{b, PartialKind::sum}, {mb, PartialKind::sum}});
  CHECK(after(parts, MoveKind::rotate_back, {every, mirrored}, turned) ==
        split({every, mirrored}, {{mb, PartialKind::sum}, {over_ring, PartialKind::sum}}));
  CHECK_FALSE(after(split({turned}), MoveKind::rotate_back, {every, mirrored}, turned));
  // of every index one is taken, nothing else
  const Move one{MoveKind::slice, {mb}, 0, 0};
  CHECK(moved(ring, home, one, why) == split({mb, mirrored}));
  CHECK_FALSE(moved(ring, split({every, mirrored}, {{mb, PartialKind::sum}}), one, why));
  CHECK_FALSE(moved(ring, home, {MoveKind::all_gather, {mirrored}, 0, 0}, why));
  CHECK_FALSE(moved(ring, home, {MoveKind::all_reduce, {c}, -1, -1}, why));
}

TEST_CASE("what lies before an index is sliced off, and added as a part of a sum") {
  const Digit mb{3, 4, 1};
  Digit before = mb;
  before.reach = Reach::prefix;
  std::string why;
  CHECK(moved(p, Layout{}, {MoveKind::slice, {before}, 1, 0}, why) == Layout{{{1, 0, {before}}}, {}});
  CHECK_FALSE(moved(p, split({a}, {{mb, PartialKind::sum}}), {MoveKind::slice, {before}, 1, 0}, why));
  CHECK_FALSE(moved(p, split({before}), {MoveKind::slice, {a}, 0, 0}, why));
  CHECK_FALSE(moved(p, split({before}), {MoveKind::all_gather, {before}, 0, 0}, why));
  CHECK(combined_over(p, split({before}, {{mb, PartialKind::sum}}), {3}, PartialKind::sum, why) == Layout{});
  CHECK_FALSE(combined_over(p, split({before}), {3}, PartialKind::sum, why));  // blocks would be added several times
}

TEST_CASE("blocks of a softmax are joined as such") {
  const Digit mb{3, 4, 1};
  std::string why;
  const Layout blocks = split({a}, {{mb, PartialKind::softmax}});
  CHECK(combined_over(p, blocks, {3}, PartialKind::softmax, why) == split({a}));
  CHECK_FALSE(combined_over(p, blocks, {3}, PartialKind::sum, why));
  CHECK(why == "blocks of a softmax are weighed by their log-sum-exps");
  CHECK_FALSE(combined_over(p, split({a}, {{mb, PartialKind::sum}}), {3}, PartialKind::softmax, why));
}

TEST_CASE("an operator demands what its bindings say") {
  const Graph g = tiny::tiny_graph(1);
  const Op& up = g.ops[1];  // linear with bias
  REQUIRE(up.inputs.size() == 3);
  int in = -1, out = -1;
  for (int f = 0; f < static_cast<int>(up.factors.size()); ++f) {
    if (up.factors[static_cast<std::size_t>(f)].name == "in") in = f;
    if (up.factors[static_cast<std::size_t>(f)].name == "out") out = f;
  }
  const std::vector<Binding> contracted = {{c, in, 0, Origin::statement, -1}};
  CHECK(demanded(up, 0, contracted) == Layout{{{2, 0, {c}}}, {}});
  CHECK(demanded(up, 1, contracted) == Layout{{{1, 0, {c}}}, {}});
  CHECK(demanded(up, 2, contracted) == Layout{{}, {{c, PartialKind::sum}}});  // a bias is added once
  CHECK(produced(up, 0, contracted) == Layout{{}, {{c, PartialKind::sum}}});
  const std::vector<Binding> wide = {{c, out, 0, Origin::statement, -1}};
  CHECK(demanded(up, 0, wide) == Layout{});
  CHECK(demanded(up, 2, wide) == Layout{{{0, 0, {c}}}, {}});
  CHECK(produced(up, 0, wide) == Layout{{{2, 0, {c}}}, {}});
  const std::vector<Binding> pass = {{c, -1, 0, Origin::pass, -1}};
  CHECK(demanded(up, 0, pass) == Layout{{}, {{c, PartialKind::sum}}});
  CHECK(demanded(up, 1, pass) == Layout{});
  CHECK(demanded(up, 2, pass) == Layout{{}, {{c, PartialKind::sum}}});
}
