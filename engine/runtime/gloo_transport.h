#pragma once
// Transport over Gloo (TCP between the ranks, LibTorch's ProcessGroupGloo): runs anywhere, and is slow (about a
// millisecond per operation). Reductions: float16, bfloat16, float32, float64 and integers; everything else moves as
// bytes. Rendezvous goes over the control channel, so that no port is fixed.
//
//   std::unique_ptr<Transport> transport = make_gloo_transport(channel, {});
#include "engine/runtime/transport.h"

namespace planscope {

// `address` is that of this host as the other ranks reach it. The channel must outlive the transport. Blocks until all
// ranks are here; throws TransportError.
std::unique_ptr<Transport> make_gloo_transport(ControlChannel& channel, const TransportSettings& settings,
                                               const std::string& address = "127.0.0.1");

}  // namespace planscope
