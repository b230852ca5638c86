#include "app/session/commands.h"

#include <algorithm>

#include "engine/base/text.h"

namespace planscope::session {

namespace {

using Kind = ArgumentInfo::Kind;

const ArgumentInfo kSeen{"seen", Kind::seen, false, false, "the number of the text in which lines are counted", false};

const std::vector<CommandInfo>& list() {
  static const std::vector<CommandInfo> all = {
      {"open", "Open…", "File", "Ctrl+O",
       {{"model", Kind::path, false, false, "a .pt2 file, or a model of the workspace"},
        {"plan", Kind::path, false, false, "a plan script, or a plan of the workspace"},
        {"cluster", Kind::source, false, false, "a preset, a file, or one of the workspace"},
        {"link", Kind::text, false, false, "instead of these: as the panel `link` gives it"}},
       "Opens a document: a model, with a plan or without, or what a link names. The other documents stay open."},
      {"document", "Go to document", "View", "", {{"number", Kind::number, true, true, "as the panel `documents` counts them"}},
       "Makes another open document the current one."},
      {"close", "Close document", "File", "Ctrl+W", {{"discard", Kind::word, false, false, "yes: what is not saved is given up", false}},
       "Closes the current document. One with edits that are neither kept nor saved is closed only with discard=yes."},
      {"save", "Save plan", "File", "Ctrl+S",
       {{"path", Kind::path, false, true, "where; by default where it was opened", false},
        {"overwrite", Kind::word, false, false, "yes: also a file that another program has changed", false}},
       "Writes the plan's text to its file."},
      {"cluster", "Choose cluster", "Plan", "", {{"name", Kind::source, true, true, "a preset, a file, or one of the workspace"}},
       "Plans for another cluster; while nothing is open, the next model is planned for it."},
      {"set_cluster", "Change cluster", "Plan", "",
       {{"field", Kind::word, true, true, "as the panel `cluster` names them: levels.0.latency_us"},
        {"value", Kind::text, true, true, "a number, with a unit or without: 40 GiB"}},
       "What if the cluster had another figure: the plan is predicted for that at once."},
      {"keep_cluster", "Keep cluster as…", "Plan", "", {{"name", Kind::word, true, true, "of the cluster, in the workspace"}},
       "Keeps the cluster as it is shown in the workspace, under a name of its own."},
      {"text", "Write plan", "", "", {{"text", Kind::text, true, true, "the whole text"}}, "Replaces the draft's whole text."},
      {"type", "Type", "", "",
       {{"text", Kind::text, true, true, "the whole text"},
        {"step", Kind::word, false, false, "new: another step of undo"},
        {"from", Kind::text, false, false, "the text that was typed into: what others have written since stays"},
        {"id", Kind::word, false, false, "a name of this text, for `after`"},
        {"after", Kind::word, false, false, "a text typed before it that may still be under way: it is not typed any more"}},
       "As `text`, but one step of undo with the typing before it."},
      {"append", "Append statement", "Plan", "", {{"statement", Kind::text, true, true, "a line of the plan language"}},
       "Adds a line at the draft's end."},
      {"replace", "Replace line", "Plan", "",
       {{"line", Kind::line, true, true, "from 1"},
        {"statement", Kind::text, true, true, "empty: the line goes"},
        kSeen},
       "Replaces one line of the draft."},
      {"keep", "Keep", "Plan", "Ctrl+Return", {}, "Keeps the draft as a version of the plan."},
      {"drop", "Drop edits", "Plan", "Escape", {}, "Goes back to the version that was kept last."},
      {"undo", "Undo", "Edit", "Ctrl+Z", {}, "Takes back the last edit; without one, goes to the version before."},
      {"redo", "Redo", "Edit", "Ctrl+Shift+Z; Ctrl+Y", {}, "Does again what was taken back."},
      {"version", "Go to version", "Plan", "", {{"number", Kind::number, true, true, "as the panel `history` counts them"}},
       "Makes a kept version the current one."},
      {"select", "Select", "", "",
       {{"none", Kind::word, false, true, "none: nothing"},
        {"operators", Kind::text, false, false, "a selector of the plan language"},
        {"tensor", Kind::text, false, false, "a name"},
        {"statement", Kind::line, false, false, "a line of the plan"},
        {"place", Kind::text, false, false, "as pipe=0"},
        {"communicator", Kind::list, false, false, "devices and how they communicate, as \"all_reduce over tensor\""},
        {"link", Kind::text, false, false, "of the cluster: what is sent over it"},
        {"time", Kind::text, false, false, "a part of the step, as 1200..1350.5 in microseconds, a moment, as 1200, or none"},
        {"lane", Kind::list, false, false, "of that part, a lane of the timeline; alone: what runs there. May be said several times"},
        {"stream", Kind::word, false, false, "of a single block, as compute"},
        kSeen},
       "Selects the same thing in every view: operators and their like, a part of the step, or both."},
      {"lanes", "Sort lanes", "View", "", {{"by", Kind::word, true, true, "plan, name, work, idle or peak"}},
       "Sorts the lanes of the timeline; by work, idle and peak, the most first."},
      {"lane", "Show lane as", "View", "",
       {{"name", Kind::text, true, true, "as pipe=0; all: every one"},
        {"fold", Kind::word, false, false, "on: only what is computed; or off"},
        {"pin", Kind::word, false, false, "on: it stays in sight, before the others; or off"},
        {"devices", Kind::word, false, false, "on: its devices follow as lanes; or off"}},
       "Folds a lane of the timeline, pins it, or shows the devices that it stands for."},
      {"detail", "Show single operators", "View", "",
       {{"time", Kind::text, true, false, "a part of the step, as 1200..1350.5 in microseconds, or none"}},
       "Shows single operators in this part of a step that is too long for all of them."},
      {"seek", "Find in timeline", "View", "Ctrl+Shift+F",
       {{"text", Kind::text, true, true, "of the name of a task, an operator, a tensor or a communicator"},
        {"which", Kind::word, false, false, "next or previous; next unless said", false}},
       "Goes to the next block of the timeline that has it in its name, or computes or sends what is called so, and "
       "selects it."},
      {"seek_next", "Find next in timeline", "View", "F4",
       {{"which", Kind::word, false, true, "next or previous; next unless said", false}},
       "Goes to the next block of the timeline that has what was looked for last."},
      {"slacks", "Find slack of tasks", "View", "", {},
       "Simulates how much later the tasks of the critical path, and the longest others, may begin without a longer "
       "step."},
      {"expand", "Expand", "View", "",
       {{"node", Kind::text, false, true, "an id, as the panel `graph` shows them; without it, everything down to the depth"},
        {"all", Kind::text, false, false, "a kind: all nodes of that kind, in the node or anywhere"},
        {"depth", Kind::number, false, false, "of levels below the node; 1 unless said"},
        {"only", Kind::text, false, false, "ids, a line each: these and no others are expanded"}},
       "Shows in the graph what a node is made of."},
      {"collapse", "Collapse", "View", "",
       {{"node", Kind::text, false, true, "an id; without it, as it was at first"},
        {"all", Kind::text, false, false, "a kind: all nodes of that kind, in the node or anywhere"}},
       "Folds a node of the graph, and what is in it."},
      {"find", "Find in graph", "View", "", {{"text", Kind::text, false, true, "of a name or a kind; without it, nothing is searched for"}},
       "Marks the nodes of the graph that have it in their names or kinds, or hold such operators."},
      {"colour", "Colour graph by", "View", "",
       {{"by", Kind::word, true, true, "place, split, time, memory, communication, rule, or difference: to the plan that is compared, else to the kept version"}},
       "Chooses by what the nodes of the graph are coloured."},
      {"neighbours", "Select neighbours", "View", "",
       {{"steps", Kind::number, false, true, "along the tensors that pass; 1 unless said", false}},
       "Selects, in addition, the nodes of the graph that read what is selected, or that it reads from."},
      {"path", "Select path", "View", "",
       {{"from", Kind::text, true, true, "a node, as the panel `graph` shows them"}, {"to", Kind::text, true, true, "another one"}},
       "Selects the nodes of the graph on a shortest path from one to another, along the tensors that pass."},
      {"view", "Set view", "View", "",
       {{"canvas", Kind::word, true, true, "graph, timeline, tensor, traffic or compare"},
        {"settings", Kind::list, false, true,
         "as zoom=0.8 x=100, or down=batch at.seq=3; without any, the canvas begins again"}},
       "Sets what of a canvas is looked at, as the panel `views` shows it."},
      {"brush", "Restrict traffic", "View", "",
       {{"time", Kind::text, false, false, "microseconds of the step, as 100..250"},
        {"kind", Kind::text, false, false, "as all_reduce, or several: all_reduce,send"},
        {"level", Kind::text, false, false, "of the links, as nvswitch"},
        {"selection", Kind::word, false, false, "yes: of what is selected alone"}},
       "Shows a part of the communication. What is not said stays; without arguments, all is shown again."},
      {"gradient", "Show gradients", "View", "", {{"on", Kind::word, false, true, "on or off; the other one unless said", false}},
       "Shows the gradients of tensors instead of their values."},
      {"index", "Go to index", "View", "",
       {{"axis", Kind::word, true, true, "a free axis, as mb"}, {"at", Kind::number, true, true, "from 0"}},
       "Shows tensors at this index of a free axis."},
      {"restore", "Restore draft", "File", "", {{"draft", Kind::number, true, true, "as the panel `drafts` counts them"}},
       "Opens what a program that ended had not kept."},
      {"forget", "Forget draft", "File", "", {{"draft", Kind::number, true, true, "as the panel `drafts` counts them"}},
       "Gives up what a program that ended had not kept."},
      {"plan", "Plan", "Plan", "Ctrl+P",
       {{"whole", Kind::word, false, true, "whole: from nothing, under the rows of the plan alone"},
        {"batch", Kind::number, false, false, "from nothing: of a step, in all"},
        {"limit", Kind::number, false, false, "seconds; 60 unless said"},
        {"within", Kind::word, false, false, "a step time, as 400ms: the plan with the least memory that keeps it"}},
       "Fills what is open, or finds a whole plan: the fastest, or the one with the least memory. The best so far is kept "
       "whenever it ends."},
      {"accept", "Accept planned lines", "Plan", "", {{"candidate", Kind::number, false, true, "from 1; by default the best", false},
        {"line", Kind::number, false, false, "of what was found, from 1: this one alone", false}},
       "Takes what the planner has found into the draft."},
      {"relax", "Relax line", "Plan", "", {{"line", Kind::line, true, true, "from 1"}, kSeen},
       "Makes a comment of a line that is in the way."},
      {"run", "Run trial", "Plan", "Ctrl+R",
       {{"procs", Kind::number, false, false, "processes; as many as the plan has devices"},
        {"steps", Kind::number, false, false, "steps of training; 1 unless said"},
        {"optimizer", Kind::word, false, false, "adamw or sgd; adamw unless said"},
        {"seed", Kind::number, false, false, "of the numbers that are drawn"},
        {"inputs", Kind::path, false, false, "drawn, archive, or a file; archive where the model has inputs"},
        {"join", Kind::path, false, false, "a file through which ranks of another launcher join"},
        {"address", Kind::word, false, false, "of this host, as they reach it; 127.0.0.1 unless said"}},
       "Runs the plan on processes, one a device, and compares every tensor with one device. A draft is kept first."},
      {"compare", "Compare with", "Plan", "",
       {{"plans", Kind::sources, true, true, "files, plans or versions of the workspace, run:N, candidate:N of the planner, Chrome traces (FILE.json)"},
        {"base", Kind::path, false, false, "another one of these in place of the draft"}},
       "Puts plans, runs and traces beside the draft, with what differs and what that costs."},
      {"align", "Align compared timelines", "View", "",
       {{"by", Kind::word, true, true, "time; share, of the step; or task: stage and micro-batch"}},
       "Draws timelines that are compared in real time, each as long as the longest, or the same tasks at the same place."},
      {"overlay", "Lay compared timelines over each other", "View", "",
       {{"what", Kind::word, true, true, "runs, over the prediction of their plan; all, over the first; or none"}},
       "Draws timelines that are compared as ghosts over others, or each in lanes of its own."},
      {"difference", "Next difference", "View", "F8", {{"which", Kind::word, false, true, "next or previous; next unless said", false}},
       "Goes to the next difference of the plans that are compared, and selects what it is about."},
      {"profile", "Measure operators", "Plan", "",
       {{"what", Kind::word, false, true, "links: the link between two processes; by default the operators of the plan"}},
       "Measures on this machine what operators take, so that predictions start from that. What is known is not measured again."},
      {"rename", "Rename", "Workspace", "",
       {{"kind", Kind::text, true, true, "model, plan, version, run or cluster"},
        {"number", Kind::number, true, true, "as the panels `workspace` and `history` count them"},
        {"name", Kind::rest, true, true, "the new name"}},
       "Gives another name to what is in the workspace: to a plan with all its versions, to one version, to a run."},
      {"note", "Note", "Workspace", "",
       {{"kind", Kind::text, true, true, "model, plan, version, run, cluster or profile"},
        {"number", Kind::number, true, true, "as the panels `workspace` and `history` count them"},
        {"text", Kind::rest, false, true, "without it, the note is taken away"}},
       "Writes a note beside what is in the workspace."},
      {"delete", "Delete", "Workspace", "",
       {{"kind", Kind::text, true, true, "model, plan, version, run, cluster or profile"},
        {"number", Kind::number, true, true, "as the panels `workspace` and `history` count them"},
        {"discard", Kind::word, false, false, "yes: it is deleted, for good"}},
       "Deletes what is in the workspace, with all that belongs to it. Without discard=yes it says what that would be."},
      {"search", "Search workspace", "Workspace", "", {{"text", Kind::rest, false, true, "without it, everything is listed"}},
       "Lists of the workspace what has a text in its name, its note, or what is said of it."},
      {"split", "Split", "Operators", "",
       {{"factor", Kind::word, true, true, "a factor that the operators have, as out"},
        {"by", Kind::rest, true, true, "axes of the plan, as tensor, data; behind them perhaps sizes 4,3,3 or at NUMBER"}},
       "op-trans: splits a factor of the selected operators over axes."},
      {"whole", "Keep whole", "Operators", "",
       {{"by", Kind::rest, false, true, "axes; by default all that split them now"}},
       "op-trans: the selected operators are whole on every device of an axis."},
      {"recompute", "Recompute", "Operators", "", {{"off", Kind::word, false, true, "off: what backward needs is kept", false}},
       "op-trans: what backward needs of the selected operators is computed again."},
      {"offload", "Offload", "Operators", "",
       {{"off", Kind::word, false, true, "off: what waits is kept on the device", false}},
       "op-trans: what backward needs of the selected operators waits in host memory; of update(…), the state."},
      {"grad_split", "Split gradients off", "Operators", "", {},
       "op-trans: gradients of the selected operators' parameters are computed apart, as tasks of their own."},
      {"keep_gathered", "Keep gathered", "Operators", "", {},
       "op-trans: parameters of the selected operators that are gathered for forward are kept for backward."},
      {"assign", "Assign", "Operators", "",
       {{"index", Kind::text, false, false, "of a free axis, as mb=0: there alone; as mb=m, at each"},
        {"to", Kind::rest, true, true, "a place, as pipe=0"}},
       "op-assign: says where the selected operators run."},
      {"lag", "Read old parameters", "Operators", "",
       {{"updates", Kind::rest, true, true, "how many updates ago, as 1 or |S|-1-i"}},
       "relax: the selected operators read their parameters as they were some updates ago."},
      {"order", "Order", "Operators", "",
       {{"task", Kind::text, false, true, "as b(S[1])[2]; by default the selected one. ?: the planner orders them"},
        {"before", Kind::text, false, false, "a task that runs later"},
        {"after", Kind::text, false, false, "a task that runs earlier"}},
       "op-order: says that a task runs before another one, or after it."},
      {"devices", "Declare devices", "Plan", "",
       {{"count", Kind::word, true, true, "of devices, as 16"},
        {"as", Kind::rest, false, true, "their axes, as pipe=4 data=2 tensor=2"}},
       "Says on how many devices the plan runs, and in which axes they stand."},
      {"grid", "Declare grid", "Plan", "",
       {{"name", Kind::word, true, true, "of the grid, as front"},
        {"place", Kind::text, true, true, "devices or a part of a grid, as 0:4 or pipe=0"},
        {"as", Kind::rest, false, true, "its axes, as pipe=4"}},
       "Names devices as a grid of its own."},
      {"sizes", "Set sizes of the model", "Plan", "",
       {{"sizes", Kind::rest, true, true, "as batch=64 seq=1024; loss=NAME: which output is trained"}},
       "Says how large the named dimensions of the model's inputs are, or what is trained."},
      {"axis", "Declare axis", "Plan", "",
       {{"name", Kind::word, true, true, "of the axis, as mb"},
        {"size", Kind::rest, true, true, "how many indices it has, as 8, 2|4|8, or ?c: to be found"}},
       "A free axis: its indices, as micro-batches, run one after the other."},
      {"let", "Name something", "Plan", "",
       {{"name", Kind::word, true, true, "as L, or of a function next(d,k)"},
        {"value", Kind::rest, true, true, "operators, a number, axes, or a cut, as cut model.layers[*] into 4"}},
       "Gives a name to operators, a number, axes, stages or a function."},
      {"require", "Require", "Plan", "",
       {{"condition", Kind::rest, true, true, "as memory(all) <= 80GiB, or ?t in {2,4}"}},
       "A row that every plan has to satisfy."},
      {"forbid", "Forbid", "Plan", "",
       {{"primitive", Kind::rest, true, true, "op-trans, op-assign or op-order, as trans lm_head none by tensor"}},
       "A row: the plan may not do this."},
      {"define", "Define template", "Plan", "",
       {{"name", Kind::text, true, true, "with its parameters, as mine(X, t)"},
        {"lines", Kind::list, true, true, "its statements, one a line"}},
       "Defines a template of the plan's own, that `template` inserts: the one statement of several lines."},
      {"put", "Put statement", "Plan", "", {{"statement", Kind::text, true, true, "a line of the plan language"}},
       "Adds a line, or replaces the last one of the same selection and kind where that says the same."},
      {"try", "Try statement", "Plan", "", {{"statement", Kind::text, true, true, "a line of the plan language"}},
       "What would change with one more statement, or why it cannot stand there. The plan stays as it is."},
      {"template", "Insert template", "Plan", "",
       {{"use", Kind::rest, true, true, "its name with its arguments, as tp(L, tensor)"}},
       "Adds the statements of a template, as one line."},
      {"toggle", "Switch line on or off", "Plan", "", {{"line", Kind::line, true, true, "from 1"}, kSeen},
       "Makes a comment of a statement, and a statement of such a comment."},
      {"lock", "Lock line", "Plan", "",
       {{"line", Kind::line, true, true, "from 1"},
        {"off", Kind::word, false, true, "off: the planner may write another line for it"},
        kSeen},
       "Keeps a line of the planner when it plans again."},
      {"move", "Move line", "Plan", "",
       {{"line", Kind::line, true, true, "from 1"},
        {"to", Kind::line, true, true, "the line that is there now: the number that it has then"},
        kSeen},
       "Moves a line of the plan."},
      {"change", "Change a part of a line", "", "",
       {{"line", Kind::line, true, true, "from 1"},
        {"part", Kind::word, true, true, "operators, argument or where"},
        {"value", Kind::text, true, true, "what it is then; an empty where goes"},
        kSeen},
       "Writes a part of a statement anew; the rest of it stays."},
      {"paste", "Paste lines", "Edit", "",
       {{"text", Kind::text, true, true, "lines of a plan, or rows that were copied from the grid"},
        {"before", Kind::line, false, false, "a line; without it, at the end"},
        kSeen},
       "Adds the lines to the plan, all of them or none."},
      {"drag", "Drag", "", "",
       {{"what", Kind::text, true, true, "a line that selects it, as \"select operators=L.mlp\""},
        {"onto", Kind::text, true, true, "the same of what it is dropped on"},
        {"side", Kind::word, false, false,
         "before or after: of tasks, before unless said; a line goes there, else in its place"}},
       "op-assign or op-order by hand: operators onto a place, a task onto a task; a line of the plan onto another one."},
      {"duplicate", "Duplicate line", "Plan", "", {{"line", Kind::line, true, true, "from 1"}, kSeen},
       "Writes a line of the plan once more, below it."},
      {"export", "Export", "File", "",
       {{"what", Kind::word, true, true, "a picture (graph, timeline, …) or, for .csv and .json, a panel"},
        {"path", Kind::path, true, true, "the ending says which: .svg, .png, .csv, .json; .dot of the graph, .html of a comparison"},
        {"colours", Kind::word, false, false, "of pictures: light or dark; light unless said"},
        {"view", Kind::word, false, false, "yes: of a picture, what is looked at (command `view`); else the whole"},
        {"size", Kind::word, false, false, "of a view, in pixels, as 1200x700"},
        {"overwrite", Kind::word, false, false, "yes: also a file that is there"}},
       "Writes a picture with a caption, the rows of a panel, a cluster, or a comparison as one page, to a file."},
      {"dismiss", "Clear messages", "View", "", {}, "Clears the messages of opening, saving and the workspace."},
      {"prefer", "Choose a preference", "Edit", "",
       {{"name", Kind::word, true, true, "as the panel `preferences` has it"},
        {"value", Kind::source, true, true, "one of those that it can have; of the cluster, a preset or a file"}},
       "Chooses something once for every document: colours, scale, the cluster of new documents."},
      {"go", "Go to panel or picture", "", "",
       {{"panel", Kind::word, false, true, "as `show` takes it: operator"},
        {"canvas", Kind::word, false, false, "a picture: graph"}},
       "Brings a panel or a picture to the front."},
      {"tour", "Guided tour", "Help", "",
       {{"step", Kind::word, false, true, "that comes next, as open; by default where the tour was left", false}},
       "Shows step by step, on a sample, what can be done; what has been done ticks off."},
      {"tour_next", "Next step of the tour", "Help", "", {}, "Goes on, whether the step has been done or not."},
      {"tour_leave", "Leave the tour", "Help", "", {}, "Ends the tour for now; Guided tour goes on where it was left."},
      {"cancel", "Cancel job", "", "", {{"job", Kind::number, true, true, "as the panel `jobs` counts them"}},
       "Ends a job; what it has found so far stays."},
  };
  return all;
}

// The words of a line; quotes keep spaces. `name=value` may have the value in quotes.
Result<std::vector<std::string>> words_of(std::string_view line, std::vector<std::size_t>& equals) {
  std::vector<std::string> out;
  std::size_t i = 0;
  while (i < line.size()) {
    if (line[i] == ' ' || line[i] == '\t' || line[i] == '\r') {
      ++i;
      continue;
    }
    if (line[i] == '#') break;
    std::string word;
    std::size_t equal = std::string::npos;
    bool quoted = false;
    for (; i < line.size() && (quoted || (line[i] != ' ' && line[i] != '\t' && line[i] != '\r')); ++i) {
      if (line[i] == '"') {
        quoted = !quoted;
      } else if (quoted && line[i] == '\\' && i + 1 < line.size()) {
        ++i;
        word += line[i] == 'n' ? '\n' : line[i];
      } else {
        if (line[i] == '=' && !quoted && equal == std::string::npos) equal = word.size();
        word += line[i];
      }
    }
    if (quoted) return error("a quote does not end", std::string(line), "write \\\" for a quote inside quotes");
    out.push_back(std::move(word));
    equals.push_back(equal);
  }
  return out;
}

std::string arguments_text(const CommandInfo& c) {
  std::vector<std::string> names;
  for (const ArgumentInfo& a : c.arguments) names.push_back(a.name);
  return names.empty() ? "it has none" : "it has " + join(names, ", ");
}

}  // namespace

std::span<const CommandInfo> commands() { return list(); }

const CommandInfo* find_command(std::string_view id) {
  for (const CommandInfo& c : list())
    if (id == c.id) return &c;
  return nullptr;
}

namespace {

constexpr std::size_t kMostDigits = 9;

bool is_whole(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

// Why the text is no value of a number argument.
Diagnostic no_number(const std::string& command, const char* name, const std::string& text) {
  const std::string begin = "'" + command + "': " + name;
  if (!is_whole(text)) return error(begin + " is a whole number from 0, not '" + printable(text) + "'");
  return error(begin + " is too large: '" + text + "'", "a number has at most " + std::to_string(kMostDigits) + " digits");
}

}  // namespace

std::optional<std::size_t> number_of(const std::string& text) {
  if (!is_whole(text) || text.size() > kMostDigits) return std::nullopt;
  return std::stoul(text);
}

Result<Invocation> parse_begun(std::string_view line) {
  std::vector<std::size_t> equals;
  const Result<std::vector<std::string>> words = words_of(line, equals);
  if (!words.ok()) return words.diagnostics;
  if (words->empty()) return error("there is no command");
  Invocation out{(*words)[0], {}};
  const CommandInfo* c = find_command(out.id);
  if (!c) {
    std::vector<std::string> ids;
    for (const CommandInfo& known : list()) ids.push_back(known.id);
    const std::string near = nearest(out.id, ids);
    return error("there is no command '" + printable(out.id) + "'", "", near.empty() ? "" : "did you mean '" + near + "'?");
  }
  for (std::size_t i = 1; i < words->size(); ++i) {
    const std::string& word = (*words)[i];
    const auto named = [&](const ArgumentInfo& a) { return equals[i] != std::string::npos && word.compare(0, equals[i], a.name) == 0; };
    const auto free = [&](const ArgumentInfo& a) { return a.positional && (!out.has(a.name) || a.several()); };
    auto a = std::find_if(c->arguments.begin(), c->arguments.end(), named);
    const bool by_name = a != c->arguments.end();
    if (!by_name) a = std::find_if(c->arguments.begin(), c->arguments.end(), free);
    if (a == c->arguments.end())
      return error("'" + out.id + "' does not take '" + printable(word) + "'", arguments_text(*c));
    std::string value = by_name ? word.substr(equals[i] + 1) : word;
    if (a->kind == Kind::rest && !by_name) {
      const std::size_t first = word == a->name ? i + 1 : i;
      value = join({words->begin() + static_cast<std::ptrdiff_t>(first), words->end()}, " ");
      i = words->size();
      if (value.empty()) continue;
    }
    const bool number = a->kind == Kind::number || a->kind == Kind::line || a->kind == Kind::seen;
    if (number && !number_of(value)) return no_number(out.id, a->name, value);
    if (a->several() && out.has(a->name))
      out.arguments[a->name] += "\n" + value;
    else
      out.arguments[a->name] = value;
  }
  return out;
}

namespace {

std::string_view without_return(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace

std::optional<std::string> here_document_end(std::string_view line) {
  std::vector<std::size_t> equals;
  line = without_return(line.substr(0, line.find('\n')));
  const Result<std::vector<std::string>> words = words_of(line, equals);
  if (!words.ok() || words->size() != 2 || (*words)[0] != "text" || !(*words)[1].starts_with("<<")) return std::nullopt;
  if (line.find('"') != std::string_view::npos) return std::nullopt;  // a text that begins so
  return (*words)[1].substr(2);
}

bool ends_here_document(std::string_view line, const std::string& end) { return without_return(line) == end; }

namespace {

// The lines behind `text <<END`, up to the line END, which is the last one.
Result<Invocation> here_document(std::string_view lines, const std::string& end) {
  const std::vector<std::string> all = split(lines, '\n');
  std::string text;
  for (std::size_t k = 1; k < all.size(); ++k) {
    if (!ends_here_document(all[k], end)) {
      text += all[k] + "\n";
      continue;
    }
    for (std::size_t after = k + 1; after < all.size(); ++after)
      if (!all[after].empty())
        return error("a line follows the end of the text", printable(all[after]), "it is another command: send it by itself");
    return Invocation{"text", {{"text", text}}};
  }
  return error("the text has no end", "there is no line '" + printable(end) + "' behind it");
}

}  // namespace

Result<Invocation> parse_invocation(std::string_view line) {
  if (const std::optional<std::string> end = here_document_end(line)) return here_document(line, *end);
  Result<Invocation> out = parse_begun(line);
  if (!out.ok()) return out;
  for (const ArgumentInfo& a : find_command(out->id)->arguments)
    if (a.required && !out->has(a.name)) return error("'" + out->id + "' needs " + std::string(a.name), a.about);
  return out;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text)
    out += c == '\n' ? "\\n" : c == '"' ? "\\\"" : c == '\\' ? "\\\\" : std::string(1, c);
  return out + "\"";
}

std::string print(const Invocation& i) {
  std::string out = i.id;
  for (const auto& [name, value] : i.arguments) out += " " + name + "=" + quoted(value);
  return out;
}

}  // namespace planscope::session
