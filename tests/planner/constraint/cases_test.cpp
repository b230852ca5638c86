// Text cases: tests/cases/constraint/*.test. Each is a model, a plan, perhaps constraint rows behind `+++`, and the whole
// answer behind `---`: the completed plan, or the conflict, or why nothing is known.
#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <thread>

#include "engine/base/text.h"
#include "engine/plan/parser.h"
#include "engine/plan/printer.h"
#include "tests/engine/plan/files.h"
#include "tests/planner/constraint/judge.h"

using namespace planscope;
using namespace planscope::constraint;
using namespace planscope::constraint::testing;

namespace {

struct Case {
  std::string name, model, plan, rows, expected;
};

std::vector<Case> cases_of(const std::string& text) {
  std::vector<Case> out;
  std::string* part = nullptr;
  for (const std::string& line : split(text, '\n')) {
    if (line.starts_with("=== ")) {
      out.push_back({line.substr(4), {}, {}, {}, {}});
      part = &out.back().model;
    } else if (out.empty()) {
      continue;
    } else if (line == "+++") {
      part = &out.back().rows;
    } else if (line == "---") {
      part = &out.back().expected;
    } else if (part == &out.back().model) {
      *part = line;
      part = &out.back().plan;
    } else {
      *part += line + "\n";
    }
  }
  for (Case& c : out)
    while (c.expected.ends_with("\n\n")) c.expected.pop_back();
  return out;
}

plan::Plan parsed(const std::string& text, const std::string& file) {
  Result<plan::Plan> p = plan::parse_plan(text, file);
  INFO(to_string(p.diagnostics));
  REQUIRE(!p.has_errors());
  return *p;
}

std::string to_string(const PlanLine& l) { return l.file + ":" + std::to_string(l.line) + ": " + l.text; }

// What the line needs, and what goes without it.
std::string without(const ConflictLine& l) {
  std::string out;
  if (l.needs) out += ", needs " + std::to_string(l.needs->bytes) + (l.needs->proven ? "" : "?");
  const Relaxed& r = l.without;
  out += " | ";
  if (r.optimum)
    out += std::to_string(static_cast<int>(r.optimum->step_us)) + " us" + (r.optimum->proven ? "" : "?") + ", " +
           std::to_string(r.optimum->peak_bytes) + " B";
  else if (r.possible == Answer::no)
    out += "no";
  else
    out += "?";
  if (r.bytes) out += ", then " + std::to_string(*r.bytes);
  return out;
}

std::string told(const Result<Completion>& c) {
  std::string out = c.has_errors() ? to_string(c.diagnostics) : "";
  if (!c.value) return out;
  out += std::string(to_string(c->outcome)) + (c->optimal ? ", optimal" : "") + "\n";
  for (const ConflictLines& conflict : c->conflicts) {
    if (&conflict != c->conflicts.data()) out += "and\n";
    for (const ConflictLine& l : conflict.lines) out += to_string(l.line) + without(l) + "\n";
  }
  if (!c->reason.empty()) out += "not exhausted: " + c->reason + "\n";
  if (c->plan) out += plan::print(*c->plan);
  return out;
}

}  // namespace

TEST_CASE("completions and conflicts, by text") {
  for (const plan::TextFile& file : plan::files_below("tests/cases/constraint", ".test"))
    for (const Case& c : cases_of(file.text)) {
      INFO(file.path << ": " << c.name);
      const plan::ModelInfo model = model_of(c.model);
      std::vector<plan::Plan> rows;
      if (!c.rows.empty()) rows.push_back(parsed(c.rows, "rows.plan"));
      const Result<Completion> answer =
          complete(parsed(c.plan, "a.plan"), rows, synthetic_judge(model), {.relaxing_work = Deadline::kAnyWork});
      CHECK(told(answer) == c.expected);
      if (!answer.value || !answer->plan) continue;
      const plan::Plan again = parsed(plan::print(*answer->plan), "again.plan");
      const Result<plan::Decisions> bound = plan::bind(again, model, plan::given_values(again));
      INFO(to_string(bound.diagnostics));
      CHECK(!bound.has_errors());
      CHECK(bound->complete);
      CHECK(synthetic_judge(model).evaluate(again)->step_us == Approx(answer->evaluation.step_us));
    }
}

