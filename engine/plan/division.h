#pragma once
// Whether a factor can be cut into equal blocks. The cut begins at one of the factor's parts and goes on to the next part when
// the blocks have used up the size of this one; no block is smaller than one element.
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
