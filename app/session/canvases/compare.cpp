// The timelines of plans that are compared, on one axis.
#include "app/session/canvases/canvases.h"
#include "app/session/comparing.h"
#include "app/session/marked.h"
#include "app/session/panel.h"
#include "viz/timeline/wire.h"

namespace planscope::session {

CanvasSource compare_source(const State& s) {
  const Document* d = s.document();
  if (!d || !d->comparison) return {};
  for (const ComparedEntry& e : d->comparison->entries)
    if (e.evaluation || e.run || e.trace) return {d->comparison, s.align + " " + s.overlay};
  return {};
}

Missing missing_comparison(const State& s) {
  const std::string why = why_no_comparison(s);
  return why.empty() ? Missing{"nothing that is compared has a timeline", "compare PLAN"} : Missing{why, "compare PLAN"};
}

PictureOf picture_of_comparison(const State& s) {
  const Document& d = *s.document();
  const std::string old = why_old(d, *d.comparison);
  std::string what = d.model->model->name + " on " + d.comparison->cluster;
  for (const ComparedEntry& e : d.comparison->entries) {
    what += " · " + e.name;
    if (e.step_us) what += ": step " + cell(*e.step_us, Unit::microseconds).text;
    if (!e.verdict.empty()) what += ", " + e.verdict;
  }
  return {std::move(what), old.empty() ? "" : "the comparison is older: " + old};
}

std::string compare_model(const State& s) {
  return viz::encode(compared_timelines(*s.document()->comparison, s.align, s.overlay));
}

namespace {

const Evaluation* predicted(const ComparedEntry& e) { return e.run ? &e.run->predicted : e.evaluation.get(); }

// The lanes of a plan, or of a run of it, in which what is selected runs.
void add_lanes(const State& s, const ComparedEntry& entry, std::vector<std::string>& out) {
  const Evaluation* e = predicted(entry);
  if (!e) return;
  Selected there = *s.selected;
  there.classes.clear();
  locate(there, s.selection, *e->made.graph, e->made.program);
  for (const int c : there.classes)
    out.push_back("lane " + lane_of(entry, e->made.program.classes[static_cast<std::size_t>(c)].name));
}

// The part of the step, over lanes of the draft alone.
void add_time(const State& s, const Marked& marked, const ComparedEntry& draft, std::vector<std::string>& out) {
  const std::vector<std::string> time = marked.time_ids(lane_of(draft, ""));
  out.insert(out.end(), time.begin(), time.end());
  if (!s.time || !s.time->lanes.empty() || !draft.evaluation) return;
  for (const DeviceClass& c : draft.evaluation->made.program.classes) out.push_back("within " + lane_of(draft, c.name));
}

}  // namespace

// Plans of one model compute the same operators, each in lanes of its own. A part of the step is marked where the draft
// stands in real time.
std::vector<std::string> compare_marks(const State& s) {
  const Document* d = s.document();
  if (!d || !d->comparison || d->comparison->entries.empty()) return {};
  const Comparison& c = *d->comparison;
  const Marked marked(s);
  std::vector<std::string> out = marked.work_ids();
  if (s.selected)
    for (const ComparedEntry& e : c.entries) add_lanes(s, e, out);
  if (c.of_draft() && s.align == "time") add_time(s, marked, c.entries.front(), out);
  return out;
}

}  // namespace planscope::session
