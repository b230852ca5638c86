#pragma once
// Which keys an attention can see. Its mask is causal if no query sees a key that stands behind it: by its own flag, or where
// the mask is shown to be so from how it is made: `key position <= query position`, both counted by an arange from 0, and
// whatever else it has to hold beside. A mask that is made in another way is not shown to be causal, even if it is.
//
//   mask = (segment[q] == segment[k]) & (arange[k] <= arange[q])       causal
#include "engine/graph/graph.h"

namespace planscope {

// Sets Factor::until of the keys of causal attention.
void mark_causal(Graph&);

}  // namespace planscope
