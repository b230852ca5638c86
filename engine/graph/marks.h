#pragma once
// The last steps of make_graph(): names of part classes and factors, marks, costs, the digest. Each works on a Graph whose
// operators and tensors are final.
#include <string>
#include <utility>
#include <vector>

#include "engine/graph/graph.h"

namespace planscope {

// Names of input dimensions first (guessed: batch, seq, …), then those that rules declare (heads, vocab, hidden), then `ffn`.
void name_classes(Graph&, const std::vector<std::pair<ClassId, std::string>>& declared);

// gradient, backward, parameter_free, frozen classes.
void mark(Graph&);

void digest_graph(Graph&);

}  // namespace planscope
