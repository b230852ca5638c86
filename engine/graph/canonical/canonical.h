#pragma once
// The passes that bring a pure Model into canonical form (README.md of this folder says what they guarantee). A pass is
// a function Model -> Model with a name; a node that a pass does not understand stays as it is.
#include <string_view>
#include <vector>

#include "engine/base/diagnostic.h"
#include "engine/graph/model.h"

namespace planscope {

struct CanonicalPass {
  std::string_view name;
  Model (*run)(Model);
};

// In their order; the last ones remove dead nodes and number the others.
const std::vector<CanonicalPass>& canonical_passes();

Model canonicalize(Model);

// Contradictions between operators and the sizes that the file gives for their operands and results. A file that torch
// wrote has none; everything after the import relies on it.
std::vector<Diagnostic> check_shapes(const Model&);

// The first node whose operands and results do not fit together at other sizes, those of all values; numbers that stand in the file
// are not compared. None: nullptr.
const Node* first_misfit(const Model&, const std::vector<std::vector<std::int64_t>>& sizes);

// Arguments that are not of the types that the operators' schemas ask for: no pass makes such a node, and the reader lets
// none through. What is found is a fault of planscope.
std::vector<Diagnostic> check_arguments(const Model&);

}  // namespace planscope
