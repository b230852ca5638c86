#pragma once
// Indices that count up to a size, and the tables that they are looked up in: a position embedding has as many rows as the
// model was made for, so that a longer sequence has no row.
//
// What is seen: a range (arange), through views, expansion and casts, as the indices of an embedding; and the rows that a
// slice takes of a table (`positions[:, :T]`). What is computed in another way is not, and fails where it is run.
#include <optional>

#include "engine/base/diagnostic.h"
#include "engine/graph/graph.h"

namespace planscope {

// An error about the first table that is too short at the graph's sizes, with the largest size that fits.
std::optional<Diagnostic> short_table(const Graph&);

}  // namespace planscope
