#include "engine/plan/meeting.h"

#include <algorithm>
#include <set>

namespace planscope::plan {

const std::vector<int>& MeetingTasks::devices(int unit) {
  auto [it, is_new] = devices_of_unit_.try_emplace(unit);
  if (!is_new) return it->second;
  std::set<int> places;
  for (const int op : d_.units[static_cast<std::size_t>(unit)].operators)
    for (const int p : places_of(d_, op)) places.insert(p);
  std::set<int> all;
  for (const int p : places) {
    if (d_.places[static_cast<std::size_t>(p)].open()) return it->second;
    for (const int device : devices_of(d_, d_.places[static_cast<std::size_t>(p)])) all.insert(device);
  }
  it->second.assign(all.begin(), all.end());
  return it->second;
}

bool MeetingTasks::meet(const TaskFamily& a, const TaskFamily& b) {
  for (const int x : a.units)
    for (const int y : b.units) {
      if (x == y) return true;
      const std::vector<int>&dx = devices(x), &dy = devices(y);
      if (dx.empty() || dy.empty()) return true;  // it follows: not known here
      std::vector<int> common;
      std::set_intersection(dx.begin(), dx.end(), dy.begin(), dy.end(), std::back_inserter(common));
      if (!common.empty()) return true;
    }
  return false;
}

bool MeetingTasks::apart(const OrderRow& row) {
  for (std::size_t i = 0; i + 1 < row.chain.size(); ++i)
    for (std::size_t j = i + 1; j < row.chain.size(); ++j)
      if (meet(row.chain[i], row.chain[j])) return false;
  return row.chain.size() > 1;
}

}  // namespace planscope::plan
