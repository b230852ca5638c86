#pragma once
// Who makes, sends and keeps what. Two instructions that do it for one value, piece or transfer are a failure.
#include <vector>

#include "planner/verify/ledger.h"

namespace planscope::verification {

// Where a value is made, or where a piece is run.
struct CodePoint {
  int segment = -1, instruction = -1;
  bool operator==(const CodePoint&) const = default;
};

// Every value is made by one instruction.
struct Makers {
  std::vector<CodePoint> of;                // per value; homes: none
  std::vector<CodePoint> kept;              // per piece: the compute or replay whose results backward reads
  std::vector<CodePoint> sender, receiver;  // per transfer
};

Makers find_makers(const Graph&, const Program&, Ledger&);

}  // namespace planscope::verification
