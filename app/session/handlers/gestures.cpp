// What is dragged onto something else: which of the plan's decisions that is.
#include <algorithm>
#include <iterator>

#include "app/session/block_task.h"
#include "app/session/core.h"
#include "engine/base/text.h"
#include "engine/plan/parser.h"
#include "engine/plan/printer.h"

namespace planscope::session {

namespace {

// What a line that selects means; a template is not selected, but inserted.
struct Thing {
  Selection selection;
  Selected means;
  std::string use;  // of a template: `tp(X, t)`
};

std::string name_of(const Thing& t) {
  if (!t.use.empty()) return "a template";
  if (t.selection.statement > 0) return "a line of the plan";
  if (!t.selection.place.empty()) return "a place";
  if (!t.selection.tensor.empty()) return "a tensor";
  return t.means.task.empty() ? "operators" : "a task";
}

Result<Thing> thing_of(Core& c, const std::string& line) {
  if (line.empty()) return error("there is nothing to drop it on", "", "operators go onto a place, a task onto a task");
  const Result<Invocation> said = parse_invocation(line);
  const Result<Invocation> i = said.ok() ? lines_now(c.document()->seen, *said) : said;
  if (said.ok() && !i.ok()) return i.diagnostics;
  Thing t;
  if (i.ok() && i->id == "template") {
    t.use = i->get("use");
    return t;
  }
  const Document& d = *c.document();
  const bool block = i.ok() && i->id == "select" && i->has("none") && !place_of_lane(d, *i).empty();
  if (!i.ok() || i->id != "select" || (i->has("none") && !block))
    return error("'" + printable(line) + "' selects nothing that can be dragged, or dropped on", "",
                 "select operators, a place, a task or a line of the plan");
  t.selection = chosen_by(*i);
  if (block) t.selection.operators = task_of_block(d, *i);
  const Result<plan::Plan> p = plan::parse_plan(d.draft.text(), d.name);
  if (!t.selection.none()) t.means = selected(t.selection, d.model->graph, *p.value, c.cache);
  if (!t.means.problem.empty()) return error("'" + printable(line) + "' selects nothing", t.means.problem);
  if (block) t.selection.place = place_of_lane(d, *i);  // what is dropped on it runs there
  return t;
}

Result<Done> refused(const Thing& what, const Thing& onto) {
  return error(name_of(what) + " cannot be dropped on " + name_of(onto),
               "operators go onto a place, a task onto a task, a template onto operators, a line onto another line");
}

// The template's first argument is what it is dropped on.
Result<Done> use_on(Core& c, const std::string& use, const std::string& words) {
  const Result<plan::Statement> s = plan::parse_statement("use " + use);
  if (!s.ok()) return s.diagnostics;
  const auto& body = std::get<plan::UseStatement>(s->body);
  std::vector<std::string> arguments{words};
  for (std::size_t k = 1; k < body.arguments.size(); ++k) arguments.push_back(plan::print(body.arguments[k]));
  return put_by_hand(c, "use " + body.name + "(" + join(arguments, ", ") + ")");
}

// Moves the row to the position of the other row, or before or after it if a side is given.
Result<Done> drag_line(Document& d, int line, int onto, const std::string& side) {
  int to = onto;
  if (side == "before" && line < onto) --to;
  if (side == "after" && line > onto && onto > 0)  // behind all of a template
    to = static_cast<int>(statement_around(lines_of(d.draft.text()), static_cast<std::size_t>(onto) - 1).second) + 1;
  return move_line(d, std::to_string(line), std::to_string(to));
}

// Whether the plan as it was predicted runs two tasks on different devices: then no order of them makes a difference.
bool apart(const Document& d, const Thing& a, const Thing& b) {
  if (!d.current()) return false;
  const auto classes = [&](const Thing& t) {
    Selected means = t.means;
    Selection task;
    task.operators = t.selection.operators;
    locate(means, task, *d.shown->evaluation->made.graph, d.shown->evaluation->made.program);
    return means.classes;  // ascending
  };
  const std::vector<int> of_a = classes(a), of_b = classes(b);
  std::vector<int> both;
  std::set_intersection(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), std::back_inserter(both));
  return both.empty() && !of_a.empty() && !of_b.empty();
}

Result<Done> drag(Core& c, const Invocation& i) {
  const std::string side = i.has("side") ? i.get("side") : "before";
  if (side != "before" && side != "after")
    return error("'drag' does not take side=" + printable(side), "it is before or after");
  const Result<Thing> what = thing_of(c, i.get("what")), onto = thing_of(c, i.get("onto"));
  if (!what.ok()) return what.diagnostics;
  if (!onto.ok()) return onto.diagnostics;
  const bool lines = what->selection.statement > 0 && onto->selection.statement > 0;
  if (lines) return drag_line(*c.document(), what->selection.statement, onto->selection.statement, i.get("side"));
  if (!what->use.empty() && !onto->means.words.empty()) return use_on(c, what->use, onto->means.words);
  if (!what->means.task.empty() && !onto->means.task.empty()) {
    if (apart(*c.document(), *what, *onto))
      return error(what->means.task + " and " + onto->means.task + " share no device", "the row would order nothing");
    const bool before = side == "before";
    const std::string& first = before ? what->means.task : onto->means.task;
    return put_by_hand(c, "order " + first + " < " + (before ? onto->means.task : what->means.task));
  }
  if (!onto->selection.place.empty() && !what->means.words.empty())
    return put_by_hand(c, "assign " + what->means.words + " to " + onto->selection.place);
  return refused(*what, *onto);
}

}  // namespace

void add_gesture_handlers(Handlers& all) { all["drag"] = drag; }

}  // namespace planscope::session
