#pragma once
// Cells that the panels of a graph have in common.
#include "app/session/graph/picture.h"
#include "app/session/panel.h"

namespace planscope::session {

// `all_reduce among 4: 64.0 MiB, 1.2 ms, 0.3 ms exposed`; of several joined by `; `.
std::string text_of(const Conversion&);
Json json_of(const std::vector<Conversion>&);
Cell conversions_cell(const std::vector<Conversion>&);
Json json_of(const GraphPicture&, const EdgePicture&);

}  // namespace planscope::session
