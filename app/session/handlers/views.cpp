// What of the canvases is looked at, and links to it.
#include "app/session/views.h"
#include "app/session/core.h"
#include "engine/base/text.h"

namespace planscope::session {

namespace {

Result<Done> view(Core& c, const Invocation& i) {
  const std::string canvas = i.get("canvas");
  std::vector<std::string> settings;
  for (std::string& s : split(i.get("settings"), '\n'))
    if (!s.empty()) settings.push_back(std::move(s));
  const Result<std::string> next = changed_view(c.state, canvas, settings);
  if (!next.ok()) return next.diagnostics;
  if (settings.empty())
    c.document()->views.erase(canvas);
  else
    c.document()->views[canvas] = *next;
  return Done{};
}

Result<Done> follow(Core& c, const Invocation& i) {
  const Result<std::vector<Invocation>> all = commands_of_link(i.get("link"));
  if (!all.ok()) return all.diagnostics;
  Result<Done> out = Done{};
  for (const Invocation& one : *all) {
    const std::string reason = why_not(c.state, one.id);
    const Result<Done> done =
        reason.empty() ? handlers().at(one.id)(c, one) : error("'" + one.id + "' cannot be run now", reason);
    if (!done.ok() && one.id == "open") return done.diagnostics;  // the rest is about that document
    out.diagnostics.insert(out.diagnostics.end(), done.diagnostics.begin(), done.diagnostics.end());
  }
  return out;
}

}  // namespace

void add_view_handlers(Handlers& all) {
  all["view"] = view;
  all["follow"] = follow;
}

}  // namespace planscope::session
