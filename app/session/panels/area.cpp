// Sums over the selected part of the step: work by kind, idle time by cause, communication.
#include <algorithm>
#include <array>
#include <map>

#include "app/session/marked.h"
#include "app/session/panels/panels.h"
#include "engine/base/text.h"

namespace planscope::session {

namespace {

double us(double ns) { return ns / 1000; }

constexpr std::array<const char*, 4> kPhases = {"forward", "backward", "weight", "update"};

// Sums of one device, or of many.
struct Sums {
  std::array<double, 4> work{};
  std::array<double, kIdleCauses> idle{};
  std::map<std::string, CommunicationSum> communication;

  void add(const ClassSums& c, double times) {
    for (std::size_t k = 0; k < work.size(); ++k) work[k] += times * static_cast<double>(c.work[k]);
    for (std::size_t k = 0; k < idle.size(); ++k) idle[k] += times * static_cast<double>(c.idle[k]);
    for (const CommunicationSum& s : c.communication) {
      CommunicationSum& to = communication[s.kind];
      to.kind = s.kind;
      to.count += times * s.count, to.sent_bytes += times * s.sent_bytes;
      to.time += static_cast<Nanoseconds>(times) * s.time;
    }
  }
};

Cell work_cell(const Sums& s) {
  Json values = Json::array();
  PartsUs parts;
  for (std::size_t k = 0; k < kPhases.size(); ++k) {
    values.push_back({{"phase", kPhases[k]}, {"us", us(s.work[k])}});
    parts.emplace_back(kPhases[k], us(s.work[k]));
  }
  return {std::move(values), each_part_text(parts)};
}

Cell idle_cell(const Sums& s) {
  Json values = Json::array();
  PartsUs parts;
  for (std::size_t k = 0; k < s.idle.size(); ++k) {
    const std::string cause(to_string(static_cast<IdleCause>(k)));
    values.push_back({{"cause", cause}, {"us", us(s.idle[k])}});
    parts.emplace_back(words_of(cause), us(s.idle[k]));
  }
  return {std::move(values), sum_and_parts_text(parts)};
}

Cell communication_cell(const std::map<std::string, CommunicationSum>& all) {
  Json parts = Json::array();
  std::vector<std::string> texts;
  for (const auto& [kind, s] : all) {
    parts.push_back({{"kind", kind}, {"count", s.count}, {"us", us(static_cast<double>(s.time))}, {"sent_bytes", s.sent_bytes}});
    texts.push_back(kind + " " + cell(us(static_cast<double>(s.time)), Unit::microseconds).text);
  }
  return {std::move(parts), texts.empty() ? "–" : join(texts, ", ")};
}

std::vector<Cell> cells_of(const std::string& name, std::int64_t devices, const Sums& s) {
  double work = 0, sent = 0;
  for (const double w : s.work) work += w;
  for (const auto& [kind, c] : s.communication) sent += c.sent_bytes;
  return {cell(name), cell(devices, Unit::count), cell(us(work), Unit::microseconds),
          work_cell(s), idle_cell(s), communication_cell(s.communication), cell(static_cast<std::int64_t>(sent + 0.5), Unit::bytes)};
}

}  // namespace

Panel area_panel(const State& s) {
  Panel p{.id = "area", .title = "Selected time", .kind = PanelKind::table};
  p.empty = "Sums work, idle time and communication over a part of the step. Drag over the timeline with Shift, or: select time=0..1000";
  p.rows_id = "lanes";
  p.columns = {{"name", "Devices"}, {"devices", "Count", Unit::count}, {"work_us", "Work", Unit::microseconds},
               {"work", "By phase"}, {"idle", "Idle"}, {"communication", "Communication"},
               {"sent_bytes", "Sent", Unit::bytes}};
  const Document* d = s.document();
  if (!d || !d->shown || !d->shown->evaluation || !s.time) return p;
  say_whether_current(p, *d);
  const Evaluation& e = *d->shown->evaluation;
  const Window w = selected_window(s.time, e.simulation);
  p.facts = {{"from_us", "From", cell(us(static_cast<double>(w.from)), Unit::microseconds)},
             {"to_us", "To", cell(us(static_cast<double>(w.to)), Unit::microseconds)},
             {"time_us", "Time", cell(us(static_cast<double>(w.to - w.from)), Unit::microseconds)}};
  const std::shared_ptr<const TimeSums> sums = d->shown->study->sums(w);
  const std::vector<int> chosen = selected_classes(s.time, e);
  const Marked marked(s);
  Sums all;
  std::int64_t devices = 0;
  for (const int c : lane_order(e, s.lanes)) {
    if (!std::binary_search(chosen.begin(), chosen.end(), c)) continue;
    const ClassTimeline& t = e.simulation.classes[static_cast<std::size_t>(c)];
    Sums one;
    one.add(sums->classes[static_cast<std::size_t>(c)], 1);
    all.add(sums->classes[static_cast<std::size_t>(c)], static_cast<double>(t.devices));
    devices += t.devices;
    const std::string& name = e.made.program.classes[static_cast<std::size_t>(c)].name;
    TableRow row{.id = name, .cells = cells_of(name, t.devices, one)};
    row.command = "select lane=\"" + name + "\"";
    row.selected = marked.device_class(c);
    p.rows.push_back(std::move(row));
  }
  // Of all devices together: device time, and what they all send.
  p.rows.push_back({.id = "all", .cells = cells_of("all devices together", devices, all), .tone = Tone::dim});
  return p;
}

}  // namespace planscope::session
