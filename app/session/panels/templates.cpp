// The templates that a plan can use: its own, then those that are built in.
#include <algorithm>
#include <set>

#include "app/session/commands.h"
#include "app/session/panels/panels.h"
#include "app/session/templates.h"
#include "engine/plan/parser.h"

namespace planscope::session {

namespace {

// Of selections, axes and grids.
std::set<std::string> names_of(const plan::Plan& p) {
  std::set<std::string> out;
  const auto add = [&](const std::vector<plan::AxisSub>& axes) {
    for (const plan::AxisSub& a : axes) out.insert(a.axis);
  };
  for (const plan::Statement& s : p.statements) {
    if (const auto* let = std::get_if<plan::LetStatement>(&s.body)) out.insert(let->name);
    if (const auto* axis = std::get_if<plan::AxisStatement>(&s.body)) out.insert(axis->name);
    if (const auto* devices = std::get_if<plan::DevicesStatement>(&s.body)) add(devices->axes);
    if (const auto* grid = std::get_if<plan::GridStatement>(&s.body)) {
      out.insert(grid->name);
      add(grid->axes);
    }
  }
  return out;
}

}  // namespace

Panel templates_panel(const State& s) {
  Panel p{.id = "templates", .title = "Templates", .kind = PanelKind::table};
  p.columns = {{"name", "Template"}, {"arguments", "Arguments"}, {"about", "What it is"}, {"own", "Of this plan"},
               {"text", "Text"}};
  const Document* d = s.document();
  const std::set<std::string> names = names_of(d ? *plan::parse_plan(d->draft.text(), d->name).value : plan::Plan());
  for (const UsableTemplate& t : usable_templates(d ? d->draft.text() : "", d ? d->name : "")) {
    TableRow row{.id = t.name};
    row.cells = {cell(t.name), cell(Json(t.parameters)), cell(t.about), cell(t.own), {t.text, "…", Tone::dim, t.text}};
    // Where the plan has a name for every argument it is inserted as it stands; else they are asked for.
    const auto has = [&](const std::string& n) { return names.contains(n); };
    const Invocation use{"template", {{"use", t.call()}}};
    row.command = std::all_of(t.parameters.begin(), t.parameters.end(), has) ? print(use) : use.id;
    p.rows.push_back(std::move(row));
  }
  return p;
}

}  // namespace planscope::session
