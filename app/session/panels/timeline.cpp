#include <algorithm>

#include "app/session/commands.h"
#include "app/session/marked.h"
#include "app/session/panels/panels.h"
#include "app/workbench/stage_text.h"
#include "engine/program/program.h"
#include "planner/simulate/critical_path.h"

namespace planscope::session {

namespace {

double us(Nanoseconds n) { return static_cast<double>(n) / 1000; }

void add(Idle& to, const Idle& one, std::int64_t times) {
  to.warm_up += times * one.warm_up, to.cool_down += times * one.cool_down, to.imbalance += times * one.imbalance;
  to.data += times * one.data, to.communication += times * one.communication, to.memory += times * one.memory;
}

Cell idle_cell(const Idle& idle) {
  Json causes = Json::array();
  PartsUs parts;
  for (const auto& [cause, time] : std::initializer_list<std::pair<const char*, Nanoseconds>>{
           {"warm_up", idle.warm_up}, {"cool_down", idle.cool_down}, {"imbalance", idle.imbalance}, {"data", idle.data},
           {"communication", idle.communication}, {"memory", idle.memory}}) {
    causes.push_back({{"cause", cause}, {"us", us(time)}});
    parts.emplace_back(words_of(cause), us(time));
  }
  return {std::move(causes), sum_and_parts_text(parts)};
}

constexpr std::size_t kMostParts = 5'000;  // of the critical path that are listed

std::string what(const Evaluation& e, const CriticalPart& part) {
  const Program& program = e.made.program;
  const ClassTimeline& t = e.simulation.classes[static_cast<std::size_t>(part.device_class)];
  if (part.slot < 0) return std::string(to_string(part.stream));
  const SlotBlock& slot = t.slots[static_cast<std::size_t>(part.slot)];
  const Segment& segment = program.segments[static_cast<std::size_t>(slot.segment)];
  std::string out = part.instruction < 0 ? "" : describe(program, *e.made.graph, segment.instructions[static_cast<std::size_t>(part.instruction)]) + " in ";
  out += segment.name;
  for (const std::int64_t i : index_of(program, slot)) out += "[" + std::to_string(i) + "]";
  return out;
}

// What makes the step as long as it is, in order.
Fact critical_fact(const Evaluation& e) {
  const std::vector<CriticalPart> path = critical_path(e.simulation);
  Json parts = Json::array();
  Nanoseconds work = 0;
  for (const CriticalPart& p : path) {
    if (p.stream == Stream::compute) work += p.end - p.start;
    if (parts.size() < kMostParts)
      parts.push_back({{"lane", e.made.program.classes[static_cast<std::size_t>(p.device_class)].name}, {"what", what(e, p)},
                       {"start_us", us(p.start)}, {"end_us", us(p.end)}});
  }
  const std::string text = std::to_string(path.size()) + " parts, " + cell(us(work), Unit::microseconds).text + " of them at work" +
                           (most_ahead(e.made.program) > 0 ? ", to the end of what is shown of the overlapping steps" : "");
  return {"critical_path", "Critical path", {std::move(parts), text}};
}

}  // namespace

Panel timeline_panel(const State& s) {
  Panel p{.id = "timeline", .title = "Timeline", .kind = PanelKind::table};
  p.empty = "Shows what every device does in a step. Open a model and write a plan, as: devices 4 as data=4";
  p.rows_id = "lanes";
  p.columns = {{"name", "Devices"}, {"devices", "Count", Unit::count}, {"blocks", "Blocks", Unit::count},
               {"work_us", "Work", Unit::microseconds}, {"idle", "Idle"},
               {"peak_bytes", "Peak memory", Unit::bytes}, {"memory_bytes", "Device memory", Unit::bytes},
               {"about", "Computes"}};
  const Document* d = s.document();
  if (!d || !d->shown || !d->shown->evaluation) return p;
  say_whether_current(p, *d);
  const Evaluation& e = *d->shown->evaluation;
  p.facts = {{"duration_us", "Step", cell(e.simulation.step_us(), Unit::microseconds)}, critical_fact(e)};
  Idle idle;
  Nanoseconds work = 0;
  const Marked marked(s);
  for (const int k : lane_order(e, s.lanes)) {
    const auto c = static_cast<std::size_t>(k);
    const ClassTimeline& t = e.simulation.classes[c];
    const std::string& name = e.made.program.classes[c].name;
    TableRow row{.id = std::to_string(c)};
    row.selected = marked.device_class(k);
    add(idle, t.idle, t.devices);
    work += t.devices * t.compute;
    const bool over = t.peak.bytes() > t.capacity.count;
    row.cells = {cell(name), cell(t.devices, Unit::count),
                 cell(t.slots.size() + t.communication.size(), Unit::count), cell(us(t.compute), Unit::microseconds),
                 idle_cell(t.idle), cell(t.peak.bytes(), Unit::bytes, over ? Tone::bad : Tone::plain),
                 cell(t.capacity.count, Unit::bytes),
                 cell(stage_text(*e.made.graph, e.made.program, e.made.program.classes[c]))};
    row.command = print(Invocation{"select", {{"place", e.made.program.classes[c].name}}});
    p.rows.push_back(std::move(row));
  }
  p.facts.push_back({"work_device_us", "Work of all devices", cell(us(work), Unit::microseconds)});
  p.facts.push_back({"idle_device", "Idle time of all devices", idle_cell(idle)});
  return p;
}

}  // namespace planscope::session
