// What is selected, the same for all views: operators and their like, and a part of the step.
#include <algorithm>
#include <set>

#include "app/session/block_selection.h"
#include "app/session/core.h"
#include "app/session/panel.h"
#include "app/session/there_are.h"
#include "app/session/times.h"
#include "app/session/traffics.h"
#include "engine/base/text.h"
#include "engine/plan/parser.h"

namespace planscope::session {

namespace {

const Evaluation* predicted(const Document& d) { return d.shown ? d.shown->evaluation.get() : nullptr; }

// The part of the step that the arguments name; nothing: none.
Result<std::optional<TimeSelection>> time_of(const Document& d, const Invocation& i) {
  if (i.get("time") == "none") return std::optional<TimeSelection>{};
  const Evaluation* e = predicted(d);
  if (!e) return error("there is no step to select a part of", "no plan has been predicted");
  TimeSelection out;
  out.stream = i.get("stream");
  if (i.has("time")) {
    const Result<TimesUs> times = parse_times(i.get("time"));
    if (!times.ok()) return times.diagnostics;
    out.us = *times;
    const double step = static_cast<double>(selected_window({}, e->simulation).to) / 1000;
    if (out.us->first > step)
      return error("the step ends before " + cell(out.us->first, Unit::microseconds).text, "it lasts " + cell(step, Unit::microseconds).text);
  }
  if (i.has("lane")) out.lanes = split(i.get("lane"), '\n');
  for (const std::string& name : out.lanes)
    if (class_of_lane(*e, name) < 0) {
      std::vector<std::string> names;
      for (const DeviceClass& c : e->made.program.classes) names.push_back(c.name);
      return error("there is no lane '" + printable(name) + "'", there_are(names));
    }
  return std::optional(std::move(out));
}

// As it is selected: by its name among all communication; where only a part of it is shown, by the names that this part
// has there.
Result<std::string> communicator_of(const State& s, const std::string& name) {
  const Evaluation* e = predicted(*s.document());
  if (!e) return error("there is no communication to select", "no plan has been predicted");
  const TrafficFacts& all = *s.document()->shown->study->traffic({});
  if (!communicators_named(all, name).empty()) return name;
  std::vector<std::string> shown;
  for (const Communicator& c : traffic_shown(s)->communicators)
    if (c.kind + " over " + among(c) == name) shown.insert(shown.end(), c.names.begin(), c.names.end());
  if (!shown.empty()) return join(shown, "\n");
  std::vector<std::string> known;
  for (const Communicator& c : all.communicators) known.push_back(c.names.front());
  return error("no devices communicate as '" + printable(name) + "'",
               known.empty() ? "no device sends anything to another one" : there_are(known));
}

// The communicators that send over a link of the cluster, a line each.
Result<std::string> communicators_over(const State& s, const std::string& link) {
  const Evaluation* e = predicted(*s.document());
  if (!e) return error("there is no communication to select", "no plan has been predicted");
  const TrafficFacts& all = *s.document()->shown->study->traffic({});
  std::set<std::string> names;
  for (const LinkLoad& l : all.links)
    for (const Communicator& c : all.communicators)
      if (l.name == link && goes_over(c, l.level)) names.insert(c.names.begin(), c.names.end());
  if (!names.empty()) return join({names.begin(), names.end()}, "\n");
  std::vector<std::string> known;
  for (const LinkLoad& l : all.links) known.push_back(l.name);
  return error("nothing is sent over a link '" + printable(link) + "'",
               known.empty() ? "no device sends anything to another one" : there_are(known));
}

Result<Done> select(Core& c, const Invocation& i) {
  const Document& d = *c.document();
  Selection s;
  if (i.has("none") && i.get("none") != "none") return error("'select' does not take '" + i.get("none") + "'");
  const bool of_time = i.has("time") || i.has("lane");
  bool of_operators = i.has("none") || i.has("operators") || i.has("tensor") || i.has("statement") || i.has("place") ||
      i.has("communicator") || i.has("link");
  if (i.has("stream") && !(i.has("time") && i.has("lane"))) return error("'select': a stream is of one block", "", "say time= and lane= too");
  std::optional<TimeSelection> time = i.has("none") ? std::nullopt : c.state.time;
  if (of_time) {
    const Result<std::optional<TimeSelection>> asked = time_of(d, i);
    if (!asked.ok()) return asked.diagnostics;
    time = *asked;
  }
  s.operators = i.get("operators"), s.tensor = i.get("tensor"), s.place = i.get("place");
  if (i.has("link")) {
    const Result<std::string> over = communicators_over(c.state, i.get("link"));
    if (!over.ok()) return over.diagnostics;
    s.communicator = *over;
  }
  if (i.has("communicator")) {
    const Result<std::string> named = communicator_of(c.state, i.get("communicator"));
    if (!named.ok()) return named.diagnostics;
    s.communicator = *named;
  }
  if (i.has("statement")) {
    s.statement = std::stoi(i.get("statement"));
    const std::size_t lines = lines_of(d.draft.text()).size();
    if (s.statement < 1 || static_cast<std::size_t>(s.statement) > lines)
      return error("there is no line " + i.get("statement"), "the plan has " + std::to_string(lines) + " lines");
  }
  const Result<plan::Plan> p = plan::parse_plan(d.draft.text(), d.name);
  const auto means = [&](const Selection& what) { return selected(what, d.model->graph, *p.value, c.cache); };
  const bool block = time && !i.get("stream").empty() && s == Selection{};
  const bool lane = time && of_time && !i.has("time") && !of_operators && time->lanes.size() == 1;
  if (block) {
    Selection is = selection_of_block(d, *time);
    if (!is.none() && means(is).problem.empty()) s = std::move(is), of_operators = true;
  }
  if ((block || lane) && s == Selection{}) {  // what runs there
    const Evaluation& e = *predicted(d);
    Selection place{.operators = {}, .tensor = {}, .place = e.made.program.classes[static_cast<std::size_t>(class_of_lane(e, time->lanes[0]))].name};
    if (means(place).problem.empty()) s = std::move(place), of_operators = true;
  }
  if (of_operators || !of_time) {
    const Selected meant = means(s);
    if (!meant.problem.empty()) {
      const std::string& what = i.has("tensor") ? s.tensor : i.has("place") ? s.place : s.operators;
      if (i.has("tensor")) return error(meant.problem);
      const std::string none = i.has("place") ? "there is no place '" : "there are no operators '";
      return error(none + what + "'", meant.problem);
    }
    c.state.selection = std::move(s);
  }
  c.state.time = std::move(time);
  if (i.has("none") && !of_time) c.state.sought.ids.clear();  // what was found is no longer marked either
  return Done{};
}

}  // namespace

void add_selection_handlers(Handlers& all) {
  all["select"] = select;
}

}  // namespace planscope::session
