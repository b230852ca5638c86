// What of the canvases is looked at: set, drawn, and led to by a link.
#include <catch2/catch.hpp>

#include "app/session/canvases/canvases.h"
#include "app/session/panels/panels.h"
#include "app/session/session.h"
#include "app/session/views.h"
#include "tests/app/session/scratch.h"

using namespace planscope;
using namespace planscope::session;
using testing::Scratch;

namespace {

struct Looking {
  Session session{{.workspace = "", .cluster = "dgx-h100x1"}};

  Result<Done> tried(const std::string& line) {
    const Result<Invocation> i = parse_invocation(line);
    INFO(line << ": " << to_string(i.diagnostics));
    REQUIRE(i.ok());
    return session.apply(*i);
  }
  void must(const std::string& line) {
    const Result<Done> done = tried(line);
    INFO(line << ": " << to_string(done.diagnostics));
    REQUIRE(!has_errors(done.diagnostics));
  }
  std::string refused(const std::string& line) { return to_string(tried(line).diagnostics); }
  Json panel(const std::string& id) const { return to_json(*make_panel(id, session.state())); }
};

const char* const opened =
    "open model=sample_models/llama_tiny.pt2 plan=sample_models/plans/llama_tiny-pipe-tensor.plan";

}  // namespace

TEST_CASE("a view is set by name, refused with what there is, and begins again") {
  Looking l;
  l.must(opened);
  l.session.wait();
  l.must("view graph zoom=0.5 x=40 y=-20 backward=no");
  const Json graph = l.panel("views")["rows"][0];
  CHECK(graph["canvas"] == "graph");
  CHECK(graph["view"]["zoom"] == 0.5);
  CHECK(graph["view"]["x"] == 40);
  CHECK(graph["view"]["y"] == -20);
  CHECK(graph["view"]["backward"] == false);
  CHECK(graph["view"]["update"] == true);
  l.must("view graph x=50");  // what is not said stays
  CHECK(l.panel("views")["rows"][0]["view"]["zoom"] == 0.5);
  CHECK(l.panel("views")["rows"][0]["view"]["x"] == 50);
  CHECK(l.refused("view graph nosuch=1").find("the view of graph has no 'nosuch'; it has ") != std::string::npos);
  CHECK(l.refused("view graph zoom=near").find("'zoom' of graph cannot be near; it would be 0.5") != std::string::npos);
  CHECK(l.refused("view grap zoom=1").find("did you mean 'graph'?") != std::string::npos);
  l.must("view graph");
  CHECK(l.panel("views")["rows"].empty());
}

TEST_CASE("dimensions of a tensor are chosen by their names, and an index of those that are not drawn") {
  Looking l;
  l.must(opened);
  l.session.wait();
  l.must("select tensor=\"model.layers.0.mlp.up_proj:linear#0\"");
  l.must("view tensor down=batch right=ffn at.seq=3");
  const Json view = l.panel("views")["rows"][0]["view"];
  CHECK(view["down"] == "batch");
  CHECK(view["right"] == "ffn");
  CHECK(view["at"]["seq"] == 3);
  CHECK(l.refused("view tensor down=nosuch").find("'down' of tensor cannot be nosuch; it would be batch") !=
        std::string::npos);
  CHECK(l.refused("view tensor at.nosuch=1").find("cannot be 1; there is no such setting") != std::string::npos);
}

TEST_CASE("pictures are written of the view or of the whole, and no file is overwritten unasked") {
  const Scratch scratch;
  Looking l;
  l.must(opened);
  l.session.wait();
  l.must("export graph " + scratch.file("whole.svg"));
  l.must("view graph zoom=1 x=0 y=0");
  l.must("export graph " + scratch.file("view.svg") + " view=yes size=400x300");
  const std::string view = scratch.read("view.svg");
  CHECK(view.find("width=\"400\" height=\"346\"") != std::string::npos);  // under a caption of two lines
  CHECK(view.size() < scratch.read("whole.svg").size());
  l.must("export graph " + scratch.file("again.svg"));  // the whole, wherever the view is
  CHECK(scratch.read("again.svg") == scratch.read("whole.svg"));
  CHECK(l.refused("export graph " + scratch.file("again.svg"))
            .find("there is a file already; overwrite=yes replaces it") != std::string::npos);
  l.must("export graph " + scratch.file("again.svg") + " overwrite=yes");
  CHECK(l.refused("export graph " + scratch.file("b.svg") + " view=yes size=12x7").find("is no size of a picture") !=
        std::string::npos);
  CHECK(l.refused("export graph " + scratch.file("b.svg") + " view=maybe").find("view=yes or no") != std::string::npos);
}

TEST_CASE("the graph is written in the language of Graphviz") {
  const Scratch scratch;
  Looking l;
  l.must(opened);
  l.session.wait();
  l.must("expand model.layers[*]");
  l.must("export graph " + scratch.file("a.dot"));
  const std::string dot = scratch.read("a.dot");
  const Json graph = l.panel("graph");
  for (const Json& n : graph["nodes"]) {
    INFO(n["id"]);
    const std::string id = n["id"].get<std::string>();
    CHECK(dot.find(n["expanded"].get<bool>() ? "subgraph \"cluster_" + id + "\"" : "\"" + id + "\" [label=") !=
          std::string::npos);
  }
  std::size_t edges = 0;
  for (std::size_t at = dot.find(" -> "); at != std::string::npos; at = dot.find(" -> ", at + 1)) ++edges;
  CHECK(edges == graph["edges"].size());
  CHECK(dot.find("all_reduce among 2") != std::string::npos);
}

TEST_CASE("a link leads to the same panels and pictures in another session") {
  const Scratch scratch;
  Looking a;
  a.must(opened);
  a.session.wait();
  a.must("append \"# \\\"quoted\\\" 100 % ÷\"");
  a.must("expand model.layers[*]");
  a.must("collapse model.layers[*].mlp");
  a.must("colour memory");
  a.must("find mlp");
  a.must("gradient on");
  a.must("index mb 1");
  a.must("brush kind=all_reduce time=100.5..900.1234567890123");
  a.must("select operators=\"model.layers[0].mlp.up_proj\"");
  a.must("view graph zoom=0.7 x=30 y=10 forward=no");
  a.must("view tensor down=seq right=ffn at.batch=1");
  a.must("view traffic measure=time");
  a.session.wait();
  const std::string link = a.panel("link")["link"].get<std::string>();
  REQUIRE(link.starts_with("planscope://open?"));
  CHECK(link.find("brush.time=100.5..900.1234567890123") != std::string::npos);
  CHECK(link.find_first_of(" \"\n") == std::string::npos);
  Looking b;
  b.must("open link=" + link);
  b.session.wait();
  for (const char* id : {"graph", "edges", "tensor", "tiles", "traffic", "views", "script"}) {
    INFO(id);
    Json there = b.panel(id), here = a.panel(id);
    if (there.is_object()) there.erase("seen"), here.erase("seen");  // each session numbers its own texts
    CHECK(there == here);
  }
  for (const char* canvas : {"graph", "tensor", "traffic"}) {
    const std::string name = canvas;
    a.must("export " + name + " " + scratch.file("a_" + name + ".svg") + " view=yes");
    b.must("export " + name + " " + scratch.file("b_" + name + ".svg") + " view=yes");
    INFO(name);
    CHECK(scratch.read("a_" + name + ".svg") == scratch.read("b_" + name + ".svg"));
  }
}
