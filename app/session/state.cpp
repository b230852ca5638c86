#include "app/session/state.h"

#include <algorithm>
#include <set>

#include "app/session/tour.h"
#include "app/workbench/equal_layers.h"

namespace planscope::session {

std::string_view to_string(JobState s) {
  switch (s) {
    case JobState::queued: return "queued";
    case JobState::running: return "running";
    case JobState::done: return "done";
    case JobState::failed: return "failed";
    case JobState::cancelled: return "cancelled";
  }
  return "";
}

Figures figures_of(const Picture& p) {
  Figures f;
  if (p.state == PictureState::refused) f.verdict = "refused";
  if (p.state == PictureState::open) f.verdict = "open";
  if (!p.evaluation) return f;
  const Simulation& s = p.evaluation->simulation;
  f.step_us = s.step_us();
  f.origin = to_string(p.figure.origin);
  // The largest peak, as everywhere else; of devices with equal ones, the smallest.
  const auto use = [](const ClassTimeline& c) { return std::pair(c.peak.bytes(), -c.capacity.count); };
  const auto fullest = std::max_element(s.classes.begin(), s.classes.end(),
                                        [&](const auto& a, const auto& b) { return use(a) < use(b); });
  if (fullest != s.classes.end()) {
    f.peak_bytes = fullest->peak.bytes();
    f.memory_bytes = fullest->capacity.count;
  }
  f.sent_bytes = bytes_sent(s);
  if (p.verified) f.verdict = std::string(to_string(p.verified->report.verdict));
  return f;
}

GraphLook look_at(std::shared_ptr<const OpenModel> m) {
  GraphLook out;
  out.model = make_once([m] { return fold_model(m->graph); });
  const std::vector<std::string> first = first_expanded(out.model->get());
  return look_at(std::move(m), out, {first.begin(), first.end()});
}

GraphLook look_at(std::shared_ptr<const OpenModel> m, const GraphLook& before, std::set<std::string> expanded) {
  constexpr std::size_t kept = 16;
  GraphLook out{before.model, std::make_shared<const std::set<std::string>>(std::move(expanded)), nullptr,
                before.known};
  auto known = before.known ? *before.known : std::map<std::set<std::string>, GraphLook::Placed>{};
  if (const auto found = known.find(*out.expanded); found != known.end()) {
    out.placed = found->second;
    return out;
  }
  if (known.size() >= kept) known.clear();
  out.placed =
      make_once([m = std::move(m), f = out.model, e = out.expanded] { return placed_graph(m->graph, f->get(), *e); });
  known.emplace(*out.expanded, out.placed);
  out.known = std::make_shared<const std::map<std::set<std::string>, GraphLook::Placed>>(std::move(known));
  return out;
}

namespace {

bool is_one_of(const std::string& word, std::initializer_list<const char*> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

std::string why_old(const Document& d, const Comparison& c) {
  if (c.of_draft() && c.asked != d.draft.text()) return "the plan has been changed since";
  const bool predicted = std::any_of(c.entries.begin(), c.entries.end(), [](const ComparedEntry& e) { return !e.trace; });
  if (!predicted) return "";
  if (c.cluster != d.cluster) return "it is of " + c.cluster;
  return c.measurements == d.measurements ? "" : "operators have been measured since";
}

std::string why_no_comparison(const State& s) {
  const Document* d = s.document();
  if (d && d->comparison) return "";
  if (!d || !d->comparing) return "no plans are compared";
  return d->comparing->running ? "the comparison is under way" : "the comparison was refused";
}

std::string why_not(const State& s, const std::string& command) {
  const Document* d = s.document();
  const bool of_session = is_one_of(command, {"open", "cluster", "restore", "forget", "cancel", "dismiss", "rename", "note",
                                              "delete", "search", "prefer", "go", "tour", "tour_next", "tour_leave"});
  if (!of_session && !d) return "no model is open";
  if ((command == "tour_next" || command == "tour_leave") && !follows_tour(s.preferences))
    return next_step_of_tour(s.preferences) == tour_steps().size() ? "the tour is at its end"
                                                                   : "the tour is not followed";
  if (command == "keep" && d->version && !d->draft.edited()) return "nothing has changed since the last version";
  if (command == "keep" && d->draft.text().empty()) return "the plan is empty";
  if (command == "run" && d->draft.text().empty()) return "the plan is empty";
  if (command == "difference" && !d->comparison) return why_no_comparison(s);
  if (command == "profile" && d->profile && d->profile->running) return "operators are being measured";
  if (command == "run" && d->trial && d->trial->running) return "a trial of this plan is running";
  if (command == "seek_next" && s.sought.text.empty()) return "nothing has been looked for in the timeline";
  if (command == "drop" && !d->draft.edited()) return "nothing has changed since the last version";
  if (command == "drop" && d->draft.kept().empty()) return "nothing has been kept to go back to; undo takes back edits";
  if (command == "undo" && !d->draft.can_undo()) {
    const auto now = std::find_if(d->versions->begin(), d->versions->end(), [&](const Version& v) { return v.id == d->version; });
    if (now == d->versions->end() || !now->parent) return "there is nothing to undo";
  }
  if (command == "redo" && !d->draft.can_redo() && (d->later.empty() || d->draft.edited())) return "there is nothing to redo";
  if (command == "accept" && (!d->planner || d->planner->found.empty()))
    return !d->planner || d->planner->status == "impossible" ? "the planner has found no plan"
           : d->planner->running                             ? "the planner has not found a plan yet"
           : d->planner->status == "stopped"                 ? d->planner->reason
                                                             : "the planner has found no plan";
  for (const char* by_hand : {"split", "whole", "recompute", "offload", "grad_split", "keep_gathered", "assign", "lag"})
    if (command == by_hand && !s.selected) return "nothing is selected";
  if (command == "neighbours" && s.selection.none()) return "nothing is selected";
  if (command == "dismiss" && s.messages.empty()) return "there are no messages";
  if ((command == "restore" || command == "forget") && s.lost.empty()) return "no program has left a draft";
  if (command == "cancel" &&
      std::none_of(s.jobs.begin(), s.jobs.end(), [](const Job& j) { return j.state == JobState::queued || j.state == JobState::running; }))
    return "no job is running";
  return "";
}

std::string words_of(const Document& d, const std::vector<OpId>& operators, std::size_t most) {
  const bool known = d.shown && d.shown->sized && d.shown->sized->info.operators.size() == d.model->graph.ops.size();
  const std::string all = known && !operators.empty() ? selection_of(d.shown->sized->info, operators) : "";
  return all.size() > most ? "" : all;
}

bool asks(const State& s, const CommandInfo& c) {
  if (std::string_view(c.id) == "save") return s.document() && s.document()->path.empty();
  return std::any_of(c.arguments.begin(), c.arguments.end(), [](const ArgumentInfo& a) { return a.required || a.asked; });
}

}  // namespace planscope::session
