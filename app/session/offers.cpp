#include "app/session/offers.h"

#include <algorithm>
#include <set>

#include "app/session/block_selection.h"
#include "app/session/block_task.h"
#include "app/session/choices.h"
#include "app/session/commands.h"
#include "app/session/lines.h"
#include "app/session/templates.h"
#include "app/workbench/explain_text.h"
#include "engine/base/text.h"
#include "engine/plan/parser.h"

namespace planscope::session {

namespace {

constexpr std::size_t kMostAlternatives = 12, kMostPlaces = 32;
const std::string kRun = "run:";

std::string put(const std::string& statement) { return print({"put", {{"statement", statement}}}); }

// Whether the planner writes lines of this kind: what an open argument is, and what runs before what.
bool can_be_planned(const plan::Statement& s) {
  return std::holds_alternative<plan::RequireStatement>(s.body) || std::holds_alternative<plan::OrderStatement>(s.body);
}

class Menu {
 public:
  explicit Menu(const State& s) : state_(s), document_(s.document()) {}

  Offers take() { return std::move(out_); }

  void of(const Invocation& i) {
    if (i.id == "select") return selection(i);
    itself(i);
    if (i.id == "version") {
      add("", "Compare with it", print({"compare", {{"plans", i.get("number")}}}));
      labels("version", i.get("number"));
    } else if (i.id == "compare" && i.get("plans").starts_with(kRun)) {
      labels("run", i.get("plans").substr(kRun.size()));
    } else if (i.id == "accept" && i.has("candidate")) {
      add("", "Compare with it", print({"compare", {{"plans", "candidate:" + i.get("candidate")}}}));
    } else if (i.id == "template" && document_) {
      add("", "What would it change?", print({"try", {{"statement", "use " + i.get("use")}}}), "", i.get("use").empty());
    } else if (i.id == "document") {
      if (state_.document() && std::to_string(state_.document()->id) == i.get("number")) add("", "Close it", "close");
    } else if (i.id == "restore") {
      add("", "Give it up", print({"forget", {{"draft", i.get("draft")}}}));
    } else if (i.id == "put" && document_) {
      add("", "What would it change?", print({"try", {{"statement", i.get("statement")}}}));
    } else if (i.id == "open") {
      add("", "Open it for another cluster…", print(i), "", true);
    }
    for (const WorkspaceEntry& e : *state_.entries) {
      const Result<Invocation> opens = parse_begun(e.command);
      if (i.id != "compare" && i.id != "version" && opens.ok() && opens->id == i.id && opens->arguments == i.arguments) {
        const std::string number = std::to_string(e.id);
        if (e.kind == "plan") add("", "Compare with it", print({"compare", {{"plans", number}}}));
        return labels(e.kind, number);
      }
    }
  }

 private:
  void add(std::string group, std::string title, std::string command, std::string beside = "", bool asks = false) {
    const Result<Invocation> i = parse_begun(command);
    Offer o{std::move(group), std::move(title), std::move(command), std::move(beside), {}, asks};
    o.reason = i.ok() ? why_not(state_, i->id) : "";
    out_.all.push_back(std::move(o));
  }

  void refuse(std::string group, std::string title, std::string command, std::string reason) {
    out_.all.push_back({std::move(group), std::move(title), std::move(command), "", std::move(reason)});
  }

  // Of what is in the workspace.
  void labels(const std::string& kind, const std::string& number) {
    if (kind != "profile") add("Workspace", "Rename…", print({"rename", {{"kind", kind}, {"number", number}}}), "", true);
    add("Workspace", "Note…", print({"note", {{"kind", kind}, {"number", number}}}), "", true);
    add("Workspace", "Delete", print({"delete", {{"kind", kind}, {"number", number}}}));
  }

  // What a row does that selects nothing.
  void itself(const Invocation& i) {
    std::vector<std::string> values;
    for (const auto& [name, value] : i.arguments) values.push_back(value);
    out_.title = join(values, ", ");
    add("", find_command(i.id)->title, print(i));
  }

  void selection(const Invocation& i) {
    const std::string block = document_ && i.has("none") ? task_of_block(*document_, i) : "";
    if (!document_ || (i.has("none") && block.empty())) return general();
    Selection s = block.empty() ? chosen_by(i) : selection_of_block(*document_, *block_named(i));
    Selected means = meaning(s);
    if (!block.empty() && (s.none() || !means.problem.empty())) {  // a whole task
      s = {};
      s.operators = block;
      means = meaning(s);
    }
    if (means.task.empty()) means.task = block;
    out_.title = s.statement > 0     ? "line " + std::to_string(s.statement)
                 : !s.place.empty()  ? s.place
                 : !s.communicator.empty() ? s.communicator
                 : !s.tensor.empty() ? s.tensor
                                     : s.operators;
    if (!s.place.empty()) return place(i, s.place);
    out_.select = true;
    if (s.statement > 0) line(s.statement);
    if (!means.words.empty()) operators(means);
    if (!means.task.empty()) task(means.task);
    if (!s.tensor.empty() && !means.words.empty())
      add("", "Select the operators of it", print({"select", {{"operators", means.words}}}));
  }

