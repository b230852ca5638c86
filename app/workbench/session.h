#pragma once
// The real session behind session_view.h: a model, a plan text, and what they come to on a cluster. Every change of the
// plan text is parsed, materialized, simulated and verified anew; between these the Cancel is looked at, so that a
// newer text is served soon. A plan with errors is shown with its diagnostics and the verdict `refused`.
//
//   SessionSettings settings;
//   settings.cluster = "dgx-h100x2";
//   std::unique_ptr<Session> session = make_session(settings);
#include <memory>
#include <string>

#include "app/workbench/session_view.h"

namespace planscope {

struct SessionSettings {
  std::string cluster = "local";
  std::string workspace = {};  // file; what was measured there is what predictions take. Empty: the roofline alone
};

std::unique_ptr<Session> make_session(const SessionSettings& settings = {});

}  // namespace planscope
