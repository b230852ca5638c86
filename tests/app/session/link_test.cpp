// A link leads to what another session has on screen.
#include <catch2/catch.hpp>

#include "tests/app/session/scratch.h"
#include "tests/app/session/steps.h"

using namespace planscope;
using namespace planscope::session;
using namespace planscope::testing;

TEST_CASE("a link opens what another session has on screen") {
  const Scratch scratch;
  Session s({.workspace = scratch.file("w"), .cluster = "dgx-h100x1"});
  must(s, "open model=" + kModel);
  write(s, kPlan);
  must(s, "keep");
  s.wait();
  must(s, "set_cluster levels.0.latency_us 9");
  must(s, "select operators=\"transformer.h[1].mlp\"");
  must(s, "expand transformer.h[*]");
  must(s, "colour time");
  must(s, "align share");
  must(s, "lanes by=work");
  const std::string lane = s.state().document()->shown->evaluation->made.program.classes[0].name;
  must(s, "lane name=\"" + lane + "\" pin=on");
  must(s, "select time=10.5..200 lane=\"" + lane + "\"");
  s.wait();
  const std::string link = to_json(*make_panel("link", s.state()))["link"];
  Session other({.workspace = scratch.file("w"), .cluster = "local"});
  must(other, "open link=\"" + link + "\"");
  other.wait();
  CHECK(to_json(*make_panel("link", other.state()))["link"] == link);
  CHECK(other.state().time == s.state().time);
  CHECK(other.state().lanes == s.state().lanes);
  for (const char* panel : {"chips", "operator", "graph", "script", "area"}) {
    Json there = to_json(*make_panel(panel, other.state())), here = to_json(*make_panel(panel, s.state()));
    if (there.is_object()) there.erase("seen"), here.erase("seen");  // each session numbers its own texts
    CHECK(there == here);
  }
}

TEST_CASE("a link leads to the same comparison, with the base that was chosen") {
  const std::string base = "sample_models/plans/gpt2_tiny-data-tensor.plan", of = "sample_models/plans/gpt2_tiny-zero3.plan";
  const auto compared = [](const Session& s) { return panel(s, "compare")["plans"]; };
  for (const std::string& chosen : {base, std::string()}) {
    INFO(chosen);
    Session s({.cluster = "dgx-h100x1"});
    must(s, "open model=" + kModel);
    write(s, kPlan);
    must(s, "compare " + of + (chosen.empty() ? "" : " base=" + chosen));
    s.wait();
    REQUIRE(compared(s).size() == 2);
    CHECK(compared(s)[0]["name"] == (chosen.empty() ? "plan" : "gpt2_tiny-data-tensor"));
    const std::string link = panel(s, "link")["link"];
    CHECK((link.find("&base=" + base + "&") != std::string::npos) == !chosen.empty());
    Session other({.cluster = "local"});
    must(other, "open link=\"" + link + "\"");
    other.wait();
    CHECK(compared(other) == compared(s));
    CHECK(panel(other, "link")["link"] == link);
  }
}
