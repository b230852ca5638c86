// What a link names, on screen again.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/session/core.h"
#include "app/session/graph/picture.h"
#include "app/session/link.h"
#include "app/session/views.h"
#include "engine/base/text.h"

namespace planscope::session {

namespace {

// The file that the link names, if it is there; else the same content, wherever the workspace has last seen it.
Result<std::string> model_of(const Core& c, const Link& l) {
  std::error_code ec;
  if (std::filesystem::exists(l.model, ec)) return l.model;
  if (c.workspace && !l.digest.empty())
    if (const auto row = c.workspace->find_model(l.digest);
        row.ok() && *row && std::filesystem::exists((**row).path, ec))
      return (**row).path;
  return error("the model of the link is not here", l.model, "open it once from where it is, then the link again");
}

// What is not there any more is told, and the rest is opened.
void restore(Core& c, const Link& l) {
  Document& d = *c.document();
  const auto tell = [&](const Result<Done>& done) {
    std::vector<Diagnostic> said = done.diagnostics;
    for (Diagnostic& m : said) m.severity = Severity::warning, m.subject = "link";
    c.say(said);
  };
  const auto look = [&](const char* id, const char* name, const std::string& value) {
    tell(run_command(c, {id, {{name, value}}}));
  };
  c.state.look.gradient = l.look.gradient;
  c.state.look.index = l.look.index;
  look("colour", "by", l.colour);
  look("align", "by", l.align);
  look("overlay", "what", l.overlay);
  c.state.search.clear();
  if (!l.search.empty()) look("find", "text", l.search);
  if (!l.text.empty()) tell(write_draft(d, l.text));
  Invocation brush{"brush", {}};
  for (const char* name : {"time", "kind", "level", "selection"})
    if (const auto value = l.brush.find(name); value != l.brush.end()) brush.arguments[name] = value->second;
  tell(run_command(c, brush));
  std::set<std::string> expanded;
  for (const std::string& id : l.expanded)
    if (d.graph.model->get().find(id)) expanded.insert(id);
  if (!expanded.empty() && count_visible(d.graph.model->get(), expanded) <= kMostBoxes)
    d.graph = look_at(d.model, d.graph, std::move(expanded));
  for (const auto& [canvas, view] : l.views)
    if (find_canvas(canvas).ok() && is_view(view))
      d.views[canvas] = view;
    else
      tell(error("the view of '" + canvas + "' cannot be set", "there is no such picture, or the view is no JSON object"));
  c.state.time = l.time;
  c.state.lanes = l.lanes;
  if (!l.selection.none()) tell(run_command(c, select_command(l.selection)));
  Invocation compare{"compare", {{"plans", join(l.compare, "\n")}}};
  if (!l.base.empty()) compare.arguments["base"] = l.base;
  if (!l.compare.empty()) tell(run_command(c, compare));
}

// The document that the link was made of, with what has been edited there since; null: it is not open.
const Document* open_already(const State& s, const Link& l) {
  std::error_code ec;
  const std::string model = std::filesystem::absolute(l.model, ec).string();
  State one = s;
  for (const Document& d : s.documents) {
    one.current = static_cast<int>(&d - s.documents.data());
    const Link its = link_of(one);
    const bool same_model = its.model == model || (!l.digest.empty() && its.digest == l.digest);
    const bool same_plan = its.plan == l.plan && (l.name.empty() || its.name == l.name) &&
                           (l.cluster.empty() || its.cluster == l.cluster);
    if (same_model && same_plan && (l.text.empty() || d.draft.edited())) return &d;
  }
  return nullptr;
}

}  // namespace

Result<Done> open_link(Core& c, const std::string& link) {
  Result<Link> l = parse_link(link);
  if (!l.ok()) return c.failed(l.diagnostics);
  if (const Document* d = open_already(c.state, *l)) {
    const Result<Done> there = run_command(c, {"document", {{"number", std::to_string(d->id)}}});
    if (!there.ok()) return there;
    l.value->text.clear();
    restore(c, *l);
    return Done{};
  }
  const Result<std::string> model = model_of(c, *l);
  if (!model.ok()) return c.failed(model.diagnostics);
  Invocation open{"open", {{"model", *model}}};
  if (!l->plan.empty()) open.arguments["plan"] = l->plan;
  if (!l->cluster.empty()) open.arguments["cluster"] = l->cluster;
  Result<Done> opened = open_again(c, std::move(open));
  if (opened.ok()) restore(c, *l);
  return opened;
}

}  // namespace planscope::session
