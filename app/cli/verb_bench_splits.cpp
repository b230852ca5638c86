#include <cstdio>

#include "app/cli/command.h"
#include "engine/base/text.h"
#include "engine/plan/parser.h"
#include "planner/search/splits/choose.h"
#include "planner/search/stages/configuration.h"
#include "planner/simulate/simulate.h"
#include "planner/verify/verify.h"

namespace planscope::cli {

namespace {

struct Tried {
  std::string refused;  // why there is no step
  std::optional<double> cost_us;
  double step_us = 0;
  std::int64_t peak_bytes = 0;
  std::string verdict;
};

Tried tried(const Graph& graph, const std::string& text, const Cluster& cluster) {
  Tried out;
  const auto refuse = [&](const std::vector<Diagnostic>& d) {
    out.refused = d.empty() ? "no step" : to_string(d.front());
    return out;
  };
  const Result<plan::Plan> plan = plan::parse_plan(text, "");
  if (!plan.ok()) return refuse(plan.diagnostics);
  const Result<Materialized> made = materialize(graph, *plan, cluster);
  if (!made.ok()) return refuse(made.diagnostics);
  const Result<Simulation> s = simulate(*made->graph, made->program, cluster);
  if (!s.ok()) return refuse(s.diagnostics);
  out.step_us = s->step_us();
  for (const ClassTimeline& c : s->classes) out.peak_bytes = std::max(out.peak_bytes, c.peak.bytes());
  out.verdict = to_string(verify(*made->graph, made->program).verdict);
  return out;
}

Json to_json(const Tried& t) {
  if (!t.refused.empty()) return {{"refused", t.refused}};
  return {{"cost_us", t.cost_us ? Json(*t.cost_us) : Json()},
          {"step_us", t.step_us},
          {"peak_bytes", t.peak_bytes},
          {"verify", t.verdict}};
}

std::string text_of(const char* name, const Tried& t) {
  char text[200];
  if (t.refused.empty())
    std::snprintf(text, sizeof text, "%-22s cost %.1f us, step %.1f us, peak %.3g GiB, %s\n", name,
                  t.cost_us.value_or(0), t.step_us, static_cast<double>(t.peak_bytes) / (1 << 30), t.verdict.c_str());
  else
    std::snprintf(text, sizeof text, "%-22s refused: %.150s\n", name, t.refused.c_str());
  return text;
}

// `tensor=8`
std::optional<splits::AxisSize> axis_of(const std::string& text) {
  const std::vector<std::string> words = split(text, '=');
  if (words.size() != 2 || words[0].empty() || words[1].empty() || words[1].size() > 6 ||
      words[1].find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  return splits::AxisSize{words[0], std::stoll(words[1])};
}

Answer compared(const Graph& graph, const Cluster& cluster, const splits::LayoutSpec& spec,
                const splits::GraphLayout& found) {
  Answer a;
  std::string text = splits::devices_line(spec.axes);
  for (const std::string& line : found.statements) text += line + "\n";
  std::int64_t devices = 1;
  for (const splits::AxisSize& x : spec.axes) devices *= x.second;
  splits::LayoutSpec one_axis = spec;
  one_axis.axes = {{"tensor", devices}};
  const auto costed = [&](Tried t, const std::string& plan, const splits::LayoutSpec& of) {
    const Result<double> cost = splits::cost_of_lines(graph, cluster, of, plan.substr(plan.find('\n') + 1));
    if (cost.ok())
      t.cost_us = *cost;
    else
      report(cost.diagnostics);
    return t;
  };
  const stages::ModelShape shape = stages::model_shape(model_info(graph));
  stages::Configuration c;
  c.tensor = devices;
  c.micro_batch = shape.batch_size;
  const Tried own = costed(tried(graph, text, cluster), text, spec),
              plain = costed(tried(graph, stages::script(shape, c), cluster), stages::script(shape, c), one_axis);
  c.sequence = true;
  const Tried sequence = costed(tried(graph, stages::script(shape, c), cluster), stages::script(shape, c), one_axis);
  a.json = {{"cost_us", found.cost_us},
            {"lower_bound_us", found.lower_bound_us},
            {"optimal", found.optimal},
            {"method", found.method},
            {"operators", found.operators},
            {"operator_kinds", found.operator_kinds},
            {"strategies", found.strategies},
            {"edges", found.edges},
            {"pair_kinds", found.pair_kinds},
            {"network_seconds", found.network_seconds},
            {"solve_seconds", found.solve_seconds},
            {"statement_seconds", found.statement_seconds},
            {"statements", found.statements},
            {"found", to_json(own)},
            {"template", to_json(plain)},
            {"template_with_sequence", to_json(sequence)}};
  char head[300];
  std::snprintf(head, sizeof head,
                "cost %.1f us, at least %.1f us%s; %d operators, %d kinds, %d strategies, %d edges, %d kinds of pairs; "
                "network %.3f s, solver %.3f s, statements %.3f s\n\n",
                found.cost_us, found.lower_bound_us, found.optimal ? " (optimal)" : "", found.operators,
                found.operator_kinds, found.strategies, found.edges, found.pair_kinds, found.network_seconds,
                found.solve_seconds, found.statement_seconds);
  a.text =
      head + text + "\n" + text_of("found", own) + text_of("template", plain) + text_of("template, sequence", sequence);
  if (own.verdict != "equivalent") a.status = kNo;
  return a;
}

}  // namespace

Answer bench_splits(const Options& o) {
  splits::LayoutSpec spec;
  for (const std::string& text : o.axes) {
    const auto axis = axis_of(text);
    if (!axis) return bad_input({error("'" + text + "' is no axis", "write one as tensor=8")});
    spec.axes.push_back(*axis);
  }
  if (o.case_file.empty() || spec.axes.empty())
    return bad_input({error("'bench splits' needs a model and an axis", "bench splits MODEL.pt2 --axis tensor=8")});
  const Result<Cluster> cluster = read_cluster(o.cluster);
  if (!cluster.ok()) return bad_input(cluster.diagnostics);
  const Result<OpenModel> model = open_model(o.case_file, nullptr);
  if (!model.ok()) return bad_input(model.diagnostics);
  Result<Graph> graph = model->graph;
  if (o.global_batch > 0) graph = resize(model->graph, {{"batch", o.global_batch}});
  if (!graph.ok()) return bad_input(graph.diagnostics);
  spec.ended = [] { return interrupted.load(); };
  const Result<splits::GraphLayout> found = splits::choose_layouts(*graph, *cluster, spec);
  if (!found.ok()) return bad_input(found.diagnostics);
  return compared(*graph, *cluster, spec, *found);
}

}  // namespace planscope::cli
