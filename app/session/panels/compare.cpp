#include <algorithm>

#include "app/session/commands.h"
#include "app/session/comparing.h"
#include "app/session/marked.h"
#include "app/session/panels/panels.h"
#include "app/workbench/plan_diff_text.h"

namespace planscope::session {

namespace {

template <class T>
Json maybe(const std::optional<T>& v) {
  return v ? Json(*v) : Json();
}

std::string signed_text(double v, Unit unit) {
  const std::string size = cell(v < 0 ? -v : v, unit).text;
  return (v < 0 ? "−" : "+") + size;
}

Cell delta(double v, Unit unit) {
  return {v, signed_text(v, unit), v < 0 ? Tone::good : v > 0 ? Tone::bad : Tone::plain};
}

const char* origin_of(const ComparedEntry& e) {
  return e.kind == ComparedEntry::Kind::plan ? "predicted" : e.kind == ComparedEntry::Kind::run ? "measured" : "trace";
}

// A plan, with how far it is from the first.
TableRow plan_row(const ComparedEntry& e, const ComparedEntry& first, bool is_first) {
  TableRow row{.id = e.name};
  const auto from = [&](const auto& mine, const auto& its, Unit unit) {
    if (is_first || !mine || !its) return cell(nullptr);
    return delta(static_cast<double>(*mine) - static_cast<double>(*its), unit);
  };
  row.cells = {cell(e.name), cell(origin_of(e)), cell(maybe(e.step_us), Unit::microseconds),
               from(e.step_us, first.step_us, Unit::microseconds), cell(maybe(e.peak_bytes), Unit::bytes),
               from(e.peak_bytes, first.peak_bytes, Unit::bytes), cell(maybe(e.sent_bytes), Unit::bytes),
               cell(e.verdict.empty() ? Json() : Json(e.verdict), Unit::none, tone_of_verdict(e.verdict)), cell(nullptr)};
  return row;
}

TableRow change_row(const Document& document, const std::string& plan, const PlanChange& c, std::size_t number, bool of_draft) {
  TableRow row{.id = plan + " " + std::to_string(number), .parent = plan};
  const bool costs = !c.operators.empty();
  row.cells = {cell(costs ? operators_text(c) : "the whole plan"), cell(costs ? std::to_string(c.count) + (c.parameters ? " parameters" : " operators") : ""),
               cell(nullptr), costs ? delta(c.delta.us(), Unit::microseconds) : cell(nullptr), cell(nullptr),
               costs ? delta(c.delta.bytes, Unit::bytes) : cell(nullptr), cell(nullptr), cell(nullptr), cell(decisions_text(c))};
  for (const DecisionChange& d : c.decisions)
    if (of_draft && d.is_line && row.command.empty() && d.was_line) row.command = "select statement=" + std::to_string(d.was_line->line);
  if (const std::string words = words_of(document, c); row.command.empty() && !words.empty())
    row.command = print(Invocation{"select", {{"operators", words}}});
  return row;
}

bool is_marked(const Marked& marked, const Graph& g, const PlanChange& c) {
  if (!c.parameters) return marked.some_of(c.rows);
  return std::any_of(c.rows.begin(), c.rows.end(), [&](int p) {
    return marked.tensor(g.parameters[static_cast<std::size_t>(p)].tensor);
  });
}

TableRow rest_row(const std::string& plan, const char* what, double us, std::optional<double> bytes) {
  TableRow row{.id = plan + " " + what, .parent = plan, .tone = Tone::dim};
  row.cells = {cell(what), cell(""), cell(nullptr), delta(us, Unit::microseconds), cell(nullptr),
               bytes ? delta(*bytes, Unit::bytes) : cell(nullptr), cell(nullptr), cell(nullptr), cell("")};
  return row;
}

void add_diagnostics(Panel& p, const Comparison& c) {
  for (const Diagnostic& m : c.diagnostics) {
    const bool refused = m.severity == Severity::error;
    p.facts.push_back({refused ? "refused" : "said", refused ? "Refused" : "Said",
                       cell(to_string(m), Unit::none, refused ? Tone::bad : Tone::warning)});
  }
}

}  // namespace

Panel compare_panel(const State& s) {
  Panel p{.id = "compare", .title = "Differences", .kind = PanelKind::tree};
  p.empty = "Puts plans, versions and runs side by side, with what differs and what that costs: compare PLAN";
  p.columns = {{"name", "Plan"}, {"origin", "Origin"}, {"step_us", "Step", Unit::microseconds}, {"step_delta_us", "Δ step", Unit::microseconds},
               {"peak_bytes", "Peak memory", Unit::bytes}, {"peak_delta_bytes", "Δ peak", Unit::bytes}, {"bytes_sent", "Sent", Unit::bytes},
               {"verdict", "Verdict"}, {"decisions", "Decides"}};
  Json plans = Json::array(), changes = Json::array(), rest = Json::array();
  const Document* d = s.document();
  if (d && d->comparison) {
    const Comparison& c = *d->comparison;
    p.reason = why_old(*d, c);
    p.current = p.reason.empty();
    const Marked marked(s);
    int number = 0;  // of the change, over all plans
    for (std::size_t k = 0; k < c.entries.size(); ++k) {
      const ComparedEntry& e = c.entries[k];
      plans.push_back({{"name", e.name}, {"step_us", maybe(e.step_us)}, {"peak_bytes", maybe(e.peak_bytes)},
                       {"bytes_sent", maybe(e.sent_bytes)}, {"verdict", e.verdict}, {"measured", e.kind != ComparedEntry::Kind::plan}});
      p.rows.push_back(plan_row(e, c.entries.front(), k == 0));
      if (!e.difference) continue;
      const PlanDifference& diff = *e.difference;
      for (std::size_t i = 0; i < diff.changes.size(); ++i) {
        changes.push_back(change_json(e.name, diff.changes[i]));
        p.rows.push_back(change_row(*d, e.name, diff.changes[i], i, c.of_draft() && c.asked == d->draft.text()));
        if (!p.rows.back().command.empty()) p.rows.back().command += seen_word(d->seen, d->draft.text());
        p.rows.back().selected =
            number++ == d->difference || is_marked(marked, d->model->graph, diff.changes[i]);
      }
      rest.push_back(rest_json(e.name, diff));
      p.rows.push_back(rest_row(e.name, "what decides alike", diff.rest.operators.us(), diff.rest.operators.bytes));
      p.rows.push_back(rest_row(e.name, "devices wait for each other", diff.rest.idle_us, {}));
      p.rows.push_back(rest_row(e.name, "communication behind compute", diff.rest.overlap_us, {}));
      // Changes are from the first plan, figures from what stands first.
      const ComparedEntry& plan = *std::find_if(c.entries.begin(), c.entries.end(), [](const ComparedEntry& x) { return x.evaluation != nullptr; });
      const ComparedEntry& first = c.entries.front();
      if (&plan == &first || !plan.step_us || !first.step_us) continue;
      std::optional<double> bytes;
      if (plan.peak_bytes && first.peak_bytes) bytes = static_cast<double>(*plan.peak_bytes - *first.peak_bytes);
      const std::string what = "from " + first.name + " to " + plan.name;
      p.rows.push_back(rest_row(e.name, what.c_str(), *plan.step_us - *first.step_us, bytes));
    }
  }
  const std::string count = std::to_string(plans.size()), changed = std::to_string(changes.size());
  p.facts = {{"plans", "Plans", {std::move(plans), count}}, {"changes", "Changes", {std::move(changes), changed}},
             {"running", "Running", cell(d && d->comparing && d->comparing->running), "", true},
             {"unattributed", "Not of a change", {std::move(rest), ""}, "", true}};
  if (d && d->comparing) say_what_remains(p, s, d->comparing->job);
  if (d && d->comparing && d->comparing->running) {
    const std::string job = std::to_string(d->comparing->job);
    p.facts.push_back({"cancel", "Cancel", cell("job " + job), "cancel " + job});
  }
  if (d && d->comparison) add_diagnostics(p, *d->comparison);
  if (d && d->comparing && d->comparing != d->comparison) add_diagnostics(p, *d->comparing);
  return p;
}

}  // namespace planscope::session
