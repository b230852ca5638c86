#include "app/session/tensors.h"

namespace planscope::session {

std::string tensor_of(const State& s) {
  const Document* d = s.document();
  if (!d || !d->shown || !d->shown->evaluation) return {};
  if (!s.selection.tensor.empty()) return s.selection.tensor;
  if (!s.selected) return {};
  const Graph& g = *d->shown->evaluation->made.graph;
  const Selected& of = *s.selected;
  if (of.of_parameters() && !of.parameters.empty())
    return g.tensor_name(g.parameters[static_cast<std::size_t>(of.parameters.front())].tensor);
  if (of.operators.empty()) return {};
  const Op& first = g.ops[static_cast<std::size_t>(of.operators.front())];
  return first.outputs.empty() ? std::string() : g.tensor_name(first.outputs.front().tensor);
}

std::shared_ptr<const TensorFacts> tensor_shown(const State& s) {
  const std::string name = tensor_of(s);
  if (name.empty()) return nullptr;
  const std::shared_ptr<const Result<TensorFacts>> facts =
      s.document()->shown->study->tensor(name, {.gradient = s.look.gradient, .index = s.look.index});
  return facts->ok() ? std::shared_ptr<const TensorFacts>(facts, &**facts) : nullptr;
}

}  // namespace planscope::session
