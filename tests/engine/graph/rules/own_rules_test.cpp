// Rules beside a model.
#include "engine/graph/own_rules.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "engine/base/temporary_folder.h"
#include "tests/support/model_builder.h"

using namespace planscope;
using planscope::testing::ModelBuilder;

namespace {

// x [4, 6, 8] through an operator that nobody knows to [4, 6, 4], and a loss of it.
std::shared_ptr<const Model> model() {
  ModelBuilder b;
  const ValueId x = b.linear("up", b.input("x", {4, 6, 8}), 8, false);
  const ValueId y = b.node("m", "mine::halves", {{"self", Tensor{x}}}, {4, 6, 4});
  return b.graph(b.cross_entropy(y, b.input("labels", {4, 6}, DType::i64))).model;
}

Result<OwnRules> own(const std::string& text) {
  const TemporaryFolder folder("rules");
  std::ofstream(folder.path() / "net.rules") << text;
  Result<OwnRules> r = read_own_rules((folder.path() / "net.pt2").string());
  r->file = "net.rules";
  for (Diagnostic& d : r.diagnostics) d.file = "net.rules";
  return r;
}

std::string factors(const Graph& g) {
  std::string out;
  for (OpId o = 0; o < static_cast<OpId>(g.ops.size()); ++o)
    if (g.node(o).target == "mine::halves")
      for (const Factor& f : g.ops[static_cast<std::size_t>(o)].factors)
        out += (f.kind == FactorKind::frozen ? "frozen " : "free ") + f.name + " ";
  return out;
}

}  // namespace

TEST_CASE("an operator without a rule has one's own") {
  CHECK(factors(*make_graph(model())).find("free") == std::string::npos);
  const Result<OwnRules> r = own(
      "# halves\n\nmine::halves : self b.. h -> b.. o ; frozen h=whole \"they meet\", frozen o=half \"they meet\"\r\n"
      "mine::others : self a -> a\n");
  REQUIRE(r.ok());
  const Result<Graph> g = make_graph(model(), *r);
  REQUIRE(g.ok());
  CHECK(factors(*g).find("free batch free") == 0);
  CHECK(g->digest != make_graph(model())->digest);
  CHECK(to_string(g.diagnostics) ==
        "net.rules:4: warning: mine::others: the rule fits no operator of the model; 'planscope rules MODEL' lists the "
        "operators and their targets\n"
        "net.rules: note: its rules hold for 1 operator; verify takes them for true; 'planscope rules MODEL --audit' "
        "executes them\n");
}

TEST_CASE("a rule that does not fit leaves the operator to the tool's") {
  const Result<OwnRules> r = own("mine::halves : self b.. h -> b.. h\naten::linear : input a -> a\n");
  REQUIRE(r.ok());
  const Result<Graph> g = make_graph(model(), *r);
  REQUIRE(g.ok());
  CHECK(g->digest == make_graph(model())->digest);
}

TEST_CASE("no file, no rules") { CHECK(read_own_rules("nowhere/net.pt2")->rules.empty()); }

TEST_CASE("what is no rule is told with its line") {
  CHECK(to_string(own("a\nm::f : self h\nm::f : self h -> h ; sum h=in\nm::f : self h -> h ; frozen z=in\n"
                      "m::f : self h -> ; saves ~1\nm::f : self h -> ; saves ~x\nm::f : self + -> h\n"
                      "m::f : self h -> h ; linear other\nm::f : self h -> h ; colour blue\n")
                      .diagnostics) ==
        "net.rules:1: not a rule: 'a'; a rule is 'target : operand, operand -> output ; clauses'\n"
        "net.rules:2: not a rule: 'm::f : self h'; a rule is 'target : operand, operand -> output ; clauses'\n"
        "net.rules:3: rule of m::f: 'h' is summed, but a result has it\n"
        "net.rules:4: rule of m::f: no operand has a dimension 'z'\n"
        "net.rules:5: rule of m::f: 'saves' speaks of no operand '~1'\n"
        "net.rules:6: rule of m::f: 'saves' speaks of no operand '~x'\n"
        "net.rules:7: rule of m::f: a dimension without a name\n"
        "net.rules:8: rule of m::f: 'linear' speaks of no operand 'other'\n"
        "net.rules:9: rule of m::f: unknown clause 'colour blue'; known: free sum merge frozen, keyed, linear, saves, "
        "shard, "
        "product, arguments\n");
}
