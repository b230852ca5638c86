// A search for a plan that is stopped or cancelled.
#include <catch2/catch.hpp>
#include <thread>

#include "tests/app/session/scratch.h"
#include "tests/app/session/steps.h"

using namespace planscope;
using namespace planscope::session;
using namespace planscope::testing;

TEST_CASE("rows of one's own stay when a plan from nothing is accepted, and what was written since is not lost") {
  Session s({});
  must(s, "open model=" + kModel);
  write(s, "devices 2\nrequire memory(all) <= 1GiB  # mine\n# a note\n");
  must(s, "plan whole limit=1");
  s.wait();
  must(s, "accept");
  CHECK(text_of(s).find("require memory(all) <= 1GiB  # mine") != std::string::npos);
  CHECK(text_of(s).find("# a note") != std::string::npos);
  s.wait();
  CHECK(chips(s)["verdict"] == "equivalent");
  must(s, "accept candidate=1");  // another one in its place
  must(s, "append \"require memory(all) <= 200KiB\"");
  CHECK_FALSE(run(s, "accept candidate=1").ok());
  CHECK_FALSE(run(s, "accept").ok());
  CHECK(text_of(s).find("200KiB") != std::string::npos);
}

TEST_CASE("a search that is stopped before it has found anything says what it has, and no bound that is not known") {
  const Scratch scratch;
  Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x8"});
  must(s, "open model=sample_models/t5_large.pt2");
  must(s, "plan whole limit=60");
  if (!run(s, "cancel 1").ok()) return;  // it has ended by itself
  s.wait();
  const Json p = panel(s, "planner");
  CHECK(p["status"] != "running");
  CHECK(p["status"] != "stopped");
  CHECK_FALSE(p.contains("cancel"));
  CHECK(p["candidates"].empty() == p["step_us"].is_null());
  CHECK(p["progress"].empty() == p["step_us"].is_null());
  for (const Json& c : p["candidates"])
    if (!c["lower_bound_us"].is_null()) CHECK(c["lower_bound_us"] > 0);
  CHECK(panel(s, "jobs")["rows"][0]["state"] != "running");
}

TEST_CASE("a search that is cancelled keeps the best that it has") {
  const Scratch scratch;
  Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x16"});
  must(s, "open model=sample_models/llama3_8b.pt2");
  must(s, "plan whole batch=256");
  while (panel(s, "planner").value("progress", Json::array()).empty() && panel(s, "jobs")["rows"][0]["state"] == "running")
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const bool stopped = run(s, "cancel 1").ok();  // else it has ended by itself
  s.wait();
  CHECK_FALSE(run(s, "cancel 1").ok());
  CHECK(panel(s, "jobs")["rows"][0]["state"] == (stopped ? "cancelled" : "done"));
  REQUIRE_FALSE(panel(s, "planner")["candidates"].empty());
  must(s, "accept");
  s.wait();
  CHECK(chips(s)["verdict"] == "equivalent");
  CHECK(chips(s)["step_us"] == panel(s, "planner")["candidates"][0]["step_us"]);
  must(s, "keep");
  s.wait();
  REQUIRE(panel(s, "history")["nodes"].size() == 1);
  CHECK(panel(s, "history")["nodes"][0]["step_us"] == chips(s)["step_us"]);
}
