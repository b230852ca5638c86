#include "app/session/canvases/canvases.h"

#include "app/session/comparison_page.h"
#include "app/session/panels/panels.h"

namespace planscope::session {

std::span<const CanvasInfo> canvases() {
  static const std::vector<CanvasInfo> all = {
      {"graph",
       "graph",
       "Graph",
       "graph",
       "Shows how a model is computed and where a plan communicates. Open a model: a .pt2 file that torch.export has "
       "written.",
       graph_source,
       graph_model,
       graph_marks,
       {{".dot", graph_dot}}},
      {"timeline", "timeline", "Timeline", "blocks",
       "Shows what every device does in a step. Open a model and write a plan, as: devices 4 as data=4",
       timeline_source, timeline_model, timeline_marks},
      {"tensor", "tensor", "Tensor", "tiles",
       "Shows how a tensor lies on the devices, and the moves between its writer and its readers. Select an operator "
       "or a tensor.",
       tensor_source, tensor_model, tensor_marks, {}, missing_tensor},
      {"traffic",
       "traffic",
       "Traffic",
       "traffic",
       "Shows which devices communicate, how much, and when. Open a model and write a plan, as: devices 4 as data=4",
       traffic_source,
       traffic_model,
       traffic_marks,
       {{".csv", traffic_pattern_csv}, {".json", traffic_pattern_json}}},
      {"compare", "timeline", "Compare", "compare",
       "Puts the timelines of plans over each other, on one axis. Compare the plan with another one: compare PLAN",
       compare_source, compare_model, compare_marks, {{".html", comparison_page}}, missing_comparison, picture_of_comparison},
  };
  return all;
}

PictureOf picture_of_plan(const State& s) {
  const Document& d = *s.document();
  PictureOf out{d.model->model->name + " · " + d.name + " on " + d.cluster, ""};
  if (!d.shown) return out;
  const Figures f = figures_of(*d.shown);
  if (f.step_us) out.what += " · step " + cell(*f.step_us, Unit::microseconds).text;
  if (!f.verdict.empty()) out.what += " · " + f.verdict;
  Panel p;
  say_whether_current(p, d);
  out.old = p.reason;
  return out;
}

CanvasWords words_of(const CanvasInfo& c, const State& s) {
  CanvasWords out{.stale = {}, .empty = c.empty};
  const Document* d = s.document();
  if (!d) return out;
  Panel p;
  say_whether_current(p, *d);
  if (c.source(s).of) out.stale = c.of(s).old;
  if (c.missing && !c.missing(s).why.empty()) return out;
  const bool refused = d->latest && d->latest->state == PictureState::refused;
  if (d->latest && d->latest->state == PictureState::open)
    out.empty = "The plan leaves arguments open: Problems says which, and what is legal there.";
  else if (refused && !d->draft.text().empty())
    out.empty = "The plan has errors: Problems says which. The picture appears once there are none.";
  else if (d->evaluating())
    out.empty = "The plan is being evaluated.";
  if (refused && !p.reason.empty()) out.empty += "\n\n" + p.reason;
  return out;
}

Diagnostic no_picture(const CanvasInfo& c, const State& s) {
  Missing m = c.missing ? c.missing(s) : Missing{};
  if (m.why.empty()) {
    const Document* d = s.document();
    Panel p;
    if (d) say_whether_current(p, *d);
    const bool written = d && !d->draft.text().empty();
    m.why = !d ? "no model is open" : !p.reason.empty() ? p.reason : written ? "the plan has no prediction" : "the plan is not written yet";
    m.hint = !d ? "open model=PATH" : written ? "show problems" : "append \"devices 4 as data=4\"";
  }
  return error("there is no picture of " + std::string(c.title), m.why, m.hint);
}

}  // namespace planscope::session
