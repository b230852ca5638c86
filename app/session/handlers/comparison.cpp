// Plans, runs and traces side by side.
#include <algorithm>

#include "app/session/comparing.h"
#include "app/session/core.h"
#include "engine/base/text.h"

namespace planscope::session {

namespace {

std::string take_first(std::vector<std::string>& all) {
  std::string out = std::move(all.front());
  all.erase(all.begin());
  return out;
}

// Takes the answer of a comparison job. The comparison that is shown stays until the new one is complete.
void take(Document& d, const std::shared_ptr<const Comparison>& answer) {
  d.comparing = answer;
  if (!answer->complete) return;
  d.comparison = answer;
  d.difference = -1;
  for (const ComparedEntry& e : answer->entries)
    if (e.run) d.measured = e.run;
}

// A version of the document by the name that a person has given it: its number.
std::string numbered(const Document& d, std::string plan) {
  if (!d.versions || plan.empty()) return plan;
  const auto named = std::find_if(d.versions->begin(), d.versions->end(), [&](const Version& v) { return v.name == plan; });
  return named == d.versions->end() ? plan : std::to_string(named->id);
}

Result<Done> compare(Core& c, const Invocation& i) {
  Document& d = *c.document();
  std::string base = numbered(d, i.get("base"));
  std::vector<std::string> others = split(i.get("plans"), '\n');
  for (std::string& other : others) other = numbered(d, std::move(other));
  if (d.draft.text().empty() && base.empty() && others.size() > 1) base = take_first(others);
  if (d.draft.text().empty() && base.empty())
    return error("the plan is empty", "it is what the others are compared with", "base=PLAN, or two of them");
  CompareRequest r{.model = d.model,
                   .text = d.draft.text(),
                   .name = d.name,
                   .cluster = d.cluster,
                   .workspace = c.settings.workspace,
                   .base = std::move(base),
                   .others = std::move(others)};
  if (d.planner)
    for (std::size_t n = 0; n < d.planner->candidates.size(); ++n)
      r.scripts["candidate:" + std::to_string(n + 1)] = d.planner->candidates[n].script;
  Comparison begun;
  begun.asked = r.text, begun.base = r.base, begun.arguments = r.others;
  begun.job = compare_in_background(*c.jobs, std::move(r), [&c, id = d.id](std::shared_ptr<const Comparison> a) {
    c.update(id, [&](Document& o) {
      if (!o.comparing || o.comparing->job <= a->job) take(o, a);
    });
  });
  d.comparing = std::make_shared<const Comparison>(std::move(begun));
  return Done{};
}

Result<Done> one_of(std::string& what, const std::string& value, std::initializer_list<const char*> choices,
                    const char* noun) {
  if (std::find(choices.begin(), choices.end(), value) == choices.end())
    return error(std::string("there is no ") + noun + " '" + value + "'", "",
                 join({choices.begin(), choices.end()}, ", "));
  what = value;
  return Done{};
}

Result<Done> align(Core& c, const Invocation& i) {
  return one_of(c.state.align, i.get("by"), {"time", "share", "task"}, "alignment");
}

Result<Done> overlay(Core& c, const Invocation& i) {
  return one_of(c.state.overlay, i.get("what"), {"runs", "all", "none"}, "overlay");
}

// The changes of all plans of a comparison, in the order of the panel.
std::vector<const PlanChange*> changes_of(const Comparison& c) {
  std::vector<const PlanChange*> out;
  for (const ComparedEntry& e : c.entries)
    if (e.difference)
      for (const PlanChange& change : e.difference->changes) out.push_back(&change);
  return out;
}

// What a change is about, as far as it can be selected: its operators, else the line that decides it in the draft.
void select_change(Core& c, const PlanChange& change) {
  if (const std::string words = words_of(*c.document(), change); !words.empty()) {
    const Result<Done> done = run_command(c, {"select", {{"operators", words}}});
    if (done.ok()) return;
  }
  const Document& d = *c.document();
  if (!d.comparison->of_draft() || d.comparison->asked != d.draft.text()) return;  // lines are those of another text
  for (const DecisionChange& decision : change.decisions)
    if (decision.was_line && run_command(c, {"select", {{"statement", std::to_string(decision.was_line->line)}}}).ok()) return;
}

Result<Done> difference(Core& c, const Invocation& i) {
  Document& d = *c.document();
  const std::string which = i.get("which");
  if (i.has("which") && which != "next" && which != "previous")
    return error("there is no difference '" + which + "'", "", "next or previous");
  const std::vector<const PlanChange*> all = changes_of(*d.comparison);
  if (all.empty()) return error("the plans that are compared do not differ");
  const int count = static_cast<int>(all.size());
  d.difference = which == "previous" ? (d.difference <= 0 ? count - 1 : d.difference - 1) : (d.difference + 1) % count;
  select_change(c, *all[static_cast<std::size_t>(d.difference)]);
  return Done{};
}

}  // namespace

void add_comparison_handlers(Handlers& all) {
  all["compare"] = compare;
  all["align"] = align;
  all["overlay"] = overlay;
  all["difference"] = difference;
}

}  // namespace planscope::session
