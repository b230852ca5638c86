#include "app/session/tensors.h"

#include "app/workbench/named.h"

namespace planscope::session {

std::string tensor_of(const State& s) {
  const Document* d = s.document();
  if (!d || !d->shown || !d->shown->evaluation) return {};
  if (!s.selection.tensor.empty()) return s.selection.tensor;
  if (s.selection.operators.empty()) return {};
  const Graph& g = *d->shown->evaluation->made.graph;
  const Result<NamedRows> named = named_rows(d->shown->plan, model_info(g), s.selection.operators);
  if (!named.ok() || named->rows.empty()) return {};
  const auto first = static_cast<std::size_t>(named->rows.front());
  if (named->of_parameters()) return g.tensor_name(g.parameters[first].tensor);
  return g.ops[first].outputs.empty() ? std::string() : g.tensor_name(g.ops[first].outputs.front().tensor);
}

std::optional<TensorFacts> tensor_shown(const State& s) {
  const std::string name = tensor_of(s);
  if (name.empty()) return std::nullopt;
  const Picture& p = *s.document()->shown;
  Result<TensorFacts> facts = tensor_facts(*p.evaluation, *p.cluster, name,
      {.gradient = s.look.gradient, .index = s.look.index});
  return facts.ok() ? std::move(facts.value) : std::nullopt;
}

}  // namespace planscope::session
