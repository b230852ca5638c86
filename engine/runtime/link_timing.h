#pragma once
// How long messages and collectives between ranks take over the trial's transport, for sizes of 1 KiB to 64 MiB: lower quartiles of times
// from a common start, of the slowest rank; a send is one way of a message there and back.
//
// Every rank calls it; all are told the same figures, each as soon as it is known. Wall time: what else the host does counts. Throws TransportError.
#include <functional>

#include "engine/launch/profile_job.h"
#include "engine/runtime/transport.h"

namespace planscope {

void time_links(Communicator& world, const std::function<void(const LinkMeasurement&)>& tell);

}  // namespace planscope
