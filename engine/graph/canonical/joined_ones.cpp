// In a file exported at batch 1, what comes of parameters alone and is joined with what comes of inputs has as many rows as
// these: a class token that was expanded to the batch. It follows their sizes (Node::like).
#include <algorithm>
#include <vector>

#include "engine/graph/arguments.h"
#include "engine/graph/batch_of_one.h"
#include "engine/graph/canonical/passes.h"
#include "engine/graph/canonical/rewriter.h"

namespace planscope {

Model joined_ones(Model model) {
  if (!batch_of_one(model)) return model;
  const std::vector<bool> of_input = of_inputs(model);
  return rewrite(std::move(model), [&](Rewriter& rewriter, Node& node) {
    auto* tensors = node.target == "aten::cat" || node.target == "aten::stack"
                        ? std::get_if<std::vector<Tensor>>(&node.arguments[0].value)
                        : nullptr;
    if (!tensors) return false;
    const auto comes = [&](Tensor t) {
      return t.id >= 0 && static_cast<std::size_t>(t.id) < of_input.size() && of_input[static_cast<std::size_t>(t.id)];
    };
    const auto with = std::find_if(tensors->begin(), tensors->end(), comes);
    if (with == tensors->end()) return false;
    const ValueId like = with->id;
    for (Tensor& t : *tensors) {
      if (t.id < 0 || comes(t)) continue;
      const Value own = rewriter.value(t.id);
      const auto ones = std::count(own.sizes.begin(), own.sizes.end(), 1);
      const Node* made = rewriter.producer(t.id);
      if (ones == 0 || own.sizes.size() != rewriter.value(like).sizes.size() || (made && made->like == like)) continue;
      t.id = rewriter.emit(node, "aten::expand",
                           {{"self", Tensor{t.id}}, {"size", own.sizes}, {"implicit", false}}, own.dtype, own.sizes);
      rewriter.model.nodes.back().like = like;
    }
    return false;
  });
}

}  // namespace planscope
