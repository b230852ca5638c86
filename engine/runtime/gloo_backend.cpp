#include "engine/runtime/gloo_backend.h"

#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

namespace planscope {

GlooFactory gloo_factory(const std::string& address) {
  auto device = c10d::ProcessGroupGloo::createDeviceForHostname(address);
  return [device](c10::intrusive_ptr<c10d::Store> store, int rank, int size, std::chrono::milliseconds limit) {
    auto options = c10d::ProcessGroupGloo::Options::create(limit);
    options->devices.push_back(device);
    return c10::static_intrusive_pointer_cast<c10d::Backend>(
        c10::make_intrusive<c10d::ProcessGroupGloo>(store, rank, size, options));
  };
}

}  // namespace planscope
