#include <algorithm>
#include <chrono>
#include <iostream>

#include "app/cli/command.h"
#include "app/workbench/profiling.h"
#include "engine/base/text.h"
#include "engine/plan/parser.h"

namespace planscope::cli {

namespace {

// One device, everything whole.
Result<Materials> one_device(const Options& o, const Workspace& workspace) {
  Result<OpenModel> model = open_model(o.model, &workspace);
  if (!model.value || model.has_errors()) return model.diagnostics;
  Materials m;
  m.model = std::move(*model);
  m.plan = *plan::parse_plan("devices 1\n", "");
  Result<Cluster> cluster = open_cluster(o.cluster, m.plan, &workspace);
  if (!cluster.value || cluster.has_errors()) return cluster.diagnostics;
  m.cluster = std::move(*cluster);
  Result<Materialized> made = materialize(m.model.graph, m.plan, m.cluster);
  if (!made.value || made.has_errors()) return made.diagnostics;
  m.result = std::move(*made);
  return m;
}

Result<std::vector<Materials>> all_materials(const Options& o, const Workspace& workspace) {
  std::vector<Materials> all;
  Result<std::vector<Materials>> out;
  const auto take = [&](Result<Materials> m) {
    out.diagnostics.insert(out.diagnostics.end(), m.diagnostics.begin(), m.diagnostics.end());
    if (m.value) all.push_back(std::move(*m));
  };
  if (o.plans.empty() && !o.model.empty()) take(one_device(o, workspace));
  for (const std::string& plan : o.plans) take(open_materials(o.model, plan, o.cluster, "profile", &workspace));
  out.value = std::move(all);
  return out;
}

std::string figure(const char* format, double value) {
  char text[40];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

// The ten that take longest.
std::string text_of(const Profiling& p) {
  std::string out = std::to_string(p.measured) + " measured, " + std::to_string(p.reused) + " reused\n";
  std::vector<const ProfiledOperator*> order;
  for (const ProfiledOperator& o : p.operators)
    if (o.measured_us > 0) order.push_back(&o);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->measured_us > b->measured_us; });
  if (order.size() > 10) order.resize(10);
  std::vector<std::vector<std::string>> rows = {{"operator", "measured", "/ modelled", "shapes"}};
  for (const ProfiledOperator* o : order)
    rows.push_back({o->item.key, time_text(o->measured_us),
                    o->item.modelled_us > 0 ? figure("%.2f", o->measured_us / o->item.modelled_us) : "–",
                    o->item.shapes});
  if (!order.empty()) out += "\n" + table(rows);
  for (const ProfiledOperator& o : p.operators)
    if (!o.problem.empty()) out += "not measured: " + o.item.key + " " + o.item.shapes + ": " + o.problem + "\n";
  return out;
}

Json operators_json(const Profiling& p) {
  Json out = Json::array();
  for (const ProfiledOperator& o : p.operators)
    out.push_back({{"operator", o.item.key},
                   {"shapes", o.item.shapes},
                   {"measured_us", o.problem.empty() && o.measured_us > 0 ? Json(o.measured_us) : Json()},
                   {"modelled_us", o.item.modelled_us},
                   {"reused", o.reused},
                   {"problem", o.problem}});
  return out;
}

}  // namespace

namespace {

Json links_json(const LinkProfile& links) {
  Json samples = Json::array();
  for (const LinkSample& s : links.samples)
    samples.push_back({{"kind", to_string(s.kind)},
                       {"bytes", s.bytes.count},
                       {"us", s.time.count},
                       {"fitted_us", fitted_time(links.fit, s.kind, s.bytes).count}});
  return {
      {"latency_us", links.fit.latency.count}, {"bandwidth_bytes_per_s", links.fit.bandwidth}, {"samples", samples}};
}

std::string links_text(const LinkProfile& links) {
  std::string out = "latency " + time_text(links.fit.latency.count) + ", " + bytes_text(links.fit.bandwidth) + "/s\n\n";
  std::vector<std::vector<std::string>> rows = {{"communication", "bytes", "measured", "fitted"}};
  for (const LinkSample& s : links.samples)
    rows.push_back({std::string(to_string(s.kind)), bytes_text(static_cast<double>(s.bytes.count)),
                    time_text(s.time.count), time_text(fitted_time(links.fit, s.kind, s.bytes).count)});
  return out + table(rows) + "\n";
}

// Between two processes; with -o FILE also as a cluster file.
std::optional<Answer> measure_links(const Options& o, const ProfilingSpec& spec, Workspace& workspace, Answer& a) {
  const plan::Plan two = *plan::parse_plan("devices 2\n", "");
  if (o.cluster != "local")
    return bad_input(
        {error("--links measures processes of this host, not '" + o.cluster + "'", "", "--cluster local")});
  const Result<LinkProfile> links = profile_links(spec, workspace, {}, interrupted);
  if (!links.ok()) return bad_input(links.diagnostics);
  a.json["links"] = links_json(*links);
  a.text += links_text(*links);
  if (o.output.empty()) return std::nullopt;
  const Result<Cluster> cluster = open_cluster(o.cluster, two, &workspace);
  if (!cluster.ok()) return bad_input(cluster.diagnostics);
  if (const Result<Done> written = write_file(o.output, print_cluster(*cluster)); written.has_errors())
    return bad_input(written.diagnostics);
  return std::nullopt;
}

}  // namespace

Answer profile(const Options& o) {
  const auto begin = std::chrono::steady_clock::now();
  std::optional<Workspace> workspace = open_workspace(o);
  if (!workspace) return bad_input({error("a profile is kept in a workspace, and there is none")});
  if (o.model.empty() && !o.links)
    return bad_input(
        {error("nothing to measure", "there is neither a model nor --links", "profile MODEL, profile --links")});
  const ProfilingSpec spec{o.program_folder + "/planscope-worker", static_cast<std::uint64_t>(o.seed)};
  Answer a;
  if (o.links)
    if (std::optional<Answer> refused = measure_links(o, spec, *workspace, a)) return *refused;
  Result<std::vector<Materials>> all = all_materials(o, *workspace);
  if (!all.value || all.has_errors()) return bad_input(all.diagnostics);
  report(all.diagnostics);
  std::vector<Diagnostic> problems;
  int shown = 0;
  const auto progress = [&](int done, int of) {
    if (done != of && done < shown + 20) return;
    std::cerr << done << " of " << of << " measured\n";
    shown = done == of ? 0 : done;
  };
  const Profiling p = planscope::profile(*all, spec, *workspace, progress, interrupted, problems);
  if (has_errors(problems)) return bad_input(problems);
  report(problems);
  a.status = p.status == LaunchStatus::done ? kDone : p.status == LaunchStatus::interrupted ? kUnknown : kNo;
  a.json["measured"] = p.measured;
  a.json["reused"] = p.reused;
  a.json["operators"] = operators_json(p);
  if (!o.model.empty()) a.text += text_of(p);
  if (!p.failure.empty()) {
    a.json["failure"] = p.failure;
    a.text += "failed: " + p.failure + "\n";
  }
  a.json["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return a;
}

}  // namespace planscope::cli
