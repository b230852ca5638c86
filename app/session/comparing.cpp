#include "app/session/comparing.h"

#include <algorithm>
#include <filesystem>
#include <future>
#include <mutex>

#include "app/session/commands.h"
#include "app/session/store.h"
#include "app/workbench/profiling.h"
#include "app/workbench/timeline.h"
#include "engine/base/stop.h"
#include "engine/base/text.h"
#include "engine/plan/parser.h"
#include "engine/plan/printer.h"
#include "planner/complete/settled.h"
#include "viz/timeline/beside.h"

namespace planscope::session {

namespace {

std::string name_of(const std::string& where) {
  const std::filesystem::path path(where);
  return path.extension() == ".plan" ? path.stem().string() : where;
}

constexpr const char* kRuns = "run:N, with a number of the panel `runs`; the command `run` makes one";

// Why a name with a prefix, such as `candidate:3`, names no plan, run or trace; empty if the name has no prefix.
std::optional<Diagnostic> no_such(const std::string& where, std::size_t candidates) {
  const std::size_t colon = where.find(':');
  if (colon == std::string::npos || where.find('/') != std::string::npos) return std::nullopt;
  const std::string prefix = where.substr(0, colon);
  if (prefix == "run")
    return error("there is no run '" + printable(where) + "'", "", kRuns);
  if (prefix == "candidate" && candidates == 0)
    return error("there is no candidate yet", "candidates are what a search for a whole plan finds", "plan whole");
  if (prefix == "candidate")
    return error("there is no candidate '" + printable(where.substr(colon + 1)) + "'", "the planner has found " + std::to_string(candidates),
                 "candidate:N, with N from 1 to " + std::to_string(candidates));
  return error("'" + printable(where) + "' names no plan", "there are no names that begin with '" + printable(prefix) + ":'",
               "run:N, candidate:N, the number of a version, a plan of the workspace, or a file");
}

bool is_run(const std::string& where) { return where.starts_with("run:"); }
bool is_trace(const std::string& where) { return where.ends_with(".json"); }

class Comparing {
 public:
  using Answer = std::function<void(std::shared_ptr<const Comparison>)>;
  Comparing(const CompareRequest& request, const Answer& answer, const Jobs::Report& report)
      : request_(request), answer_(answer), report_(report) {
    now_.job = report.id();
    now_.asked = request.text;
    now_.base = request.base;
    now_.cluster = request.cluster;
    now_.arguments = request.others;
  }

  Jobs::End run() {
    tell();
    Jobs::End end;
    try {
      const StopScope scope([this] { return report_.stop().load(); });
      end = work();
    } catch (const Stopped&) {
      end = {JobState::cancelled, ""};
    }
    now_.running = false;
    now_.complete = end.state == JobState::done;
    tell();
    return end;
  }

 private:
  void take(const std::vector<Diagnostic>& more) {
    now_.diagnostics.insert(now_.diagnostics.end(), more.begin(), more.end());
  }

  Jobs::End refused(const std::vector<Diagnostic>& why) {
    take(why);
    return Jobs::End::refused(why, "a plan cannot be completed");
  }

  struct Asked {
    std::string where;
    std::optional<plan::Plan> plan = {};  // of plans
    std::string another = {};             // of one that was kept for another model: which
    std::shared_ptr<const Cluster> cluster = {};  // of plans: as many devices as it wants of the one that is asked for
    CostModel costs = {};
  };