  // In the text as it stands.
  Selected meaning(const Selection& s) const {
    if (!document_->valid) return {};
    const Result<plan::Plan> p = plan::parse_plan(document_->draft.text(), document_->name);
    return selected(s, *document_->valid->sized, *p.value);
  }

  void general() {
    for (const char* id : {"append", "template", "plan", "keep", "drop"})
      add("", find_command(id)->title, id, "", asks(state_, *find_command(id)));
    if (!document_) return;
    for (const char* id : {"devices", "sizes", "axis", "grid", "let", "require", "forbid"})
      add("Write", std::string(find_command(id)->title) + "…", id, "", true);
  }

  // A line of the plan.
  void line(int number) {
    const std::string n = std::to_string(number), seen = std::to_string(document_->seen.newest());
    const std::vector<std::string> lines = lines_of(document_->draft.text());
    if (static_cast<std::size_t>(number) > lines.size()) return;
    const std::string& text = lines[static_cast<std::size_t>(number) - 1];
    const bool on = is_statement(text), off = switched_on(text).has_value();
    add("", "Change the line…", print({"replace", {{"line", n}, {"seen", seen}}}), "", true);
    if (on) add("", "Switch it off", "toggle " + n + " seen=" + seen);
    if (off) add("", "Switch it on", "toggle " + n + " seen=" + seen);
    if (on && is_automatic(text)) add("", "Lock it: the planner keeps it", "lock " + n + " seen=" + seen);
    if (on && !is_automatic(text)) leave_to_planner(text, "lock " + n + " off seen=" + seen);
    add("", "Duplicate it", "duplicate " + n + " seen=" + seen);
    if (number > 1) add("", "Move it up", "move " + n + " to=" + std::to_string(number - 1) + " seen=" + seen);
    if (static_cast<std::size_t>(number) < lines.size())
      add("", "Move it down", "move " + n + " to=" + std::to_string(number + 1) + " seen=" + seen);
    add("", "Remove it", print({"replace", {{"line", n}, {"statement", ""}, {"seen", seen}}}));
  }

  // A line goes at the planner's next search, which has to be able to write another one in its place.
  void leave_to_planner(const std::string& text, const std::string& command) {
    const Result<plan::Statement> s = plan::parse_statement(text);
    const char* title = "Leave it to the planner";
    if (s.ok() && can_be_planned(*s.value))
      add("", title, command);
    else
      refuse("", title, command, "the planner writes no line of this kind: leave an argument open, as ?t");
  }

  // The selected operators go to the place that was pointed at.
  void place(const Invocation& i, const std::string& place) {
    const std::string words = state_.selected ? state_.selected->words : "";
    if (words.empty())
      refuse("", "Run here what is selected", "assign", "no operators are selected");
    else
      add("", "Run " + words + " here", put("assign " + words + " to " + place));
    add("", "Select the place", print(i));
  }

  // Alternatives with their figures, then everything that the language has for operators.
  void operators(const Selected& means) {
    const std::vector<Tried>* tried = tried_for(means.words);
    if (tried) {
      std::size_t shown = 0;
      for (const Tried& t : *tried) {
        if (!has_figures(t) || ++shown > kMostAlternatives) continue;  // the cheapest come first
        const std::string figures = "step " + signed_time(t.delta_us) + ", peak " + signed_bytes(t.delta_bytes);
        add("Instead", t.statement, put(t.statement), figures);
      }
      if (shown > kMostAlternatives) more("Instead", shown - kMostAlternatives, "trans " + means.words + " ");
      for (const Tried& t : *tried)
        if (!has_figures(t)) refuse("Instead, but refused", t.statement, put(t.statement), t.reason);
    }
    splits(means, tried);
    for (const auto& [title, word] :
         std::initializer_list<std::pair<const char*, const char*>>{{"Recompute", "recompute"},
                                                                    {"Offload", "offload"},
                                                                    {"Keep for backward", "keep"},
                                                                    {"Split gradients off", "grad_split"}})
      with_figures("Memory", title, "trans " + means.words + " " + word, tried);
    run_at(means.words, tried);
    for (const UsableTemplate& t : usable_templates(document_->draft.text(), document_->name)) use(t, means.words);
  }

  // What is too much for a menu is written: asked for, as far as it is the same for all.
  void more(const char* group, std::size_t count, const std::string& begin) {
    add(group, "… " + with_commas(static_cast<std::int64_t>(count)) + " more", put(begin), "", true);
  }

