#pragma once
// What a conversion may do next: the moves that lead from one layout of a tensor towards another. conversion.h searches
// the cheapest way among them; a move that is legal but leads nowhere (a gather of what both sides hold cut) is left out.
// What a move does to a layout is apply() (conversion.h).
//
//   now [batch/data]  ->  to [seq/data]:  all_to_all, all_gather, and a slice of seq over axes that `now` does not use
#include <vector>

#include "engine/program/conversion.h"

namespace planscope {

std::vector<Move> moves_from(const ConversionSpace&, const Layout& now, const Layout& to);

}  // namespace planscope