  Jobs::End work() {
    const SystemClock clock;
    std::optional<Workspace> opened;
    if (!request_.workspace.empty()) {
      Result<Workspace> w = Workspace::open(request_.workspace, clock);
      if (w.value) opened = std::move(*w.value);
    }
    const Workspace* w = opened ? &*opened : nullptr;
    std::vector<Asked> asked;
    Result<plan::Plan> draft = plan::parse_plan(request_.text, request_.name);
    if (request_.base.empty()) {
      if (!draft.value || draft.has_errors()) return refused(draft.diagnostics);
      asked.push_back({request_.name, std::move(*draft.value)});
    } else {
      asked.push_back({request_.base});
    }
    for (const std::string& other : request_.others) asked.push_back({other});
    for (Asked& a : asked) {
      if (a.plan || is_run(a.where) || is_trace(a.where)) continue;
      const auto script = request_.scripts.find(a.where);
      Result<plan::Plan> p =
          script == request_.scripts.end() ? kept_or_file(a.where, w) : plan::parse_plan(script->second, a.where);
      if (!p.value || p.has_errors()) return refused(p.diagnostics);
      a.plan = std::move(*p.value);
      if (script == request_.scripts.end()) a.another = another_model(a.where, w);
    }
    if (w) now_.measurements = measurements_of(*w, now_.diagnostics);
    for (Asked& a : asked) {
      if (!a.plan) continue;
      const Result<Cluster> cluster = open_cluster(request_.cluster, *a.plan, w);
      if (!cluster.value || cluster.has_errors()) return refused(cluster.diagnostics);
      a.cluster = std::make_shared<const Cluster>(*cluster.value);
      a.costs = stored_costs(w, *a.cluster, now_.diagnostics);
    }
    report_.progress(0, static_cast<double>(asked.size()), "");
    // Plans are evaluated at the same time: none needs another one.
    std::vector<std::future<Result<Judged>>> judged(asked.size());
    for (std::size_t k = 0; k < asked.size(); ++k)
      if (asked[k].plan)
        judged[k] = std::async(std::launch::async, [this, &a = asked[k], all = asked.size(), stop = StopScope::asked()] {
          const StopScope scope(stop);
          Result<Judged> one = judge(a);
          count_one(a.where, all);
          return one;
        });
    for (std::size_t k = 0; k < asked.size(); ++k) {
      const Asked& a = asked[k];
      Result<ComparedEntry> e = a.plan ? planned(judged[k].get()) : is_run(a.where) ? ran(w, a.where) : traced(a.where);
      if (!e.value || e.has_errors()) return refused(a.another.empty() ? e.diagnostics : not_for_this(a, e.diagnostics));
      take(e.diagnostics);
      e->name = own_name(e->name, a.where);
      now_.entries.push_back(std::move(*e.value));
      if (!a.plan) count_one(a.where, asked.size());
      tell();
    }
    return {JobState::done, std::to_string(now_.entries.size()) + " side by side"};
  }

  // Entries are known by their names: of one that is taken it is said where it comes from.
  std::string own_name(const std::string& name, const std::string& where) const {
    const auto taken = [&](const std::string& n) {
      return std::any_of(now_.entries.begin(), now_.entries.end(), [&](const ComparedEntry& e) { return e.name == n; });
    };
    std::string out = name;
    std::error_code ec;
    if (taken(out) && number_of(where)) out = name + " (version " + where + ")";
    if (taken(out) && std::filesystem::exists(where, ec)) out = name + " (file)";
    for (int k = 2; taken(out); ++k) out = name + " (" + std::to_string(k) + ")";
    return out;
  }

  Result<plan::Plan> kept_or_file(const std::string& where, const Workspace* w) const {
    std::error_code ec;
    if (!std::filesystem::exists(where, ec) && !kept_plan(where, w))
      if (std::optional<Diagnostic> none = no_such(where, request_.scripts.size())) return *none;
    return open_plan(where, w);
  }

  // The name of the model that a plan of the workspace was kept for; empty: this one, or it is of no model.
  std::string another_model(const std::string& where, const Workspace* w) const {
    std::error_code ec;
    const std::optional<PlanRow> kept = std::filesystem::exists(where, ec) ? std::nullopt : kept_plan(where, w);
    if (!kept || !kept->model) return "";
    const Result<ModelRow> of = w->model(*kept->model);
    const Result<std::string> here = file_digest(request_.model->model->path);
    return of.ok() && here.ok() && of->digest != *here ? of->name : "";
  }

