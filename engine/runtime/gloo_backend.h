#pragma once
// The one place that constructs Gloo process groups: its source needs stand-ins for Gloo's headers (gloo_stubs/), and
// nothing else should.
#include <chrono>
#include <functional>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace planscope {

// Makes groups that share one device (an address and a thread) of the given host name or address. Making a group blocks
// until all its members make it; throws what c10d throws.
using GlooFactory = std::function<c10::intrusive_ptr<c10d::Backend>(c10::intrusive_ptr<c10d::Store> store, int rank,
                                                                    int size, std::chrono::milliseconds limit)>;
GlooFactory gloo_factory(const std::string& address);

}  // namespace planscope
