#pragma once
// Small values that the ranks of one trial share: addresses, ports, counters. The launcher holds them; nothing outlives
// the trial, and two trials never meet, so a rank that binds port 0 and publishes the port clashes with nobody.
// Keys are text, values any bytes. Not for tensors: each value passes through the launcher.
//
//   store.set("rank0/address", "127.0.0.1:40213");
//   Result<std::string> address = store.get("rank0/address", std::chrono::seconds(10));   // waits until it is set
//
// Errors: the time limit passed (the message names the keys), or the launcher is gone. While a call waits, the rank's
// position says so.
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/diagnostic.h"
#include "engine/launch/message.h"

namespace planscope {

// How a Store talks to the launcher; ControlChannel is one.
class StoreLink {
 public:
  virtual ~StoreLink() = default;
  virtual bool store_send(const StoreRequest& request) = 0;
  virtual Result<StoreReply> store_ask(StoreRequest request, std::chrono::milliseconds patience) = 0;
};

class Store {
 public:
  explicit Store(StoreLink& link) : link_(link) {}

  bool set(const std::string& key, std::string value);
  Result<std::string> get(const std::string& key, std::chrono::milliseconds patience);  // waits for the key
  Result<std::vector<std::string>> wait(const std::vector<std::string>& keys, std::chrono::milliseconds patience);
  Result<bool> check(const std::vector<std::string>& keys);               // are all there now?
  Result<std::int64_t> add(const std::string& key, std::int64_t amount);  // from 0; the sum afterwards, kept as text
  Result<bool> remove(const std::string& key);                            // was it there?
  // Sets `desired` if the value is `expected` or if both are missing (expected empty); what is there afterwards.
  Result<std::string> swap(const std::string& key, const std::string& expected, const std::string& desired);
  Result<std::int64_t> count();

 private:
  StoreLink& link_;
};

// The launcher's side: a pure state machine. Each request gives the replies that it makes possible, with their ranks.
class StoreRelay {
 public:
  std::vector<std::pair<int, StoreReply>> handle(int rank, const StoreRequest& request);

 private:
  struct Waiting {
    int rank;
    StoreRequest request;
  };
  bool has_all(const std::vector<std::string>& keys) const;
  StoreReply answer(const StoreRequest& request);
  void release(std::vector<std::pair<int, StoreReply>>& replies);  // waits that have become possible

  std::map<std::string, std::string> values_;
  std::vector<Waiting> waiting_;
};

}  // namespace planscope
