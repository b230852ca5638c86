#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "app/cli/command.h"
#include "app/workbench/plan_file.h"
#include "engine/base/text.h"
#include "engine/plan/parser.h"
#include "planner/evaluate/evaluate.h"
#include "planner/search/splits/choose.h"
#include "planner/search/stages/configuration.h"

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
  MaterializeCache cache;
  const Result<Evaluation> e = evaluate(graph, *plan, cluster, cache);
  if (!e.ok()) return refuse(e.diagnostics);
  out.step_us = e->simulation.step_us();
  out.peak_bytes = peak_bytes(e->simulation);
  out.verdict = to_string(verify(*e).report.verdict);
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

// More than any cluster has is not multiplied on.
std::int64_t devices_of(const splits::LayoutSpec& spec) {
  std::int64_t out = 1;
  for (const splits::AxisSize& axis : spec.axes)
    if (out <= INT32_MAX) out *= axis.second;
  return out;
}

// `24GiB`
std::optional<std::int64_t> size_of(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const std::string unit = end;
  const int shift = unit == "GiB" ? 30 : unit == "MiB" ? 20 : unit == "KiB" ? 10 : -1;
  if (end == text.c_str() || shift < 0 || !(number > 0) || number > 1e6) return std::nullopt;
  return static_cast<std::int64_t>(number * static_cast<double>(std::int64_t{1} << shift));
}

Json to_json(const splits::GraphLayout& l) {
  return {{"cost_us", l.cost_us},
          {"lower_bound_us", l.lower_bound_us},
          {"gap", !l.fits ? Json() : Json(l.cost_us > 0 ? (l.cost_us - l.lower_bound_us) / l.cost_us : 0.0)},
          {"optimal", l.optimal},
          {"method", l.method},
          {"row_bytes", l.bytes},
          {"fits", l.fits},
          {"times_played", l.times_played},
          {"operators", l.operators},
          {"operator_kinds", l.operator_kinds},
          {"strategies", l.strategies},
          {"nodes", l.nodes},
          {"edges", l.edges},
          {"pair_kinds", l.pair_kinds},
          {"cut_kinds", l.cut_kinds},
          {"network_seconds", l.network_seconds},
          {"solve_seconds", l.solve_seconds},
          {"statement_seconds", l.statement_seconds},
          {"play_seconds", l.play_seconds},
          {"statements", l.statements}};
}

std::string text_of(const splits::GraphLayout& l, std::int64_t micro_batches) {
  char head[700];
  std::snprintf(
      head, sizeof head,
      "cost %.1f us, at least %.1f us%s; %d operators, %d kinds, %d strategies, %d nodes, %d edges, %d kinds of "
      "pairs%s; network %.3f s, solver %.3f s, statements %.3f s, played %d times in %.3f s\n",
      l.cost_us, l.lower_bound_us, l.optimal ? " (optimal)" : "", l.operators, l.operator_kinds, l.strategies, l.nodes,
      l.edges, l.pair_kinds, l.cut_kinds > 0 ? " (not all strategies)" : "", l.network_seconds, l.solve_seconds,
      l.statement_seconds, l.times_played, l.play_seconds);
  std::string out = head;
  std::snprintf(head, sizeof head, "%s; step / cost %.3f; row %.2f GiB, peak %.2f GiB%s\n\n", l.method.c_str(),
                l.step_us / (l.cost_us * static_cast<double>(micro_batches)), static_cast<double>(l.bytes) / (1 << 30),
                static_cast<double>(l.peak_bytes) / (1 << 30), l.fits ? "" : ": MORE THAN THERE IS");
  return out + head;
}

// The template `tp` over as many devices.
Tried usual(const Graph& graph, const Cluster& cluster, const splits::LayoutSpec& spec, bool sequence) {
  const std::int64_t devices = devices_of(spec);
  const stages::ModelShape shape = stages::model_shape(model_info(graph));
  stages::Configuration c;
  c.tensor = devices;
  c.micro_batch = shape.batch_size;
  c.micro_batches = spec.micro_batches;
  c.sequence = sequence;
  const std::string plan = stages::script(shape, c);
  Tried t = tried(graph, plan, cluster);
  if (spec.micro_batches > 1) return t;
  splits::LayoutSpec one_axis = spec;
  one_axis.axes = {{"tensor", devices}};
  one_axis.zero.clear();
  one_axis.storage = {};
  const Result<double> cost = splits::cost_of_lines(graph, cluster, one_axis, plan.substr(plan.find('\n') + 1));
  if (cost.ok())
    t.cost_us = *cost;
  else
    report(cost.diagnostics);
  return t;
}

