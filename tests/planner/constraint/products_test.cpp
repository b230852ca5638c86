// What sizes that cut together have to divide: no assignment that binding takes may be against it.
#include <catch2/catch.hpp>

#include "engine/plan/parser.h"
#include "planner/constraint/products.h"
#include "tests/planner/constraint/judge.h"

using namespace planscope;
using namespace planscope::constraint;

namespace {

struct Open {
  plan::Plan plan;
  plan::ModelInfo model;
  plan::Decisions decisions;
};

Open opened(const std::string& text, const std::string& model = "llama layers=2 batch=12") {
  Open out{*plan::parse_plan(text), testing::model_of(model), {}};
  out.decisions = *plan::bind(out.plan, out.model);
  return out;
}

// The names of the axes of a product, with its constant and size: `mb data 1 12`.
std::vector<std::string> texts(const Open& o) {
  std::vector<std::string> out;
  for (const Product& p : products(o.decisions, o.model)) {
    std::string& text = out.emplace_back();
    for (const int axis : p.axes) text += o.decisions.axes[static_cast<std::size_t>(axis)].name + " ";
    text += std::to_string(p.constant) + " " + std::to_string(p.size);
  }
  return out;
}

// Values of ?m, ?d, ?t: how many binding takes, and how many products exclude.
std::pair<int, int> taken_and_excluded(const Open& o) {
  int taken = 0, excluded = 0;
  for (const std::int64_t m : {1, 2, 3, 4, 6, 12})
    for (const std::int64_t d : {1, 2, 3, 4, 6, 8, 12, 24})
      for (const std::int64_t t : {1, 2, 3, 4, 6, 8, 12, 24}) {
        if (d * t != 24) continue;
        const Result<plan::Decisions> bound = plan::bind(o.plan, o.model, {{"m", m}, {"d", d}, {"t", t}});
        const auto size_of = [&](int axis) {
          const std::string& name = o.decisions.axes[static_cast<std::size_t>(axis)].name;
          return name == "mb" ? m : name == "data" ? d : t;
        };
        bool divides = true;
        for (const Product& p : products(o.decisions, o.model)) {
          std::int64_t product = p.constant;
          for (const int axis : p.axes) product *= size_of(axis);
          divides = divides && p.size % product == 0;
        }
        INFO("m=" << m << " d=" << d << " t=" << t);
        CHECK((divides || bound.has_errors()));
        taken += bound.has_errors() ? 0 : 1;
        excluded += divides ? 0 : 1;
      }
  return {taken, excluded};
}

const std::string kOpen = "devices 24 as data=?d tensor=?t\naxis mb=?m\n";

}  // namespace

TEST_CASE("axes that cut one dimension divide it together") {
  const Open o = opened(kOpen + "trans * batch by mb, data\n");
  CHECK(texts(o) == std::vector<std::string>{"data mb 1 12"});
  CHECK(products(o.decisions, o.model)[0].lines == std::vector<int>{3});
  const auto [taken, excluded] = taken_and_excluded(o);
  CHECK(taken > 0);
  CHECK(taken + excluded == 6 * 8);  // all that binding refuses is excluded
}

TEST_CASE("of lines that cut together each is named") {
  const Open o = opened(kOpen + "trans * batch by mb\ntrans * batch by data\ntrans * seq by tensor\n");
  const std::vector<Product> all = products(o.decisions, o.model);
  REQUIRE(all.size() >= 2);
  CHECK(std::any_of(all.begin(), all.end(), [](const Product& p) { return p.lines == std::vector<int>{3, 4}; }));
  taken_and_excluded(o);
}

TEST_CASE("parts of a dimension divide no less than the whole") {
  const Open o = opened(kOpen + "trans * batch by mb\ntrans model.layers[*].self_attn.{q,k,v}_proj out by tensor\n",
                        "llama layers=2 batch=12 hidden=96 heads=12 kv_heads=4");
  const auto [taken, excluded] = taken_and_excluded(o);
  CHECK(taken > 0);
  CHECK(excluded > 0);
}

TEST_CASE("known sizes are a constant") {
  const Open o = opened("devices 24 as data=?d tensor=4\naxis mb=2\ntrans * batch by mb, data\n");
  CHECK(texts(o) == std::vector<std::string>{"data 2 12"});
}

TEST_CASE("blocks that need not be equal divide nothing") {
  CHECK(texts(opened(kOpen + "trans * batch by mb, data sizes balanced\n")).empty());
}

TEST_CASE("an axis that a line may fix later cuts nothing where it does") {
  const std::string deferred = "let L = model.layers[*]\nlet S = cut L into |data|\nassign S[i] to data=i\n";
  const Open o = opened(kOpen + "trans * batch by mb, data\n" + deferred);
  CHECK(fixed_later(o.decisions) == std::set<std::string>{"data"});
  CHECK(texts(o) == std::vector<std::string>{"mb 1 12"});
  taken_and_excluded(o);
}

TEST_CASE("a place that a line gives may be taken back by one that waits") {
  const std::string deferred =
      "let L = model.layers[*]\nassign L to all\nlet S = cut L into |data|\nassign S[i] to data=i\n";
  const Open o = opened(kOpen + "trans * batch by mb, data\n" + deferred);
  CHECK(texts(o) == std::vector<std::string>{"mb 1 12"});
  CHECK(taken_and_excluded(o).first > 0);
}

TEST_CASE("what waits for a value may take splits back, or axes away") {
  const std::string cut = kOpen + "trans * batch by mb, data\nlet L = model.layers[*]\nlet S = cut L into |data|\n";
  CHECK(texts(opened(cut + "trans S[i] batch|none by mb\n")).empty());
  CHECK(texts(opened(cut + "assign S[0] to ?x\n")).empty());
}
