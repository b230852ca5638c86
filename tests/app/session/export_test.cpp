// Files that a session writes: pictures and rows.
#include <catch2/catch.hpp>

#include "app/session/canvases/canvases.h"
#include "app/session/csv.h"
#include "app/session/session.h"
#include "tests/app/session/scratch.h"

using namespace planscope;
using namespace planscope::session;
using testing::Scratch;

TEST_CASE("every canvas is written as a picture with a caption, every panel as rows") {
  const Scratch scratch;
  Session s({.workspace = "", .cluster = "dgx-h100x1"});
  const auto must = [&](const std::string& line) {
    const Result<Done> done = s.apply(*parse_invocation(line));
    INFO(line << ": " << to_string(done.diagnostics));
    REQUIRE(done.ok());
  };
  must("open model=sample_models/gpt2_tiny.pt2 plan=sample_models/plans/gpt2_tiny-1f1b.plan");
  s.wait();
  int drawn = 0;
  for (const CanvasInfo& c : canvases()) {
    if (!c.source(s.state()).of) continue;
    must("export " + std::string(c.id) + " " + scratch.file("a.svg") + " overwrite=yes");
    const std::string svg = scratch.read("a.svg");
    CHECK(svg.find("gpt2_tiny · gpt2_tiny-1f1b on dgx-h100x1 · step ") != std::string::npos);
    CHECK(svg.find("equivalent") != std::string::npos);
    CHECK(svg.size() < 2'000'000);
    must("export " + std::string(c.id) + " " + scratch.file("a.png") + " colours=dark overwrite=yes");
    CHECK(scratch.read("a.png").starts_with("\x89PNG"));
    ++drawn;
  }
  CHECK(drawn >= 2);
  must("export timeline " + scratch.file("a.csv"));
  const std::string csv = scratch.read("a.csv");
  CHECK(csv.starts_with("name,devices,blocks,work_us,idle,peak_bytes,memory_bytes,about\r\npipe=0,1,"));
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 5);
  must("export timeline " + scratch.file("a.json"));
  CHECK(Json::parse(scratch.read("a.json"))["lanes"].size() == 4);
}

TEST_CASE("fields with commas, quotes and line breaks are quoted") {
  Panel p{.id = "p", .title = "P"};
  p.columns = {{"a", "A"}, {"b", "B"}, {"c", "C"}};
  p.rows.push_back({.id = "1", .cells = {cell("x, y"), cell("say \"so\"\nand"), cell(nullptr)}});
  p.rows.push_back({.id = "2", .cells = {cell(1.5), cell(Json::array({1, 2})), cell(true)}});
  CHECK(to_csv(p) == "a,b,c\r\n\"x, y\",\"say \"\"so\"\"\nand\",\r\n1.5,\"[1,2]\",true\r\n");
}

TEST_CASE("panels without rows are written as what they show") {
  Panel chips{.id = "chips", .title = "Figures", .kind = PanelKind::chips};
  chips.facts = {{"step_us", "Step", cell(1500.0, Unit::microseconds)}, {"version", "Version", cell(nullptr)}};
  CHECK(to_csv(chips) == "name,value,text\r\nstep_us,1500.0,1.50 ms\r\nversion,,–\r\n");
  Panel form{.id = "form", .title = "Form", .kind = PanelKind::form};
  form.fields.push_back({"theme", "Theme", cell("dark")});
  CHECK(to_csv(form) == "name,value,text\r\ntheme,dark,dark\r\n");
  Panel script{.id = "script", .title = "Plan script", .kind = PanelKind::script};
  script.text = "devices 2 as data=2\nlet a, b = cut L into 2\n";
  CHECK(to_csv(script) == "line,text\r\n1,devices 2 as data=2\r\n2,\"let a, b = cut L into 2\"\r\n");
  Panel chart{.id = "search", .title = "Search", .kind = PanelKind::chart};
  chart.series.push_back({"step", Unit::microseconds, {{0.5, 20.0}}});
  CHECK(to_csv(chart) == "series,x,y\r\nstep,0.5,20.0\r\n");
}
