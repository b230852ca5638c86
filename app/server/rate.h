#pragma once
// How much one address may ask for: so many requests at once, refilled at a rate; a mistaken token costs much more than
// one that is right, so that nobody tries many.
//
//   Rate rate;
//   if (!rate.take("10.0.0.7", 1, now)) …   // 429
#include <chrono>
#include <map>
#include <string>

namespace planscope::server {

class Rate {
 public:
  using Now = std::chrono::steady_clock::time_point;
  static constexpr double most = 4000, a_second = 1000;  // requests
  static constexpr double of_a_mistake = 10;             // what a wrong token costs

  // False: there is not so much left for this address.
  bool take(const std::string& address, double cost, Now now);

 private:
  struct Bucket {
    double left = most;
    Now seen;
  };
  std::map<std::string, Bucket> buckets_;
};

}  // namespace planscope::server
