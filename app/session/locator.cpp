#include "app/session/locator.h"

#include "app/session/commands.h"
#include "app/session/panels/panels.h"
#include "engine/base/text.h"

namespace planscope::session {

std::vector<Target> targets(const State& s) {
  std::vector<Target> out;
  for (const Document& d : s.documents)
    out.push_back({d.model->model->name + " · " + d.name, "document on " + d.cluster, "document " + std::to_string(d.id)});
  const Document* d = s.document();
  if (!d) return out;
  int line = 0;
  for (const std::string& text : split(d->draft.text(), '\n'))
    if (++line; text.find_first_not_of(" \t") != std::string::npos)
      out.push_back({text, "line " + std::to_string(line), "select statement=" + std::to_string(line)});
  for (const TableRow& row : modules_panel(s).rows) out.push_back({row.id, "module", row.command});
  for (const Version& v : *d->versions)
    out.push_back({"version " + std::to_string(v.id), v.change.empty() ? "kept" : v.change, "version " + std::to_string(v.id)});
  for (const WorkspaceEntry& e : *s.entries)
    if (e.kind == "plan") out.push_back({e.name, "plan " + std::to_string(e.id), print({"open", {{"plan", std::to_string(e.id)}}})});
  return out;
}

}  // namespace planscope::session
