// What a person chooses once, for every document.
#include "app/session/core.h"

namespace planscope::session {

namespace {

Result<Done> prefer(Core& c, const Invocation& i) {
  const std::string name = i.get("name"), value = i.get("value");
  const Result<Done> checked = check_preference(name, value);
  if (!checked.ok()) return checked.diagnostics;
  return c.prefer({{name, value}});
}

}  // namespace

void add_preference_handlers(Handlers& all) { all["prefer"] = prefer; }

}  // namespace planscope::session
