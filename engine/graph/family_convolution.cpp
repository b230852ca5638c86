// Convolutions of several groups (those of one are lines, rule_lines.cpp). Of a depthwise one, in which every channel is
// a group, channels are free; others mix the channels of a group, and theirs are whole.
#include "engine/graph/draft.h"

namespace planscope {

bool apply_convolution(RuleContext& c) {
  const std::string& t = c.node.target;
  const std::int64_t groups = c.integer("groups", 1);
  if ((t != "aten::conv1d" && t != "aten::conv2d" && t != "aten::conv3d") || groups < 2) return false;
  const int input = c.input("input"), weight = c.input("weight"), bias = c.input("bias");
  if (input < 0 || weight < 0) return false;
  const std::vector<std::int64_t> in = c.sizes(c.draft.inputs[static_cast<std::size_t>(input)].tensor);
  const std::vector<std::int64_t> kernel = c.sizes(c.draft.inputs[static_cast<std::size_t>(weight)].tensor);
  const std::vector<std::int64_t> out = c.output_sizes();
  const int rank = t[10] - '0' + 2;
  if (static_cast<int>(in.size()) != rank || kernel.size() != in.size() || out.size() != in.size()) return false;
  const auto whole = [&](int i, int d, const char* name, const char* why) {
    const int f = c.factor(name, FactorKind::frozen, c.parts_of(i, d), why);
    return c.tie(i, d, f) ? f : -1;
  };
  c.begin_outputs();
  const int batch = c.factor("", FactorKind::free, c.parts_of(input, 0));
  if (!c.tie(input, 0, batch)) return false;
  c.output_dim(0, batch);
  const bool depthwise = in[1] == groups && kernel[0] == groups;
  const char* mixed = "a group's channels go together";
  const int channels =
      c.factor("out", depthwise ? FactorKind::free : FactorKind::frozen, c.parts_of(weight, 0), depthwise ? "" : mixed);
  if (!c.tie(weight, 0, channels) || (bias >= 0 && !c.tie(bias, 0, channels))) return false;
  if (depthwise ? !c.tie(input, 1, channels) : whole(input, 1, "in", mixed) < 0) return false;
  if (whole(weight, 1, "", mixed) < 0) return false;
  c.output_dim(0, channels);
  for (int d = 2; d < rank; ++d) {
    const auto at = static_cast<std::size_t>(d);
    if (whole(input, d, "", "windows overlap") < 0 || whole(weight, d, "kernel", "slides") < 0) return false;
    c.output_dim(0, c.factor("", FactorKind::frozen, c.fresh(out[at]), "windows overlap"));
  }
  if (bias >= 0) c.draft.inputs[static_cast<std::size_t>(bias)].added = true;
  c.draft.linear = {{input}, {weight}};
  c.draft.saves = {input, weight};
  c.draft.rule = t.substr(6);
  return true;
}

}  // namespace planscope
