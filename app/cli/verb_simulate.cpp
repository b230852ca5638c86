#include <chrono>

#include "app/cli/command.h"
#include "app/workbench/error_band.h"
#include "app/workbench/materials.h"
#include "app/workbench/timeline.h"
#include "engine/base/text.h"
#include "planner/simulate/alive.h"
#include "planner/simulate/trace.h"

namespace planscope::cli {

namespace {

double us(Nanoseconds n) { return static_cast<double>(n) / 1000; }

// The largest of what is alive at the peak of the class that needs most.
std::string alive_text(const Materials& m, const Simulation& s) {
  constexpr std::size_t shown = 8;
  const auto most = std::max_element(s.classes.begin(), s.classes.end(),
                                     [](const auto& a, const auto& b) { return a.peak.bytes() < b.peak.bytes(); });
  if (most == s.classes.end()) return {};
  const std::vector<AliveGroup> alive = alive_groups(*m.result.graph, m.result.program, *most);
  std::vector<std::vector<std::string>> rows = {{"alive at the peak", "bytes", "of"}};
  std::int64_t rest = most->peak.bytes();
  for (std::size_t i = 0; i < std::min(shown, alive.size()); ++i) {
    const AliveGroup& a = alive[i];
    rest -= a.bytes;
    rows.push_back({std::string(to_string(a.kind)), bytes_text(static_cast<double>(a.bytes)),
                    a.what + (a.count > 1 ? " (" + std::to_string(a.count) + ")" : "")});
  }
  if (alive.size() > shown)
    rows.push_back({"", bytes_text(static_cast<double>(rest)), std::to_string(alive.size() - shown) + " more"});
  const std::string where =
      most->peak_slot < 0 ? "before the first slot"
                          : "in " + label(m.result.program, most->slots[static_cast<std::size_t>(most->peak_slot)]);
  const auto c = static_cast<std::size_t>(most - s.classes.begin());
  return "peak of " + m.result.program.classes[c].name + ": " + where + ", after " + time_text(us(most->peak_time)) +
         "\n" + table(rows);
}

std::string text_of(const Materials& m, const Simulation& s, const StepFigure& figure) {
  char head[300];
  std::snprintf(head, sizeof head, "step %s on %s, bubble %.1f %% (%s)\n\n", time_text(s.step_us()).c_str(),
                m.cluster.name.c_str(), 100 * s.bubble(), to_string(figure).c_str());
  const std::string word = memory_word(*m.result.graph);
  std::vector<std::vector<std::string>> rows = {{"devices", "count", "compute", "communication", "idle", "peak memory",
                                                 "weights", "optimizer", "gradients", "activations",
                                                 "messages, gathered"}};
  for (std::size_t c = 0; c < s.classes.size(); ++c) {
    const ClassTimeline& t = s.classes[c];
    const auto kind = [&](MemoryKind k) { return bytes_text(static_cast<double>(t.peak[k])); };
    rows.push_back({m.result.program.classes[c].name, std::to_string(t.devices), time_text(us(t.compute)),
                    time_text(us(t.collective + t.transfer)), time_text(us(t.idle.sum())),
                    word + bytes_text(static_cast<double>(t.peak.bytes())), kind(MemoryKind::weights),
                    kind(MemoryKind::optimizer), kind(MemoryKind::gradients), kind(MemoryKind::activations),
                    kind(MemoryKind::communication)});
  }
  std::string out = head + table(rows) + "\n";
  std::vector<std::vector<std::string>> traffic = {{"communication", "group", "count", "payload per device"}};
  for (const Traffic& t : s.traffic())
    traffic.push_back(
        {t.kind, std::to_string(t.group), std::to_string(t.count), bytes_text(static_cast<double>(t.payload.count))});
  return out + table(traffic) + "\n" + alive_text(m, s);
}

}  // namespace

Answer simulate(const Options& o) {
  const auto begin = std::chrono::steady_clock::now();
  std::optional<Workspace> workspace = open_workspace(o);
  Result<Materials> m = open_materials(o.model, o.plan, o.cluster, "simulate", workspace ? &*workspace : nullptr);
  if (!m.value || m.has_errors()) return bad_input(m.diagnostics);
  report(m.diagnostics);
  SimulationOptions options;
  options.alive = true;
  Result<Simulation> s = predict(*m, options);
  if (!s.value || s.has_errors()) return bad_input(s.diagnostics);
  report(s.diagnostics);
  Answer a;
  Json classes = Json::array(), traffic = Json::array();
  for (std::size_t c = 0; c < s->classes.size(); ++c) {
    const ClassTimeline& t = s->classes[c];
    Json alive = Json::array();
    for (const AliveGroup& g : alive_groups(*m->result.graph, m->result.program, t))
      alive.push_back({{"what", g.what}, {"kind", to_string(g.kind)}, {"bytes", g.bytes}, {"count", g.count}});
    classes.push_back({{"devices", m->result.program.classes[c].name},
                       {"device_count", t.devices},
                       {"peak_bytes", t.peak.bytes()},
                       {"peak_is_at_least", memory_word(*m->result.graph) == "at least "},
                       {"memory_bytes", t.capacity.count},
                       {"compute_us", us(t.compute)},
                       {"communication_us", us(t.collective + t.transfer)},
                       {"host_copies_us", us(t.host)},
                       {"host_peak_bytes", t.host_peak.count},
                       {"alive", alive},
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
  std::vector<Diagnostic> unread;
  const StepFigure figure = step_figure(*s, workspace ? &*workspace : nullptr, m->cluster, unread);
  report(unread);
  a.json.update(Json::parse(to_json(figure)));
  a.text = text_of(*m, *s, figure);
  const auto save = [&](const std::string& file, const std::string& text) {
    if (file.empty()) return std::vector<Diagnostic>{};
    return write_file(file, text).diagnostics;
  };
  for (const auto& problems :
       {save(o.trace, o.trace.empty() ? std::string() : to_chrome_trace(*m->result.graph, m->result.program, *s)),
        save(o.svg,
             o.svg.empty() ? std::string() : timeline_svg(*m->result.graph, m->result.program, *s, m->plan.file))})
    if (has_errors(problems)) return bad_input(problems);
  Recording found = recording_of(m->model, m->plan, m->cluster);
  found.prediction.emplace();
  found.prediction->json = dump(a.json);
  a.json["recorded"] = record(o, workspace, found);
  a.json["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return a;
}

}  // namespace planscope::cli
