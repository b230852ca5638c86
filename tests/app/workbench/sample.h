#pragma once
// A sample model, a plan and what it comes to on a preset cluster.
#include <atomic>
#include <catch2/catch.hpp>
#include <string>

#include "planner/complete/settled.h"
#include "app/workbench/tried.h"
#include "app/workbench/workbench.h"
#include "engine/plan/parser.h"

namespace planscope {

struct Sample {
  Sample(const std::string& name, const std::string& text, const std::string& cluster_name = "dgx-a100")
      : model(open_model("sample_models/" + name + ".pt2", nullptr)) {
    REQUIRE(model.ok());
    const Result<plan::Plan> p = plan::parse_plan(text, "a.plan");
    REQUIRE(p.ok());
    Result<Cluster> c = open_cluster(cluster_name, *p);
    REQUIRE(c.ok());
    cluster = std::move(*c.value);
    Result<Settled> s = settle(model->graph, *p, cluster, cache, {.time_limit_s = 60}, stop);
    INFO(to_string(s.diagnostics));
    REQUIRE(s.ok());
    REQUIRE(s->judged);
    settled = std::move(*s.value);
  }
  Sample(const Sample&) = delete;
  Sample& operator=(const Sample&) = delete;

  const Graph& graph() const { return model->graph; }
  const Evaluation& judged() const { return *settled.judged; }
  BasePlan base() { return {model->graph, settled.plan, cluster, cache, *settled.judged, 60, stop}; }

  Result<OpenModel> model;
  Cluster cluster;
  MaterializeCache cache;
  std::atomic<bool> stop{false};
  Settled settled;
};

inline std::string sample_plan(const std::string& name) {
  return *read_file("sample_models/plans/" + name + ".plan").value;
}

}  // namespace planscope
