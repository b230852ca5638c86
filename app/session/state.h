#pragma once
// What a session holds, as immutable values: the state that panels are made of. Large parts are shared and never change, so that a
// copy is cheap and may be read on any thread.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/session/draft.h"
#include "app/session/graph/figures.h"
#include "app/session/graph/once.h"
#include "app/session/graph/placed.h"
#include "app/session/inspection.h"
#include "app/session/lanes.h"
#include "app/session/preferences.h"
#include "app/session/recent.h"
#include "app/session/relaxed.h"
#include "app/session/samples.h"
#include "app/session/seen.h"
#include "app/session/selected.h"
#include "app/session/study.h"
#include "app/workbench/effects.h"
#include "app/workbench/chrome_trace.h"
#include "app/workbench/error_band.h"
#include "app/workbench/measured_run.h"
#include "app/workbench/module_tree.h"
#include "app/workbench/plan_diff.h"
#include "app/workbench/profiling.h"
#include "app/workbench/workbench.h"
#include "planner/complete/complete.h"
#include "planner/evaluate/evaluate.h"

namespace planscope::session {

// What one text of a plan comes to on one cluster. `open`: arguments are left open, a planner has to fill them. `refused`: it has errors.
enum class PictureState { refused, open, predicted, verified };

struct Picture {
  std::string text, cluster_name;  // that it is of
  std::string measurements;        // that it starts from, by the name that the workspace gives them
  PictureState state = PictureState::refused;
  plan::Plan plan;
  std::shared_ptr<const Cluster> cluster;
  std::shared_ptr<const Evaluation> evaluation;  // from predicted on
  std::shared_ptr<const Verified> verified;      // of verified ones
  std::shared_ptr<const Decided> open;           // of open plans
  std::shared_ptr<const MaterializeCache::Sized> sized;  // the model at the plan's sizes; null: it has errors
  std::shared_ptr<const PlanEffects> effects;            // as far as the statements are right; null: none could be read
  std::shared_ptr<const Study> study;                    // where there is an evaluation
  StepFigure figure;
  std::shared_ptr<const Once<PlanFigures>> figures_by_operator;  // where there is an evaluation
  std::vector<Diagnostic> diagnostics;
  std::vector<Relaxed> relaxed;  // of a refused one: what taking out lines that contradict each other brings, as far as it was tried
  bool relaxing = false;         // more of them are being tried
};

// The figures of a picture, or of a version that an earlier session has stored.
struct Figures {
  std::optional<double> step_us;
  std::optional<std::int64_t> peak_bytes, memory_bytes, sent_bytes;
  std::string origin, verdict;  // empty: not known
};
Figures figures_of(const Picture&);

// A kept version of a plan.
struct Version {
  RowId id = 0;
  std::optional<RowId> parent;
  std::string change = {};   // from its parent
  std::string text = {};
  std::string cluster = {};  // that the figures are for
  std::string measurements = {};  // that they start from
  Figures figures = {};      // as they were predicted there last
  std::int64_t kept_us = 0;  // wall time
  std::string name = {}, note = {};  // that a person has given it
};

// A task with its slack, as far as that is known.
struct TaskSlack {
  StudiedTask task;
  std::string stream;
  std::optional<bool> critical = false;  // on the critical path; of overlapping steps known once its slack is
  Nanoseconds length() const { return task.end - task.start; }
};
struct SlackAnswer {
  std::shared_ptr<const Study> of;
  int job = 0;
  bool running = true;
  std::vector<TaskSlack> tasks;  // least slack first, those that are not known yet last
};

// What was looked for in the timeline last, and which of the blocks that have it was gone to, from 1.
struct Sought {
  std::string text;
  int at = 0, of = 0;
  std::shared_ptr<const Study> in;
  std::vector<std::string> ids = {};  // of its marks in the timeline (viz/timeline/scene.h); none: it was ended
};

// What a search for a plan has come to, while it runs and after it.
struct PlannerProgress {
  double seconds = 0, step_us = 0, lower_bound_us = 0;  // 0: no bound is known yet
  std::int64_t peak_bytes = 0, lower_bound_bytes = 0;   // where the least memory is asked for; 0: not known
};
struct PlannerAnswer {
  int job = 0;
  std::string asked, cluster;  // the text that is completed
  std::string measurements = {};  // that its figures start from
  bool running = true;
  std::string status = "running";  // then stopped, as long as it ends; complete, impossible, unknown, refused
  std::string reason = {};
  double seconds = 0;                      // that it has searched
  double limit_seconds = 0;               // that it may
  std::optional<std::int64_t> batch = {};  // that was asked for
  std::vector<PlannerProgress> progress = {};
  std::string found = {};  // text of the plan; empty: none
  std::optional<double> step_us = {}, lower_bound_us = {};
  std::optional<double> within_us = {};  // the least memory within this time is asked for
  std::optional<std::int64_t> peak_bytes = {}, lower_bound_bytes = {};  // then
  std::vector<stages::Candidate> candidates = {};                       // of a search from nothing
  std::vector<constraint::ConflictLines> conflicts = {};
  bool all_conflicts = false;
  std::vector<Diagnostic> diagnostics = {};
};

// A run of a version on processes, of this session or an earlier one.
struct RunEntry {
  RowId run = 0, version = 0;
  std::string status;  // running, done, failed, interrupted
  int procs = 0, steps = 0;  // steps: that it has measured
  std::optional<double> step_us = {}, predicted_step_us = {}, max_relative_error = {};  // of the steps, the median
  std::optional<bool> equal = {};
  std::string worst = {}, reason = {};  // the tensor with the largest error; why it failed
  std::vector<std::int64_t> peak_bytes = {}, predicted_peak_bytes = {};  // by rank
  std::vector<double> losses = {};                               // by step
  bool oversubscribed = false;                                 // processes shared cores: times cannot be compared
  std::int64_t started_us = 0;                                 // wall time
  std::string name = {}, note = {};                            // that a person has given it
  std::string optimizer = {}, inputs = {}, cluster = {};       // as it was run, and what it was predicted for
  std::optional<std::uint64_t> seed = {};
};

// Where a rank of a trial is.
struct RankPlace {
  std::string step;  // `3 of 7`, over all that it makes; empty: it makes none yet
  std::string at;    // what it does, or waits for
};

// What a trial that runs is doing, and what has come of it.
struct TrialAnswer {
  int job = 0;
  bool running = true;
  std::string phase;                // reference, trial
  std::map<int, RankPlace> ranks;   // where each is
  std::string outcome;              // when it has ended
  bool ended_well = false;          // equal to one device
  std::optional<RowId> run;         // that it is recorded as; nothing: it has not come so far
  std::shared_ptr<const MeasuredRun> measured;  // when it has ended well
  std::vector<Diagnostic> diagnostics;
};

// Measuring the operators of a plan, while it runs and after it.
struct ProfileAnswer {
  int job = 0;
  bool running = true;
  int done = 0, of = 0;
  std::optional<Profiling> result;  // when it has ended
  std::optional<LinkFit> link;      // where the link was asked for
  std::vector<Diagnostic> diagnostics;
};

// What the plan was predicted to take on another cluster.
struct OtherCluster {
  std::string name, text;  // text: of the plan
  Figures figures;
};

// Plans, runs and traces side by side; the first is what the others are compared with.
struct ComparedEntry {
  enum class Kind { plan, run, trace } kind = Kind::plan;
  std::string name;
  std::string text = {};                         // of a plan, or of the plan that was run
  std::optional<double> step_us = {};
  std::optional<std::int64_t> peak_bytes = {}, sent_bytes = {};
  std::string verdict = {};
  std::shared_ptr<const Evaluation> evaluation = {};  // of plans
  std::shared_ptr<const Cluster> cluster = {};
  std::shared_ptr<const MeasuredRun> run = {};        // of runs that have ended well
  std::shared_ptr<const ChromeTrace> trace = {};
  std::optional<PlanDifference> difference = {};  // of plans, from the first one
  std::shared_ptr<const Once<PlanFigures>> figures_by_operator = {};  // of plans
};
struct Comparison {
  int job = 0;
  bool running = true;
  bool complete = false;  // it has ended well: all that was asked for stands there
  std::string asked;  // text of the draft, where it is the first
  std::string base;   // that was asked for in the draft's place; empty: the draft
  std::string cluster, measurements;  // that its figures are for, and start from
  std::vector<ComparedEntry> entries;
  std::vector<Diagnostic> diagnostics;
  std::vector<std::string> arguments = {};  // the others that were asked for
  bool of_draft() const { return base.empty(); }
};

// How the graph of a model is looked at. Made by look_at() alone.
struct GraphLook {
  using Placed = std::shared_ptr<const Once<PlacedGraph>>;
  std::shared_ptr<const Once<FoldedModel>> model;
  std::shared_ptr<const std::set<std::string>> expanded;                 // ids of groups
  Placed placed;                                                         // of these
  std::shared_ptr<const std::map<std::set<std::string>, Placed>> known;  // of what was expanded before, too
};

struct Document {
  int id = 0;
  std::shared_ptr<const OpenModel> model;
  std::string digest;  // of the model's file, as it was opened; empty: it cannot be read
  std::shared_ptr<const std::vector<ModuleNode>> modules;  // of the model
  GraphLook graph;
  std::map<std::string, std::string> views;  // of canvases, by id: what Scene::view() says of those that were set
  std::string name;         // of the plan
  std::string path;         // of its file; empty: none yet
  std::string saved;        // the text in the file, as it is edited (plan_text); empty where there is none
  std::string line_end = "\n";  // of the lines in the file
  std::string cluster = "local";
  std::string measurements;  // that figures start from now
  std::shared_ptr<const Cluster> chosen;  // the cluster of that name, for a plan of one device; pictures have it for their plan
  Draft draft;
  SeenTexts seen;           // texts of the draft; the newest is that
  std::optional<RowId> version;                   // that is kept in the workspace
  // That undo has come from, the next one last: versions with the edits that had been taken back there.
  std::vector<std::pair<RowId, Draft>> later;
  std::shared_ptr<const std::vector<Version>> versions;
  std::shared_ptr<const Picture> latest;          // of the newest text that an answer is there for
  std::shared_ptr<const Picture> valid;           // the last one without errors: open, or with a prediction
  std::shared_ptr<const Picture> shown;           // the last one with a prediction
  std::string shown_of;                           // the name of another plan that `shown` is of, until this one has been evaluated
  std::shared_ptr<const Picture> base;            // of the kept text
  std::shared_ptr<const PlannerAnswer> planner;   // of the last search
  std::shared_ptr<const std::vector<RunEntry>> runs = std::make_shared<const std::vector<RunEntry>>();  // of its versions
  std::shared_ptr<const TrialAnswer> trial;       // the last one
  std::shared_ptr<const Comparison> comparison;   // the last one that is complete: it stays until another one is
  std::shared_ptr<const Comparison> comparing;    // that was asked for last: it is under way, complete, or refused
  int difference = -1;                            // of its changes, the one that is looked at; -1: none
  std::shared_ptr<const MeasuredRun> measured;    // the run that was looked at last
  std::shared_ptr<const ProfileAnswer> profile;   // the last one
  std::optional<OtherCluster> unchanged;          // the cluster before its figures were changed
  std::shared_ptr<const TriedStatement> tried;    // that was asked about last
  std::shared_ptr<const SlackAnswer> slacks;      // that were asked for last
  bool busy = false;  // the text is being evaluated: a newer one than what is shown, or the rest of it, as the verdict is

