#include "engine/runtime/sample_values.h"

#include <algorithm>
#include <set>

#include "engine/graph/element_types.h"

namespace planscope {

namespace {

const std::string& argument_name(const Graph& graph, OpId op, std::size_t input) {
  const Op& o = graph.ops[static_cast<std::size_t>(op)];
  return graph.node(op).arguments[static_cast<std::size_t>(o.inputs[input].argument)].name;
}

std::optional<std::int64_t> integer_argument(const Node& node, const std::string& name) {
  for (const NamedArgument& a : node.arguments) {
    if (a.name == name && std::holds_alternative<std::int64_t>(a.value)) return std::get<std::int64_t>(a.value);
  }
  return std::nullopt;
}

std::optional<TensorId> tensor_argument(const Node& node, const std::string& name) {
  for (const NamedArgument& a : node.arguments) {
    if (a.name == name && std::holds_alternative<Tensor>(a.value)) return std::get<Tensor>(a.value).id;
  }
  return std::nullopt;
}

// Operators whose integer results are elements of their integer operands (or constants of the model).
bool moves_elements(const std::string& target) {
  static const std::set<std::string> movers = {"aten::view",
                                               "aten::permute",
                                               "aten::expand",
                                               "aten::slice.Tensor",
                                               "aten::select.int",
                                               "aten::cat",
                                               "aten::stack",
                                               "aten::flip",
                                               "aten::split_with_sizes",
                                               "aten::unbind.int",
                                               "aten::slice_scatter",
                                               "aten::select_scatter",
                                               "aten::where.self",
                                               "aten::masked_fill.Scalar",
                                               "aten::roll",
                                               "aten::pad",
                                               "aten::constant_pad_nd",
                                               "aten::to.dtype",
                                               "planscope::copy",
                                               "aten::repeat",
                                               "aten::clamp",
                                               "aten::where.ScalarOther",
                                               "aten::where.ScalarSelf",
                                               "aten::masked_fill.Tensor",
                                               "aten::unfold"};
  return movers.count(target) > 0;
}

bool is_integer(DType type) {
  return type == DType::u8 || type == DType::i8 || type == DType::i16 || type == DType::i32 || type == DType::i64;
}

// Whether an element is the first of its row of several, which a mask must not hide. As a bool tensor of the block's sizes.
at::Tensor first_of_row(const std::vector<std::vector<std::int64_t>>& whole, const Region& region) {
  const at::Tensor first = at::zeros(sizes(region), at::kBool);
  std::int64_t row = 1;
  if (!whole.empty())
    for (const std::int64_t part : whole.back()) row *= part;
  if (row < 2) return first;
  bool* next = first.mutable_data_ptr<bool>();
  for_each_run(whole, region, [&](std::int64_t begin, std::int64_t count) {
    for (std::int64_t i = begin; i < begin + count; ++i) *next++ = i % row == 0;
  });
  return first;
}

bool needs_positive(const std::string& target) {
  for (const char* name :
       {"aten::log", "aten::rsqrt", "aten::sqrt", "aten::pow", "aten::reciprocal", "aten::div", "aten::kl_div",
        "aten::poisson_nll_loss"}) {
    if (target.compare(0, std::string_view(name).size(), name) == 0) return true;
  }
  return false;
}

bool divides(const std::string& target) {
  for (const char* name : {"aten::div", "aten::floor_divide", "aten::remainder", "aten::fmod"})
    if (target.starts_with(name)) return true;
  return false;
}

}  // namespace

std::optional<std::int64_t> index_bound(const Graph& graph, OpId op, std::size_t input) {
  const Node& node = graph.node(op);
  const std::string& name = argument_name(graph, op, input);
  const auto bound = [&](const char* table, std::int64_t dim) -> std::optional<std::int64_t> {
    const auto tensor = tensor_argument(node, table);
    if (!tensor) return std::nullopt;
    const std::int64_t rank = static_cast<std::int64_t>(graph.sizes(*tensor).size());
    return graph.size(*tensor, static_cast<int>(dim < 0 ? dim + rank : dim));
  };
  if ((node.target == "aten::embedding" || node.target == "planscope::embedding_bag") && name == "indices")
    return bound("weight", 0);
  if (node.target == "planscope::pick" && name == "target") return bound("self", -1);
  if (node.target == "planscope::index_rows" && name == "index") return bound("self", 1);
  if (node.target == "planscope::grouped_mm" && name == "index") return bound("weight", 0);
  if (node.target == "aten::cross_entropy_loss" && name == "target") {
    const auto self = tensor_argument(node, "self");
    return self && graph.sizes(*self).size() > 1 ? bound("self", 1) : bound("self", 0);
  }
  if ((node.target == "aten::index.Tensor" || node.target == "aten::index_put") && name == "indices") {
    return bound("self", graph.ops[static_cast<std::size_t>(op)].inputs[input].element);
  }
  if (name == "index") {
    if (const auto dim = integer_argument(node, "dim")) return bound("self", *dim);
  }
  return std::nullopt;
}

std::optional<std::int64_t> index_bound(const Graph& graph, TensorId tensor) {
  std::optional<std::int64_t> least;
  std::set<TensorId> seen = {tensor};
  std::vector<TensorId> open = {tensor};
  while (!open.empty()) {
    const TensorId next = open.back();
    open.pop_back();
    for (const OpId reader : graph.tensors[static_cast<std::size_t>(next)].readers) {
      const Op& op = graph.ops[static_cast<std::size_t>(reader)];
      for (std::size_t i = 0; i < op.inputs.size(); ++i) {
        if (op.inputs[i].tensor != next) continue;
        if (const auto bound = index_bound(graph, reader, i)) least = std::min(least.value_or(*bound), *bound);
      }
      if (!moves_elements(graph.node(reader).target)) continue;
      for (const Operand& out : op.outputs) {
        const bool integer = is_integer(graph.model->values[static_cast<std::size_t>(out.tensor)].dtype);
        if (integer && seen.insert(out.tensor).second) open.push_back(out.tensor);
      }
    }
  }
  return least;
}

at::Tensor sample_value(const Graph& graph, TensorId tensor, const Region& region, std::uint64_t seed,
                        Precision precision) {
  const Value& value = graph.model->values[static_cast<std::size_t>(tensor)];
  const at::ScalarType type = scalar_type(value.dtype, precision);
  const auto whole = part_sizes(graph, tensor);
  const std::uint64_t key = random_key(seed, value.name);
  if (value.dtype == DType::boolean)
    return random_integers(key, 4, whole, region).ne(0).logical_or_(first_of_row(whole, region));
  if (is_integer(value.dtype)) {
    const auto bound = index_bound(graph, tensor);
    if (!bound) return random_integers(key, 3, whole, region).masked_fill_(first_of_row(whole, region), 1).to(type);
    return random_integers(key, *bound, whole, region).to(type);
  }
  const at::Tensor normal = random_normal(key, whole, region, is_complex(value.dtype));
  if (value.kind == ValueKind::input) return normal.to(type);
  const bool scale = whole.size() == 1 && value.name.ends_with("weight");
  return (scale ? normal.mul(0.02).add(1.0) : normal.mul(0.02)).to(type);
}

at::Tensor sample_operand(const Graph& graph, OpId op, std::size_t input,
                          const std::vector<std::vector<std::int64_t>>& sizes, std::uint64_t key) {
  const Node& node = graph.node(op);
  const Operand& operand = graph.ops[static_cast<std::size_t>(op)].inputs[input];
  const DType type = graph.model->values[static_cast<std::size_t>(operand.tensor)].dtype;
  Region region;
  for (const std::vector<std::int64_t>& parts : sizes) {
    region.emplace_back();
    for (const std::int64_t size : parts) region.back().push_back({0, size});
  }
  if (is_complex(type)) return random_normal(key, sizes, region, true);
  if (is_floating(type)) {
    const at::Tensor normal = random_normal(key, sizes, region);
    if (node.target == "aten::binary_cross_entropy") return normal.sigmoid();  // probabilities
    const bool square = normal.dim() > 1 && normal.size(-1) == normal.size(-2);
    if (node.target == "aten::linalg_cholesky" && square)  // symmetric and positive-definite
      return normal.matmul(normal.mT()).add(at::eye(normal.size(-1), normal.options()));
    return needs_positive(node.target) ? normal.abs().add(0.5) : normal;
  }
  if (type == DType::boolean) {
    const at::Tensor mask = random_integers(key, 3, sizes, region).gt(0);
    if (mask.dim() > 0) mask.select(-1, 0).fill_(true);  // no row of a mask is empty
    if (const auto source = tensor_argument(node, "source"); source && node.target == "aten::masked_scatter") {
      const Operand& result = graph.ops[static_cast<std::size_t>(op)].outputs[0];
      const std::int64_t times = std::max<std::int64_t>(1, graph.elements(result.tensor) / std::max<std::int64_t>(1, mask.numel()));
      const at::Tensor counted = mask.flatten().cumsum(0).mul(times).le(graph.elements(*source));
      return mask.logical_and(counted.view(mask.sizes()));  // it has an element for each
    }
    return mask;
  }
  at::Tensor drawn = random_integers(key, index_bound(graph, op, input).value_or(4), sizes, region);
  if (divides(node.target) && argument_name(graph, op, input) == "other") drawn = drawn.add(1);  // not by zero
  const bool ends = argument_name(graph, op, input) == "offs";  // of groups of rows: they do not decrease
  return (ends ? std::get<0>(drawn.sort()) : drawn).to(scalar_type(type));
}

}  // namespace planscope
