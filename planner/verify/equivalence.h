#pragma once
// One transfer rule per instruction: what it makes has the judgement that it states.
#include <vector>

#include "planner/verify/ledger.h"

namespace planscope::verification {

// Where a value is made, or where a piece is run.
struct CodePoint {
  int segment = -1, instruction = -1;
  bool operator==(const CodePoint&) const = default;
};

// Who makes, sends and keeps what; every value is made by one instruction.
struct Makers {
  std::vector<CodePoint> of;                // per value; homes: none
  std::vector<CodePoint> kept;              // per piece: the compute or replay whose results backward reads
  std::vector<CodePoint> sender, receiver;  // per transfer
};

Makers find_makers(const Graph&, const Program&, Ledger&);

// Values, then all instructions except what gradients sum (gradients.h).
void check_values(const Graph&, const Program&, Ledger&);
void check_instructions(const Graph&, const Program&, const Makers&, Ledger&);

// Places are equal if they name the same sub-grid.
bool same_place(const Program&, PlaceId, PlaceId);

// A trained parameter: what `update` writes.
bool is_updated(const Graph&, TensorId);

}  // namespace planscope::verification
