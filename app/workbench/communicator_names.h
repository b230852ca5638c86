#pragma once
// How communicators are called: by what they do, over what, and where that does not tell them from each other. The rest is in
// traffic.h: communicator_name(), among(), is_called() and name_as().
//
//   communicator_over(p, instruction)   // "tensor, pipe(2)"; of a send "all[pipe=0] → all[pipe=1]"
//   name_communicators(all)             // two all_reduces over tensor: "all_reduce over tensor at pipe=0", … "at pipe=1"
#include <string>
#include <vector>

#include "app/workbench/traffic.h"

namespace planscope {

// Among whom: the digits that its devices differ in; of a send, the places.
std::string communicator_over(const Program&, const Instruction&);

// Fills `where` and `names` of all communicators of a step.
void name_communicators(std::vector<Communicator>&);

}  // namespace planscope
