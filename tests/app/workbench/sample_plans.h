#pragma once
// Every plan of sample_models/plans that leaves nothing open, on its model and a preset cluster: what it comes to.
#include <catch2/catch.hpp>
#include <filesystem>
#include <functional>
#include <set>
#include <string>

#include "app/workbench/workbench.h"
#include "engine/plan/parser.h"
#include "planner/evaluate/evaluate.h"

namespace planscope {

inline void for_each_sample_plan(const std::function<void(const Evaluation&, const Cluster&)>& look) {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator("sample_models/plans")) files.insert(entry.path().string());
  REQUIRE(files.size() > 40);
  MaterializeCache cache;
  for (const std::string& file : files) {
    const std::string name = std::filesystem::path(file).stem();
    INFO(name);
    if (name.ends_with("-open")) continue;
    const Result<OpenModel> model = open_model("sample_models/" + name.substr(0, name.find('-')) + ".pt2", nullptr);
    REQUIRE(model.ok());
    const Result<plan::Plan> plan = plan::parse_plan(*read_file(file).value, file);
    REQUIRE(plan.ok());
    const Result<Cluster> cluster = open_cluster("dgx-a100", *plan);
    REQUIRE(cluster.ok());
    const Result<Evaluation> e = evaluate(model->graph, *plan, *cluster, cache);
    INFO(to_string(e.diagnostics));
    REQUIRE(e.ok());
    look(*e, *cluster);
  }
}

// A plan of a sample model on a cluster.
struct Evaluated {
  Evaluated(const std::string& model_name, const std::string& text, const std::string& cluster_name)
      : model(open_model("sample_models/" + model_name + ".pt2", nullptr)) {
    REQUIRE(model.ok());
    const Result<plan::Plan> p = plan::parse_plan(text, "a.plan");
    REQUIRE(p.ok());
    Result<Cluster> c = open_cluster(cluster_name, *p);
    REQUIRE(c.ok());
    cluster = std::move(*c.value);
    Result<Evaluation> e = evaluate(model->graph, *p, cluster, cache);
    INFO(to_string(e.diagnostics));
    REQUIRE(e.ok());
    evaluation = std::move(*e.value);
  }
  const Graph& graph() const { return *evaluation.made.graph; }
  const Program& program() const { return evaluation.made.program; }

  Result<OpenModel> model;
  Cluster cluster;
  MaterializeCache cache;
  Evaluation evaluation;
};

}  // namespace planscope
