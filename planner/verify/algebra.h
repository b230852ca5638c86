#pragma once
// Judgements as Layouts, and what instructions do to them. Pure functions; an absent result is an illegal step, with the
// reason in `why`.
#include <optional>
#include <string>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/program/program.h"

namespace planscope::verification {

// Two digits of one axis are disjoint if one stands wholly above the other: together they name a block each.
bool disjoint(const Digit&, const Digit&);
bool pairwise_disjoint(const std::vector<Digit>&);

std::vector<Digit> digits_of(const Layout&);  // of splits and partials: those that stand for one coordinate each
const std::vector<Digit>* digits_at(const Layout&, int dim, int part);
bool is_partial(const Layout&);

// The one way to write what a layout says of a tensor: digits of one axis that cut a part one after the other are joined
// where they cut the same blocks as one digit of all (12 into 2 and then 4 is not 12 into 8).
Layout joined(const Graph&, TensorId, Layout);

// What an operator bound by `bindings` demands of an input, and what it gives as an output.
Layout demanded(const Op&, int input, const std::vector<Binding>&);
Layout produced(const Op&, int output, const std::vector<Binding>&);
bool has_part(const Op&, const Operand&, int factor, int part);  // or its rows are selected by the factor

// The layout that a move makes of `in`. Legal gathers and scatters act on the minor digits of a part: the blocks of the
// major ones are not contiguous.
std::optional<Layout> moved(const Program&, const Layout& in, const Move&, std::string& why);

// The combination over all indices of free axes, blocks put together: partial (in that way) or split over each of `axes` as
// a whole. Where it is not split on the minor side, blocks are not one region: every one by itself (Reach::every).
std::optional<Layout> combined_over(const Program&, const Layout& in, const std::vector<AxisId>& axes, PartialKind,
                                    std::string& why);

// Whether the devices of `from`, at equal free indices, hold every region that `to` names (see Transfer).
bool transferable(const Program&, const ProgramValue& from, const ProgramValue& to, std::string& why);

}  // namespace planscope::verification
