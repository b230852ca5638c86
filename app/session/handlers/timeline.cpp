// How the lanes of timelines are shown.
#include <algorithm>
#include <iterator>

#include "app/session/canvases/canvases.h"
#include "app/session/core.h"
#include "app/session/marked.h"
#include "app/session/panel.h"
#include "app/session/slacks.h"
#include "app/session/there_are.h"
#include "app/session/times.h"
#include "app/session/views.h"
#include "engine/base/text.h"
#include "viz/timeline/marks.h"
#include "viz/timeline/search.h"

namespace planscope::session {

namespace {

Result<const Evaluation*> predicted(const Document& d) {
  if (!d.shown || !d.shown->evaluation) return error("there is no timeline", "no plan has been predicted");
  return d.shown->evaluation.get();
}

Result<Done> lanes(Core& c, const Invocation& i) {
  const std::string by = i.get("by");
  const std::vector<std::string> all(std::begin(kLaneOrders), std::end(kLaneOrders));
  if (std::find(all.begin(), all.end(), by) == all.end()) {
    const std::string near = nearest(by, all);
    return error("lanes cannot be sorted by '" + printable(by) + "'", "", near.empty() ? join(all, ", ") : "did you mean '" + near + "'?");
  }
  c.state.lanes.order = by;
  return Done{};
}

Result<Done> lane(Core& c, const Invocation& i) {
  const Result<const Evaluation*> e = predicted(*c.document());
  if (!e.ok()) return e.diagnostics;
  const std::string name = i.get("name");
  const std::vector<DeviceClass>& classes = (*e)->made.program.classes;
  const bool all = name == "all";
  if (!all && std::none_of(classes.begin(), classes.end(), [&](const DeviceClass& k) { return k.name == name; })) {
    std::vector<std::string> names;
    for (const DeviceClass& k : classes) names.push_back(k.name);
    return error("there is no lane '" + printable(name) + "'", there_are(names), "'all' is every lane");
  }
  LaneLook look = c.state.lanes;
  for (const auto& [what, set] : {std::pair("fold", &look.folded), std::pair("pin", &look.pinned), std::pair("devices", &look.open)}) {
    if (!i.has(what)) continue;
    const std::string on = i.get(what);
    if (on != "on" && on != "off") return error(std::string("'lane': ") + what + " is on or off, not '" + printable(on) + "'");
    for (const DeviceClass& k : classes) {
      if (!all && k.name != name) continue;
      if (on == "on")
        set->insert(k.name);
      else
        set->erase(k.name);
    }
  }
  c.state.lanes = std::move(look);
  return Done{};
}

Result<Done> detail(Core& c, const Invocation& i) {
  if (i.get("time") == "none") {
    c.state.lanes.detail_us.reset();
    return Done{};
  }
  const Result<TimesUs> times = parse_times(i.get("time"));
  if (!times.ok()) return times.diagnostics;
  if (times->first >= times->second) return error("'detail' needs a part of the step", "", "time=A..B, in microseconds");
  c.state.lanes.detail_us = *times;
  return Done{};
}

// What has the text in its name, whatever the case.
viz::NamedThings things_named(const Graph& g, const std::string& text) {
  const std::string wanted = viz::lower_case(text);
  viz::NamedThings out;
  for (OpId o = 0; o < static_cast<OpId>(g.ops.size()); ++o)
    if (viz::lower_case(g.node(o).name()).find(wanted) != std::string::npos) out.operators.insert(o);
  for (TensorId t = 0; t < static_cast<TensorId>(g.tensors.size()); ++t)
    if (viz::lower_case(g.tensor_name(t)).find(wanted) != std::string::npos) out.tensors.insert(t);
  return out;
}

std::vector<std::string> search_ids(const std::string& text, const viz::NamedThings& named) {
  std::vector<std::string> out = {"find " + text};
  for (const std::int32_t o : named.operators) out.push_back("found_operator " + std::to_string(o));
  for (const std::int32_t t : named.tensors) out.push_back("found_tensor " + std::to_string(t));
  return out;
}

Result<Done> seek(Core& c, const Invocation& i) {
  Document& d = *c.document();
  const Result<const Evaluation*> e = predicted(d);
  if (!e.ok()) return e.diagnostics;
  const std::string which = i.get("which"), text = i.id == "seek_next" ? c.state.sought.text : i.get("text");
  if (i.has("which") && which != "next" && which != "previous")
    return error("'" + i.id + "' goes to no '" + printable(which) + "'", "", "next or previous");
  if (text.empty()) return error("'seek' needs a text that is not empty");
  const viz::TimelineModel m = timeline_shown(c.state);
  const viz::NamedThings named = things_named(*(*e)->made.graph, text);
  const std::vector<viz::BlockRef> all = viz::find_blocks(m, text, named);
  if (all.empty()) return error("no block of the timeline is called '" + printable(text) + "'");
  const viz::TimelineMarks marks = viz::parse_timeline_marks(Marked(c.state).timeline_ids());
  const int at = viz::next_block(m, all, viz::chosen_block(m, marks), which != "previous");
  const viz::BlockRef& there = all[static_cast<std::size_t>(at)];
  const Result<Invocation> select = parse_invocation("select none " + viz::block_arguments(m, there));
  if (!select.ok()) return select.diagnostics;
  if (const Result<Done> done = run_command(c, *select); !done.ok()) return done;
  const std::unique_ptr<viz::Scene> scene = looked_at(c.state, **find_canvas("timeline"));
  if (!scene) return error("the timeline cannot be drawn");
  scene->set_view(Json{{"block", {there.lane, there.stream, there.block}}}.dump());
  d.views["timeline"] = scene->view();
  c.state.sought = {text, at + 1, static_cast<int>(all.size()), d.shown->study, search_ids(text, named)};
  return Done{};
}

Result<Done> slacks(Core& c, const Invocation&) {
  Document& d = *c.document();
  const Result<const Evaluation*> e = predicted(d);
  if (!e.ok()) return e.diagnostics;
  if (d.slacks && d.slacks->of == d.shown->study) {
    if (d.slacks->running) return error("slack is being found already", "job " + std::to_string(d.slacks->job));
    if (std::all_of(d.slacks->tasks.begin(), d.slacks->tasks.end(),
                    [](const TaskSlack& t) { return t.task.slack || !t.task.problem.empty(); }))
      return Done{};  // it is known
  }
  if (d.slacks && d.slacks->running) c.jobs->cancel(d.slacks->job);  // of another text
  SlackAnswer begun{.of = d.shown->study, .tasks = slack_candidates(**e)};
  begun.job = slacks_in_background(*c.jobs, d.shown->study, [&c, id = d.id](std::shared_ptr<const SlackAnswer> a) {
    c.update(id, [&](Document& o) {
      if (!o.slacks || o.slacks->job <= a->job) o.slacks = a;
    });
  });
  d.slacks = std::make_shared<const SlackAnswer>(std::move(begun));
  return Done{};
}

}  // namespace

void add_timeline_handlers(Handlers& all) {
  all["seek"] = seek;
  all["seek_next"] = seek;
  all["slacks"] = slacks;
  all["lanes"] = lanes;
  all["lane"] = lane;
  all["detail"] = detail;
}

}  // namespace planscope::session
