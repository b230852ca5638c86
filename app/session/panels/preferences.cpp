// What a person has chosen once, as a form.
#include "app/session/panels/panels.h"

namespace planscope::session {

Panel preferences_panel(const State& s) {
  Panel p{.id = "preferences", .title = "Preferences", .kind = PanelKind::form};
  for (const PreferenceInfo& info : preferences()) {
    Field f{.id = info.name, .title = info.title, .cell = cell(s.preferences.get(info.name))};
    f.cell.tip = info.about;
    f.choices.assign(info.choices.begin(), info.choices.end());
    f.command = std::string("prefer ") + info.name;
    p.fields.push_back(std::move(f));
  }
  return p;
}

}  // namespace planscope::session
