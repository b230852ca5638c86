#pragma once
// The templates that a plan can use: its own, then those that are built in and that none of its own stands in front of.
//
//   for (const UsableTemplate& t : usable_templates(document->draft.text(), document->name)) …   // t.call(): `tp(X, t)`
#include <string>
#include <vector>

#include "engine/base/text.h"

namespace planscope::session {

struct UsableTemplate {
  std::string name;
  std::vector<std::string> parameters;
  std::string about, text;
  bool own = false;
  std::string call() const { return name + "(" + join(parameters, ", ") + ")"; }
};

std::vector<UsableTemplate> usable_templates(const std::string& text, const std::string& name);

}  // namespace planscope::session
