// What a trial has measured, as a step of its Program, and beside the prediction.
#include "app/workbench/measured_step.h"

#include <catch2/catch.hpp>
#include <map>

#include "app/workbench/measured_run.h"
#include "app/workbench/prediction_errors.h"
#include "app/workbench/timeline.h"
#include "tests/app/workbench/sample.h"
#include "viz/timeline/model.h"

namespace planscope {
namespace {

// Every instruction of every rank, one after another: the n-th takes 1 + n % 7 µs and half a microsecond passes before
// the next one. Clocks of ranks differ.
struct Ran {
  std::vector<SpanRow> spans;
  std::map<int, double> computing, communicating;  // by class, of one rank
  double longest = 0;
};
Ran run(const Program& p) {
  Ran out;
  for (std::size_t c = 0; c < p.classes.size(); ++c)
    for (const int rank : devices(p, p.classes[c])) {
      double at = 1000.0 * rank + 17;
      const double begin = at;
      std::int64_t number = 0;
      double computing = 0, communicating = 0;
      const auto last = last_indices(p, p.classes[c]);
      for (const SlotRun& slot : period(p.classes[c]))
        for (const Instruction& i : p.segments[static_cast<std::size_t>(slot.segment)].instructions) {
          const std::int64_t n = number++;
          if (i.last && slot.index != last[static_cast<std::size_t>(slot.segment)]) continue;
          const double takes = 1.0 + static_cast<double>(n % 7);
          const bool moves =
              i.code == Code::issue || i.code == Code::wait || i.code == Code::send || i.code == Code::receive;
          (moves ? communicating : computing) += takes;
          const std::string kind(i.code == Code::issue || i.code == Code::local ? to_string(i.move.kind)
                                                                                : to_string(i.code));
          out.spans.push_back({rank, 0, n, kind, at, takes});
          at += takes + 0.5;
        }
      out.computing[static_cast<int>(c)] = computing, out.communicating[static_cast<int>(c)] = communicating;
      out.longest = std::max(out.longest, at - begin);
    }
  return out;
}

void check(const Sample& s) {
  const Program& p = s.judged().made.program;
  const Ran ran = run(p);
  const Result<Simulation> m = measured_step(p, ran.spans, ran.longest);
  INFO(to_string(m.diagnostics));
  REQUIRE(m.ok());
  CHECK(m->step_us() == Approx(ran.longest).margin(1e-3));
  for (std::size_t c = 0; c < p.classes.size(); ++c) {
    CHECK(static_cast<double>(m->classes[c].compute) / 1000 ==
          Approx(ran.computing.at(static_cast<int>(c))).margin(1e-2));
    CHECK(static_cast<double>(m->classes[c].collective + m->classes[c].transfer) / 1000 ==
          Approx(ran.communicating.at(static_cast<int>(c))).margin(1e-2));
  }
  CHECK(viz::first_problem(timeline(*s.judged().made.graph, p, *m)).empty());

  const std::vector<PredictionError> errors = prediction_errors(*s.judged().made.graph, p, s.judged().simulation, *m);
  std::vector<double> predicted(errors.size()), measured(errors.size());
  std::vector<int> children(errors.size());
  for (const PredictionError& e : errors) {
    if (e.parent < 0 || e.by == "class") continue;
    const auto k = static_cast<std::size_t>(e.parent);
    REQUIRE(k < errors.size());
    predicted[k] += e.predicted_us.value_or(0), measured[k] += e.measured_us, ++children[k];
  }
  int operators = 0;
  for (std::size_t k = 0; k < errors.size(); ++k) {
    operators += errors[k].by == "operators";
    if (children[k] == 0 || errors[k].by == "step") continue;
    INFO(errors[k].by << " " << errors[k].what);
    CHECK(measured[k] == Approx(errors[k].measured_us).margin(1e-2));
    if (errors[k].predicted_us) CHECK(predicted[k] == Approx(*errors[k].predicted_us).margin(1e-2));
  }
  CHECK(operators > 0);
  CHECK(errors.front().predicted_us == s.judged().simulation.step_us());
}

TEST_CASE("what ranks have measured sums up class by class, task by task, operator by operator") {
  for (const char* plan :
       {"gpt2_tiny-1f1b", "gpt2_tiny-data-tensor", "gpt2_tiny-zb1", "gpt2_tiny-chimera", "gpt2_tiny-offload"}) {
    INFO(plan);
    check(Sample("gpt2_tiny", sample_plan(plan), "local"));
  }
}

TEST_CASE("spans of another plan are refused") {
  const Sample a("gpt2_tiny", sample_plan("gpt2_tiny-1f1b"), "local"),
      b("gpt2_tiny", sample_plan("gpt2_tiny-data-tensor"), "local");
  CHECK_FALSE(measured_step(a.judged().made.program, run(b.judged().made.program).spans, 1).ok());
  CHECK_FALSE(measured_step(a.judged().made.program, {}, 1).ok());
  std::vector<SpanRow> spans = run(a.judged().made.program).spans;
  spans[5].kind = "something else";
  CHECK(to_string(measured_step(a.judged().made.program, spans, 1).diagnostics).find("and it ran something else") !=
        std::string::npos);
  spans = run(a.judged().made.program).spans;
  spans[0].instruction = 1'000'000;
  CHECK_FALSE(measured_step(a.judged().made.program, spans, 1).ok());
}

TEST_CASE("the median step is one of the steps") {
  CHECK(median_step({5, 1, 9}) == 0);
  CHECK(median_step({5, 1}) == 0);
  CHECK(median_step({1, 2, 3, 4}) == 2);
  CHECK(median_step({7}) == 0);
}

}  // namespace
}  // namespace planscope
