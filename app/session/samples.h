#pragma once
// The sample models that come with planscope, with the plans for them, as a panel for start pages.
//
//   Panel p = samples_panel("sample_models");   // a tree: activating a row opens the model, or the model with the plan
#include <string>

#include "app/session/panel.h"

namespace planscope::session {

// Models `NAME.pt2` of the folder, and their plans `plans/NAME-….plan`, each with the first sentence of its comment.
Panel samples_panel(const std::string& folder);

}  // namespace planscope::session
