// Convolutions and transposed ones, of one to three dimensions: channels are groups x channels of a group. Groups are
// apart from each other; within a group input channels are summed over. Windows slide over the other dimensions, whole.
//
//   conv2d of 32 channels in 4 groups to 64      input b (g c) x u, weight (g o) c p q -> b (g o) y w    {g=4 c=8 o=16}
#include "engine/graph/draft.h"
#include "engine/graph/windows.h"

namespace planscope {

namespace {

// Channels of one operand: the parts of some factors, major to minor.
void channels(RuleContext& c, DraftOperand& o, std::size_t dim, const std::vector<int>& factors) {
  std::vector<DraftRef> refs;
  for (const int f : factors)
    for (std::size_t k = 0; k < c.draft.factors[static_cast<std::size_t>(f)].nodes.size(); ++k)
      refs.push_back({f, static_cast<int>(k)});
  if (o.dims.size() <= dim) o.dims.resize(dim + 1);
  o.dims[dim] = std::move(refs);
}

std::vector<int> joined(std::vector<int> a, const std::vector<int>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// The size of a plane's dimension follows from that of the input.
void relate_plane(RuleContext& c, int k, std::int64_t kernel, bool transposed, const std::vector<int>& in,
                  const std::vector<int>& out, std::int64_t in_size, std::int64_t out_size) {
  const std::int64_t stride = at_or(c.integers("stride"), k, 1), dilation = at_or(c.integers("dilation"), k, 1);
  const std::int64_t reach = dilation * (kernel - 1);
  const Argument* padding = c.argument("padding");
  const auto* word = padding ? std::get_if<std::string>(padding) : nullptr;
  const std::int64_t pads = word ? (*word == "same" ? reach : 0) : 2 * at_or(c.integers("padding"), k, 0);
  const std::int64_t constant = transposed ? reach + at_or(c.integers("output_padding"), k, 0) + 1 - stride - pads
                                           : pads - reach - 1 + stride;
  const std::int64_t times = transposed ? stride : 1, per = transposed ? 1 : stride;
  if (per > 0 && (constant + times * in_size) / per == out_size) c.relate(out, {in}, constant, times, per);
}

}  // namespace

bool apply_convolution(RuleContext& c) {
  const std::string& t = c.node.target;
  c.any("stride padding dilation output_padding");
  const bool transposed = t.starts_with("aten::conv_transpose");
  const int spatial = dimensions_of(t);
  const bool direct = t.starts_with("aten::conv1d") || t.starts_with("aten::conv2d") || t.starts_with("aten::conv3d");
  const int input = c.input("input"), weight = c.input("weight"), bias = c.input("bias");
  if ((!direct && !transposed) || input < 0 || weight < 0 || c.node.outputs.size() != 1) return false;
  const AskedSizes in = c.sizes(c.draft.inputs[static_cast<std::size_t>(input)].tensor);
  const AskedSizes kernel = c.sizes(c.draft.inputs[static_cast<std::size_t>(weight)].tensor);
  const AskedSizes out = c.output_sizes();
  const std::int64_t groups = c.integer("groups", 1);
  const int rank = static_cast<int>(in.size()), channel = rank - spatial - 1;
  if (static_cast<int>(kernel.size()) != spatial + 2 || out.size() != in.size() || channel < 0 || channel > 1 ||
      groups < 1)
    return false;

  c.begin_outputs();
  DraftOperand& x = c.draft.inputs[static_cast<std::size_t>(input)];
  DraftOperand& w = c.draft.inputs[static_cast<std::size_t>(weight)];
  if (channel == 1) {
    const int batch = c.factor("", FactorKind::free, c.parts_of(input, 0));
    if (!c.tie(input, 0, batch)) return false;
    c.output_dim(0, batch);
  }
  const std::int64_t first = kernel[0] / groups;
  const std::vector<int> g = groups == 1 ? std::vector<int>{} : c.fresh(groups);
  const std::vector<int> a = groups == 1 ? c.parts_of(weight, 0) : c.fresh(first), b = c.parts_of(weight, 1);
  const std::vector<int>&ins = transposed ? a : b, &outs = transposed ? b : a;
  if (first * groups != kernel[0] || !c.agree(c.parts_of(weight, 0), joined(g, a)) ||
      !c.agree(c.parts_of(input, channel), joined(g, ins)) ||
      out[static_cast<std::size_t>(channel)] != groups * c.total(outs))
    return false;
  const bool depthwise = groups > 1 && c.total(ins) == 1 && c.total(outs) == 1;
  const int group = c.factor(depthwise ? "out" : "groups", FactorKind::free, g);
  const int from = c.factor("in", FactorKind::sum, ins), to = c.factor("out", FactorKind::free, outs);
  channels(c, x, static_cast<std::size_t>(channel), {group, from});
  channels(c, w, 0, {group, transposed ? from : to});
  channels(c, w, 1, {transposed ? to : from});
  channels(c, c.draft.outputs[0], static_cast<std::size_t>(channel), {group, to});
  if (bias >= 0) {
    if (!c.agree(c.parts_of(bias, 0), joined(g, outs))) return false;
    channels(c, c.draft.inputs[static_cast<std::size_t>(bias)], 0, {group, to});
    c.draft.inputs[static_cast<std::size_t>(bias)].added = true;
  }
  for (int k = 0; k < spatial; ++k) {
    const int d = channel + 1 + k;
    const auto at = static_cast<std::size_t>(d);
    const std::vector<int> plane = c.fresh(out[at]);
    const int read = c.factor(plane_name(spatial, k), FactorKind::frozen, c.parts_of(input, d), "windows overlap");
    const int slides = c.factor("kernel", FactorKind::frozen, c.parts_of(weight, k + 2), "slides");
    if (!c.tie(input, d, read) || !c.tie(weight, k + 2, slides)) return false;
    c.output_dim(0, c.factor(plane_name(spatial, k), FactorKind::frozen, plane, "windows overlap"));
    relate_plane(c, k, kernel[static_cast<std::size_t>(k) + 2], transposed, c.parts_of(input, d), plane, in[at],
                 out[at]);
  }
  if (x.tensor != w.tensor) c.draft.linear = {{input}, {weight}};
  c.draft.saves = {input, weight};
  c.draft.rule = t.substr(6);
  c.draft.product = true;
  return true;
}

}  // namespace planscope
