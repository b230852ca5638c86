#pragma once
// How much one address may ask for: so many requests at once, refilled at a rate. Those that are not let in have an allowance of
// their own and use much more of it, so that nobody tries many tokens; behind a tunnel all callers have one address, and who knows
// the token is not kept out by those who do not.
//
//   Rate rate;
//   if (!rate.take("10.0.0.7", Caller::known, now)) …   // 429
#include <chrono>
#include <map>
#include <string>
#include <utility>

namespace planscope::server {

enum class Caller { known, stranger };

class Rate {
 public:
  using Now = std::chrono::steady_clock::time_point;
  static constexpr double most = 4000, a_second = 1000;  // requests
  static constexpr double of_a_stranger = 10;            // what a request costs that is not let in

  // False: there is not so much left for those callers of this address.
  bool take(const std::string& address, Caller, Now now);

 private:
  struct Bucket {
    double left = most;
    Now seen;
  };
  std::map<std::pair<std::string, Caller>, Bucket> buckets_;
};

}  // namespace planscope::server
