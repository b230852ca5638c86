// What makes a tensor of given sizes reads no operand: its result depends on no value. Those that read one for its type
// alone (`new_zeros`) or for its sizes too (`zeros_like`) are the plain ones, with literal type and sizes; the sizes
// stay tied to the operand's (Node::like). What is not filled is filled with zeros, so that every run has the same numbers.
#include <algorithm>
#include <array>

#include "engine/graph/arguments.h"
#include "engine/graph/canonical/passes.h"
#include "engine/graph/canonical/rewriter.h"

namespace planscope {
namespace {

struct Row {
  std::string_view name, plain;
  bool like = false;  // has the sizes of its operand
};

constexpr std::array<Row, 15> rows = {{{"aten::zeros_like", "aten::zeros", true},
                                       {"aten::ones_like", "aten::ones", true},
                                       {"aten::full_like", "aten::full", true},
                                       {"aten::empty_like", "aten::zeros", true},
                                       {"aten::rand_like", "aten::rand", true},
                                       {"aten::randn_like", "aten::randn", true},
                                       {"aten::new_zeros", "aten::zeros"},
                                       {"aten::new_ones", "aten::ones"},
                                       {"aten::new_full", "aten::full"},
                                       {"aten::new_empty", "aten::zeros"},
                                       {"aten::new_empty_strided", "aten::zeros"},
                                       {"aten::empty.memory_format", "aten::zeros"},
                                       {"aten::empty_strided", "aten::zeros"},
                                       {"aten::empty_permuted", "aten::zeros"},
                                       {"aten::fill.Scalar", "aten::full", true}}};

}  // namespace

Model factories(Model model) {
  return rewrite(std::move(model), [](Rewriter& rewriter, Node& node) {
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.name == node.target; });
    if (row == rows.end() || node.outputs.size() != 1 || node.outputs[0] < 0) return false;
    const Value& result = rewriter.value(node.outputs[0]);
    const ValueId self = tensor_argument(node, "self");
    if (row->like && (self < 0 || rewriter.value(self).sizes != result.sizes)) return false;
    std::vector<NamedArgument> arguments = {{"size", result.sizes}};
    if (row->plain == "aten::full") {
      const Argument* fill = find_argument(node, node.target == "aten::fill.Scalar" ? "value" : "fill_value");
      if (!fill) return false;
      arguments.push_back({"fill_value", *fill});
    }
    arguments.insert(arguments.end(),
                     {{"dtype", result.dtype}, {"layout", None{}}, {"device", None{}}, {"pin_memory", None{}}});
    node.target = row->plain;
    node.arguments = std::move(arguments);
    node.like = row->like ? self : -1;
    return false;
  });
}

}  // namespace planscope
