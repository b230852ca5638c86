// A convolution whose kernel is its stride looks at each element once: it is a product of patches with the weight.
#include <algorithm>

#include "engine/graph/arguments.h"
#include "engine/graph/canonical/passes.h"
#include "engine/graph/canonical/rewriter.h"

namespace planscope {
namespace {

using Sizes = std::vector<std::int64_t>;

bool all_are(const Sizes* list, std::int64_t value) {
  return list && std::all_of(list->begin(), list->end(), [&](std::int64_t v) { return v == value; });
}

// Sizes of the kernel; empty: another kind of convolution.
Sizes patch(const Rewriter& rewriter, const Node& node) {
  if (node.target != "aten::conv1d" && node.target != "aten::conv2d" && node.target != "aten::conv3d") return {};
  ValueId input = tensor_argument(node, "input"), weight = tensor_argument(node, "weight");
  auto rank = static_cast<std::size_t>(node.target[10] - '0') + 2;
  if (input < 0 || weight < 0 || node.outputs.size() != 1 || node.outputs[0] < 0) return {};
  const Sizes &in = rewriter.value(input).sizes, &w = rewriter.value(weight).sizes;
  const auto* stride = ints_argument(node, "stride");
  if (in.size() != rank || w.size() != rank || in[1] != w[1] || !stride || int_argument(node, "groups") != 1) return {};
  Sizes kernel(w.begin() + 2, w.end());
  if (*stride != kernel || !all_are(ints_argument(node, "padding"), 0) || !all_are(ints_argument(node, "dilation"), 1))
    return {};
  for (std::size_t i = 0; i < kernel.size(); ++i)
    if (kernel[i] < 1 || in[i + 2] % kernel[i] != 0) return {};
  return kernel;
}

// [b, c, h, w] -> [b, h/k, w/k, c·k·k]
ValueId emit_patches(Rewriter& rewriter, const Node& node, ValueId input, const Sizes& kernel) {
  const Sizes sizes = rewriter.value(input).sizes;
  Sizes split = {sizes[0], sizes[1]}, dims = {0}, flat = {sizes[0]};
  std::int64_t depth = sizes[1];
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    split.push_back(sizes[i + 2] / kernel[i]);
    split.push_back(kernel[i]);
    dims.push_back(static_cast<std::int64_t>(2 * i) + 2);
    flat.push_back(sizes[i + 2] / kernel[i]);
    depth *= kernel[i];
  }
  dims.push_back(1);
  for (std::size_t i = 0; i < kernel.size(); ++i) dims.push_back(static_cast<std::int64_t>(2 * i) + 3);
  flat.push_back(depth);
  return rewriter.emit_view(node, rewriter.emit_permute(node, rewriter.emit_view(node, input, split), dims), flat);
}

}  // namespace

Model patches(Model model) {
  return rewrite(std::move(model), [](Rewriter& rewriter, Node& node) {
    Sizes kernel = patch(rewriter, node);
    if (kernel.empty()) return false;
    ValueId patches = emit_patches(rewriter, node, tensor_argument(node, "input"), kernel);
    ValueId weight = tensor_argument(node, "weight"), bias = tensor_argument(node, "bias");
    Sizes sizes = rewriter.value(patches).sizes;
    std::int64_t channels = rewriter.value(weight).sizes[0];
    weight = rewriter.emit_view(node, weight, {channels, sizes.back()});
    sizes.back() = channels;
    ValueId product = rewriter.emit(node, "aten::linear",
                                    {{"input", Tensor{patches}},
                                     {"weight", Tensor{weight}},
                                     {"bias", bias < 0 ? Argument(None{}) : Argument(Tensor{bias})}},
                                    rewriter.value(node.outputs[0]).dtype, sizes);
    Sizes dims = {0, static_cast<std::int64_t>(sizes.size()) - 1};
    for (std::size_t i = 1; i + 1 < sizes.size(); ++i) dims.push_back(static_cast<std::int64_t>(i));
    rewriter.replace(node.outputs[0], rewriter.emit_permute(node, product, dims));
    return true;
  });
}

}  // namespace planscope
