#include "engine/runtime/operator_shard.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "engine/graph/foreign.h"
#include "engine/runtime/attention.h"
#include "engine/runtime/empty_results.h"
#include "engine/runtime/random_numbers.h"
#include "engine/runtime/random_operators.h"
#include "engine/runtime/stand_in_operator.h"

namespace planscope {

struct OperatorShard::Implementation {
  std::function<TensorList(const TensorList&, const std::shared_ptr<TensorList>& whole)> run;
};

namespace {

using Sizes = std::vector<std::vector<std::int64_t>>;

// What a shard form has to know: the operator, its arguments (changed in place) and the regions of its operands.
struct ShardContext {
  const Graph& graph;
  const Op& op;
  const Node& node;
  const std::vector<Region>& inputs;
  const std::vector<Region>& outputs;
  const ShardOptions& options;
  std::vector<NamedArgument> arguments;

  Argument* argument(const std::string& name) {
    for (NamedArgument& a : arguments) {
      if (a.name == name) return &a.value;
    }
    return nullptr;
  }
  void set(const std::string& name, Argument value) {
    Argument* a = argument(name);
    if (a == nullptr) throw std::runtime_error(node.target + " has no argument '" + name + "'");
    *a = std::move(value);
  }
  std::int64_t integer(const std::string& name, std::int64_t otherwise) {
    const Argument* a = argument(name);
    const auto* number = a == nullptr ? nullptr : std::get_if<std::int64_t>(a);
    return number == nullptr ? otherwise : *number;
  }
  // Index into `inputs` of a tensor argument.
  std::size_t input(const std::string& name) const {
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      if (node.arguments[static_cast<std::size_t>(op.inputs[i].argument)].name == name) return i;
    }
    throw std::runtime_error(node.target + " has no operand '" + name + "'");
  }
  TensorId tensor(std::size_t input) const { return op.inputs[input].tensor; }
};

using Run = std::function<TensorList(const TensorList&)>;

std::vector<Interval> whole_dimension(const std::vector<std::int64_t>& parts) {
  std::vector<Interval> out;
  for (const std::int64_t size : parts) out.push_back({0, size});
  return out;
}

Run plain(const ShardContext& c) {
  return [call = OperatorCall(c.node, c.arguments, c.options.precision)](const TensorList& in) { return call(in); };
}

bool is_bounded(const Graph& graph, const std::vector<ClassId>& dim) {
  return std::any_of(dim.begin(), dim.end(),
                     [&](ClassId c) { return graph.classes[static_cast<std::size_t>(c)].bounded; });
}

// Of sizes that depend on data one can be told from the operand's elements.
Run sized(ShardContext& c) {
  std::vector<std::int64_t> size = sizes(c.outputs[0]);
  const auto& dims = c.graph.tensors[static_cast<std::size_t>(c.op.outputs[0].tensor)].dims;
  const auto unknown = [&](const std::vector<ClassId>& dim) { return is_bounded(c.graph, dim); };
  const auto first = std::find_if(dims.begin(), dims.end(), unknown);
  if (first != dims.end()) {
    if (c.node.target != "aten::view" && c.node.target != "aten::expand")
      throw std::runtime_error(c.node.target + ": the sizes of its result depend on data");
    if (std::any_of(first + 1, dims.end(), unknown))
      throw std::runtime_error(c.node.target + ": two of its sizes depend on data");
    size[static_cast<std::size_t>(first - dims.begin())] = -1;
  }
  c.set("size", size);
  return plain(c);
}

// start + step * i for the indices i of the block.
Run range(ShardContext& c) {
  if (is_bounded(c.graph, c.graph.tensors[static_cast<std::size_t>(c.op.outputs[0].tensor)].dims[0]))
    throw std::runtime_error(c.node.target + ": its size depends on data");
  const std::int64_t length = c.graph.size(c.op.outputs[0].tensor, 0);
  const DType type = c.graph.model->values[static_cast<std::size_t>(c.op.outputs[0].tensor)].dtype;
  const Argument* start = c.argument("start");
  const Argument* step = c.argument("step");
  const auto scalar = [](const Argument* a, std::int64_t otherwise) -> at::Scalar {
    if (a == nullptr || std::holds_alternative<None>(*a)) return otherwise;
    if (const auto* real = std::get_if<double>(a)) return *real;
    return std::get<std::int64_t>(*a);
  };
  const at::Scalar first = scalar(start, 0), stride = scalar(step, 1);
  return [=, all = whole_region(c.graph, c.op.outputs[0].tensor), region = c.outputs[0],
          out = scalar_type(type, c.options.precision)](const TensorList&) -> TensorList {
    const at::Tensor values = at::arange(length).mul(stride).add(first).to(out);
    return {cut(values, all, region)};
  };
}

// The index inside a block of one dimension, and whether it is inside at all.
struct LocalIndex {
  at::Tensor index, inside;
};
LocalIndex localize(const at::Tensor& index, const std::vector<std::int64_t>& parts,
                    const std::vector<Interval>& block) {
  at::Tensor rest = index, local = at::zeros_like(index);
  at::Tensor inside = index.ge(0);
  std::int64_t weight = 1;
  for (std::size_t p = parts.size(); p-- > 0;) {
    const at::Tensor digit = p == 0 ? rest : rest.remainder(parts[p]);
    if (p > 0) rest = rest.div(parts[p], "floor");
    inside = inside.logical_and(digit.ge(block[p].begin)).logical_and(digit.lt(block[p].end));
    local = local + (digit - block[p].begin) * weight;
    weight *= block[p].size();
  }
  return {local.masked_fill(inside.logical_not(), 0), inside};
}

// embedding(weight, indices), pick(self, target): rows or columns of a block; zero where the index is elsewhere.
Run indexed(ShardContext& c) {
  const bool embeds = c.node.target == "aten::embedding";
  const std::size_t table = c.input(embeds ? "weight" : "self"), index = c.input(embeds ? "indices" : "target");
  const std::size_t dim = embeds ? 0 : c.inputs[table].size() - 1;
  const std::vector<std::int64_t> parts = part_sizes(c.graph, c.tensor(table))[dim];
  const std::vector<Interval> block = c.inputs[table][dim];
  if (block == whole_region(c.graph, c.tensor(table))[dim]) return plain(c);
  const std::int64_t none = -1, never = std::numeric_limits<std::int64_t>::min();
  const std::int64_t special = embeds ? c.integer("padding_idx", none) : c.integer("ignore_index", never);
  if (embeds && special != none) {
    const LocalIndex padding = localize(at::scalar_tensor(special, at::kLong), parts, block);
    c.set("padding_idx", padding.inside.item<bool>() ? padding.index.item<std::int64_t>() : none);
  }
  if (!embeds) c.set("ignore_index", never);  // what is ignored is masked by `known`
  const std::int64_t held = sizes(c.inputs[table])[dim];
  return [=, call = OperatorCall(c.node, c.arguments, c.options.precision)](const TensorList& in) -> TensorList {
    TensorList local = in;
    const LocalIndex at_block = localize(in[index], parts, block);
    const at::Tensor known = embeds ? at_block.inside : at_block.inside.logical_and(in[index].ne(special));
    local[index] = at_block.index;
    if (held == 0) {  // an empty block has no row to read: all zero, without a gradient of its own
      std::vector<std::int64_t> out = in[index].sizes().vec();
      if (embeds) out.push_back(in[table].size(1));
      return {at::zeros(out, in[table].options())};
    }
    const at::Tensor out = call(local)[0];
    return {out.masked_fill((embeds ? known.unsqueeze(-1) : known).logical_not(), 0)};
  };
}

// grouped_mm(self, weight, index): rows whose group is elsewhere belong to none here, and are zero.
Run grouped(ShardContext& c) {
  const std::size_t weight = c.input("weight"), index = c.input("index");
  const std::vector<std::int64_t> parts = part_sizes(c.graph, c.tensor(weight))[0];
  return [=, block = c.inputs[weight][0],
          call = OperatorCall(c.node, c.arguments, c.options.precision)](const TensorList& in) -> TensorList {
    TensorList local = in;
    const LocalIndex at_block = localize(in[index], parts, block);
    local[index] = at_block.index.masked_fill(at_block.inside.logical_not(), -1);
    return call(local);
  };
}

// The mean over a block of the reduced elements, as its share of the global mean.
Run global_mean(ShardContext& c) {
  const std::size_t self = c.input("self");
  const auto whole = c.graph.sizes(c.tensor(self));
  const auto held = sizes(c.inputs[self]);
  if (whole == held) return plain(c);
  double count = 1;
  const Argument* reduced = c.argument("dim");
  if (reduced == nullptr) throw std::runtime_error(c.node.target + " has no argument 'dim'");
  const auto dims = std::get<std::vector<std::int64_t>>(*reduced);
  for (const std::int64_t dim : dims) count *= static_cast<double>(whole[static_cast<std::size_t>(dim)]);
  Node sum = c.node;
  sum.target = "aten::sum.dim_IntList";
  return [call = OperatorCall(sum, c.arguments, c.options.precision), count](const TensorList& in) -> TensorList {
    return {call(in)[0].div(count)};
  };
}

// How much later a place is that is counted from the end of a dimension (Node::like), where resize() has changed its
// size.
std::int64_t growth_from_end(const ShardContext& c, std::size_t dim) {
  if (c.node.like < 0) return 0;
  const TensorId self = c.op.inputs[0].tensor;
  return c.graph.size(self, static_cast<int>(dim)) - c.graph.model->values[static_cast<std::size_t>(self)].sizes[dim];
}

void localize_select(ShardContext& c) {
  const auto dim = static_cast<std::size_t>(c.integer("dim", 0));
  c.set("index", c.integer("index", 0) + growth_from_end(c, dim));
}

// A slice that is piece k of equal ones is piece k of the block; any other is of a whole dimension, whose size may have
// been changed by resize().
void localize_slice(ShardContext& c) {
  const auto dim = static_cast<std::size_t>(c.integer("dim", 0));
  const auto value_sizes = [&](TensorId t) { return c.graph.model->values[static_cast<std::size_t>(t)].sizes; };
  const std::int64_t size = value_sizes(c.op.inputs[0].tensor)[dim], length = value_sizes(c.op.outputs[0].tensor)[dim];
  const std::int64_t local = sizes(c.outputs[0])[dim];
  std::int64_t start = c.integer("start", 0);
  const std::int64_t step = c.integer("step", 1);
  if (length == 1 || local == length)
    start += growth_from_end(c, dim);
  else if (step == 1 && length > 0 && size % length == 0 && start % length == 0)
    start = start / length * local;
  c.set("start", start);
  c.set("end", local == 0 ? start : start + (local - 1) * step + 1);
}

void localize_split(ShardContext& c) {
  const auto dim = static_cast<std::size_t>(c.integer("dim", 0));
  std::vector<std::int64_t> pieces;
  for (const Region& out : c.outputs) pieces.push_back(sizes(out)[dim]);
  c.set("split_sizes", pieces);
}

// A rule that splits what is not drawn by element is wrong, and its numbers would look right.
Run random(ShardContext& c) {
  const TensorId out = c.op.outputs[0].tensor;
  const std::uint64_t key = random_key(c.options.seed, c.node.name());
  const at::ScalarType type =
      scalar_type(c.graph.model->values[static_cast<std::size_t>(out)].dtype, c.options.precision);
  if (const auto run = drawn_by_element(c.node, {key, part_sizes(c.graph, out), c.outputs[0]}, type)) {
    return [run = *run, gradients = !c.node.no_grad](const TensorList& in) {
      const at::AutoGradMode mode(gradients && at::GradMode::is_enabled());
      return run(in);
    };
  }
  for (std::size_t i = 0; i < c.outputs.size(); ++i)
    if (c.outputs[i] != whole_region(c.graph, c.op.outputs[i].tensor))
      throw std::logic_error(c.node.target + " draws for its whole result, and is split");
  return drawn_whole(OperatorCall(c.node, c.arguments, c.options.precision), key);
}

// Positions in the whole dimension of the elements of a block.
at::Tensor positions(const std::vector<std::int64_t>& parts, const std::vector<Interval>& block) {
  std::int64_t count = 1;
  for (const std::int64_t size : parts) count *= size;
  return cut(at::arange(count, at::kLong), {whole_dimension(parts)}, {block});
}

std::function<TensorList(const TensorList&, const std::shared_ptr<TensorList>&)> attention(ShardContext& c) {
  const std::size_t query = c.input("query"), key = c.input("key"), value = c.input("value");
  const std::size_t none = c.inputs.size();
  std::size_t mask = none;
  for (std::size_t i = 0; i < none; ++i)
    if (c.node.arguments[static_cast<std::size_t>(c.op.inputs[i].argument)].name == "attn_mask") mask = i;
  const std::size_t row = c.inputs[query].size() - 2, column = c.inputs[key].size() - 2;
  const std::vector<std::int64_t> row_parts = part_sizes(c.graph, c.tensor(query))[row],
                                  column_parts = part_sizes(c.graph, c.tensor(key))[column];
  const bool some = c.inputs[key][column] != whole_dimension(column_parts), block = some && !c.options.prefix;
  const bool causal = std::get<bool>(*c.argument("is_causal"));
  const bool elsewhere = some || c.inputs[query][row] != whole_dimension(row_parts);
  at::Tensor rows, columns;
  if (causal && elsewhere) {
    rows = positions(row_parts, c.inputs[query][row]);
    columns = positions(column_parts, c.inputs[key][column]);
  }
  const Argument* scale_argument = c.argument("scale");
  const double scale = std::get<double>(*scale_argument);
  return [=](const TensorList& in, const std::shared_ptr<TensorList>& whole) -> TensorList {
    AttentionOperands a{in[query], in[key], in[value], mask == none ? at::Tensor() : in[mask], scale};
    if (rows.defined()) a.mask = causal_mask(a.mask, rows.to(a.query.device()), columns.to(a.query.device()));
    if (block) return block_attention(a, whole ? whole : std::make_shared<TensorList>());
    return {whole_attention(a, causal && !rows.defined()), at::Tensor()};
  };
}

// As many groups as the block has: a weight's second dimension is the channels of a group (of the result, transposed).
void localize_groups(ShardContext& c, bool transposed) {
  const Region& weight = c.inputs[c.input("weight")];
  const std::vector<std::int64_t> held = sizes(transposed ? c.outputs[0] : c.inputs[c.input("input")]);
  const std::size_t channel = held.size() + 1 - weight.size();
  const std::int64_t of_group = sizes(weight)[1];
  c.set("groups", of_group > 0 ? std::max<std::int64_t>(1, held[channel] / of_group) : 1);
}

// How many elements are counted, at the sizes of the graph.
void count_whole(ShardContext& c) {
  const TensorId of = c.node.like;
  if (of < 0 || c.graph.tensors[static_cast<std::size_t>(of)].dims.empty()) return;
  std::int64_t count = 1;
  for (const std::int64_t d : std::get<std::vector<std::int64_t>>(*c.argument("dim")))
    count *= c.graph.size(of, static_cast<int>(d));
  c.set("count", count);
}

// Where a part of a dimension is taken, its place is counted from the size that the file gives.
void refuse_parts_of_bounded(ShardContext& c) {
  for (std::string_view name : {"aten::slice.Tensor", "aten::select.int", "aten::split_with_sizes", "aten::unbind.int",
                                "aten::slice_scatter", "aten::select_scatter"}) {
    if (c.node.target != name) continue;
    const auto& dims = c.graph.tensors[static_cast<std::size_t>(c.op.inputs.at(0).tensor)].dims;
    const auto dim = static_cast<std::size_t>(c.integer("dim", 0));
    if (dim < dims.size() && is_bounded(c.graph, dims[dim]))
      throw std::runtime_error(c.node.target + ": it takes a part of a dimension whose size depends on data");
  }
}

Run make_run(ShardContext& c) {
  const std::string& target = c.node.target;
  refuse_parts_of_bounded(c);
  if (c.options.stand_ins && is_foreign(c.node)) {
    return [run = stand_in_operator(c.graph, c.op, c.options.precision),
            gradients = !c.node.no_grad](const TensorList& in) {
      const at::AutoGradMode mode(gradients && at::GradMode::is_enabled());
      return run(in);
    };
  }
  if (c.node.random) return random(c);
  if (target == "aten::slice.Tensor") localize_slice(c);
  if (target == "aten::select.int") localize_select(c);
  if (target.starts_with("statistics::")) count_whole(c);
  if (target == "aten::split_with_sizes") localize_split(c);
  if (target.starts_with("aten::conv") && c.integer("groups", 1) > 1)
    localize_groups(c, target.starts_with("aten::conv_transpose"));
  switch (c.op.shard) {
    case ShardForm::same:
      return plain(c);
    case ShardForm::output_sizes:
      return sized(c);
    case ShardForm::offset_range:
      return range(c);
    case ShardForm::offset_index:
      return target == "planscope::grouped_mm" ? grouped(c) : indexed(c);
    case ShardForm::global_mean:
      return global_mean(c);
  }
  throw std::logic_error("unknown shard form");
}

// Op::inputs are the tensor arguments in their order; anything else is a bug of the rules.
void check_operands(const Op& op, const Node& node) {
  const std::vector<OperandPlace> places = operand_places(node.arguments);
  bool equal = places.size() == op.inputs.size();
  for (std::size_t i = 0; equal && i < places.size(); ++i) {
    equal = op.inputs[i].argument == places[i].argument &&
            (places[i].element < 0 || op.inputs[i].element == places[i].element);
  }
  if (!equal) throw std::logic_error(node.target + ": the rule's inputs are not the operator's tensor arguments");
}

}  // namespace

