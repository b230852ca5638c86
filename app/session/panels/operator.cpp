// What is selected: operators of one kind, a module, what a statement decides, what runs at a place, who communicates.
#include <algorithm>

#include "app/session/commands.h"
#include "app/session/panels/panels.h"
#include "app/workbench/explain_text.h"
#include "engine/base/format.h"
#include "engine/base/text.h"

namespace planscope::session {

namespace {

template <class T, class F>
Cell list_cell(const std::vector<T>& all, const std::string& separator, F&& entry) {
  Json values = Json::array();
  std::vector<std::string> texts;
  for (const T& t : all) {
    auto [value, text] = entry(t);
    values.push_back(std::move(value));
    texts.push_back(std::move(text));
  }
  return {std::move(values), texts.empty() ? "–" : join(texts, separator)};
}

Cell kinds_cell(const Inspection& i) {
  if (i.kinds.size() == 1) return cell(i.kinds[0]);
  return {i.kinds.empty() ? Json() : Json(join(i.kinds, ", ")), i.kinds.empty() ? "–" : join(i.kinds, ", ")};
}

Cell factors_cell(const Inspection& i) {
  return list_cell(i.factors, "; ", [](const InspectedFactor& f) {
    const std::string size = f.size > 0 ? " " + with_commas(f.size) : "";
    const std::string frozen = f.kind == "frozen" ? " frozen" + (f.reason.empty() ? "" : " (" + f.reason + ")") : "";
    return std::pair(Json{{"name", f.name}, {"size", f.size > 0 ? Json(f.size) : Json()}, {"kind", f.kind.empty()
        ? Json() : Json(f.kind)},
                          {"split", f.split}},
                     f.name + size + frozen + (f.split.empty() ? "" : " ÷ " + join(f.split, ", ")));
  });
}

Cell cost_cell(const Inspection& i) {
  return list_cell(i.cost, "; ", [](const InspectedCost& c) {
    return std::pair(Json{{"what", c.what}, {"us", c.us}, {"origin", c.origin}}, c.what + " " + time_text(c.us) +
        " (" + c.origin + ")");
  });
}

Cell decisions_cell(const Inspection& i) {
  return list_cell(i.decisions, "; ", [&](const InspectedDecision& d) {
    const Json line = d.line ? Json(d.line->line) : Json();
    const std::string some = d.operators < i.count ? with_commas(d.operators) + " of them " : "";
    return std::pair(
        Json{{"about", d.about}, {"does", d.does}, {"text", d.text}, {"line", line}, {"operators", d.operators}},
            some + d.text);
  });
}

Cell line_cell(const std::optional<StatementRef>& s) {
  if (!s) return cell(nullptr, Unit::none, Tone::plain, "no statement decides it");
  return {line_json(*s), line_text(*s)};
}

// Of selected communicators: who they are, and what goes between them in a step.
Cell communicators_cell(const State& s) {
  const Document& d = *s.document();
  std::vector<const Communicator*> all;
  const std::shared_ptr<const TrafficFacts> t = d.shown && d.shown->study ? d.shown->study->traffic({}) : nullptr;
  const std::vector<std::string> names = split(s.selection.communicator, '\n');
  for (std::size_t k = 0; t && k < t->communicators.size(); ++k)
    if (const Communicator& c = t->communicators[k];
        std::any_of(names.begin(), names.end(), [&](const std::string& name) { return is_called(c, name); }))
      all.push_back(&c);
  return list_cell(all, "; ", [](const Communicator* c) {
    const bool known = c->exposed_us >= 0;
    return std::pair(Json{{"kind", c->kind}, {"over", among(*c)}, {"groups", c->groups}, {"size", c->size}, {"count", c->count},
                          {"bytes", c->bytes}, {"level", c->level_name}, {"busy_us", c->busy_us},
                          {"exposed_us", known ? Json(c->exposed_us) : Json()}},
                     c->kind + " " + among(*c) + ": " + with_commas(c->groups) + (c->groups == 1 ? " group of " : " groups of ") +
                         with_commas(c->size) + ", " + cell(c->count, Unit::count).text + " times, " + bytes_text(static_cast<double>(c->bytes)) + " over " +
                         c->level_name + ", busy " + time_text(c->busy_us) + (known ? ", exposed " + time_text(c->exposed_us) : ""));
  });
}

Json maybe(const std::string& text) { return text.empty() ? Json() : Json(text); }

}  // namespace

Cell step_delta_cell(const Tried& t) {
  if (!has_figures(t)) return cell(nullptr);
  return {t.delta_us, signed_time(t.delta_us), t.verdict == EditVerdict::cheaper ? Tone::good : Tone::plain};
}

Cell peak_delta_cell(const Tried& t) {
  if (!has_figures(t)) return cell(nullptr);
  return {t.delta_bytes, signed_bytes(t.delta_bytes)};
}

void say_whether_inspected(Panel& p, const State& s) {
  const Inspection& i = *s.inspection;
  const Document& d = *s.document();
  if (i.text == d.draft.text() && i.cluster == d.cluster && i.selection == s.selection) return;
  say_whether_current(p, d);
  if (!p.current) return;
  p.current = false;
  p.reason = "the selection is being looked at";
}

Panel operator_panel(const State& s) {
  Panel p{.id = "operator", .title = "Operator", .kind = PanelKind::table};
  p.empty =
      "Shows what operators do, what that costs, which statement decided it, and what else they could do. Select some, "
      "in any view.";
  p.rows_id = "alternatives";
  p.columns = {{"statement", "Instead"}, {"step_delta_us", "Step", Unit::microseconds}, {"peak_delta_bytes",
      "Peak memory", Unit::bytes},
               {"verdict", "Verdict"}, {"by", "Why"}};
  if (!s.document() || !s.inspection) return p;
  const Inspection& i = *s.inspection;
  say_whether_inspected(p, s);
  const std::int64_t tried = static_cast<std::int64_t>(i.alternatives.size() + (i.without ? 1 : 0));
  p.facts = {{"operators", "Operators", cell(maybe(i.operators))},
             {"example", "Example", cell(maybe(i.example), Unit::none, Tone::plain, i.source)},
             {"count", "Count", cell(i.count, Unit::count)},
             {"kind", "Kind", kinds_cell(i)},
             {"source", "Source", cell(maybe(i.source))},
             {"rule", "Rule", cell(maybe(i.rule))},
             {"says", "In words", list_cell(i.rule_words, "; ", [](const std::string& w) { return std::pair(Json(w),
                 w); })},
             {"factors", "Factors", factors_cell(i)},
             {"flops", "Operations", {i.flops, count_text(i.flops), Tone::plain,
                 "floating-point operations of forward, undivided"}},
             {"parameters", "Parameters", cell(i.parameters, Unit::count, Tone::plain, "tensors that they read")},
             {"parameter_elements", "Elements", {i.parameter_elements,
                 count_text(static_cast<double>(i.parameter_elements))}},
             {"cost", "Cost on one device", cost_cell(i)},
             {"saved_bytes", "Saved for backward", cell(i.saved_bytes ? Json(*i.saved_bytes) : Json(), Unit::bytes,
                 Tone::plain,
                                                        "of one run, on one device")},
             {"decided_by", "Decided by", line_cell(i.decided_by),
              i.decided_by ? select_line(s.document()->seen, i.text, i.decided_by->line) : ""},
             {"decisions", "Decisions", decisions_cell(i)}};
  if (!i.selection.communicator.empty() && i.selection == s.selection)
    p.facts.insert(p.facts.begin(), {"communicators", "Communicators", communicators_cell(s)});
  if (i.running) p.facts.push_back({"tried", "Tried", {tried, std::to_string(tried) + " of " +
      std::to_string(i.to_try)}});
  if (i.not_tried > 0)
    p.facts.push_back({"not_tried", "Not tried", {i.not_tried, std::to_string(i.not_tried) + " more",
        Tone::plain, "of fewer operators all are tried; of any statement `try` says what it would change"}});
  if (!i.problem.empty()) p.facts.push_back({"problem", "Not known", cell(i.problem, Unit::none, Tone::warning)});
  for (const Tried& t : i.alternatives) {
    TableRow row{.id = t.statement, .tone = has_figures(t) ? Tone::plain : Tone::dim};
    row.cells = {cell(t.statement), step_delta_cell(t), peak_delta_cell(t), cell(to_string(t.verdict)), {by_json(t),
        by_text(t)}};
    row.command = print(Invocation{"put", {{"statement", t.statement}}});
    p.rows.push_back(std::move(row));
  }
  return p;
}

}  // namespace planscope::session
