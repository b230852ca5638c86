#include <QTest>
#include <catch2/catch.hpp>

#include "app/desktop/session_runner.h"
#include "tests/app/desktop/fake_session.h"
#include "tests/app/desktop/test_application.h"

using namespace planscope;

TEST_CASE("the newest plan wins, what nobody waits for is cancelled or never begun") {
  test_application();
  const auto log = std::make_shared<SessionLog>();
  log->delay_ms = 200;
  std::vector<std::string> shown;
  SessionRunner runner(fake_session(log), [&](const SessionSnapshot& s) { shown.push_back(s.plan_text); });
  runner.set_plan("stages 1");
  REQUIRE(QTest::qWaitFor([&] { return log->copy().size() == 1; }));
  for (int i = 2; i <= 20; ++i) runner.set_plan("stages " + std::to_string(i));
  CHECK(runner.busy());
  REQUIRE(QTest::qWaitFor([&] { return !runner.busy(); }));
  CHECK(shown == std::vector<std::string>{"stages 20"});
  CHECK(log->copy() == std::vector<std::string>{"set_plan stages 1", "set_plan stages 20"});
  CHECK(log->cancelled == 1);
}

TEST_CASE("a model, its plan and a save all run, in order") {
  test_application();
  const auto log = std::make_shared<SessionLog>();
  SessionSnapshot last;
  SessionRunner runner(fake_session(log), [&](const SessionSnapshot& s) { last = s; });
  runner.open_model("m.pt2");
  runner.open_plan("p.plan");
  runner.save_plan("q.plan");
  runner.set_plan("stages 2\n");
  REQUIRE(QTest::qWaitFor([&] { return !runner.busy(); }));
  CHECK(log->copy() ==
        std::vector<std::string>{"open_model m.pt2", "open_plan p.plan", "save_plan q.plan", "set_plan stages 2\n"});
  CHECK(last.model_name == "llama-3-8b");
  CHECK(last.plan_path == "q.plan");
}

TEST_CASE("a runner ends while its session is busy") {
  test_application();
  const auto log = std::make_shared<SessionLog>();
  log->delay_ms = 60000;
  {
    SessionRunner runner(fake_session(log), [](const SessionSnapshot&) { FAIL("delivered"); });
    runner.set_plan("stages 2");
    REQUIRE(QTest::qWaitFor([&] { return log->copy().size() == 1; }));
  }
  CHECK(log->cancelled == 1);
}
