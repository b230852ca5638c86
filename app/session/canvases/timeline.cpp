// The timeline of the plan that is shown, and which of its blocks belong to the selection.
#include "app/session/canvases/canvases.h"
#include "app/session/marked.h"
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

viz::TimelineModel timeline_shown(const State& s) {
  const Picture& p = *s.document()->shown;
  return arranged(*p.study->timeline(window_of(s.lanes.detail_us)), *p.evaluation, s.lanes);
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
  std::vector<std::string> out = Marked(s).timeline_ids();
  const Document* d = s.document();
  if (d && d->shown && s.sought.in == d->shown->study) out.insert(out.end(), s.sought.ids.begin(), s.sought.ids.end());
  return out;
}

}  // namespace planscope::session
