#include "app/session/templates.h"

#include <set>

#include "engine/plan/parser.h"
#include "engine/plan/printer.h"
#include "engine/plan/template.h"

namespace planscope::session {

std::vector<UsableTemplate> usable_templates(const std::string& text, const std::string& name) {
  std::vector<UsableTemplate> out;
  std::set<std::string> own;
  const Result<plan::Plan> p = plan::parse_plan(text, name);
  for (const plan::Statement& s : p.value ? p->statements : std::vector<plan::Statement>()) {
    const auto* t = std::get_if<plan::TemplateStatement>(&s.body);
    if (!t || !own.insert(t->name).second) continue;
    out.push_back({.name = t->name, .parameters = t->parameters, .about = "", .text = plan::print(s), .own = true});
  }
  for (const plan::BuiltInTemplate& t : plan::built_in_templates())
    if (!own.contains(t.name)) out.push_back({.name = t.name, .parameters = t.parameters, .about = t.about, .text = t.text});
  return out;
}

}  // namespace planscope::session
