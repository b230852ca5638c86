// What a person chooses once, for every document.
#include "app/session/core.h"

namespace planscope::session {

namespace {

Result<Done> prefer(Core& c, const Invocation& i) {
  const std::string name = i.get("name"), value = i.get("value");
  const Result<Done> checked = check_preference(name, value);
  if (!checked.ok()) return checked.diagnostics;
  std::vector<Diagnostic> told;
  Preferences next = read_preferences(c.settings.workspace, told);  // with what another program has chosen meanwhile
  if (c.settings.workspace.empty()) next = c.state.preferences;
  next.chosen[name] = value;
  const Result<Done> written = write_preferences(c.settings.workspace, next);
  if (!written.ok()) return c.failed(written.diagnostics);
  c.state.preferences = std::move(next);
  return Done{};
}

}  // namespace

void add_preference_handlers(Handlers& all) { all["prefer"] = prefer; }

}  // namespace planscope::session
