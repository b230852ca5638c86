#include <algorithm>
#include <functional>
#include <string_view>

#include "app/session/commands.h"
#include "app/session/panels/panels.h"
#include "app/workbench/cost_shares.h"

namespace planscope::session {

namespace {

// What the device class that needs most holds at its peak.
Memory most(const Simulation& s) {
  Memory out;
  for (const ClassTimeline& c : s.classes)
    if (c.peak.bytes() > out.bytes()) out = c.peak;
  return out;
}

// Of a run: what its classes compute, what they communicate and wait, and the rest of the step, which lies between
// instructions; the mean over all devices.
struct MeasuredParts {
  double compute = 0, communication = 0, between = 0;
};
MeasuredParts measured_parts(const Simulation& s) {
  MeasuredParts out;
  double devices = 0;
  for (const ClassTimeline& c : s.classes) {
    const auto n = static_cast<double>(c.devices);
    devices += n;
    out.compute += n * static_cast<double>(c.compute) / 1000;
    out.communication += n * static_cast<double>(c.collective + c.transfer) / 1000;
  }
  if (devices == 0) return out;
  out.compute /= devices;
  out.communication /= devices;
  out.between = s.step_us() - out.compute - out.communication;
  return out;
}

// The lane of the draft that needs most, which rows of memory are about; empty: the draft is not among them.
std::string lane_of_most(const Document& d, const Comparison& c) {
  const Evaluation* e = c.of_draft() && !c.entries.empty() ? c.entries.front().evaluation.get() : nullptr;
  if (!e || e->simulation.classes.empty()) return "";
  const std::vector<ClassTimeline>& all = e->simulation.classes;
  const auto most = std::max_element(all.begin(), all.end(), [](const ClassTimeline& a, const ClassTimeline& b) {
    return a.peak.bytes() < b.peak.bytes();
  });
  const std::string& name = e->made.program.classes[static_cast<std::size_t>(most - all.begin())].name;
  return d.shown && d.shown->evaluation && class_of_lane(*d.shown->evaluation, name) >= 0 ? name : "";
}

struct Line {
  const char *id, *title;
  Unit unit;
  std::function<Json(const ComparedEntry&, const StepParts&, const Memory&)> value;
  bool of_memory() const { return unit == Unit::bytes && std::string_view(id) != "sent"; }
};

const std::vector<Line>& lines() {
  using E = ComparedEntry;
  using P = StepParts;
  const auto part = [](double P::*of) {
    return [of](const E& e, const P& p, const Memory&) { return e.evaluation ? Json(p.*of) : Json(); };
  };
  const auto memory = [](MemoryKind k) {
    return [k](const E& e, const P&, const Memory& m) { return e.evaluation ? Json(m[k]) : Json(); };
  };
  static const std::vector<Line> all = {
      {"step", "Step", Unit::microseconds,
       [](const E& e, const P&, const Memory&) { return e.step_us ? Json(*e.step_us) : Json(); }},
      {"compute", "computes", Unit::microseconds,
       [](const E& e, const P& p, const Memory&) {
         return e.evaluation ? Json(p.compute) : e.run ? Json(measured_parts(e.run->measured).compute) : Json();
       }},
      {"waiting", "communicates and waits", Unit::microseconds,
       [](const E& e, const P& p, const Memory&) {
         return e.evaluation ? Json(p.idle() + p.communication)
                : e.run      ? Json(measured_parts(e.run->measured).communication)
                             : Json();
       }},
      {"between", "between instructions", Unit::microseconds,
       [](const E& e, const P&, const Memory&) {  // nothing, of a prediction
         return e.evaluation ? Json(0) : e.run ? Json(measured_parts(e.run->measured).between) : Json();
       }},
      {"warm_up", "idle: warm-up", Unit::microseconds, part(&P::warm_up)},
      {"cool_down", "idle: cool-down", Unit::microseconds, part(&P::cool_down)},
      {"imbalance", "idle: imbalance", Unit::microseconds, part(&P::imbalance)},
      {"data", "idle: waiting for data", Unit::microseconds, part(&P::data)},
      {"communication", "idle: waiting for communication", Unit::microseconds, part(&P::communication)},
      {"memory", "idle: waiting for memory", Unit::microseconds, part(&P::memory)},
      {"peak", "Peak memory", Unit::bytes,
       [](const E& e, const P&, const Memory&) { return e.peak_bytes ? Json(*e.peak_bytes) : Json(); }},
      {"weights", "weights", Unit::bytes, memory(MemoryKind::weights)},
      {"optimizer", "optimizer", Unit::bytes, memory(MemoryKind::optimizer)},
      {"gradients", "gradients", Unit::bytes, memory(MemoryKind::gradients)},
      {"activations", "activations", Unit::bytes, memory(MemoryKind::activations)},
      {"messages", "messages and gathered parameters", Unit::bytes, memory(MemoryKind::communication)},
      {"sent", "Sent", Unit::bytes,
       [](const E& e, const P&, const Memory&) { return e.sent_bytes ? Json(*e.sent_bytes) : Json(); }},
  };
  return all;
}

}  // namespace

Panel beside_panel(const State& s) {
  Panel p{.id = "beside", .title = "Side by side", .kind = PanelKind::table};
  p.empty = "Shows what the steps of plans that are compared consist of, and their memory, side by side: compare PLAN";
  const Document* d = s.document();
  if (!d || !d->comparison) return p;
  const Comparison& c = *d->comparison;
  p.reason = why_old(*d, c);
  p.current = p.reason.empty();
  p.columns = {{"part", "Part"}};
  std::vector<StepParts> parts;
  std::vector<Memory> memories;
  for (std::size_t k = 0; k < c.entries.size(); ++k) {
    const ComparedEntry& e = c.entries[k];
    p.columns.push_back({"plan_" + std::to_string(k), e.name});
    parts.push_back(e.evaluation ? step_parts(e.evaluation->simulation) : StepParts{});
    memories.push_back(e.evaluation ? most(e.evaluation->simulation) : Memory{});
  }
  const std::string lane = lane_of_most(*d, c);
  for (const Line& l : lines()) {
    TableRow row{.id = l.id};
    if (l.of_memory() && !lane.empty()) row.command = print(Invocation{"select", {{"lane", lane}}});
    row.cells.push_back({l.id, l.title});
    for (std::size_t k = 0; k < c.entries.size(); ++k)
      row.cells.push_back(cell(l.value(c.entries[k], parts[k], memories[k]), l.unit));
    const bool any = std::any_of(row.cells.begin() + 1, row.cells.end(), [](const Cell& c) { return !c.value.is_null(); });
    if (any) p.rows.push_back(std::move(row));
  }
  return p;
}

}  // namespace planscope::session
