#pragma once
// Rules of one's own: lines as in rule_text.h in a file beside the model, `net.rules` beside `net.pt2`. Empty lines and those
// that begin with `#` are passed over. They go before the rules of the tool; one that does not fit an operator (ranks, sizes)
// leaves it to these. Whoever opens the model reads the file, so that all work on one Graph, and its digest tells of it.
//
//   # net.rules: torch.nn.functional.glu over the last dimension, whole; any other dimension may be split
//   aten::glu : self b.. h -> b.. o ; frozen h=hidden "halves meet", frozen o=hidden "halves meet"
//
// A rule is a claim that verify takes for true: `planscope rules net.pt2 --audit` executes shards of its operators.
//
// Errors: a line that is no rule, or that speaks of operands or dimensions that it does not have. Warnings: a rule that fits no
// operator of the model.
#include <memory>

#include "engine/base/diagnostic.h"
#include "engine/graph/graph.h"
#include "engine/graph/rule_text.h"

namespace planscope {

struct OwnRules {
  std::string file;
  std::vector<int> lines;  // of the rules
  std::vector<TextRule> rules;
};

// None where there is no such file.
Result<OwnRules> read_own_rules(const std::string& model_path);

Result<Graph> make_graph(std::shared_ptr<const Model>, const OwnRules&);

// The graph of a model with the rules beside its file.
Result<Graph> open_graph(std::shared_ptr<const Model>);

}  // namespace planscope
