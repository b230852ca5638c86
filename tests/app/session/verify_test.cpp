// What the panel of a verification says of a plan that does not compute what its model computes. No plan that a session makes is one,
// so that a Program is broken here.
#include <catch2/catch.hpp>

#include "app/session/panels/panels.h"
#include "tests/app/workbench/sample_plans.h"

using namespace planscope;
using namespace planscope::session;

TEST_CASE("a failed check names the region that is wanted and the region that is there") {
  const Evaluated e("gpt2_tiny", "devices 2 as data=2\ntrans * batch by data\n", "dgx-h100x1");
  Program broken = e.program();
  int unbound = 0;
  for (Piece& piece : broken.pieces)
    for (PieceOp& o : piece.ops)
      if (e.graph().node(o.op).name() == "transformer.h.0.mlp.c_fc:addmm#0") o.bindings.clear(), ++unbound;
  REQUIRE(unbound > 0);
  auto picture = std::make_shared<Picture>();
  picture->evaluation = std::shared_ptr<const Evaluation>(&e.evaluation, [](const Evaluation*) {});
  picture->verified = std::make_shared<const Verified>(Verified{verify(e.graph(), broken), 0});
  State s;
  s.documents.emplace_back();
  s.documents.back().shown = picture;
  s.current = 0;
  const Panel p = verify_panel(s);
  const Json said = to_json(p);
  CHECK(said["verdict"] == "different");
  REQUIRE_FALSE(said["failures"].empty());
  const Json& first = said["failures"][0];
  CHECK(first["operator"] == "transformer.h.0.mlp.c_fc:addmm#0");
  CHECK(first["region"] == "[0:8*0:16, 0:48]");
  CHECK(first["devices"] == "all (devices 0-1)");
  CHECK(first["device"] == 0);
  CHECK(first["wanted"] == Json::parse("[[[0, 8], [0, 16]], [[0, 48]]]"));
  CHECK(first["there"] == Json::parse("[[[0, 4], [0, 16]], [[0, 48]]]"));
  CHECK(first["got"].get<std::string>().ends_with("; device 0 has [0:4*0:16, 0:48]"));
  CHECK(p.rows[0].command.find("tensor=\"" + first["tensor"].get<std::string>() + "\"") != std::string::npos);
}
