// Figures that start from other measurements, or are of another cluster, are made again or marked.
#include <catch2/catch.hpp>

#include "app/workbench/profiling.h"
#include "planner/cost/profile_items.h"
#include "tests/app/session/scratch.h"
#include "tests/app/session/steps.h"

using namespace planscope;
using namespace planscope::session;
using namespace planscope::testing;

namespace {

// As another program measures: every operator of the plan that is shown takes three times as long as it was modelled.
void measure_elsewhere(const Session& s, const std::string& file) {
  const std::shared_ptr<const Picture> shown = s.state().document()->shown;
  const SystemClock clock;
  Result<Workspace> w = Workspace::open(file, clock);
  REQUIRE(w.ok());
  const DeviceType& device = shown->cluster->device(0);
  const Evaluation& e = *shown->evaluation;
  for (const ProfileItem& item : profile_items(*e.made.graph, e.made.program, device, {}))
    REQUIRE(store(*w.value, profiled_device(device), item, {3 * std::max(1.0, item.modelled_us)}, 5).ok());
}

bool is_current(const Session& s, const char* id) { return make_panel(id, s.state())->current; }

struct Kept {
  Scratch scratch;
  std::string file = scratch.file("w");
  Session s{{.workspace = file, .cluster = "local"}};
  Kept() {
    must(s, "open model=" + kModel);
    write(s, kPlan);
    must(s, "keep");
    s.wait();
  }
};

}  // namespace

TEST_CASE("a change is the difference of two figures that start from the same measurements") {
  Kept k;
  const double modelled = panel(k.s, "chips")["step_us"];
  must(k.s, "append \"trans transformer.h[0] recompute\"");
  k.s.wait();
  must(k.s, "drop");
  measure_elsewhere(k.s, k.file);
  must(k.s, "append \"trans transformer.h[0] recompute\"");  // nothing was looked at in between
  k.s.wait();
  const Json edited = panel(k.s, "chips");
  CHECK(edited["current"] == true);
  const double now = edited["step_us"], delta = edited["preview"]["step_delta_us"];
  CHECK(now > 1.5 * modelled);
  must(k.s, "drop");
  k.s.wait();
  const double kept = panel(k.s, "chips")["step_us"];
  CHECK(kept > 1.5 * modelled);
  CHECK(delta == Approx(now - kept));
  CHECK(panel(k.s, "history")["nodes"][0]["step_us"] == Approx(kept));
}

TEST_CASE("what another program measures makes figures anew, and those that are not made again are marked") {
  Kept k;
  must(k.s, "append \"trans transformer.h[1] recompute\"");
  must(k.s, "keep");
  must(k.s, "compare 1");
  k.s.wait();
  must(k.s, "try \"trans transformer.h[0] recompute\"");
  k.s.wait();
  const double modelled = panel(k.s, "chips")["step_us"];
  for (const char* id : {"chips", "compare", "beside", "try"}) CHECK(is_current(k.s, id));
  measure_elsewhere(k.s, k.file);
  k.s.refresh();
  k.s.wait();
  CHECK(is_current(k.s, "chips"));
  CHECK(panel(k.s, "chips")["step_us"] > 1.5 * modelled);
  for (const char* id : {"compare", "beside", "try"}) CHECK_FALSE(is_current(k.s, id));
  CHECK(make_panel("compare", k.s.state())->reason == "operators have been measured since");
  const Json history = panel(k.s, "history");
  for (const Json& version : history["nodes"]) CHECK(version["step_us"] > 1.5 * modelled);
  must(k.s, "compare 1");
  k.s.wait();
  CHECK(is_current(k.s, "compare"));
}

TEST_CASE("a comparison is of the cluster that it was made on") {
  Kept k;
  must(k.s, "cluster dgx-h100x1");
  must(k.s, "append \"trans transformer.h[1] recompute\"");
  must(k.s, "compare 1");
  k.s.wait();
  CHECK(is_current(k.s, "compare"));
  must(k.s, "cluster dgx1-v100x1");
  k.s.wait();
  CHECK_FALSE(is_current(k.s, "compare"));
  CHECK(make_panel("beside", k.s.state())->reason == "it is of dgx-h100x1");
  must(k.s, "export compare " + k.scratch.file("c.html"));
  CHECK(k.scratch.read("c.html").find("plan, 1 on dgx-h100x1") != std::string::npos);
  must(k.s, "export compare " + k.scratch.file("c.svg"));
  CHECK(k.scratch.read("c.svg").find("(the comparison is older: it is of dgx-h100x1)") != std::string::npos);
  CHECK(k.scratch.read("c.svg").find("gpt2_tiny on dgx-h100x1 · plan: step 1.") != std::string::npos);
}

TEST_CASE("on this host each plan is compared with as many processes as it has devices") {
  Kept k;
  write(k.s, "devices 4 as data=4\ntrans * batch by data\n");
  must(k.s, "compare 1");
  k.s.wait();
  const Json plans = panel(k.s, "compare")["plans"];
  REQUIRE(plans.size() == 2);
  CHECK(plans[0]["step_us"] == panel(k.s, "chips")["step_us"]);
  CHECK(plans[1]["step_us"] == panel(k.s, "history")["nodes"][0]["step_us"]);
}