  // However they were selected; of a statement nothing is tried but the plan without it.
  const std::vector<Tried>* tried_for(const std::string& words) const {
    const Inspection* i = state_.inspection.get();
    const bool of_them = i && i->document == document_->id && i->selection.statement == 0 && i->operators == words &&
                         i->text == document_->draft.text();
    return of_them ? &i->alternatives : nullptr;
  }

  void with_figures(const char* group, const std::string& title, const std::string& statement,
                    const std::vector<Tried>* tried) {
    if (tried)
      for (const Tried& t : *tried) {
        if (t.statement != statement) continue;
        if (!has_figures(t)) return refuse(group, title, put(statement), t.reason);
        return add(group, title, put(statement),
                   "step " + signed_time(t.delta_us) + ", peak " + signed_bytes(t.delta_bytes));
      }
    add(group, title, put(statement));
  }

  // Where everything has been tried: what the language takes. Else every factor and axis.
  void splits(const Selected& means, const std::vector<Tried>* tried) {
    const std::string begin = "trans " + means.words + " ";
    if (tried && !state_.inspection->running && state_.inspection->not_tried == 0) {
      for (const Tried& t : *tried)
        if (t.statement.starts_with(begin) && t.statement.find(" by ", begin.size()) != std::string::npos)
          with_figures("Split", t.statement.substr(begin.size()), t.statement, tried);
      return;
    }
    std::set<std::string> factors{"none"};
    if (document_->valid && !means.of_parameters()) {
      const Graph& g = document_->valid->sized->graph;
      for (const OpId op : means.operators)
        for (const Factor& f : g.ops[static_cast<std::size_t>(op)].factors)
          if (f.kind != FactorKind::frozen && !f.name.empty()) factors.insert(f.name);
    }
    for (const Choice& axis : choices(state_, "split", "by"))
      for (const std::string& f : factors)
        with_figures("Split", f + " by " + axis.value, begin + f + " by " + axis.value, tried);
  }

  void run_at(const std::string& words, const std::vector<Tried>* tried) {
    const std::string begin = "assign " + words + " to ";
    std::size_t shown = 0;
    for (const Choice& place : choices(state_, "assign", "to"))
      if (shown < kMostPlaces) ++shown, with_figures("Run at", place.value, begin + place.value, tried);
    if (const auto all = static_cast<std::size_t>(count_places(*document_)); all > shown) more("Run at", all - shown, begin);
  }

  // Of templates whose first argument is operators; the others are completed by whoever inserts it.
  void use(const UsableTemplate& t, const std::string& words) {
    if (t.parameters.empty() || t.parameters.front().empty()) return;
    std::vector<std::string> arguments{words};
    arguments.insert(arguments.end(), t.parameters.begin() + 1, t.parameters.end());
    add("Template", t.name, print({"template", {{"use", t.name + "(" + join(arguments, ", ") + ")"}}}), t.own ? "of this plan" : t.about, true);
  }

  // Before and after what: asked for, or by a drag onto the other one.
  void task(const std::string& task) {
    add("Order", "Before…", print({"order", {{"task", task}, {"before", ""}}}), "", true);
    add("Order", "After…", print({"order", {{"task", task}, {"after", ""}}}), "", true);
    if (state_.selected && !state_.selected->task.empty() && state_.selected->task != task) {
      const std::string& other = state_.selected->task;
      add("Order", other + " before it", put("order " + other + " < " + task));
      add("Order", other + " after it", put("order " + task + " < " + other));
    }
  }

  const State& state_;
  const Document* document_;
  Offers out_;
};

}  // namespace

Offers offers(const State& s, std::string_view line) {
  Result<Invocation> i = parse_begun(line);
  if (i.ok() && s.document()) i = lines_now(s.document()->seen, std::move(*i));
  if (!i.ok()) return {};
  Menu menu(s);
  menu.of(*i);
  return menu.take();
}

std::vector<Offer> ways_out(const Invocation& refused, const Diagnostic& d, std::uint64_t seen) {
  std::vector<Offer> out;
  const CommandInfo* info = find_command(refused.id);
  for (const ArgumentInfo& a : info ? info->arguments : std::vector<ArgumentInfo>{}) {
    if (refused.has(a.name) || d.hint.find(std::string(a.name) + "=yes") == std::string::npos) continue;
    Invocation again = refused;
    again.arguments[a.name] = "yes";
    out.push_back({.group = "", .title = std::string(info->title) + ", " + a.name, .command = print(again)});
  }
  for (const int line : d.lines) {
    const std::string n = std::to_string(line);
    Invocation relax{"relax", {{"line", n}}};
    if (seen > 0) relax.arguments["seen"] = std::to_string(seen);
    out.push_back({.group = "", .title = "Relax line " + n, .command = print(relax)});
  }
  return out;
}

}  // namespace planscope::session