Answer none_chosen(const splits::Chooser& chooser, const std::vector<Diagnostic>& why) {
  const std::optional<layouts::Outcome> none = chooser.none();
  if (!none) return bad_input(why);
  Answer a;
  a.status = *none == layouts::Outcome::impossible ? kNo : kUnknown;
  a.json = {{"status", layouts::to_string(*none)}, {"reason", to_string(why.front())}};
  a.text = to_string(why.front()) + "\n";
  return a;
}

Answer compared(const Graph& graph, const Cluster& cluster, const splits::LayoutSpec& spec, splits::Chooser& chooser,
                const std::string& rows, const splits::GraphLayout& found) {
  Answer a;
  const auto costed = [&](Tried t, const splits::GraphLayout& l, const std::string& before) {
    std::string lines = before;
    for (const std::string& line : l.statements) lines += line + "\n";
    const Result<double> cost = chooser.cost_of(lines);
    if (cost.ok())
      t.cost_us = *cost;
    else
      report(cost.diagnostics);
    return t;
  };
  if (spec.ended()) {
    const Tried own = tried(graph, found.plan, cluster);
    a.status = kUnknown;
    a.json = to_json(found);
    a.json["found"] = to_json(own);
    a.text = text_of(found, spec.micro_batches) + found.plan + "\n" + text_of("found", own);
    return a;
  }
  const Tried own = costed(tried(graph, found.plan, cluster), found, ""), plain = usual(graph, cluster, spec, false),
              sequence = usual(graph, cluster, spec, true);
  a.json = to_json(found);
  a.json["found"] = to_json(own);
  a.json["template"] = to_json(plain);
  a.json["template_with_sequence"] = to_json(sequence);
  a.text = text_of(found, spec.micro_batches) + found.plan + "\n" + text_of("found", own) + text_of("template", plain) +
           text_of("template, sequence", sequence);
  if (!found.fits) a.status = kUnknown;
  if (own.verdict != "equivalent") a.status = kNo;
  if (rows.empty()) return a;
  if (spec.ended()) {
    a.status = kUnknown;
    return a;
  }
  const Result<splits::GraphLayout> locked = chooser.choose(rows);
  if (!locked.ok()) return none_chosen(chooser, locked.diagnostics);
  const Tried kept = costed(tried(graph, locked->plan, cluster), *locked, rows);
  a.json["kept"] = to_json(*locked);
  a.json["kept"]["found"] = to_json(kept);
  a.text +=
      "\nwith these lines kept:\n" + text_of(*locked, spec.micro_batches) + locked->plan + "\n" + text_of("kept", kept);
  if (!locked->fits) a.status = kUnknown;
  if (kept.verdict != "equivalent") a.status = kNo;
  return a;
}

std::optional<Diagnostic> read_strategies(const Options& o, const Cluster& cluster, const Graph& graph,
                                          splits::LayoutSpec& spec) {
  spec.zero = o.zero;
  spec.micro_batches = o.micro_batches;
  spec.storage = {stages::model_shape(model_info(graph)).layers, o.recompute, o.offload};
  spec.simulated = true;
  const bool limited = !o.memory.empty() || !o.zero.empty() || o.recompute || o.offload;
  if (limited) spec.memory_limit = cluster.least_memory(cluster.kinds_in(0, devices_of(spec))).count;
  if (o.memory.empty()) return std::nullopt;
  const auto size = size_of(o.memory);
  if (!size) return error("'" + o.memory + "' is no size", "write one as 24GiB");
  spec.memory_limit = *size;
  return std::nullopt;
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
  const Result<Cluster> cluster = open_cluster(o.cluster, devices_of(spec));
  if (!cluster.ok()) return bad_input(cluster.diagnostics);
  const Result<OpenModel> model = open_model(o.case_file, nullptr);
  if (!model.ok()) return bad_input(model.diagnostics);
  Result<Graph> graph = model->graph;
  if (o.global_batch > 0) graph = resize(model->graph, {{"batch", o.global_batch}});
  if (!graph.ok()) return bad_input(graph.diagnostics);
  spec.ended = [&o, begin = std::chrono::steady_clock::now()] {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    return interrupted || (o.time_limited && passed.count() > o.time_limit);
  };
  if (const auto wrong = read_strategies(o, *cluster, *graph, spec)) return bad_input({*wrong});
  std::string rows;
  for (const std::string& file : o.constraints) {
    const Result<PlanFile> one = read_plan_file(file);
    if (!one.ok()) return bad_input(one.diagnostics);
    rows += one->text + "\n";
  }
  Result<splits::Chooser> chooser = splits::Chooser::make(*graph, *cluster, spec);
  if (!chooser.ok()) return bad_input(chooser.diagnostics);
  const Result<splits::GraphLayout> found = chooser->choose();
  if (!found.ok()) return none_chosen(*chooser, found.diagnostics);
  return compared(*graph, *cluster, spec, *chooser, rows, *found);
}

}  // namespace planscope::cli
