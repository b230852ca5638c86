#pragma once
// What the commands of a session work on; of app/session alone. The session locks it, finds the command's handler, and afterwards keeps
// the draft and asks for what has not been evaluated.
//
// A new command is a row of commands.cpp, a handler in handlers/, and its reason in why_not() where it cannot always be run.
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "app/session/background.h"
#include "app/session/commands.h"
#include "app/session/evaluator.h"
#include "app/session/inspector.h"
#include "app/session/jobs.h"
#include "app/session/lines.h"
#include "app/session/session.h"
#include "app/session/store.h"
#include "app/session/stored_drafts.h"
#include "app/session/typing.h"

namespace planscope::session {

struct Core {
  explicit Core(SessionSettings);
  ~Core();

  Document* document() {
    return state.current < 0 ? nullptr : &state.documents[static_cast<std::size_t>(state.current)];
  }
  const Workspace* readable() const { return workspace ? &*workspace : nullptr; }
  Workspace* writable() { return workspace ? &*workspace : nullptr; }

  void say(const std::vector<Diagnostic>&);              // as messages of the session
  Result<Done> failed(std::vector<Diagnostic>);          // the same, also kept as messages, so that a surface can show them in place
  void number_texts();                                   // of drafts that have changed
  void has_changed();                                    // once the state has; with the lock
  void changed();                                        // tells the surface; without the lock
  void look_around();                                    // what is in the workspace, whoever has put it there
  bool look_again();  // reads the workspace again where another program has written to it; whether that was so
  void restore_workspace();                              // writes the workspace anew where its file has gone
  void read_all();                                       // the same, and the versions and runs of all documents
  void look_at_measurements();                           // asks again for figures that do not start from the newest ones
  void read_versions(Document&);                         // and the runs of them
  // What is not kept goes into the workspace. Warnings, which are messages too: it is not there, or not yet.
  std::vector<Diagnostic> keep_draft();
  void ask();                                            // for whatever of the current document there is no answer for yet
  void reselect();                                       // what the selection means in the current document
  void inspect();                                        // the selection, once the text as it stands has figures
  Result<Done> prefer(const std::map<std::string, std::string>& chosen);  // checked values, by name
  void remember_document();                              // that is in front, as what was open last
  void follow_tour();                                    // ticks off what the state shows to be done
  void study_task();                                     // the block of the timeline that is selected
  bool store(RowId version, const Picture&);             // its prediction, once for each cluster; false: it was there
  void update(int document, const std::function<void(Document&)>& change);  // from a job's thread; takes the lock

  SessionSettings settings;
  SystemClock clock;  // before the workspace, which keeps a reference
  std::optional<Workspace> workspace;
  mutable std::mutex mutex;
  State state;
  std::function<void()> on_change;
  int documents = 0;                                         // opened so far
  std::uint64_t texts = 0;                                   // numbered so far
  std::map<int, Typing> typing;                              // by document
  std::map<int, RowId> models;                               // by document, as `asked`
  StoredDrafts drafts;                                       // as they are in the workspace
  std::map<int, std::pair<std::string, std::string>> asked;  // text and cluster that are being evaluated
  std::int64_t seen_of_others = 0;                           // Workspace::changes_by_others(), when it was read last
  std::map<int, RowId> asked_version;                        // by document: the version that is being evaluated beside its text
  std::set<std::tuple<RowId, std::string, std::string>> stored;  // versions, clusters and measurements whose figures are there
  std::shared_ptr<const Picture> inspected;  // that the inspector was asked about last, with the next selection
  Selection asked_selection;
  MaterializeCache cache;                                    // of what commands bind
  std::unique_ptr<Jobs> jobs;                                // last, with the next: they call back until they have ended
  std::unique_ptr<Evaluator> evaluator;
  std::unique_ptr<Inspector> inspector;
  std::pair<std::shared_ptr<const Study>, std::optional<TimeSelection>> studied;  // that the next one was asked about last
  std::unique_ptr<Background> background;

