// The communication of the plan that is shown.
#include <set>

#include "app/session/canvases/canvases.h"
#include "app/session/marked.h"
#include "app/session/times.h"
#include "app/session/traffics.h"
#include "engine/base/text.h"
#include "viz/traffic/wire.h"

namespace planscope::session {

CanvasSource traffic_source(const State& s) {
  const Document* d = s.document();
  if (!d || !d->shown) return {};
  CanvasSource out{d->shown->evaluation, brush_text(s)};
  if (s.brush.time_us) out.with += "\n" + print_times(*s.brush.time_us);
  if (s.brush.selection)
    out.with += "\n" + s.selection.operators + "\n" + s.selection.tensor + "\n" + s.selection.place + "\n" +
                std::to_string(s.selection.statement) + "\n" + s.selection.communicator + "\n" + brushed_time_text(s);
  return out;
}

std::string traffic_model(const State& s) {
  const std::shared_ptr<const TrafficFacts> shown = traffic_shown(s);
  const TrafficFacts& t = *shown;
  viz::TrafficModel out;
  out.shown = brush_text(s);
  if (s.brush.time_us) out.range_from = {s.brush.time_us->first}, out.range_to = {s.brush.time_us->second};
  out.devices = t.devices, out.devices_per_row = t.devices_per_row, out.rows = t.rows, out.row_devices = t.row_devices,
  out.places = t.places, out.duration = {t.duration_us};
  for (const Communicator& c : t.communicators)
    out.communicators.push_back({c.kind, among(c), c.devices, c.level_name, join(c.names, "\\n"), c.size, c.groups,
        c.count, {static_cast<double>(c.bytes)},
                                 {c.busy_us}, {c.exposed_us}, {c.first_us}, {c.last_us}});
  for (const TrafficCell& c : t.cells) {
    out.from.push_back(c.from), out.to.push_back(c.to), out.communicator.push_back(c.communicator);
    out.bytes.push_back(c.bytes), out.messages.push_back(c.messages), out.time.push_back(c.us);
  }
  for (const LinkLoad& l : t.links) out.links.push_back({l.name, l.bandwidth, l.bytes});
  return viz::encode(out);
}

namespace {

Result<std::string> pattern(const State& s, std::string (*write)(const TrafficFacts&)) {
  const std::shared_ptr<const TrafficFacts> t = traffic_shown(s);
  if (!t) return error("there is no traffic", "no plan has been predicted");
  return write(*t);
}

}  // namespace

Result<std::string> traffic_pattern_csv(const State& s) { return pattern(s, traffic_csv); }
Result<std::string> traffic_pattern_json(const State& s) { return pattern(s, traffic_json); }

std::vector<std::string> traffic_marks(const State& s) {
  const Document* d = s.document();
  if (!s.selected || !d || !d->shown || !d->shown->evaluation) return {};
  const Marked marked(s);
  const TrafficRows rows = traffic_rows(d->shown->evaluation->made.program);
  std::set<std::string> out;
  const bool of_devices = s.selection.communicator.empty();  // a communicator is marked cell by cell
  for (std::size_t device = 0; of_devices && device < rows.row_of.size(); ++device)
    if (marked.device(static_cast<std::int64_t>(device)))
      out.insert(rows.names[static_cast<std::size_t>(rows.row_of[device])]);
  const std::shared_ptr<const TrafficFacts> t = traffic_shown(s);
  for (std::size_t k = 0; k < t->communicators.size(); ++k)
    if (marked.communicator(t->communicators[k])) out.insert("communicator " + std::to_string(k));
  for (std::size_t k = 0; k < t->links.size(); ++k)
    if (marked.link(t->links[k], *t)) out.insert("link " + std::to_string(k));
  return {out.begin(), out.end()};
}

}  // namespace planscope::session
