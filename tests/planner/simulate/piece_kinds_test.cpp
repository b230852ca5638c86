// Pieces of a kind: what is computed of each by itself is the same for all of them.
#include <catch2/catch.hpp>

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "engine/plan/parser.h"
#include "engine/program/materialize.h"
#include "planner/cost/hidden_blocks.h"
#include "planner/cost/operator_cost.h"
#include "planner/simulate/piece_kinds.h"
#include "planner/simulate/working_set.h"
#include "tests/support/model_builder.h"

using namespace planscope;
using namespace planscope::testing;

namespace {

// All numbers that follow from a piece alone.
std::vector<double> figures(const Graph& g, const Program& p, const Piece& piece, const DeviceType& device) {
  const std::vector<Bytes> slots = slot_bytes(g, p, piece);
  std::vector<double> out;
  for (const Bytes b : slots) out.push_back(static_cast<double>(b.count));
  for (const PieceOp& o : piece.ops) {
    const double seen = seen_share(g, p, o);
    out.push_back(forward_time(g, p, piece, o, slots, device, {}, seen).time.count);
    out.push_back(backward_time(g, p, piece, o, slots, device, {}, seen).time.count);
  }
  const WorkingSet w = working_set(g, piece, slots);
  for (const std::int64_t n : {w.kept, w.aside, w.forward_keep, w.forward_drop}) out.push_back(static_cast<double>(n));
  for (const BackwardSet& s : {w.whole, w.inputs, w.parameters})
    for (const std::int64_t n : {s.bytes, s.gradients, s.left}) out.push_back(static_cast<double>(n));
  for (const std::vector<int>& list : {w.saved_leaves, w.saved_outputs})
    for (const int i : list) out.push_back(i);
  return out;
}

}  // namespace

TEST_CASE("pieces of a kind take and keep the same") {
  const Result<Cluster> cluster = read_cluster("dgx-h100x1");
  REQUIRE(cluster.ok());
  const std::vector<std::string> plans = {
      "devices 1\n",
      "devices 4 as tensor=4\ntrans layers[*].mlp.up out by tensor\ntrans layers[*].mlp.down in by tensor\n"
      "trans layers[0:3] recompute\n",
      "devices 4 as data=2 tensor=2\naxis mb=4\ntrans * batch by mb, data\ntrans layers[1].mlp.up out by tensor\n",
      "devices 4 as data=4\naxis mb=2\ntrans * batch by mb, data\nuse zero(3, layers[*], data)\n",
      "devices 2 as pipe=2\naxis mb=4\nlet S = cut layers[*] into |pipe|\ntrans * batch by mb\n"
      "assign S[i] to pipe=i\nuse 1f1b(S)\n"};
  std::vector<TransformerSizes> models(4, {.batch = 8, .layers = 6});
  models[1].bias = false;
  models[1].gated = models[1].causal = true;
  models[2].experts = 4;
  models[3].biased = models[3].tied = true;
  for (const TransformerSizes& sizes : models)
    for (const std::string& text : plans) {
      const Result<Materialized> made = materialize(transformer(sizes), *plan::parse_plan(text), *cluster);
      INFO("model " << &sizes - models.data() << "\n" << text << to_string(made.diagnostics));
      REQUIRE(made.ok());
      const Program& p = made->program;
      const std::vector<int> kinds = piece_kinds(*made->graph, p);
      REQUIRE(kinds.size() == p.pieces.size());
      std::map<int, std::vector<double>> known;
      for (std::size_t k = 0; k < kinds.size(); ++k) {
        const std::vector<double> own = figures(*made->graph, p, p.pieces[k], cluster->kinds[0].type);
        const auto [first, fresh] = known.emplace(kinds[k], own);
        CHECK(first->second == own);
        CHECK((!fresh || kinds[k] == static_cast<int>(known.size()) - 1));
      }
    }
}

TEST_CASE("equal layers have pieces of the same kinds") {
  const Result<Cluster> cluster = read_cluster("dgx-h100x1");
  REQUIRE(cluster.ok());
  const auto count = [&](std::int64_t layers) {
    const std::string text =
        "devices 4 as tensor=4\ntrans layers[*].mlp.up out by tensor\ntrans layers[*].mlp.down in by tensor\n";
    const Result<Materialized> made =
        materialize(transformer({.batch = 8, .layers = layers}), *plan::parse_plan(text), *cluster);
    REQUIRE(made.ok());
    const std::vector<int> kinds = piece_kinds(*made->graph, made->program);
    return std::pair(kinds.size(), *std::max_element(kinds.begin(), kinds.end()) + 1);
  };
  const auto few = count(8), many = count(16);
  CHECK(many.first > few.first);
  CHECK(many.second == few.second);
}
