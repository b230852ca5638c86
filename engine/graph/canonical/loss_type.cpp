// The loss stays in the type that it was computed in. A cast to a narrower type at its end would have to wait for the parts of
// all devices and micro-batches (a rounded sum is not the sum of rounded parts), and no gradient depends on it: that of the loss
// itself is 1. A loss that adds up several is followed to each of them.
#include <algorithm>
#include <set>

#include "engine/graph/arguments.h"
#include "engine/graph/canonical/passes.h"
#include "engine/graph/canonical/rewriter.h"

namespace planscope {
namespace {

class Widening {
 public:
  explicit Widening(Model& model)
      : model_(model), uses_(model.values.size(), 0), producers_(model.values.size(), nullptr) {
    for (Node& n : model.nodes) {
      for (NamedArgument& a : n.arguments)
        if (const Tensor* t = std::get_if<Tensor>(&a.value); t && t->id >= 0) ++uses_[at(t->id)];
      if (n.outputs.size() == 1) producers_[at(n.outputs[0])] = &n;
    }
  }

  // What stands for a scalar that only the loss is made of.
  ValueId widened(ValueId v) {
    static const std::set<std::string_view> linear = {"aten::add.Tensor", "aten::sub.Tensor", "aten::mul.Scalar",
                                                      "aten::div.Scalar", "aten::add.Scalar", "aten::neg"};
    Node* const n = producers_[at(v)];
    if (!n || uses_[at(v)] > 1 || !value(v).sizes.empty()) return v;
    if (n->target == "aten::to.dtype") {
      const ValueId from = sole_operand(*n);
      return from >= 0 && is_floating(value(from).dtype) && bytes(from) > bytes(v) ? from : v;
    }
    if (!linear.contains(n->target)) return v;
    for (NamedArgument& a : n->arguments)
      if (Tensor* t = std::get_if<Tensor>(&a.value); t && t->id >= 0) {
        t->id = widened(t->id);
        if (is_floating(value(t->id).dtype) && bytes(t->id) > bytes(v)) value(v).dtype = value(t->id).dtype;
      }
    return v;
  }

 private:
  static std::size_t at(ValueId v) { return static_cast<std::size_t>(v); }
  Value& value(ValueId v) { return model_.values[at(v)]; }
  std::int64_t bytes(ValueId v) { return byte_size(value(v).dtype); }

  Model& model_;
  std::vector<int> uses_;  // as an operand
  std::vector<Node*> producers_;
};

}  // namespace

Model loss_type(Model model) {
  if (model.loss < 0) return model;
  const ValueId computed = Widening(model).widened(model.loss);
  std::replace(model.outputs.begin(), model.outputs.end(), model.loss, computed);
  model.loss = computed;
  return model;
}

}  // namespace planscope
