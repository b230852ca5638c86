#include "planner/cost/operator_class.h"

#include <algorithm>
#include <array>

namespace planscope {
namespace {

template <std::size_t N>
bool one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

constexpr std::array<std::string_view, 28> kViews = {
    "alias",     "as_strided",       "chunk",     "detach",    "diagonal", "expand",
    "expand_as", "flatten",          "narrow",    "permute",   "select",   "slice",
    "split",     "squeeze",          "swapaxes",  "t",         "movedim",  "transpose",
    "unbind",    "split_with_sizes", "unflatten", "unsqueeze", "view",     "view_as",
    "real",      "imag",             "view_as_real", "view_as_complex"};
constexpr std::array<std::string_view, 18> kReductions = {"layer_norm",   "native_layer_norm",
                                                          "rms_norm",     "group_norm",
                                                          "batch_norm",   "softmax",
                                                          "_softmax",     "log_softmax",
                                                          "_log_softmax", "logsumexp",
                                                          "sum",          "mean",
                                                          "amax",         "amin",
                                                          "var",          "cumsum",
                                                          "sort",         "topk"};
constexpr std::array<std::string_view, 7> kIndices = {"embedding", "index", "index_select",  "gather",
                                                      "pick",      "take",  "take_along_dim"};

// `aten::add.Tensor` -> `add`
std::string_view short_name(std::string_view target) {
  if (const std::size_t colon = target.rfind("::"); colon != std::string_view::npos) target.remove_prefix(colon + 2);
  return target.substr(0, target.find('.'));
}

}  // namespace

std::string_view to_string(OperatorClass c) {
  constexpr std::array<std::string_view, kOperatorClasses> names = {"view",      "product", "attention",
                                                                    "reduction", "index",   "pointwise"};
  return names[static_cast<std::size_t>(c)];
}

OperatorClass classify(const Graph& graph, OpId op) {
  const std::string_view name = short_name(graph.node(op).target);
  if (name.find("attention") != std::string_view::npos) return OperatorClass::attention;
  if (!graph.ops[static_cast<std::size_t>(op)].elementwise_cost) return OperatorClass::product;
  if (one_of(name, kViews)) return OperatorClass::view;
  if (one_of(name, kReductions)) return OperatorClass::reduction;
  if (one_of(name, kIndices)) return OperatorClass::index;
  return OperatorClass::pointwise;
}

}  // namespace planscope