  // A plan of another model may fit this one too. Where it does not, the reason is the other model.
  static std::vector<Diagnostic> not_for_this(const Asked& a, const std::vector<Diagnostic>& why) {
    const auto wrong = std::find_if(why.begin(), why.end(), [](const Diagnostic& d) { return d.severity == Severity::error; });
    const std::string line = wrong == why.end() || wrong->line == 0 ? "" : "line " + std::to_string(wrong->line) + ": ";
    const bool number = number_of(a.where).has_value();
    return {error((number ? "version " + a.where : "the plan '" + a.where + "'") + " is of the model '" + a.another + "'",
                  wrong == why.end() ? "" : line + wrong->what, "compare plans of the same model")};
  }

  // On any thread: one more is there.
  void count_one(const std::string& where, std::size_t all) {
    const std::lock_guard lock(counting_);
    report_.progress(static_cast<double>(++done_), static_cast<double>(all), "", name_of(where));
  }

  Result<ComparedEntry> ran(const Workspace* w, const std::string& which) const {
    const std::string number = which.substr(4);
    if (!w || number.empty() || number.size() > 15 || number.find_first_not_of("0123456789") != std::string::npos)
      return *no_such(which, 0);
    const Result<RunRow> row = w->run(std::stoll(number));
    if (!row.ok()) {
      std::vector<Diagnostic> why = row.diagnostics;
      why.back().hint = kRuns;
      return why;
    }
    const RunEntry r = run_entry_of(*row);
    Result<ComparedEntry> out;
    ComparedEntry e{.kind = ComparedEntry::Kind::run, .name = which};
    e.step_us = r.step_us;
    for (const std::int64_t peak : r.peak_bytes) e.peak_bytes = std::max(e.peak_bytes.value_or(0), peak);
    e.verdict = r.equal ? (*r.equal ? "equal" : "not equal") : r.status;
    Result<MeasuredRun> measured = measured_run(*request_.model, *w, row->id, request_.cluster);
    for (Diagnostic d : measured.diagnostics) {  // it stands there with what is known of it
      d.severity = Severity::warning;
      out.diagnostics.push_back(std::move(d));
    }
    if (measured.value) {
      e.run = std::make_shared<const MeasuredRun>(std::move(*measured));
      e.text = e.run->text;
    }
    out.value = std::move(e);
    return out;
  }

  Result<ComparedEntry> traced(const std::string& file) const {
    const Result<std::string> text = read_file(file);
    if (!text.ok()) return text.diagnostics;
    Result<ChromeTrace> trace = read_chrome_trace(*text, file);
    if (!trace.value) return trace.diagnostics;
    Result<ComparedEntry> out;
    out.diagnostics = std::move(trace.diagnostics);
    ComparedEntry e{.kind = ComparedEntry::Kind::trace, .name = std::filesystem::path(file).stem().string()};
    e.step_us = trace->timeline.duration.value;
    for (const viz::Lane& l : trace->timeline.lanes)
      for (const viz::MemoryStep& m : l.memory)
        e.peak_bytes = std::max(e.peak_bytes.value_or(0), static_cast<std::int64_t>(m.bytes.value));
    e.trace = std::make_shared<const ChromeTrace>(std::move(*trace));
    out.value = std::move(e);
    return out;
  }

  struct Judged {
    ComparedEntry entry;
    plan::Plan plan;
  };

