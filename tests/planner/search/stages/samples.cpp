#include "tests/planner/search/stages/samples.h"

#include <catch2/catch.hpp>

#include "engine/graph/import.h"
#include "engine/plan/parser.h"
#include "engine/program/materialize.h"

namespace planscope::testing {

Graph sample(const std::string& name) {
  Result<Model> m = import_model("sample_models/" + name + ".pt2");
  REQUIRE(m.ok());
  return *make_graph(std::make_shared<const Model>(std::move(*m.value))).value;
}

Cluster cluster(const std::string& name) {
  Result<Cluster> c = read_cluster(name);
  REQUIRE(c.ok());
  return *c;
}

stages::ModelShape shape_of(const Graph& graph) {
  MaterializeCache cache;
  return stages::model_shape((*cache.at(graph, {}).value)->info);
}

std::vector<plan::Plan> rows(const std::string& text) {
  const Result<plan::Plan> p = plan::parse_plan(text, "rows.plan");
  REQUIRE(p.ok());
  return {*p};
}

void cut_anywhere(stages::Configuration& c, int layers, std::mt19937& random) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const bool again = random() % 3 > 0;
  for (int left = layers, s = static_cast<int>(c.pipe); s > 0; --s) {
    const int n = s == 1 ? left : 1 + below(left - s + 1);
    c.stages.push_back(n);
    c.recompute.push_back(again ? below(n + 1) : 0);
    left -= n;
  }
}

Simulation predicted(const Graph& graph, const Cluster& c, const std::string& script) {
  const Result<plan::Plan> p = plan::parse_plan(script, "");
  REQUIRE(p.ok());
  const Result<Materialized> m = materialize(graph, *p, c);
  INFO(script << to_string(m.diagnostics));
  REQUIRE(m.ok());
  Result<Simulation> s = simulate(*m->graph, m->program, c);
  REQUIRE(s.ok());
  return std::move(*s.value);
}

}  // namespace planscope::testing
