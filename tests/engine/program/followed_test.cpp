#include "engine/program/followed.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "engine/plan/parser.h"
#include "engine/program/materialize.h"
#include "tests/engine/program/tiny_model.h"

namespace planscope {
namespace {

Cluster two_nodes() { return *read_cluster("dgx-a100", {}).value; }

Materialized made(const Graph& g, const std::string& text) {
  Result<Materialized> m = materialize(g, *plan::parse_plan(text, ""), two_nodes());
  INFO(to_string(m.diagnostics));
  REQUIRE(m.ok());
  return std::move(*m.value);
}

// What a Program binds on an axis, by operator.
std::map<OpId, std::set<int>> bound(const Program& p, const std::string& axis, Origin origin) {
  std::map<OpId, std::set<int>> out;
  for (const Piece& piece : p.pieces)
    for (const PieceOp& o : piece.ops)
      for (const Binding& b : o.bindings)
        if (b.origin == origin && p.axes[static_cast<std::size_t>(b.digit.axis)].name == axis)
          out[o.op].insert(b.factor);
  return out;
}

TEST_CASE("what is compared first is what the program does") {
  const Graph g = tiny::tiny_graph(3);
  for (const char* text : {"devices 2 as t=2\ntrans *.up out by t\n", "devices 2 as t=2\ntrans * batch by t\n",
                           "devices 4 as d=2 t=2\ntrans * batch by d\ntrans *.up out by t\n",
                           "devices 2 as t=2\naxis mb=2\ntrans * batch by mb\ntrans *.down in by t\n"}) {
    INFO(text);
    const Materialized m = made(g, text);
    for (int axis = 0; axis < static_cast<int>(m.decisions.axes.size()); ++axis) {
      const std::string& name = m.decisions.axes[static_cast<std::size_t>(axis)].name;
      for (const auto& [op, factors] : bound(m.program, name, Origin::follow)) {
        const std::vector<FollowCost> all = followed(*m.graph, m.decisions, two_nodes(), op, axis);
        if (m.graph->ops[static_cast<std::size_t>(op)].parameter_free) continue;
        INFO(m.graph->node(op).name() << " by " << name);
        REQUIRE_FALSE(all.empty());
        CHECK(all[0].chosen);
        CHECK(std::set<int>(all[0].factors.begin(), all[0].factors.end()) == factors);
        for (std::size_t k = 1; k < all.size(); ++k) {
          CHECK_FALSE(all[k].chosen);
          CHECK((all[k].barrier || all[k].bytes >= all[0].bytes));
        }
      }
    }
  }
}

TEST_CASE("where a statement decides nothing is compared") {
  const Graph g = tiny::tiny_graph(1);
  const Materialized m = made(g, "devices 2 as t=2\ntrans *.up out by t\n");
  int compared = 0, stated = 0;
  for (OpId op = 0; op < static_cast<OpId>(g.ops.size()); ++op) {
    const bool by_statement = m.decisions.split(op, 0).statement >= 0;
    const bool any = !followed(g, m.decisions, two_nodes(), op, 0).empty();
    stated += by_statement;
    compared += any;
    CHECK_FALSE((by_statement && any));
  }
  CHECK(stated > 0);
  CHECK(compared > 0);
}

}  // namespace
}  // namespace planscope