  // On any thread.
  Result<Judged> judge(const Asked& a) const {
    const std::string name = name_of(a.where);
    const plan::Plan& p = *a.plan;
    MaterializeCache cache;
    Result<Settled> s =
        settle(request_.model->graph, p, *a.cluster, cache, {.time_limit_s = 60, .costs = a.costs}, report_.stop());
    if (!s.value || s.has_errors()) return s.diagnostics;
    if (!s->judged) return error("the plan '" + name + "' cannot be completed", s->reason);
    Evaluation& judged = *s->judged;
    judged.options.gaps = true;  // to be drawn
    Result<Simulation> with_gaps = simulate(*judged.made.graph, judged.made.program, *a.cluster, judged.options);
    if (with_gaps.value) judged.simulation = std::move(*with_gaps.value);
    const bool open = plan::print(s->plan) != plan::print(p);
    ComparedEntry e{.name = name + (open ? " (completed)" : ""), .text = plan::print(p)};
    e.evaluation = std::make_shared<const Evaluation>(std::move(judged));
    e.cluster = a.cluster;
    e.figures_by_operator = make_once([of = e.evaluation, on = e.cluster] { return plan_figures(*of, *on); });
    e.step_us = e.evaluation->simulation.step_us();
    e.peak_bytes = peak_bytes(e.evaluation->simulation);
    e.sent_bytes = bytes_sent(e.evaluation->simulation);
    e.verdict = std::string(to_string(verify(*e.evaluation).report.verdict));
    return Judged{std::move(e), std::move(s->plan)};
  }

  // With how it differs from the first plan.
  Result<ComparedEntry> planned(Result<Judged> judged) {
    if (!judged.value) return judged.diagnostics;
    ComparedEntry& e = judged->entry;
    if (first_)
      e.difference = difference(request_.model->graph, {first_->plan, *first_->entry.evaluation, *first_->entry.cluster},
                                {judged->plan, *e.evaluation, *e.cluster});
    else
      first_ = *judged.value;
    return std::move(e);
  }

  void tell() const { answer_(std::make_shared<const Comparison>(now_)); }

  const CompareRequest& request_;
  const Answer& answer_;
  const Jobs::Report& report_;
  std::mutex counting_;  // of the next
  std::size_t done_ = 0;
  std::optional<Judged> first_;  // of the plans
  Comparison now_;
};

viz::TimelineModel timeline_of(const ComparedEntry& e) {
  if (e.trace) return e.trace->timeline;
  if (e.run) return timeline(*e.run->predicted.made.graph, e.run->predicted.made.program, e.run->measured);
  return timeline(*e.evaluation->made.graph, e.evaluation->made.program, e.evaluation->simulation, {.cluster = e.cluster.get()});
}

}  // namespace

int compare_in_background(Jobs& jobs, CompareRequest request,
                          std::function<void(std::shared_ptr<const Comparison>)> answer) {
  return jobs.start("compare", [request = std::move(request), answer = std::move(answer)](const Jobs::Report& report) {
    return Comparing(request, answer, report).run();
  });
}

viz::TimelineModel compared_timelines(const Comparison& c, const std::string& align, const std::string& overlay) {
  std::vector<const ComparedEntry*> drawn;
  std::vector<viz::TimelineModel> models;
  for (const ComparedEntry& e : c.entries)
    if (e.evaluation || e.run || e.trace) drawn.push_back(&e), models.push_back(timeline_of(e));
  std::vector<viz::NamedTimeline> all;
  for (std::size_t k = 0; k < drawn.size(); ++k) {
    int over = overlay == "all" && k > 0 ? 0 : -1;
    for (std::size_t o = 0; overlay == "runs" && drawn[k]->run && o < drawn.size(); ++o)
      if (drawn[o]->evaluation && drawn[o]->text == drawn[k]->text) over = static_cast<int>(o);
    all.push_back({drawn[k]->name, &models[k], over});
  }
  return viz::beside(all, align == "share"  ? viz::Alignment::share
                          : align == "task" ? viz::Alignment::task
                                            : viz::Alignment::time);
}

std::string comparison_title(const Comparison& c, const std::string& model) {
  std::vector<std::string> names;
  for (const ComparedEntry& e : c.entries) names.push_back(e.name);
  return model + ": " + join(names, ", ") + " on " + c.cluster;
}

std::string lane_of(const ComparedEntry& e, const std::string& lane) { return viz::lane_beside(e.name, lane); }

std::string words_of(const Document& d, const PlanChange& c) {
  if (c.parameters || c.operators.empty()) return "";
  const std::string all = words_of(d, c.rows, 160);
  return all.empty() ? c.operators.front() : all;
}

}  // namespace planscope::session
