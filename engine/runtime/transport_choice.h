#pragma once
// Which transport a trial uses: shared memory if all ranks can share it, that is on one host, else Gloo. All ranks
// choose the same, because each hears what the others could do. Nothing to set.
//
//   ChosenTransport chosen = make_transport(channel, {});
//   chosen.transport->world().barrier("start");
//   report.transport = chosen.name;          // "shared memory", or "Gloo: rank 2: memfd_create: Too many open files"
#include "engine/runtime/transport.h"

namespace planscope {

struct ChosenTransport {
  std::unique_ptr<Transport> transport;
  std::string name;  // with the reason if it is not the first choice
};

// Blocks until all ranks are here; throws TransportError.
ChosenTransport make_transport(ControlChannel& channel, const TransportSettings& settings);

}  // namespace planscope
