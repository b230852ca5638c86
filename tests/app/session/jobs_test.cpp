// Work beside a session.
#include "app/session/jobs.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <stdexcept>

using namespace planscope::session;

TEST_CASE("a job that fails by a fault of ours is listed with it, and others go on") {
  Jobs jobs([] {});
  jobs.start("bad", [](const Jobs::Report&) -> Jobs::End { throw std::runtime_error("index 7 of 3"); });
  jobs.start("good", [](const Jobs::Report& r) { return Jobs::End{JobState::done, std::to_string(r.id())}; });
  jobs.wait();
  const std::vector<Job> all = jobs.list();
  REQUIRE(all.size() == 2);
  CHECK(all[0].state == JobState::failed);
  CHECK(all[0].text == "a fault of planscope: index 7 of 3");
  CHECK(all[1].state == JobState::done);
  CHECK_FALSE(jobs.running());
}

TEST_CASE("a job is cancelled while it runs, and not afterwards") {
  Jobs jobs([] {});
  const int id = jobs.start("long", [](const Jobs::Report& r) {
    while (!r.stop()) std::this_thread::yield();
    return Jobs::End{JobState::cancelled, ""};
  });
  CHECK(jobs.cancel(id));
  jobs.wait();
  CHECK_FALSE(jobs.cancel(id));
  CHECK_FALSE(jobs.cancel(99));
}

TEST_CASE("a job says that it has ended before it has tidied up, which is waited for") {
  Jobs jobs([] {});
  std::atomic<bool> tidied = false, tidy = false;
  const int id = jobs.start("search", [&](const Jobs::Report& r) {
    while (!r.stop()) std::this_thread::yield();
    r.ended({JobState::cancelled, "the best is being verified"});
    while (!tidy) std::this_thread::yield();
    tidied = true;
    return Jobs::End{JobState::cancelled, "the best is kept"};
  });
  CHECK(jobs.cancel(id));
  while (jobs.list()[0].state == JobState::running) std::this_thread::yield();
  CHECK(jobs.list()[0].state == JobState::cancelled);
  CHECK(jobs.list()[0].text == "the best is being verified");
  CHECK(jobs.running());
  CHECK_FALSE(jobs.cancel(id));
  tidy = true;
  jobs.wait();
  CHECK(tidied);
  CHECK(jobs.list()[0].text == "the best is kept");
}
