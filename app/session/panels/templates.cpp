// The templates that a plan can use: its own, then those that are built in.
#include "app/session/panels/panels.h"
#include "engine/base/text.h"
#include "engine/plan/parser.h"
#include "engine/plan/printer.h"
#include "engine/plan/template.h"

namespace planscope::session {

Panel templates_panel(const State& s) {
  Panel p{.id = "templates", .title = "Templates", .kind = PanelKind::table};
  p.columns = {{"name", "Template"}, {"arguments", "Arguments"}, {"about", "What it is"}, {"own", "Of this plan"},
      {"text", "Text"}};
  const auto add = [&](const std::string& name, const std::vector<std::string>& parameters, const std::string& about,
      bool own,
                       const std::string& text) {
    TableRow row{.id = name};
    row.cells = {cell(name), cell(Json(parameters)), cell(about), cell(own), {text, "…", Tone::dim, text}};
    p.rows.push_back(std::move(row));
  };
  if (const Document* d = s.document()) {
    const Result<plan::Plan> own = plan::parse_plan(d->draft.text(), d->name);
    for (const plan::Statement& t : own->statements)
      if (const auto* body = std::get_if<plan::TemplateStatement>(&t.body)) add(body->name, body->parameters, "", true,
          plan::print(t));
  }
  for (const plan::BuiltInTemplate& t : plan::built_in_templates()) add(t.name, t.parameters, t.about, false, t.text);
  return p;
}

}  // namespace planscope::session
