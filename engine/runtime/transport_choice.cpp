#include "engine/runtime/transport_choice.h"

#include "engine/runtime/gloo_transport.h"
#include "engine/runtime/shm_transport.h"

namespace planscope {

ChosenTransport make_transport(ControlChannel& channel, const TransportSettings& settings) {
  Result<std::unique_ptr<Transport>> shared = make_shm_transport(channel, settings);
  if (shared.ok()) return {std::move(*shared), "shared memory"};
  return {make_gloo_transport(channel, settings, channel.local_address()), "Gloo: " + shared.diagnostics.front().why};
}

}  // namespace planscope
