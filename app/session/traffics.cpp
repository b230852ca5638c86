#include "app/session/traffics.h"

#include "app/session/lanes.h"
#include "engine/base/format.h"
#include "engine/base/text.h"

namespace planscope::session {

namespace {

// A place that is selected means what its devices send; a tensor and a communicator themselves; operators what they
// make and read.
void add_selection(const Selected& s, bool of_place, const Graph& g, TrafficBrush& out) {
  if (!s.communicators.empty())
    out.communicators = {s.communicators.begin(), s.communicators.end()};
  else if (of_place)
    out.classes = std::set<int>(s.classes.begin(), s.classes.end());
  else if (!s.tensors.empty())
    out.tensors = std::set<TensorId>(s.tensors.begin(), s.tensors.end());
  else
    out.tensors = tensors_of(g, s.operators);
  if (of_place || !s.communicators.empty() || !s.of_parameters()) return;
  out.tensors.emplace();
  for (const int p : s.parameters) out.tensors->insert(g.parameters[static_cast<std::size_t>(p)].tensor);
}

}  // namespace

std::shared_ptr<const TrafficFacts> traffic_shown(const State& s) {
  const Document* d = s.document();
  if (!d || !d->shown || !d->shown->evaluation) return nullptr;
  TrafficBrush brush{.time_us = s.brush.time_us, .kinds = s.brush.kinds, .level = s.brush.level};
  if (s.brush.selection && s.selected)
    add_selection(*s.selected, !s.selection.place.empty() && s.selection.tensor.empty(),
                  *d->shown->evaluation->made.graph, brush);
  if (const std::optional<TimeSelection>& t = s.time; s.brush.selection && t && t->us) {
    if (!brush.time_us) brush.time_us = t->us;
    for (const std::string& lane : t->lanes)
      if (const int c = class_of_lane(*d->shown->evaluation, lane); c >= 0) {
        if (!brush.classes) brush.classes.emplace();
        brush.classes->insert(c);
      }
  }
  return d->shown->study->traffic(brush);
}

std::string brushed_time_text(const State& s) {
  if (!s.brush.selection || !s.time) return "";
  std::string out = join(s.time->lanes, ", ");
  if (s.time->us && !s.brush.time_us)
    out += (out.empty() ? "" : ", ") + time_text(s.time->us->first) + " – " + time_text(s.time->us->second);
  return out;
}

std::string brush_text(const State& s) {
  std::vector<std::string> parts;
  if (s.brush.time_us) parts.push_back(time_text(s.brush.time_us->first) + " – " + time_text(s.brush.time_us->second));
  if (!s.brush.kinds.empty()) parts.push_back(join({s.brush.kinds.begin(), s.brush.kinds.end()}, ", "));
  if (!s.brush.level.empty()) parts.push_back("over " + s.brush.level);
  const std::string time = brushed_time_text(s);
  if (s.brush.selection && (time.empty() || !s.selection.none()))
    parts.push_back(s.selection.none() ? "all, since nothing is selected" : "of the selection");
  if (!time.empty()) parts.push_back(time);
  return join(parts, " · ");
}

}  // namespace planscope::session
