// Recurrent nets: sequences of a batch are apart from each other. Steps follow one another, and a gate reads the whole
// state: both are whole.
#include "engine/graph/draft.h"

namespace planscope {

namespace {

constexpr const char* gates = "a gate reads the whole state";

struct Recurrent {
  RuleContext& c;
  int batch = -1;  // the factor

  bool whole(int i, int d, const char* name) {
    return c.tie(i, d, c.factor(name, FactorKind::frozen, c.parts_of(i, d), gates));
  }
  // A state or a layer's result: dimension `at` is the batch, the last one hidden, another one counts the layers.
  static const char* state_name(int d, std::size_t rank) {
    return d + 1 == static_cast<int>(rank) ? "hidden" : "layers";
  }
  bool state(int i, int at) {
    const std::size_t rank = c.draft.inputs[static_cast<std::size_t>(i)].dims.size();
    for (int d = 0; d < static_cast<int>(rank); ++d)
      if (d == at ? !c.tie(i, d, batch) : !whole(i, d, state_name(d, rank))) return false;
    return true;
  }
  // A matrix [gates, in] or a bias [gates].
  bool weight(int i) {
    const std::size_t rank = c.draft.inputs[static_cast<std::size_t>(i)].dims.size();
    for (int d = 0; d < static_cast<int>(rank); ++d)
      if (!whole(i, d, d == 0 ? "gates" : "in")) return false;
    return true;
  }
  bool result(int o, int at) {
    const std::vector<std::int64_t> sizes = c.output_sizes(o);
    for (int d = 0; d < static_cast<int>(sizes.size()); ++d)
      c.output_dim(o, d == at ? batch
                              : c.factor(state_name(d, sizes.size()), FactorKind::frozen,
                                         c.fresh(sizes[static_cast<std::size_t>(d)]), gates));
    return static_cast<int>(sizes.size()) > at;
  }
};

// input [b, t, i] or [t, b, i], states [layers, b, h] -> [b, t, h], states [layers, b, h]
bool net(RuleContext& c) {
  const int input = c.input("input");
  if (input < 0 || c.draft.inputs[static_cast<std::size_t>(input)].dims.size() != 3) return false;
  Recurrent r{c};
  const int at = c.boolean("batch_first") ? 0 : 1, steps = 1 - at;
  r.batch = c.factor("", FactorKind::free, c.parts_of(input, at));
  const int time = c.factor("steps", FactorKind::frozen, c.parts_of(input, steps), "a step follows the one before");
  if (!c.tie(input, at, r.batch) || !c.tie(input, steps, time) || !r.whole(input, 2, "in")) return false;
  for (std::size_t i = 0; i < c.draft.inputs.size(); ++i) {
    if (static_cast<int>(i) == input) continue;
    const std::string& name = c.node.arguments[static_cast<std::size_t>(c.draft.inputs[i].argument)].name;
    if (name == "hx" && c.draft.inputs[i].dims.size() != 3) return false;
    if (name == "hx" ? !r.state(static_cast<int>(i), 1) : !r.weight(static_cast<int>(i))) return false;
  }
  c.begin_outputs();
  for (int d = 0; d < 3; ++d)
    c.output_dim(0, d == at      ? r.batch
                    : d == steps ? time
                                 : c.factor("hidden", FactorKind::frozen, c.fresh(c.output_sizes()[2]), gates));
  for (std::size_t o = 1; o < c.node.outputs.size(); ++o)
    if (!r.result(static_cast<int>(o), 1)) return false;
  return true;
}

// input [b, i], states [b, h] -> states [b, h]
bool cell(RuleContext& c) {
  const int input = c.input("input");
  if (input < 0 || c.draft.inputs[static_cast<std::size_t>(input)].dims.size() != 2) return false;
  Recurrent r{c};
  r.batch = c.factor("", FactorKind::free, c.parts_of(input, 0));
  for (std::size_t i = 0; i < c.draft.inputs.size(); ++i) {
    const std::string& name = c.node.arguments[static_cast<std::size_t>(c.draft.inputs[i].argument)].name;
    if (static_cast<int>(i) == input ? !c.tie(input, 0, r.batch) || !r.whole(input, 1, "in")
        : name == "hx"               ? !r.state(static_cast<int>(i), 0)
                                     : !r.weight(static_cast<int>(i)))
      return false;
  }
  c.begin_outputs();
  for (std::size_t o = 0; o < c.node.outputs.size(); ++o)
    if (!r.result(static_cast<int>(o), 0)) return false;
  return true;
}

}  // namespace

bool apply_recurrent(RuleContext& c) {
  const std::string& t = c.node.target;
  const bool sequence = t == "aten::lstm.input" || t == "aten::gru.input" || t == "aten::rnn_tanh.input" ||
                        t == "aten::rnn_relu.input";
  const bool step =
      t == "aten::lstm_cell" || t == "aten::gru_cell" || t == "aten::rnn_tanh_cell" || t == "aten::rnn_relu_cell";
  if (!sequence && !step) return false;
  c.any("has_biases num_layers bidirectional");
  const bool draws = c.boolean("train") && c.number("dropout") > 0 && c.integer("num_layers", 1) > 1;
  for (const ValueId id : c.node.outputs)
    if (id < 0) return false;
  if (draws || !(sequence ? net(c) : cell(c))) return false;
  for (std::size_t i = 0; i < c.draft.inputs.size(); ++i) c.draft.saves.push_back(static_cast<int>(i));
  for (std::size_t o = 0; o < c.draft.outputs.size(); ++o) c.draft.saves.push_back(-1 - static_cast<int>(o));
  c.draft.rule = t.substr(6);
  c.draft.product = true;
  return true;
}

}  // namespace planscope
