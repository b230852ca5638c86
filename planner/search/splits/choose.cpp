#include "planner/search/splits/choose.h"

#include <chrono>

#include "engine/base/text.h"
#include "engine/program/alike.h"
#include "engine/program/materialize.h"
#include "planner/search/layout/solve.h"
#include "planner/search/splits/statements.h"

namespace planscope::splits {
namespace {

class Watch {
 public:
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - begin_).count();
    begin_ = now;
    return seconds;
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

std::optional<Diagnostic> fault(const Cluster& cluster, const LayoutSpec& spec) {
  std::int64_t devices = 1;
  for (const AxisSize& a : spec.axes) {
    if (a.second < 1 || a.first.empty()) return error("an axis needs a name and at least one device");
    devices *= std::min(a.second, cluster.device_count() + 1);
    if (devices > cluster.device_count())
      return error("the axes need more devices than the cluster has",
                   cluster.name + " has " + std::to_string(cluster.device_count()));
  }
  if (spec.axes.empty()) return error("layouts are chosen over at least one axis", "write one as tensor=8");
  if (spec.micro_batches < 1) return error("a step has at least one micro-batch");
  return std::nullopt;
}

Diagnostic too_large() {
  return error("operators have too many ways to be split over these axes together",
               "their number is a product over the axes", "take fewer axes");
}

}  // namespace

std::string devices_line(const std::vector<AxisSize>& axes) {
  std::int64_t devices = 1;
  std::vector<std::string> words;
  for (const AxisSize& a : axes) {
    devices *= a.second;
    words.push_back(a.first + "=" + std::to_string(a.second));
  }
  return "devices " + std::to_string(devices) + " as " + join(words, " ") + "\n";
}

Result<GraphLayout> choose_layouts(const Graph& graph, const Cluster& cluster, const LayoutSpec& spec) {
  if (const auto wrong = fault(cluster, spec)) return *wrong;
  Watch watch;
  GraphLayout out;
  const plan::ModelInfo info = model_info(graph);
  const std::vector<int> alike = alike_operators(graph);
  Space space(graph, cluster, spec.costs, spec.axes);
  const Network network =
      make_network(space, info, alike, {spec.micro_batches, spec.optimizer_state_bytes}, spec.memory_limit);
  if (network.too_large) return too_large();
  out.operators = static_cast<int>(graph.ops.size());
  out.operator_kinds = static_cast<int>(network.strategies.size());
  for (const auto& s : network.strategies) out.strategies += static_cast<int>(s.size());
  out.edges = static_cast<int>(network.costs.edges.size());
  out.pair_kinds = static_cast<int>(network.costs.pairs.size());
  out.network_seconds = watch.lap();
  layouts::SolveOptions options;
  options.ended = spec.ended;
  layouts::Solver solver(network.costs, options);
  const layouts::Answer answer = solver.solve({});
  out.solve_seconds = watch.lap();
  if (answer.outcome != layouts::Outcome::found)
    return error(
        "no choice of splits was found: " + std::string(layouts::to_string(answer.outcome)),
        answer.least_memory.empty() ? "" : "at least " + std::to_string(answer.least_memory[0]) + " bytes are needed");
  if (answer.cost >= kNever) return error("no choice of splits fits together");
  out.cost_us = answer.cost;
  out.lower_bound_us = answer.lower_bound;
  out.optimal = answer.optimal;
  out.method = answer.method;
  if (!answer.memory.empty()) out.bytes = answer.memory[0];
  if (spec.below_us > 0 && out.cost_us >= spec.below_us) return out;
  const Result<Written> written = write(space, network, answer.choice, info, alike, devices_line(spec.axes));
  if (!written.ok()) return written.diagnostics;
  if (!written->exact) return error("no statements give the chosen splits", written->different + " binds otherwise");
  out.statements = written->lines;
  out.written = true;
  out.statement_seconds = watch.lap();
  return out;
}

Result<double> cost_of_lines(const Graph& graph, const Cluster& cluster, const LayoutSpec& spec,
                             const std::string& lines) {
  if (const auto wrong = fault(cluster, spec)) return *wrong;
  const plan::ModelInfo info = model_info(graph);
  const std::vector<int> alike = alike_operators(graph);
  Space space(graph, cluster, spec.costs, spec.axes);
  const Network network = make_network(space, info, alike, {spec.micro_batches, spec.optimizer_state_bytes}, 0);
  if (network.too_large) return too_large();
  const Result<Choices> stated = choices_of(space, network, info, alike, devices_line(spec.axes) + lines);
  if (!stated.ok()) return stated.diagnostics;
  layouts::Locks locks;
  for (const auto& [node, strategy] : *stated) locks[node] = {strategy};
  layouts::Solver solver(network.costs);
  const layouts::Answer answer = solver.solve(locks);
  if (answer.outcome != layouts::Outcome::found || answer.cost >= kNever)
    return error("the plan reads a tensor in more ways than the network has");
  return answer.cost;
}

}  // namespace planscope::splits
