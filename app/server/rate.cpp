#include "app/server/rate.h"

#include <algorithm>

namespace planscope::server {

namespace {

constexpr std::size_t kMostAddresses = 10'000;

}  // namespace

bool Rate::take(const std::string& address, Caller caller, Now now) {
  const std::pair<std::string, Caller> key{address, caller};
  const double cost = caller == Caller::known ? 1 : of_a_stranger;
  if (buckets_.size() > kMostAddresses)
    std::erase_if(buckets_, [&](const auto& b) { return now - b.second.seen > std::chrono::minutes(1); });
  if (buckets_.size() > kMostAddresses && caller == Caller::stranger && !buckets_.contains(key)) return false;
  const auto [at, is_new] = buckets_.try_emplace(key, Bucket{most, now});
  Bucket& b = at->second;
  b.left = std::min(most, b.left + a_second * std::chrono::duration<double>(now - b.seen).count());
  b.seen = now;
  if (b.left < cost) return false;
  b.left -= cost;
  return true;
}

}  // namespace planscope::server