  bool modified() const { return draft.text() != saved; }
  // Whether what is shown is of the text as it stands, on the cluster that is chosen.
  bool current() const { return current(shown); }
  bool current(const std::shared_ptr<const Picture>& p) const { return is_now(p) && p->text == draft.text(); }
  // Whether it is of this cluster, and starts from what has been measured until now.
  bool is_now(const std::shared_ptr<const Picture>& p) const {
    return p && p->cluster_name == cluster && p->measurements == measurements;
  }
  bool evaluating() const { return busy && !current(latest); }  // the text as it stands has no answer at all yet
};

// What of tensors is shown, whichever is selected.
struct TensorLook {
  bool gradient = false;
  std::map<std::string, std::int64_t> index;  // of free axes, by name; others 0
  bool operator==(const TensorLook&) const = default;
};

// What of the communication is shown.
struct TrafficLook {
  std::optional<std::pair<double, double>> time_us;
  std::set<std::string> kinds;
  std::string level;
  bool selection = false;  // of what is selected alone
  bool operator==(const TrafficLook&) const = default;
};

enum class JobState { queued, running, done, failed, cancelled };
std::string_view to_string(JobState);

struct Job {
  int id = 0;
  std::string what;
  JobState state = JobState::queued;
  std::optional<double> done = {}, of = {};
  std::string best = {}, text = {};
  std::optional<double> remaining_s = {};  // as far as it is known, of one that runs
  bool at_most = false;                    // it ends by then; else that is an estimate
};

// What a program that ended had not kept.
struct LostDraft {
  RowId id = 0;
  std::string model, name, path, cluster, text;
  std::optional<RowId> version;  // that it was edited from
  std::int64_t written_us = 0;   // wall time
  std::optional<std::string> saved = {};  // what its file held when it was opened or saved last; nothing: that is not known
};

// One row of the workspace, of any table.
struct WorkspaceEntry {
  std::string kind;  // model, plan, run, cluster, profile
  RowId id = 0;
  std::string name, about = {};
  std::string note = {};
  std::string command = {};  // that opens it
};

inline constexpr const char* kColours[] = {"place", "split", "time", "memory", "communication", "rule", "difference"};

// What the surface whose person asked for it brings to the front: a panel, or a canvas.
struct Front {
  std::string panel = {}, canvas = {};
  int asked = 0;  // how many times something has been asked for
};

struct State {
  std::vector<Document> documents;
  int current = -1;  // index
  Selection selection;
  int selections = 0;             // how many times somebody has selected something
  std::optional<TimeSelection> time;  // the part of the step that is selected, beside it
  LaneLook lanes;
  std::string align = "time";  // of timelines that are compared: time, share, task
  std::string overlay = "runs";  // which of them lie over others: runs (over the prediction of their plan), all (over the first), none
  std::string workspace_search;  // what entries of the workspace have in their name, about or note; empty: all are listed
  std::string search;            // in the names and kinds of the graph's nodes; empty: nothing is searched for
  Sought sought;
  std::string colour = "place";  // by what the nodes of graphs are coloured: one of kColours
  std::shared_ptr<const Selected> selected;      // what it means in the current document; null: nothing is selected
  std::shared_ptr<const Inspection> inspection;  // of the selection, while it is being worked on too
  TensorLook look;
  TrafficLook brush;
  Preferences preferences;
  Front front;
  std::string samples;  // folder of the sample models; empty: they are not here
  std::shared_ptr<const std::vector<Sample>> sample_files = std::make_shared<const std::vector<Sample>>();
  std::vector<Recent> recent;  // what was open lately, the newest first
  std::string next_cluster;    // chosen while nothing is open: that of the next document that names none
  std::vector<Job> jobs;
  std::vector<LostDraft> lost;
  std::vector<Diagnostic> messages;  // of opening, saving and the workspace, the newest last
  std::string workspace;             // file
  std::shared_ptr<const std::vector<WorkspaceEntry>> entries = std::make_shared<const std::vector<WorkspaceEntry>>();
  std::uint64_t revision = 0;        // grows with every change

  const Document* document() const {
    return current < 0 ? nullptr : &documents[static_cast<std::size_t>(current)];
  }
};

// The graph of a model as it is first looked at; and with other groups expanded.
GraphLook look_at(std::shared_ptr<const OpenModel>);
GraphLook look_at(std::shared_ptr<const OpenModel>, const GraphLook& before, std::set<std::string> expanded);

// Operators in words of the plan language, as `select operators=` takes them; empty: there are none, or it takes more
// letters than that.
std::string words_of(const Document&, const std::vector<OpId>&, std::size_t most);
// Why a comparison is not of the draft, the cluster and the measurements as they stand; empty: it is.
std::string why_old(const Document&, const Comparison&);
// Why there is no comparison that is complete; empty: there is one.
std::string why_no_comparison(const State&);

// Why a command cannot be run now; empty: it can.
std::string why_not(const State&, const std::string& command);
// Whether a command that is chosen by its name alone asks for arguments before it runs; they may stay empty where none is
// required.
bool asks(const State&, const CommandInfo&);

}  // namespace planscope::session
