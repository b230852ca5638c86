#pragma once
// The work of one rank: takes its job from the control channel, runs it, reports. Returns the exit status of the
// process: 0 done (or stopped on request), 1 failed (told over the channel).
#include "engine/launch/control_channel.h"

namespace planscope {

int run_worker(ControlChannel&);

}  // namespace planscope