OperatorShard::OperatorShard(const Graph& graph, OpId id, const std::vector<Region>& inputs,
                             const std::vector<Region>& outputs, const ShardOptions& options) {
  const Op& op = graph.ops[static_cast<std::size_t>(id)];
  const Node& node = graph.node(id);
  check_operands(op, node);
  ShardContext context{graph, op, node, inputs, outputs, options, node.arguments};
  auto made = std::make_shared<Implementation>();
  if (has_empty_results(graph, op, outputs))
    made->run = [run = empty_results(graph, op, outputs, options.precision)](const TensorList& in, const auto&) {
      return run(in);
    };
  else if (node.target == "planscope::attention")
    made->run = attention(context);
  else
    made->run = [run = make_run(context)](const TensorList& in, const auto&) { return run(in); };
  implementation_ = std::move(made);
}

OperatorShard OperatorShard::whole(const Graph& graph, OpId id, const ShardOptions& options) {
  const Op& op = graph.ops[static_cast<std::size_t>(id)];
  std::vector<Region> inputs, outputs;
  for (const Operand& operand : op.inputs) inputs.push_back(whole_region(graph, operand.tensor));
  for (const Operand& operand : op.outputs) outputs.push_back(whole_region(graph, operand.tensor));
  return OperatorShard(graph, id, inputs, outputs, options);
}

TensorList OperatorShard::operator()(const TensorList& inputs, const std::shared_ptr<TensorList>& whole) const {
  return implementation_->run(inputs, whole);
}

}  // namespace planscope
