#include <chrono>

#include "app/cli/command.h"
#include "app/workbench/materials.h"
#include "app/workbench/timeline.h"
#include "planner/simulate/trace.h"

namespace planscope::cli {

namespace {

double us(Nanoseconds n) { return static_cast<double>(n) / 1000; }

std::string text_of(const Materials& m, const Simulation& s) {
  char head[200];
  std::snprintf(head, sizeof head, "step %s on %s, bubble %.1f %% (modelled)\n\n", time_text(s.step_us()).c_str(),
                m.cluster.name.c_str(), 100 * s.bubble());
  std::vector<std::vector<std::string>> rows = {{"devices", "count", "compute", "communication", "idle", "peak memory",
                                                 "weights", "optimizer", "gradients", "activations"}};
  for (std::size_t c = 0; c < s.classes.size(); ++c) {
    const ClassTimeline& t = s.classes[c];
    const auto kind = [&](MemoryKind k) { return bytes_text(static_cast<double>(t.peak[k])); };
    rows.push_back({m.result.program.classes[c].name, std::to_string(t.devices), time_text(us(t.compute)),
                    time_text(us(t.collective + t.transfer)), time_text(us(t.idle.sum())),
                    bytes_text(static_cast<double>(t.peak.bytes())), kind(MemoryKind::weights),
                    kind(MemoryKind::optimizer), kind(MemoryKind::gradients), kind(MemoryKind::activations)});
  }
  std::string out = head + table(rows) + "\n";
  std::vector<std::vector<std::string>> traffic = {{"communication", "group", "count", "payload per device"}};
  for (const Traffic& t : s.traffic())
    traffic.push_back(
        {t.kind, std::to_string(t.group), std::to_string(t.count), bytes_text(static_cast<double>(t.payload.count))});
  return out + table(traffic);
}

}  // namespace

Answer simulate(const Options& o) {
  const auto begin = std::chrono::steady_clock::now();
  std::optional<Workspace> workspace = open_workspace(o);
  Result<Materials> m = open_materials(o.model, o.plan, o.cluster, "simulate", workspace ? &*workspace : nullptr);
  if (!m.value || m.has_errors()) return bad_input(m.diagnostics);
  report(m.diagnostics);
  Result<Simulation> s = planscope::simulate(*m->result.graph, m->result.program, m->cluster);
  if (!s.value || s.has_errors()) return bad_input(s.diagnostics);
  report(s.diagnostics);
  Answer a;
  Json classes = Json::array(), traffic = Json::array();
  for (std::size_t c = 0; c < s->classes.size(); ++c) {
    const ClassTimeline& t = s->classes[c];
    classes.push_back({{"devices", m->result.program.classes[c].name},
                       {"device_count", t.devices},
                       {"peak_bytes", t.peak.bytes()},
                       {"compute_us", us(t.compute)},
                       {"communication_us", us(t.collective + t.transfer)},
                       {"host_copies_us", us(t.host)},
                       {"host_peak_bytes", t.host_peak.count},
                       {"idle",
                        {{"warm_up", us(t.idle.warm_up)},
                         {"cool_down", us(t.idle.cool_down)},
                         {"imbalance", us(t.idle.imbalance)},
                         {"data", us(t.idle.data)},
                         {"communication", us(t.idle.communication)},
                         {"memory", us(t.idle.memory)}}}});
  }
  for (const Traffic& t : s->traffic())
    traffic.push_back({{"kind", t.kind}, {"devices", t.group}, {"bytes", t.payload.count}, {"count", t.count}});
  a.json = {{"step_us", s->step_us()}, {"bubble", s->bubble()}, {"classes", classes}, {"traffic", traffic}};
  a.text = text_of(*m, *s);
  const auto save = [&](const std::string& file, const std::string& text) {
    if (file.empty()) return std::vector<Diagnostic>{};
    return write_file(file, text).diagnostics;
  };
  for (const auto& problems :
       {save(o.trace, o.trace.empty() ? std::string() : to_chrome_trace(*m->result.graph, m->result.program, *s)),
        save(o.svg, o.svg.empty() ? std::string()
                                  : timeline_svg(*m->result.graph, m->result.program, *s, m->cluster, m->plan.file))})
    if (has_errors(problems)) return bad_input(problems);
  if (workspace) {
    std::vector<Diagnostic> problems;
    const Recorded rows = record(&*workspace, m->model, m->plan, m->cluster, problems);
    if (rows.plan && rows.cluster) {
      PredictionRow row;
      row.plan = rows.plan;
      row.cluster = rows.cluster;
      row.json = dump(a.json);
      const auto added = workspace->add_prediction(row);
      problems.insert(problems.end(), added.diagnostics.begin(), added.diagnostics.end());
    }
    report(problems);
  }
  a.json["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return a;
}

}  // namespace planscope::cli
