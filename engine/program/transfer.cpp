#include "engine/program/transfer.h"

#include <algorithm>

namespace planscope {

int sender_of(const Program& p, const Place& from, const Place& to, std::span<const int> holders, int receiver) {
  if (std::find(holders.begin(), holders.end(), receiver) != holders.end()) return receiver;
  std::vector<std::pair<std::size_t, std::size_t>> common;  // axes of equal names
  for (const AxisId a : free_axes(p, from))
    for (const AxisId b : free_axes(p, to))
      if (p.axes[static_cast<std::size_t>(a)].name == p.axes[static_cast<std::size_t>(b)].name)
        common.emplace_back(static_cast<std::size_t>(a), static_cast<std::size_t>(b));
  const Point at = point_of(p, to, receiver);
  for (const int holder : holders) {
    const Point there = point_of(p, from, holder);
    if (std::all_of(common.begin(), common.end(),
                    [&](const auto& axes) { return there[axes.first] == at[axes.second]; }))
      return holder;
  }
  return holders.front();
}

ProgramValueId sent_as(const Program& p, const Instruction& receive, ProgramValueId received) {
  const Transfer& t = p.transfers[static_cast<std::size_t>(receive.transfer)];
  const auto k = static_cast<std::size_t>(std::find(t.to.begin(), t.to.end(), received) - t.to.begin());
  return t.from[k < t.from.size() ? k : 0];
}

}  // namespace planscope
