#pragma once
// A c10d store over the control channel: rendezvous without a port of its own. Failures throw, as c10d expects.
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "engine/launch/store.h"

namespace planscope {

class ChannelStore final : public c10d::Store {
 public:
  // `store` must outlive every group that is made with this.
  ChannelStore(planscope::Store& store, std::chrono::milliseconds timeout) : c10d::Store(timeout), store_(store) {}

  c10::intrusive_ptr<c10d::Store> clone() override;
  void set(const std::string& key, const std::vector<std::uint8_t>& value) override;
  std::vector<std::uint8_t> get(const std::string& key) override;
  std::vector<std::uint8_t> compareSet(const std::string& key, const std::vector<std::uint8_t>& expected,
                                       const std::vector<std::uint8_t>& desired) override;
  std::int64_t add(const std::string& key, std::int64_t amount) override;
  bool deleteKey(const std::string& key) override;
  bool check(const std::vector<std::string>& keys) override;
  std::int64_t getNumKeys() override;
  void wait(const std::vector<std::string>& keys) override;
  void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) override;

 private:
  planscope::Store& store_;
};

}  // namespace planscope
