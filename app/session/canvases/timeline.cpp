// The timeline of the plan that is shown, and which of its blocks belong to the selection.
#include "app/session/canvases/canvases.h"
#include "app/workbench/timeline.h"
#include "viz/timeline/wire.h"

namespace planscope::session {

CanvasSource timeline_source(const State& s) {
  const Document* d = s.document();
  return {d && d->shown ? d->shown->evaluation : nullptr, ""};
}

std::string timeline_model(const State& s) {
  const Picture& p = *s.document()->shown;
  const Evaluation& e = *p.evaluation;
  return viz::encode(timeline(*e.made.graph, e.made.program, e.simulation, p.cluster.get()));
}

std::vector<std::string> timeline_marks(const State& s) {
  if (s.selection.statement > 0) return {"line " + std::to_string(s.selection.statement)};
  std::vector<std::string> out;
  if (s.selected)
    for (const OpId op : s.selected->operators) out.push_back("operator " + std::to_string(op));
  return out;
}

}  // namespace planscope::session