TEST_CASE("a stop from another thread ends the search with the best so far") {
  const plan::ModelInfo model = model_of("llama layers=2 batch=4096");
  Judge judge = synthetic_judge(model);
  std::atomic<bool> stop = false;
  std::atomic<int> calls = 0;
  const auto evaluate = judge.evaluate;
  judge.evaluate = [&](const plan::Plan& p) {
    if (++calls == 3) stop = true;  // begun when the first one has been looked at
    return evaluate(p);
  };
  const Result<Completion> c =
      complete(parsed("devices 4096 as data=?d tensor=?t\naxis mb=?m\ntrans * batch by mb, data\n", "a.plan"), {}, judge,
               {.stop = &stop});
  REQUIRE(c.value);
  CHECK(c->outcome == Outcome::unknown);
  CHECK(c->reason == "stopped");
  CHECK(c->plan);
  CHECK(c->evaluations >= 2);
  CHECK(c->evaluations <= 3 + static_cast<int>(std::thread::hardware_concurrency()));  // of dozens: what had begun by then
}

namespace {

// What completing the plan tells: as it is, and where each evaluation waits until another is at it too, a second at most.
struct Together {
  std::string alone, waiting;
  bool two = false;  // were at it
};

Together evaluated_together(const std::string& text) {
  const plan::ModelInfo model = model_of("llama layers=2 batch=8");
  const bool processors = std::thread::hardware_concurrency() > 1;
  Together out;
  for (const bool waits : {false, true}) {
    Judge judge = synthetic_judge(model);
    std::atomic<int> now = 0;
    std::atomic<bool> two = false;
    const auto evaluate = judge.evaluate;
    judge.evaluate = [&](const plan::Plan& p) {
      if (++now > 1) two = true;
      for (int i = 0; waits && processors && !two && i < 1000; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      Result<Evaluation> e = evaluate(p);
      --now;
      return e;
    };
    const Result<Completion> c = complete(parsed(text, "a.plan"), {}, judge, {.relaxing_work = Deadline::kAnyWork});
    (waits ? out.waiting : out.alone) = told(c);
    out.two = two;
  }
  return out;
}

}  // namespace

TEST_CASE("plans are evaluated two at a time, and the answer is the same") {
  const bool processors = std::thread::hardware_concurrency() > 1;
  const Together conflict = evaluated_together(
      "devices 64 as p=?p data=?d tensor=?t\ntrans * batch by data\n"
      "require ?t <= 2\nrequire ?t * ?d >= 16\nrequire ?d <= 4\nrequire ?p >= 2\nrequire memory(all) <= 2000000\n");
  CHECK(conflict.alone == conflict.waiting);
  CHECK(conflict.two == processors);
  INFO(conflict.alone);
  CHECK(conflict.alone.find("require ?t*?d >= 16 | 5415 us") != std::string::npos);
  const Together open = evaluated_together("devices 64 as p=?p data=?d tensor=?t\ntrans * batch by data\n");
  CHECK(open.alone == open.waiting);
  CHECK(open.two == processors);
}

TEST_CASE("a plan that answers one question about rows answers those about others that it keeps") {
  const Result<Completion> c =
      complete(parsed("devices 8 as data=?d tensor=?t\nrequire ?t <= 2\nrequire ?t >= 4\nrequire ?d <= 8\n", "a.plan"),
               {}, synthetic_judge(model_of("llama layers=2 batch=8")), {.relaxing_work = 0});
  REQUIRE(c.value);
  REQUIRE(c->conflicts.size() == 1);
  REQUIRE(c->conflicts[0].lines.size() == 2);
  for (const ConflictLine& l :
       c->conflicts[0].lines) {  // the plans that show that both lines are needed keep `?d <= 8`
    CHECK(l.without.possible == Answer::yes);
    REQUIRE(l.without.optimum);
    CHECK(!l.without.optimum->proven);
  }
}

TEST_CASE("a search that ends with nothing gives back the plan that was complete before") {
  const plan::ModelInfo model = model_of("llama layers=2 batch=8");
  const Judge judge = synthetic_judge(model);
  const std::atomic<bool> stop = true;
  const std::string open = "devices 8 as data=?d tensor=?t\ntrans * batch by data\n";
  const std::string answered = open + "auto require ?d = 2\nauto require ?t = 4\n";
  const auto answer = [&](const std::string& text, const std::string& rows) {
    const Result<Completion> c = complete(parsed(text, "a.plan"), {parsed(rows, "rows.plan")}, judge, {.stop = &stop});
    REQUIRE(c.value);
    CHECK(c->outcome == Outcome::unknown);
    CHECK(c->reason == "stopped");
    return *c;
  };
  const Completion whole = answer(answered, "require ?d < 4\n");
  REQUIRE(whole.plan);
  CHECK(plan::print(*whole.plan) == plan::print(parsed(answered, "a.plan")));
  CHECK(whole.values == plan::OpenValues{{"d", 2}, {"t", 4}});
  CHECK(whole.evaluation == *judge.evaluate(parsed(answered, "a.plan")));
  CHECK_FALSE(answer(open, "").plan);
  CHECK_FALSE(answer(open + "auto require ?d = 2\n", "").plan);
  CHECK_FALSE(answer(answered, "require ?d > 4\n").plan);
  CHECK_FALSE(answer(answered, "require memory(all) <= 1\n").plan);
  CHECK_FALSE(answer(answered, "forbid trans * batch by data\n").plan);
}

TEST_CASE("the time limit is kept") {
  const plan::ModelInfo model = model_of("llama layers=2 batch=8");
  Judge judge = synthetic_judge(model);
  struct : Clock {
    std::int64_t wall_us() const override { return now_us; }
    std::int64_t steady_us() const override { return now_us; }
    std::atomic<std::int64_t> now_us = 0;
  } clock;
  const auto evaluate = judge.evaluate;
  judge.evaluate = [&](const plan::Plan& p) {
    clock.now_us += 30'000;
    return evaluate(p);
  };
  Limits limits{.seconds = 0.2};
  limits.clock = &clock;
  const Result<Completion> c = complete(parsed("devices 64 as a=?a b=?b c=?c\n", "a.plan"), {}, judge, limits);
  CHECK(c->outcome == Outcome::unknown);
  CHECK(c->reason == "the time limit");
  CHECK(clock.now_us < 400'000);  // what was begun by then is all that is evaluated after it
}

TEST_CASE("a limit of work ends a search at the same place, however fast the machine is") {
  const plan::ModelInfo model = model_of("llama layers=2 batch=8");
  const plan::Plan open = parsed("devices 64 as a=?a b=?b c=?c\n", "a.plan");
  const Completion whole = *complete(open, {}, synthetic_judge(model));
  REQUIRE(whole.work > 0);
  int ended = 0;
  for (const int part : {8, 4, 2, 1}) {
    Limits limits;
    limits.work = whole.work / part;
    const Completion some = *complete(open, {}, synthetic_judge(model), limits),
                     again = *complete(open, {}, synthetic_judge(model), limits);
    INFO(part);
    CHECK(some.outcome == again.outcome);
    CHECK(some.work == again.work);
    CHECK(some.evaluation == again.evaluation);
    if (some.outcome == Outcome::complete) continue;
    ++ended;
    CHECK(some.reason == "the limit of work");
  }
  CHECK(ended >= 2);
}

TEST_CASE("memory below what devices store at least is refused without evaluating anything") {
  const plan::ModelInfo model = model_of("llama layers=2 batch=8");
  Judge judge = synthetic_judge(model);
  judge.least_stored = [](const plan::Decisions& d) { return std::vector<Peak>{{d.grids[0].devices, 1125}}; };
  const Result<Completion> c =
      complete(parsed("devices 8 as data=?d tensor=?t\nrequire ?t <= 2\nrequire memory(all) <= 1000\n", "a.plan"), {},
               judge, {.relaxing_work = Deadline::kAnyWork});
  CHECK(c->outcome == Outcome::impossible);
  REQUIRE(c->conflicts.size() == 1);
  REQUIRE(c->conflicts[0].lines.size() == 1);
  CHECK(c->conflicts[0].lines[0].line == PlanLine{"a.plan", 3, "require memory(all) <= 1000"});
}

TEST_CASE("an evaluation that fails is impossible under the line that it names") {
  const plan::ModelInfo model = model_of("llama layers=2 batch=8");
  Judge judge = synthetic_judge(model);
  const auto evaluate = judge.evaluate;
  judge.evaluate = [&](const plan::Plan& p) -> Result<Evaluation> {
    if (plan::print(p).find("?d = 8") == std::string::npos) return evaluate(p);
    Diagnostic d = error("no order possible");
    d.line = 2;
    return d;
  };
  const Result<Completion> c =
      complete(parsed("devices 8 as data=?d tensor=?t\ntrans * batch by data\nrequire ?d > 4\n", "a.plan"), {}, judge,
               {.relaxing_work = Deadline::kAnyWork});
  CHECK(c->outcome == Outcome::impossible);
  REQUIRE(c->conflicts.size() == 1);
  CHECK(told(c) == "impossible\na.plan:3: require ?d > 4 | 5415 us, 1338546 B\n");
}
