// Editing the text of a plan, keeping it as a version, and going between versions.
#include <algorithm>

#include "app/session/core.h"
#include "app/session/merge.h"

namespace planscope::session {

namespace {

Result<Done> replace_text(Core& c, const Invocation& i) { return write_draft(*c.document(), i.get("text")); }

// What others have written since the typist saw the text stays, and is a step of undo of its own.
Result<Done> type(Core& c, const Invocation& i) {
  Document& d = *c.document();
  const std::string now = d.draft.text(), text = plan_text(i.get("text"));
  const std::optional<std::string> from =
      c.typing[d.id].base(i.has("from") ? plan_text(i.get("from")) : now, text, i.get("id"), i.get("after"));
  if (!from) return Done{};
  if (i.get("step") == "new" || *from != now) d.draft.pause();
  d.draft.type(merged(*from, text, now));
  return Done{};
}

Result<Done> drop(Core& c, const Invocation&) {
  c.document()->draft.drop();
  return Done{};
}

Result<Done> append(Core& c, const Invocation& i) { return append_line(*c.document(), i.get("statement")); }

Result<Done> replace(Core& c, const Invocation& i) {
  return change_line(*c.document(), i.get("line"), [&](const std::string&) {
    return i.get("statement").empty() ? std::nullopt : std::optional(i.get("statement"));
  });
}

Result<Done> keep(Core& c, const Invocation&) { return keep_version(c, *c.document()); }

Result<Done> undo(Core& c, const Invocation&) {
  Document& d = *c.document();
  if (d.draft.undo()) return Done{};
  const Version* now = find_version(d, d.version);
  const Version* before = now ? find_version(d, now->parent) : nullptr;
  if (!before) return error("there is nothing to undo");
  d.later.emplace_back(now->id, d.draft);  // with what can be done again there
  d.version = before->id;
  d.draft = Draft(before->text);
  return Done{};
}

Result<Done> redo(Core& c, const Invocation&) {
  Document& d = *c.document();
  if (d.draft.redo()) return Done{};
  if (d.later.empty()) return error("there is nothing to redo");
  d.version = d.later.back().first;
  d.draft = std::move(d.later.back().second);
  d.later.pop_back();
  c.read_versions(d);  // another program may have deleted it meanwhile
  return Done{};
}

Result<Done> version(Core& c, const Invocation& i) {
  Document& d = *c.document();
  const Version* v = find_version(d, std::stoll(i.get("number")));
  if (!v) return error("there is no version " + i.get("number") + " of the plan '" + d.name + "'");
  if (d.draft.edited())
    return error("the plan has edits that are not kept", "going to another version would give them up",
                 "keep or drop them");
  d.version = v->id;
  d.later.clear();
  d.draft = Draft(v->text);
  return Done{};
}

Result<Done> relax(Core& c, const Invocation& i) {
  return change_line(*c.document(), i.get("line"), [](const std::string& line) { return std::optional("# " + line); });
}

}  // namespace

Result<Done> keep_version(Core& c, Document& d) {
  if (d.version && !d.draft.edited()) return Done{};
  const auto model = c.models.find(d.id);
  if (!c.workspace || model == c.models.end())
    return error("the plan cannot be kept", "there is no workspace to keep it in");
  const Result<std::vector<PlanRow>> plans = c.workspace->plans(model->second);
  if (!plans.ok()) return c.failed(plans.diagnostics);
  const std::string text = d.draft.text();
  // What was kept of its file goes on, also where other programs have written to the file since.
  std::optional<RowId> parent = d.version ? d.version : newest_of_file(*plans, file_of(d), d.name);
  // The plan of a file goes on under the name that it has been given in the workspace.
  const auto before = std::find_if(plans->begin(), plans->end(), [&](const PlanRow& p) { return p.id == parent; });
  const bool named = before != plans->end() && !before->path.empty() && before->path == file_of(d);
  const auto add = [&, name = named ? before->name : d.name](const std::string& one) {
    return c.workspace->add_plan({.model = model->second, .parent = parent, .name = name, .text = one, .path = file_of(d)});
  };
  // What it was opened with is a version too, to which one can go back.
  if (const std::string& opened = d.draft.kept(); !parent && opened != text && opened.find_first_not_of(" \t\n") != std::string::npos) {
    const Result<RowId> added = add(opened);
    if (!added.ok()) return c.failed(added.diagnostics);
    parent = *added;
  }
  std::optional<RowId> row;
  for (const Version& v : *d.versions)
    if (v.parent == parent && v.text == text) row = v.id;  // kept before, from the same one
  if (!row) {
    const Result<RowId> added = add(text);
    if (!added.ok()) return c.failed(added.diagnostics);
    row = *added;
  }
  d.version = row;
  d.later.clear();
  d.draft.keep();
  d.base = is_of(d.latest, d, text) && complete(d.latest) ? d.latest : nullptr;
  if (d.base) c.store(*d.version, *d.base);
  c.read_versions(d);
  c.look_around();
  return Done{};
}

void add_draft_handlers(Handlers& all) {
  all["text"] = replace_text;
  all["type"] = type;
  all["append"] = append;
  all["replace"] = replace;
  all["relax"] = relax;
  all["keep"] = keep;
  all["drop"] = drop;
  all["undo"] = undo;
  all["redo"] = redo;
  all["version"] = version;
}

}  // namespace planscope::session
