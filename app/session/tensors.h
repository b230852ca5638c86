#pragma once
// The tensor that the session looks at: the one that is selected, else what the first selected operator gives.
//
//   const std::string name = tensor_of(state);
//   if (const std::shared_ptr<const TensorFacts> t = tensor_shown(state)) t->writers …
#include <memory>
#include <string>

#include "app/session/state.h"
#include "app/workbench/tensor_facts.h"

namespace planscope::session {

std::string tensor_of(const State&);                     // empty: none is meant
// of the plan that is shown, at the index that the session looks at
std::shared_ptr<const TensorFacts> tensor_shown(const State&);

}  // namespace planscope::session
