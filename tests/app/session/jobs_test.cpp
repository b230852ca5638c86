// Work beside a session.
#include "app/session/jobs.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
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

TEST_CASE("a job that is done has nothing left to do, also where it was given more time") {
  Jobs jobs([] {});
  jobs.start("plan", [](const Jobs::Report& r) {
    r.progress(1.25, 3.0, "");
    return Jobs::End{JobState::done, ""};
  });
  jobs.start("stopped", [](const Jobs::Report& r) {
    r.progress(1.25, 3.0, "");
    return Jobs::End{JobState::cancelled, ""};
  });
  jobs.wait();
  const std::vector<Job> all = jobs.list();
  CHECK(all[0].done == 1.25);
  CHECK(all[0].of == 1.25);
  CHECK(all[1].of == 3.0);
}

TEST_CASE("who waits for a job hears why it failed") {
  Jobs jobs([] {});
  const int refused = jobs.start("compare", [](const Jobs::Report&) {
    return Jobs::End::refused({planscope::warning("old"), planscope::error("no plan", "it is gone")}, "otherwise");
  });
  const int done = jobs.start("plan", [](const Jobs::Report&) { return Jobs::End{JobState::done, ""}; });
  const std::optional<Jobs::End> end = jobs.wait(refused);
  REQUIRE(end);
  CHECK(end->state == JobState::failed);
  CHECK(end->text == "no plan");
  CHECK(to_string(end->why) == "warning: old\nno plan; it is gone\n");
  REQUIRE(jobs.wait(done));
  CHECK(jobs.wait(done)->state == JobState::done);
  CHECK_FALSE(jobs.wait(99));
  CHECK(jobs.last() == done);
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

TEST_CASE("what remains takes as long as what was done, from where it began to be counted") {
  Estimate e;
  CHECK_FALSE(e.remaining_s(0).has_value());
  e.count(0, 0, 8);
  CHECK_FALSE(e.remaining_s(1).has_value());
  e.count(3, 2, 8);
  CHECK(e.remaining_s(3) == 9);
  CHECK(e.remaining_s(4) == 8);
  CHECK(e.remaining_s(100) == 0);  // it takes longer than those before
  e.count(10, 1, 4);               // another part of the work
  CHECK_FALSE(e.remaining_s(11).has_value());
  e.count(12, 2, 4);
  CHECK(e.remaining_s(12) == 4);
  e.count(13, {}, {});
  CHECK_FALSE(e.remaining_s(13).has_value());
  e.ends_by(20);
  CHECK(e.remaining_s(14) == 6);
  CHECK(e.at_most());
}

TEST_CASE("a job that runs says how long it still takes, and none that has ended") {
  Jobs jobs([] {});
  std::atomic<bool> counted = false;
  jobs.start("counts", [&](const Jobs::Report& r) {
    r.progress(0, 3, "");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    r.progress(1, 3, "");
    counted = true;
    while (!r.stop()) std::this_thread::yield();
    return Jobs::End{JobState::cancelled, ""};
  });
  jobs.start("ends by itself", [](const Jobs::Report& r) {
    r.within(60);
    while (!r.stop()) std::this_thread::yield();
    return Jobs::End{JobState::cancelled, ""};
  });
  while (!counted || !jobs.list()[1].remaining_s) std::this_thread::yield();
  CHECK(jobs.list()[0].remaining_s.has_value());
  CHECK_FALSE(jobs.list()[0].at_most);
  CHECK(jobs.list()[1].at_most);
  CHECK(*jobs.list()[1].remaining_s <= 60);
  CHECK(*jobs.list()[1].remaining_s > 50);
  for (const int id : {1, 2}) jobs.cancel(id);
  jobs.wait();
  for (const Job& j : jobs.list()) CHECK_FALSE(j.remaining_s.has_value());
}
