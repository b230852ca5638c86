#include "app/server/rate.h"

#include <algorithm>

namespace planscope::server {

namespace {

constexpr std::size_t kMostAddresses = 10'000;

}  // namespace

bool Rate::take(const std::string& address, double cost, Now now) {
  if (buckets_.size() > kMostAddresses)
    std::erase_if(buckets_, [&](const auto& b) { return now - b.second.seen > std::chrono::minutes(1); });
  if (buckets_.size() > kMostAddresses && !buckets_.contains(address)) return false;
  const auto [at, is_new] = buckets_.try_emplace(address, Bucket{most, now});
  Bucket& b = at->second;
  b.left = std::min(most, b.left + a_second * std::chrono::duration<double>(now - b.seen).count());
  b.seen = now;
  if (b.left < cost) return false;
  b.left -= cost;
  return true;
}

}  // namespace planscope::server
