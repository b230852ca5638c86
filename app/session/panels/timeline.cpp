#include "app/session/panels/panels.h"

namespace planscope::session {

namespace {

double us(Nanoseconds n) { return static_cast<double>(n) / 1000; }

Cell idle_cell(const Idle& idle) {
  Json causes = Json::array();
  for (const auto& [cause, time] : std::initializer_list<std::pair<const char*, Nanoseconds>>{
           {"warm_up", idle.warm_up}, {"cool_down", idle.cool_down}, {"imbalance", idle.imbalance}, {"data", idle.data},
           {"communication", idle.communication}, {"memory", idle.memory}})
    causes.push_back({{"cause", cause}, {"us", us(time)}});
  return {std::move(causes), cell(us(idle.sum()), Unit::microseconds).text};
}

}  // namespace

Panel timeline_panel(const State& s) {
  Panel p{.id = "timeline", .title = "Timeline", .kind = PanelKind::table};
  p.empty = "Shows what every device does in a step. Open a model and write a plan, as: devices 4 as data=4";
  p.rows_id = "lanes";
  p.columns = {{"name", "Devices"}, {"devices", "Count", Unit::count}, {"blocks", "Blocks", Unit::count},
               {"work_us", "Work", Unit::microseconds}, {"idle", "Idle", Unit::microseconds},
               {"peak_bytes", "Peak memory", Unit::bytes}, {"memory_bytes", "Device memory", Unit::bytes}};
  const Document* d = s.document();
  if (!d || !d->shown || !d->shown->evaluation) return p;
  say_whether_current(p, *d);
  const Evaluation& e = *d->shown->evaluation;
  p.facts = {{"duration_us", "Step", cell(e.simulation.step_us(), Unit::microseconds)}};
  for (std::size_t c = 0; c < e.simulation.classes.size(); ++c) {
    const ClassTimeline& t = e.simulation.classes[c];
    TableRow row{.id = std::to_string(c)};
    const bool over = t.peak.bytes() > t.capacity.count;
    row.cells = {cell(e.made.program.classes[c].name), cell(t.devices, Unit::count),
                 cell(t.slots.size() + t.communication.size(), Unit::count), cell(us(t.compute), Unit::microseconds),
                 idle_cell(t.idle), cell(t.peak.bytes(), Unit::bytes, over ? Tone::bad : Tone::plain),
                 cell(t.capacity.count, Unit::bytes)};
    p.rows.push_back(std::move(row));
  }
  return p;
}

}  // namespace planscope::session
