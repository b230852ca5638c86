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

TEST_CASE("what taking out a line of a conflict brings is told line by line, for the text that somebody waits for") {
  const std::shared_ptr<const OpenModel> model = gpt2();
  const std::string begin = "devices 4 as pipe=2 data=2\naxis mb=4\nlet S = cut transformer.h[*] into 2\n"
                            "trans * batch by mb, data\nassign S[i] to pipe=i\n";
  const std::string one = "order f(S[1])[0] < f(S[1])[1]\n", other = "order f(S[1])[1] < f(S[1])[0]\n";
  std::vector<std::shared_ptr<const Picture>> answers;
  Evaluator e("", [&](int, std::shared_ptr<const Picture> p, bool last) {
    CHECK_FALSE((last && p->relaxing));
    answers.push_back(std::move(p));
  });
  e.ask({.document = 1, .model = model, .text = begin + one + other, .cluster = "dgx-h100x1", .first = true});
  e.wait();
  REQUIRE(answers.size() == 3);
  CHECK(answers[0]->relaxed.empty());
  CHECK(brings_text(*answers[0], 6) == "being tried");
  REQUIRE(answers[2]->relaxed.size() == 2);
  const std::vector<std::shared_ptr<const Picture>> told = answers;
  for (const int line : {6, 7}) {
    answers.clear();
    e.ask({.document = 2, .model = model, .text = begin + (line == 6 ? other : one), .cluster = "dgx-h100x1"});
    e.wait();
    const Relaxed& r = told[2]->relaxed[static_cast<std::size_t>(line) - 6];
    CHECK(r.line == line);
    CHECK(r.step_us == figures_of(*answers.back()).step_us);
    CHECK(r.peak_bytes == figures_of(*answers.back()).peak_bytes);
    CHECK(brings_text(*told[2], line).starts_with("step "));
  }
  // Nobody waits for the figures of a version: its lines are not tried.
  answers.clear();
  e.ask({.document = 3, .model = model, .text = begin + one + other, .cluster = "dgx-h100x1"});
  e.wait();
  REQUIRE(answers.size() == 1);
  CHECK(answers[0]->relaxed.empty());
}

TEST_CASE("a line that is not all that is in the way says what still is") {
  const std::shared_ptr<const OpenModel> model = gpt2();
  std::shared_ptr<const Picture> last;
  Evaluator e("", [&](int, std::shared_ptr<const Picture> p, bool) { last = std::move(p); });
  const std::string plan = "devices 2 as pipe=2\naxis mb=4\nlet S = cut transformer.h[*] into 2\ntrans * batch by mb\n"
                           "assign S[i] to pipe=i\norder f(S[1])[0] < f(S[1])[1]\norder f(S[1])[1] < f(S[1])[0]\n"
                           "order f(S[0])[0] < f(S[0])[1]\norder f(S[0])[1] < f(S[0])[0]\n";
  e.ask({.document = 1, .model = model, .text = plan, .cluster = "dgx-h100x1", .first = true});
  e.wait();
  REQUIRE_FALSE(last->relaxed.empty());
  for (const Relaxed& r : last->relaxed) {
    INFO(r.line << ": " << r.reason);
    CHECK_FALSE(r.step_us.has_value());
    CHECK(r.reason.starts_with("still in the way: lines "));
  }
}
