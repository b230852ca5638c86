// The timelines of plans that are compared, on one axis.
#include "app/session/canvases/canvases.h"
#include "app/session/comparing.h"
#include "viz/timeline/wire.h"

namespace planscope::session {

CanvasSource compare_source(const State& s) {
  const Document* d = s.document();
  if (!d || !d->comparison) return {};
  for (const ComparedEntry& e : d->comparison->entries)
    if (e.evaluation || e.run || e.trace) return {d->comparison, s.align + " " + s.overlay};
  return {};
}

std::string compare_model(const State& s) {
  return viz::encode(compared_timelines(*s.document()->comparison, s.align, s.overlay));
}

std::vector<std::string> no_marks(const State&) { return {}; }

}  // namespace planscope::session
