// The templates that a plan can use: its own, then those that are built in.
#include <algorithm>
#include <set>

#include "app/session/commands.h"
#include "app/session/panels/panels.h"
#include "engine/base/text.h"
#include "engine/plan/parser.h"
#include "engine/plan/printer.h"
#include "engine/plan/template.h"

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
  plan::Plan open;
  if (const Document* d = s.document()) open = *plan::parse_plan(d->draft.text(), d->name).value;
  const std::set<std::string> names = names_of(open);
  const auto add = [&](const std::string& name, const std::vector<std::string>& parameters, const std::string& about,
                       bool own, const std::string& text) {
    TableRow row{.id = name};
    row.cells = {cell(name), cell(Json(parameters)), cell(about), cell(own), {text, "…", Tone::dim, text}};
    // Where the plan has a name for every argument it is inserted as it stands; else they are asked for.
    const auto has = [&](const std::string& n) { return names.contains(n); };
    const Invocation use{"template", {{"use", name + "(" + join(parameters, ", ") + ")"}}};
    row.command = std::all_of(parameters.begin(), parameters.end(), has) ? print(use) : use.id;
    p.rows.push_back(std::move(row));
  };
  for (const plan::Statement& t : open.statements)
    if (const auto* body = std::get_if<plan::TemplateStatement>(&t.body))
      add(body->name, body->parameters, "", true, plan::print(t));
  for (const plan::BuiltInTemplate& t : plan::built_in_templates()) add(t.name, t.parameters, t.about, false, t.text);
  return p;
}

}  // namespace planscope::session
