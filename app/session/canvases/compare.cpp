// The timelines of plans that are compared, on one axis.
#include "app/session/canvases/canvases.h"
#include "app/workbench/timeline.h"
#include "viz/timeline/beside.h"
#include "viz/timeline/wire.h"

namespace planscope::session {

CanvasSource compare_source(const State& s) {
  const Document* d = s.document();
  if (!d || !d->comparison || d->comparison->running) return {};
  for (const ComparedEntry& e : d->comparison->entries)
    if (e.evaluation) return {d->comparison, s.align};
  return {};
}

std::string compare_model(const State& s) {
  std::vector<std::pair<std::string, viz::TimelineModel>> made;
  for (const ComparedEntry& e : s.document()->comparison->entries) {
    if (!e.evaluation) continue;
    const Evaluation& v = *e.evaluation;
    made.emplace_back(e.name, timeline(*v.made.graph, v.made.program, v.simulation, {.cluster = e.cluster.get()}));
  }
  std::vector<viz::NamedTimeline> all;
  for (const auto& [name, model] : made) all.push_back({name, &model});
  return viz::encode(viz::beside(all, s.align == "share" ? viz::Alignment::share : viz::Alignment::time));
}

std::vector<std::string> no_marks(const State&) { return {}; }

}  // namespace planscope::session
