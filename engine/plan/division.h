#pragma once
// Whether a factor can be cut into equal blocks: from one of its parts on, each part is cut as far as it goes before the next
// one is, and an axis does not cut inside one element of a part.
//
//   heads of 12 parts x 64 columns:  undivided(f, 0, 24) is nothing;  undivided(f, 0, 8) is {0, 8}: 8 does not divide 12
//   blocks
#include <optional>

#include "engine/plan/bind.h"

namespace planscope::plan {

// Where it stops: the part, and the blocks that were left to be cut from it.
struct Undivided {
  int part = 0;
  std::int64_t blocks = 1;
  bool used_up = false;  // all parts that may be cut are cut into single elements, and more blocks are wanted
};
std::optional<Undivided> undivided(const FactorInfo&, int part, std::int64_t blocks);

}  // namespace planscope::plan
