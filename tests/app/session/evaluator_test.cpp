#include "app/session/evaluator.h"

#include <catch2/catch.hpp>
#include <vector>

#include "app/workbench/workbench.h"

using namespace planscope;
using namespace planscope::session;

namespace {

const std::string kPlan = "devices 2 as data=2\ntrans * batch by data\n";

struct Answered {
  int document;
  bool last;
  bool operator==(const Answered&) const = default;
};

std::shared_ptr<const OpenModel> gpt2() {
  Result<OpenModel> opened = open_model("sample_models/gpt2_tiny.pt2", nullptr);
  REQUIRE(opened.ok());
  return std::make_shared<const OpenModel>(std::move(*opened.value));
}

}  // namespace

TEST_CASE("what somebody waits for ends what is under way for another document, which is evaluated all the same") {
  const std::shared_ptr<const OpenModel> model = gpt2();
  std::vector<Answered> answers;
  Evaluator* asked = nullptr;
  Evaluator e("", [&](int document, std::shared_ptr<const Picture> p, bool last) {
    CHECK(p->diagnostics.empty());
    answers.push_back({document, last});
    if (answers.size() > 1) return;
    asked->ask({.document = 3, .model = model, .text = kPlan, .cluster = "dgx-h100x1"});
    asked->ask({.document = 2, .model = model, .text = kPlan, .cluster = "dgx-h100x1", .first = true});
  });
  asked = &e;
  e.ask({.document = 1, .model = model, .text = kPlan, .cluster = "dgx-h100x1", .first = true});
  e.wait();
  CHECK(answers == std::vector<Answered>{{1, false}, {2, false}, {2, true}, {1, false}, {1, true}, {3, false}, {3, true}});
}

TEST_CASE("a document that is forgotten is not evaluated, whatever has ended it") {
  const std::shared_ptr<const OpenModel> model = gpt2();
  std::vector<Answered> answers;
  Evaluator* asked = nullptr;
  Evaluator e("", [&](int document, std::shared_ptr<const Picture>, bool last) {
    answers.push_back({document, last});
    if (answers.size() > 1) return;
    asked->ask({.document = 2, .model = model, .text = kPlan, .cluster = "dgx-h100x1", .first = true});
    asked->forget(2);
    asked->ask({.document = 3, .model = model, .text = kPlan, .cluster = "dgx-h100x1", .first = true});
    asked->forget(1);
  });
  asked = &e;
  e.ask({.document = 1, .model = model, .text = kPlan, .cluster = "dgx-h100x1"});
  e.wait();
  CHECK(answers == std::vector<Answered>{{1, false}, {3, false}, {3, true}});
}
