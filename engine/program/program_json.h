#pragma once
// A Program as JSON text and back: what `planscope plan --program F` writes and `planscope verify --program F` reads.
//
// One object; every list of the Program is a member, one item a line; layouts, places, values, pieces, segments and
// statements are referred to by position, operators and tensors by their position in the Graph. The same Program gives
// the same bytes, and program_from_json(to_json(p), g) == p.
//
//   {"format":"planscope program 1", "graph":"<digest>", …, "axes":[{"name":"data","size":2,"grid":0}], …,
//    "layouts":[{"splits":[[dim,part,[[axis,size,stride],…]],…],"partials":[["sum",axis,size,stride],…]}],
//    "values":[[tensor,"data",layout,place,[free axes],refills],…],
//    "segments":[{"name":"f","phase":"f","place":0,"free_axes":[1],"instructions":[{"do":"compute","piece":0,"in":[0],"out":[1]},…]}], …}
//
// A file that is damaged, of another version or made for another graph gives one error that names the place in the
// file; check_structure() decides whether what was read can be looked at safely.
#include <string>
#include <string_view>
#include <vector>

#include "engine/program/program.h"

namespace planscope {

std::string to_json(const Program&);
Result<Program> program_from_json(std::string_view text, const Graph&);

// As it stands in the text, held against no graph: Program::sizes say at which sizes its model is to be opened. Then
// check_fit(): that it is that model's, and can be read (structure.h).
Result<Program> program_from_json(std::string_view text);
std::vector<Diagnostic> check_fit(const Program&, const Graph&);

}  // namespace planscope
