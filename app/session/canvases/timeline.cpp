// The timeline of the plan that is shown, and which of its blocks belong to the selection.
#include <cstdio>

#include "app/session/canvases/canvases.h"
#include "viz/timeline/wire.h"

namespace planscope::session {

namespace {

std::string text_of(const LaneLook& look) {
  std::string out = look.order;
  for (const auto& [what, names] : {std::pair("folded", &look.folded), std::pair("pinned", &look.pinned), std::pair("open", &look.open)})
    for (const std::string& name : *names) out += std::string("\n") + what + " " + name;
  if (look.detail_us) out += "\ndetail " + std::to_string(look.detail_us->first) + " " + std::to_string(look.detail_us->second);
  return out;
}

}  // namespace

CanvasSource timeline_source(const State& s) {
  const Document* d = s.document();
  return {d && d->shown ? d->shown->evaluation : nullptr, text_of(s.lanes)};
}

std::string timeline_model(const State& s) {
  const Picture& p = *s.document()->shown;
  const std::shared_ptr<const viz::TimelineModel> whole = p.study->timeline(window_of(s.lanes.detail_us));
  LaneLook as_it_is;
  as_it_is.detail_us = s.lanes.detail_us;
  if (s.lanes == as_it_is) return viz::encode(*whole);
  return viz::encode(arranged(*whole, *p.evaluation, s.lanes));
}

std::vector<std::string> timeline_marks(const State& s) {
  std::vector<std::string> out;
  if (s.selection.statement > 0)
    out.push_back("line " + std::to_string(s.selection.statement));
  else if (s.selected)
    for (const OpId op : s.selected->operators) out.push_back("operator " + std::to_string(op));
  const Document* d = s.document();
  if (!d || !d->shown || !d->shown->evaluation) return out;
  const std::vector<DeviceClass>& classes = d->shown->evaluation->made.program.classes;
  if (s.selected)
    for (const int c : s.selected->classes)
      if (static_cast<std::size_t>(c) < classes.size()) out.push_back("lane " + classes[static_cast<std::size_t>(c)].name);
  if (!s.time) return out;
  if (s.time->us) {
    char text[80];
    std::snprintf(text, sizeof text, "time %.3f %.3f", s.time->us->first, s.time->us->second);
    out.push_back(text);
  }
  for (const std::string& name : s.time->lanes) out.push_back("within " + name);
  return out;
}

}  // namespace planscope::session
