#pragma once
// What is to be measured so that a Program's operators have measured times: each distinct operator, local shapes, type
// and direction once, in the order of the Program. What no single measurement stands for (is_uniform) is left out.
//
//   for (const ProfileItem& item : profile_items(graph, program, cluster.device(0), {})) …
//   add(profile, item.key, {item.shapes, item.modelled_us, 12.5});   // from now on simulate() says `measured` where it is alike
#include <set>
#include <string>
#include <vector>

#include "planner/cost/operator_cost.h"

namespace planscope {

struct ProfileItem {
  PieceId piece = -1;  // an operator of the Program that stands for all that are alike; -1: memory alone
  int op = 0;          // of Piece::ops
  bool backward = false;
  std::string key, shapes;  // of profile_key(), shapes_key()
  double modelled_us = 0;   // by the roofline
  std::int64_t bytes = 0;   // piece < 0: to move through memory
  int state = 0;            // piece < 0: 0: a sum; else an update with so many bytes of optimizer state an element
  std::vector<OpId> operators = {};  // all that are alike, ascending
  bool operator==(const ProfileItem&) const = default;
};

std::vector<ProfileItem> profile_items(const Graph&, const Program&, const DeviceType&, const CostModel&);

// The keys of operators that profile_items() leaves out: their times are interpolated from operators of the same key, of
// which there should be one.
std::set<std::string> keys_left_out(const Graph&, const Program&);

// Sizes at which moving bytes through memory is measured: what sums and copies are predicted by (memory_time()), and
// updates by AdamW and momentum (update_time()).
std::vector<ProfileItem> memory_items(const DeviceType&, const CostModel&);

// Adds a sample, or replaces the one of these shapes.
void add(Profile&, const std::string& key, ProfileSample);

}  // namespace planscope