 private:
  void open_workspace();
  void write_again(Document&);
  std::optional<RowId> row_of_model(const Document&);
  void follow_version(Document&, const std::vector<PlanRow>&);
  std::vector<Diagnostic> keep_draft(Document&);
  void ask_base(Document&);
  void ask_versions(Document&);
  void answered(int key, std::shared_ptr<const Picture>, bool last);
};

using Handler = Result<Done> (*)(Core&, const Invocation&);  // the arguments are those of commands.cpp; a document is open if it needs one
using Handlers = std::map<std::string, Handler, std::less<>>;

void add_declaration_handlers(Handlers&);
void add_document_handlers(Handlers&);
void add_draft_handlers(Handlers&);
void add_cluster_handlers(Handlers&);
void add_comparison_handlers(Handlers&);
void add_export_handlers(Handlers&);
void add_graph_handlers(Handlers&);
void add_hand_handlers(Handlers&);
void add_planner_handlers(Handlers&);
void add_profile_handlers(Handlers&);
void add_preference_handlers(Handlers&);
void add_row_handlers(Handlers&);
void add_gesture_handlers(Handlers&);
void add_selection_handlers(Handlers&);
void add_tour_handlers(Handlers&);
void add_trial_handlers(Handlers&);
void add_tensor_handlers(Handlers&);
void add_timeline_handlers(Handlers&);
void add_traffic_handlers(Handlers&);
void add_view_handlers(Handlers&);
void add_workspace_handlers(Handlers&);

// The bytes of the file that `export` writes; a document is open. The workspace is looked at for a cluster alone.
Result<std::string> exported(const State&, const Workspace*, const Invocation&);
bool exports_cluster(const Invocation&);

// What a link (link.h) names, as the newest document. Errors: the link is broken, its model is not here, or its plan.
Result<Done> open_link(Core&, const std::string& link);

// The command `open` for what was open before, as a draft or a link keeps it: where its cluster is not there any more, the
// document has the one of a new document, and a warning says so. Errors: those of `open`.
Result<Done> open_again(Core&, Invocation open);

// Another command as a part of one. Errors: it cannot be run now, and its own.
Result<Done> run_command(Core&, const Invocation&);

// The keys under which a document's text, and its kept text, are evaluated.
inline int key_of_text(int document) { return 2 * document; }
inline int key_of_base(int document) { return 2 * document + 1; }
// That of a version whose figures nobody has waited for; behind all others, which go first.
constexpr int first_key_of_versions = 1 << 24;
inline int key_of_version(int document) { return first_key_of_versions + document; }

bool is_of(const std::shared_ptr<const Picture>&, const Document&, const std::string& text);
bool complete(const std::shared_ptr<const Picture>&);  // no later answer of the same text is to come
const Version* find_version(const Document&, std::optional<RowId>);
std::string file_of(const Document&);  // of the plan, from the root on; empty: none

// The draft as a version of the workspace; nothing where it is one already. Errors: there is no workspace, it cannot be written.
Result<Done> keep_version(Core&, Document&);

// A statement that a gesture makes (by_hand.h), or why it cannot stand there.
Result<Done> put_by_hand(Core&, const std::string& statement);
// The line of that number, from 1, as an index. Errors: there is none.
Result<std::size_t> line_at(const std::vector<std::string>& lines, const std::string& number);
Result<Done> move_line(Document&, const std::string& from, const std::string& to);  // `to`: the number that it has then

// Edits of a draft, each one step of undo.
Result<Done> write_draft(Document&, std::string text);
Result<Done> append_line(Document&, const std::string& statement);
// The draft with another line of that number (from 1); nothing: without it. Errors: there is no such line.
Result<Done> change_line(Document&, const std::string& number,
                         const std::function<std::optional<std::string>(const std::string&)>& change);

}  // namespace planscope::session
