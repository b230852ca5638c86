#pragma once
// What a block of a timeline is, as a selection: the operators that it computes, the communicator and tensor that it
// sends, the parameters that it updates, or the value that it makes. Of a wait: what is sent when it ends.
//
//   selection_of_block(document, {{{344.513, 456.684}}, {"pipe=0"}, "operators"}).operators   // `L[0].mlp.up_proj`
//   selection_of_block(document, {{{326.509, 329.518}}, {"pipe=2"}, "transfer"}).communicator // `send over …`
//
// None: there is no such block, or it is a whole run of a segment.
#include "app/session/selected.h"
#include "app/session/state.h"

namespace planscope::session {

Selection selection_of_block(const Document&, const TimeSelection&);

}  // namespace planscope::session
