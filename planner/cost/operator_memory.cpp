#include "planner/cost/operator_memory.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/graph/arguments.h"
#include "engine/graph/element_types.h"
#include "planner/cost/operator_class.h"

namespace planscope {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

constexpr std::int64_t statistic = 4, position = 8;  // bytes, whatever the type of the operands

class Local {
 public:
  Local(const Graph& graph, const PieceOp& piece_op)
      : graph_(graph), piece_op_(piece_op), op_(graph.ops[at(piece_op.op)]) {}

  std::int64_t dim(const Operand& operand, std::size_t d) const {
    std::int64_t size = 1;
    const std::size_t parts = graph_.tensors[at(operand.tensor)].dims[d].size();
    for (std::size_t p = 0; p < parts; ++p)
      size *= local_size(graph_, piece_op_, operand, static_cast<int>(d), static_cast<int>(p));
    return size;
  }
  // Of all dimensions but the last `without`.
  std::int64_t rows(const Operand& operand, std::size_t without) const {
    std::int64_t count = 1;
    for (std::size_t d = 0; d + without < operand.map.size(); ++d) count *= dim(operand, d);
    return count;
  }
  std::int64_t element(const Operand& operand) const {
    return byte_size(graph_.model->values[at(operand.tensor)].dtype);
  }
  const Operand* input(std::string_view name) const {
    for (const Operand& o : op_.inputs)
      if (graph_.node(piece_op_.op).arguments[at(o.argument)].name == name) return &o;
    return nullptr;
  }

 private:
  const Graph& graph_;
  const PieceOp& piece_op_;
  const Op& op_;
};

bool softmax_in_blocks(const Graph& graph, const PieceOp& piece_op) {
  const std::vector<Factor>& factors = graph.ops[at(piece_op.op)].factors;
  return std::any_of(piece_op.bindings.begin(), piece_op.bindings.end(), [&](const Binding& b) {
    return b.factor >= 0 && b.digit.reach == Reach::own && factors[at(b.factor)].kind == FactorKind::softmax;
  });
}

bool is_taken_by_fused(const Graph& graph, const Local& local) {
  const Operand *q = local.input("query"), *v = local.input("value"), *mask = local.input("attn_mask");
  return q && v && q->map.size() == 4 && graph.sizes(q->tensor)[3] == graph.sizes(v->tensor)[3] &&
         !(mask && graph.tensors[at(mask->tensor)].gradient);
}

bool is_causal(const Graph& graph, const PieceOp& piece_op) {
  for (const NamedArgument& a : graph.node(piece_op.op).arguments)
    if (const bool* causal = std::get_if<bool>(&a.value); causal && a.name == "is_causal") return *causal;
  return false;
}

// Elements of the causal mask that blocks of queries or of keys need, as the kernel's own one is of whole dimensions.
std::int64_t causal_positions(const Graph& graph, const PieceOp& piece_op, const Local& local, const Operand& q, const Operand& k) {
  const std::size_t rank = q.map.size();
  const std::int64_t queries = local.dim(q, rank - 2), keys = local.dim(k, rank - 2);
  const bool blocks = queries != graph.sizes(q.tensor)[rank - 2] || keys != graph.sizes(k.tensor)[rank - 2];
  return blocks && !local.input("attn_mask") && is_causal(graph, piece_op) ? queries * keys : 0;
}

std::int64_t of_attention(const Graph& graph, const PieceOp& piece_op, const Local& local) {
  const Operand* q = local.input("query");
  const Operand* k = local.input("key");
  const Operand* v = local.input("value");
  if (!q || !k || !v || q->map.size() < 3 || k->map.size() != q->map.size() || v->map.size() != q->map.size()) return 0;
  const std::size_t rank = q->map.size();
  const std::int64_t rows = local.rows(*q, 1), keys = local.dim(*k, rank - 2);
  const std::int64_t positions = causal_positions(graph, piece_op, local, *q, *k);
  if (softmax_in_blocks(graph, piece_op)) return positions;
  if (is_taken_by_fused(graph, local)) return rows * statistic + positions;
  // Products want keys and values for each query head.
  std::int64_t bytes = rows * keys * local.element(*q);
  const std::int64_t repeats = local.rows(*q, 2), held = local.rows(*k, 2);
  if (repeats > held)
    for (const Operand* o : {k, v}) bytes += (repeats - held) * keys * local.dim(*o, rank - 1) * local.element(*o);
  return bytes;
}

// The fused kernel adds its mask: one that hides (of bits) becomes numbers each time that it runs.
std::int64_t of_added_mask(const Graph& graph, const PieceOp& piece_op, const Local& local) {
  const Operand *q = local.input("query"), *k = local.input("key"), *mask = local.input("attn_mask");
  if (!q || !k || softmax_in_blocks(graph, piece_op) || !is_taken_by_fused(graph, local)) return 0;
  if (mask && graph.model->values[at(mask->tensor)].dtype == DType::boolean)
    return local.rows(*mask, 0) * local.element(*q);
  return causal_positions(graph, piece_op, local, *q, *k) * local.element(*q);
}

std::int64_t of_normalization(const Graph& graph, const PieceOp& piece_op, const Local& local, int statistics) {
  const Operand* x = local.input("input");
  for (const NamedArgument& a : graph.node(piece_op.op).arguments)
    if (const auto* shape = std::get_if<std::vector<std::int64_t>>(&a.value);
        x && shape && a.name == "normalized_shape")
      return statistics * statistic * local.rows(*x, shape->size());
  return 0;
}

// LibTorch computes it of others, in float32 where x is smaller: a copy of x then, x divided by its deviation, and that times the
// weight. What is divided is kept for the gradient of the weight, the copy of x for its own.
struct RmsNormalization {
  std::int64_t kept = 0, forward = 0, forward_only = 0, backward = 0;
  CompositeBackward composite;
};
RmsNormalization of_rms_normalization(const Graph& graph, const PieceOp& piece_op, const Local& local) {
  const Operand *x = local.input("input"), *weight = local.input("weight");
  if (!x) return {};
  const std::int64_t narrow = local.rows(*x, 0) * local.element(*x);
  const std::int64_t wide = local.rows(*x, 0) * std::max(local.element(*x), statistic);
  const bool copies = narrow < wide, own = graph.tensors[at(x->tensor)].gradient;
  const bool trained = weight && graph.tensors[at(weight->tensor)].gradient;
  RmsNormalization out;
  out.kept = (trained ? wide : 0) + (own && copies ? wide : 0) + (own ? of_normalization(graph, piece_op, local, 1) : 0);
  std::int64_t most = weight ? 2 * wide : wide;
  if (copies) most = weight ? 3 * wide : 2 * wide + narrow;
  out.forward_only = most - narrow;
  if (copies && trained) most += narrow;
  out.forward = most - narrow - (trained ? wide : 0) - (own && copies ? wide : 0);
  // Of the mean of squares: its gradient for all elements, x, x twice, and their product; the gradient of the division is a
  // contribution to that of x, or of its copy, before.
  if (own) {
    out.backward = (copies ? 5 : 4) * wide - 2 * narrow - (trained ? wide : 0);
    out.composite = {{narrow}, {copies ? 0 : wide}};
  } else if (trained) {
    out.backward = copies ? 2 * wide : wide;
  }
  return out;
}

std::int64_t of_group_normalization(const Graph& graph, const PieceOp& piece_op, const Local& local) {
  const Operand* x = local.input("input");
  for (const NamedArgument& a : graph.node(piece_op.op).arguments)
    if (const auto* groups = std::get_if<std::int64_t>(&a.value); x && groups && a.name == "num_groups")
      return 2 * statistic * *groups * local.dim(*x, 0);
  return 0;
}

// Which element of each window was the largest, where that is no result.
std::int64_t of_max_pooling(const Graph& graph, const PieceOp& piece_op, const Local& local) {
  if (graph.ops[at(piece_op.op)].outputs.size() > 1) return 0;
  return local.rows(graph.ops[at(piece_op.op)].outputs.front(), 0) * position;
}

// The rows of one group, read and multiplied, while groups have equally many, and the order of all rows
// (engine/runtime/grouped_product.cpp); backward the same with their gradients.
std::int64_t of_grouped_product(const Graph& graph, const PieceOp& piece_op, const Local& local) {
  const Operand *x = local.input("self"), *weight = local.input("weight");
  if (!x || !weight || x->map.size() != 2 || weight->map.size() != 3) return 0;
  // Where groups are split by key a device has the rows of others too.
  const std::int64_t rows = local.dim(*x, 0), groups = std::max<std::int64_t>(1, graph.sizes(weight->tensor)[0]);
  const std::int64_t columns = local.dim(*x, 1) + local.dim(graph.ops[at(piece_op.op)].outputs.front(), 1);
  return (rows + groups - 1) / groups * columns * local.element(*x) + rows * position;
}

// Means of bags: of which bag each index is; of each bag its size, and where it ends. Sums need none of it.
std::int64_t of_bags(const Graph& graph, const PieceOp& piece_op, const Local& local) {
  const Operand* indices = local.input("indices");
  for (const NamedArgument& a : graph.node(piece_op.op).arguments)
    if (const auto* mode = std::get_if<std::int64_t>(&a.value); mode && a.name == "mode" && *mode == 0) return 0;
  const std::int64_t bags = local.dim(graph.ops[at(piece_op.op)].outputs.front(), 0);
  return indices ? (local.rows(*indices, 0) + 2 * bags) * position : 0;
}

// The number of each row, beside its index.
std::int64_t of_row_numbers(const Local& local) {
  const Operand* index = local.input("index");
  return index ? local.dim(*index, 0) * position : 0;
}

// Folding makes its result in memory of the operand's size.
std::int64_t of_folding(const Graph& graph, const PieceOp& piece_op, const Local& local) {
  const Op& op = graph.ops[at(piece_op.op)];
  const std::int64_t more = local.rows(op.inputs.front(), 0) - local.rows(op.outputs.front(), 0);
  return std::max<std::int64_t>(0, more) * local.element(op.outputs.front());
}

// A transform of real numbers keeps what it has added to them, up to the `n` numbers that are transformed (of a plane `s` along
// each dimension). Its gradient is made of all frequencies, half of which are zeros, by a complex transform of which the real
// part is taken.
struct RealTransform {
  std::int64_t added = 0, backward = 0;
};

bool transforms_real_numbers(std::string_view target) { return target.starts_with("aten::fft_rfft"); }

RealTransform real_transform_of(const Graph& graph, const PieceOp& piece_op, const Local& local) {
  const Operand& x = graph.ops[at(piece_op.op)].inputs.front();
  const Node& node = graph.node(piece_op.op);
  const auto listed = [&](const char* many, const char* one) -> std::vector<std::int64_t> {
    if (const auto* list = ints_argument(node, many)) return *list;
    if (const auto number = int_argument(node, one)) return {*number};
    return {};
  };
  const auto rank = static_cast<std::int64_t>(x.map.size());
  const std::vector<std::int64_t> lengths = listed("s", "n");
  std::vector<std::int64_t> dims = listed("dim", "dim");
  if (dims.empty())  // the last ones
    for (std::int64_t d = lengths.empty() ? 0 : rank - static_cast<std::int64_t>(lengths.size()); d < rank; ++d)
      dims.push_back(d);
  std::int64_t size = 1, n = 1;
  for (std::size_t k = 0; k < dims.size(); ++k) {
    const std::int64_t dim = dims[k] < 0 ? dims[k] + rank : dims[k];
    if (dim < 0 || dim >= rank) return {};
    const std::int64_t own = std::max<std::int64_t>(1, local.dim(x, at(static_cast<int>(dim))));
    size *= own;
    n *= k < lengths.size() && lengths[k] > 0 ? lengths[k] : own;
  }
  const std::int64_t row = local.rows(x, 0) / size * local.element(x);
  return {row * std::max<std::int64_t>(0, n - size), row * std::max(4 * n - size, 2 * n)};
}

// Recurrent nets as LibTorch's own kernels compute them. For each layer and direction are kept: of an LSTM for each step the
// four gates, the cell, its tanh, the state and the states joined; of a GRU eight as well; of other nets two and the first state.
struct Recurrent {
  std::int64_t unit = 0;   // bytes of a state at every step
  std::int64_t nets = 1;   // layers times directions
  std::int64_t gates = 1;  // states that are projections of the input at every step
  std::int64_t kept = 0;   // of a layer and direction
  std::int64_t result = 0, results = 0;  // the first, all
  std::int64_t input = 0;                // if it has a gradient
  std::int64_t weights = 0;  // between states, of one layer and direction
};

std::optional<Recurrent> recurrent_of(const Graph& graph, const PieceOp& piece_op, const Local& local) {
  const Op& op = graph.ops[at(piece_op.op)];
  const Node& node = graph.node(piece_op.op);
  const bool lstm = node.target == "aten::lstm.input", gru = node.target == "aten::gru.input";
  if (!lstm && !gru && node.target != "aten::rnn_tanh.input" && node.target != "aten::rnn_relu.input") return {};
  const Operand *input = local.input("input"), *state = nullptr;
  std::vector<const Operand*> weights;
  for (const Operand& o : op.inputs) {
    if (node.arguments[at(o.argument)].name == "hx") state = &o;  // an LSTM's last one is the cell
    if (node.arguments[at(o.argument)].name == "params") weights.push_back(&o);
  }
  if (!input || !state || weights.size() < 2) return {};
  const std::int64_t element = local.element(*input), states = local.dim(*state, state->map.size() - 1) * element;
  Recurrent out;
  out.unit = local.rows(*input, 1) * states;
  out.nets = local.dim(*state, 0);
  out.gates = lstm ? 4 : gru ? 3 : 1;
  out.kept = lstm || gru ? 8 * out.unit : 2 * out.unit + local.rows(*state, 1) / out.nets * states;
  out.result = local.rows(op.outputs.front(), 0) * element;
  for (const Operand& o : op.outputs) out.results += local.rows(o, 0) * element;
  out.input = graph.tensors[at(input->tensor)].gradient ? local.rows(*input, 0) * element : 0;
  out.weights = local.rows(*weights[1], 0) * element;
  return out;
}

// What operators make beside operands, results and gradients, as many tensors of the size of the result or of the first
// operand, whichever is larger, and as many masks of a byte for each of its elements. LibTorch's derivatives.yaml and
// FunctionsManual.cpp, and for losses Loss.cpp; the same on every device.
struct Own {
  int tensors = 0, masks = 0;
};
struct Formula {
  // Without namespace; alone, with an overload, with the kind of a reduction, with `inf` for the norm of the largest or
  // least element, or with `complex` for results that are. The first that fits counts.
  std::string_view name;
  Own backward;           // there at once beside the gradient that comes and those that it gives
  Own kept = {};          // from forward to backward
  Own forward = {};       // more while it runs forward
};
constexpr Formula kFormulas[] = {
    {"abs", {1}},  // grad * sign x
    {"acos", {5}},
    {"acosh", {3}},
    {"addcdiv", {3}},
    {"amax", {1, 1}},  // which elements are the largest, and the gradient there before it is divided among them
    {"amin", {1, 1}},
    {"aminmax", {1, 1}},
    {"angle", {4, 1}},  // of complex numbers
    {"asin", {4}},
    {"asinh", {3}},
    {"atan", {2}},
    {"atan2", {5}},  // both gradients over x^2 + y^2
    {"atanh", {3}},
    {"cholesky_inverse", {2}},
    {"cholesky_solve", {2}},
    {"clamp", {0, 2}},  // where the bounds hold
    {"clamp_max", {0, 1}},
    {"clamp_min", {0, 1}},
    {"copysign", {1}},
    {"cos", {2}},  // grad * -sin x
    {"cosh", {1}},
    {"cosine_similarity", {2}, {2}, {1}},
    {"cumprod", {3, 1}},
    {"cumsum", {2}},  // turned around, summed up, turned around
    {"digamma", {1}},
    {"dropout", {}, {0, 1}},  // what stays: a mask, as native_dropout keeps it
    {"erf", {4}},             // grad * c * exp(-x^2)
    {"erfc", {4}},
    {"erfinv", {4}},
    {"exp2", {1}},
    {"expm1", {1}},
    {"float_power", {2}, {1}},  // as pow, of a copy of a larger type
    {"fmax", {0, 2}},
    {"fmin", {0, 2}},
    {"fmod", {1}},
    {"hinge_embedding_loss", {2, 1}, {1, 2}, {4}},
    {"hypot", {1}},
    {"i0", {1}},
    {"kl_div", {1}, {}, {2}},
    {"l1_loss", {1}, {1}},  // sign of the difference, which is kept
    {"lerp.Tensor", {1}},
    {"lgamma", {1}},
    {"linalg_cholesky", {3}},
    {"linalg_det", {2}, {1}},  // kept: the factors of the matrix
    {"linalg_eigh", {3}},
    {"linalg_eigvalsh", {1}, {1}},  // kept: the vectors
    {"linalg_inv", {2}},
    {"linalg_matrix_exp", {7}},  // of a matrix of four such blocks, whose exponential has the gradient in a corner
    {"linalg_pinv", {12}},
    {"linalg_qr", {3}},
    {"linalg_slogdet", {1}, {1}},
    {"linalg_solve", {1}, {1}},
    {"linalg_solve_triangular", {1}},
    {"linalg_svd", {6}},
    {"linalg_svdvals", {1}, {2}},
    {"linalg_vector_norm.inf", {3, 1}},
    {"linalg_vector_norm", {1}},
    {"log10", {1}},
    {"log1p", {1}},
    {"log2", {1}},
    {"logaddexp", {3}},
    {"logaddexp2", {3}},
    {"logcumsumexp", {7}},
    {"logdet", {1}, {1}},
    {"logsumexp", {2}},
    {"margin_ranking_loss", {}, {2}, {2}},
    {"max.dim", {}},
    {"max", {0, 1}},  // of all: which elements are the largest
    {"maximum", {1, 2}},
    {"min.dim", {}},
    {"min", {0, 1}},
    {"minimum", {1, 2}},
    {"msort", {}, {2}},  // kept: where each was
    {"nan_to_num", {0, 3}},
    {"poisson_nll_loss", {2}, {1}, {1}},
    {"polar", {2}},
    {"polygamma", {1}},
    {"pow.Scalar", {1}},
    {"pow.Tensor_Scalar", {2}},     // grad * (n * x^(n-1)): the power, and n times it
    {"pow.Tensor_Tensor", {4, 1}},  // for the exponent: where base and result are zero
    {"prod", {1, 1}},
    {"quantile", {1}, {3}},  // kept: all of them sorted, and where each was
    {"reciprocal", {2}},     // -grad * y^2
    {"remainder", {1}},
    {"renorm", {7}},
    {"rsqrt", {2}},  // -grad/2 * y^3: both factors
    {"scatter_reduce.amax", {7, 1}},
    {"scatter_reduce.amin", {7, 1}},
    {"scatter_reduce.mean", {4}},
    {"scatter_reduce.prod", {12, 2}},
    {"sgn.complex", {4, 1}},
    {"sin", {1}},  // grad * cos x
    {"sinc", {7}},
    {"sinh", {1}},
    {"special_erfcx", {3}},
    {"special_i0e", {4}},
    {"special_i1", {4, 1}},
    {"special_i1e", {6, 1}},
    {"special_log_ndtr", {6}},
    {"special_ndtr", {4}, {1}, {2}},
    {"special_ndtri", {4}},
    {"sqrt", {1}},  // grad / 2y
    {"square", {2}},
    {"std", {1}},
    {"tan", {2}},
    {"triplet_margin_loss", {1}, {2}, {2}},  // the differences
    {"var", {1}},
    {"xlogy", {1, 3}},
};

// What decides which formula it is, beside the name.
std::string kind_of(const Graph& graph, const PieceOp& piece_op) {
  const Node& node = graph.node(piece_op.op);
  if (const auto order = number_argument(node, "ord"); order && std::isinf(*order)) return "inf";
  if (const auto word = string_argument(node, "reduce")) return *word;
  return is_complex(graph.model->values[at(graph.ops[at(piece_op.op)].outputs.front().tensor)].dtype) ? "complex" : "";
}

const Formula* formula_of(const Graph& graph, const PieceOp& piece_op) {
  std::string_view target = graph.node(piece_op.op).target;
  target.remove_prefix(target.find("::") == std::string_view::npos ? 0 : target.find("::") + 2);
  const std::string_view name = target.substr(0, target.find('.'));
  const std::string of_kind = std::string(name) + "." + kind_of(graph, piece_op);
  const auto found = std::find_if(std::begin(kFormulas), std::end(kFormulas), [&](const Formula& f) {
    return f.name == target || f.name == name || f.name == of_kind;
  });
  return found == std::end(kFormulas) ? nullptr : &*found;
}

// A product of lists of matrices gives gradients of all of its matrices, and then sums those of an operand that it has repeated.
std::int64_t of_repeated_lists(const Graph& graph, const Op& op, const Local& local) {
  std::int64_t bytes = 0;
  if (std::any_of(op.inputs.begin(), op.inputs.end(), [](const Operand& o) { return o.map.size() < 3; })) return 0;
  for (const Operand& o : op.inputs) {
    const std::int64_t all = local.rows(op.outputs.front(), 2), own = std::max<std::int64_t>(1, local.rows(o, 2));
    if (graph.tensors[at(o.tensor)].gradient) bytes += (all / own - 1) * local.rows(o, 0) * local.element(o);
  }
  return bytes;
}

Bytes bytes_of(const Graph& graph, const PieceOp& piece_op, const Local& local, const Own& own) {
  const Op& op = graph.ops[at(piece_op.op)];
  const Operand& result = op.outputs.front();
  std::int64_t elements = local.rows(result, 0), element = local.element(result);
  if (!op.inputs.empty()) {
    elements = std::max(elements, local.rows(op.inputs.front(), 0));
    element = std::max(element, local.element(op.inputs.front()));
  }
  return {elements * (own.tensors * element + own.masks)};
}

}  // namespace

std::int64_t local_size(const Graph& graph, const PieceOp& piece_op, const Operand& operand, int dim, int part) {
  const std::int64_t whole = graph.classes[at(graph.tensors[at(operand.tensor)].dims[at(dim)][at(part)])].size;
  const std::vector<PartRef>& refs = operand.map[at(dim)];
  if (at(part) >= refs.size() || refs[at(part)].factor < 0) return whole;
  std::int64_t count = 1;
  for (const Binding& b : piece_op.bindings)
    if (b.factor == refs[at(part)].factor && b.part == refs[at(part)].part && b.digit.reach == Reach::own)
      count *= b.digit.size;
  return (whole + count - 1) / count;
}

AttentionKernel attention_kernel(const Graph& graph, const PieceOp& piece_op) {
  if (classify(graph, piece_op.op) != OperatorClass::attention) return AttentionKernel::none;
  if (softmax_in_blocks(graph, piece_op)) return AttentionKernel::blocks;
  return is_taken_by_fused(graph, Local(graph, piece_op)) ? AttentionKernel::fused : AttentionKernel::products;
}

std::vector<int> saved_slots(const Graph& graph, const PieceOp& piece_op) {
  const Op& op = graph.ops[at(piece_op.op)];
  const AttentionKernel kernel = attention_kernel(graph, piece_op);
  // The gradient of the weight reads the scaled operand, and that of a smaller type its copy: both are kept aside.
  const bool other = op.rule == "rms_norm" && (!graph.tensors[at(op.inputs[0].tensor)].gradient ||
                                               Local(graph, piece_op).element(op.inputs[0]) < statistic);
  std::vector<int> out;
  for (const int s : op.saves)
    if (s == 0 && other)
      continue;
    else if (s >= 0)
      out.push_back(piece_op.inputs[at(s)]);
    else if (kernel != AttentionKernel::products)
      out.push_back(piece_op.first_output - 1 - s);
  for (std::size_t i = 0; i < op.inputs.size(); ++i)
    if ((kernel == AttentionKernel::fused || kernel == AttentionKernel::blocks) &&
        graph.node(piece_op.op).arguments[at(op.inputs[i].argument)].name == "attn_mask")
      out.push_back(piece_op.inputs[i]);
  return out;
}

Bytes kept_aside(const Graph& graph, const PieceOp& piece_op) {
  if (!graph.ops[at(piece_op.op)].backward) return {};
  const Local local(graph, piece_op);
  const std::string_view target = graph.node(piece_op.op).target;
  if (classify(graph, piece_op.op) == OperatorClass::attention) return {of_attention(graph, piece_op, local)};
  if (target.find("layer_norm") != std::string_view::npos) return {of_normalization(graph, piece_op, local, 2)};
  if (target.find("group_norm") != std::string_view::npos) return {of_group_normalization(graph, piece_op, local)};
  if (target.find("max_pool") != std::string_view::npos) return {of_max_pooling(graph, piece_op, local)};
  if (target.find("rms_norm") != std::string_view::npos) return {of_rms_normalization(graph, piece_op, local).kept};
  if (const auto r = recurrent_of(graph, piece_op, local)) return {r->nets * r->kept - r->results};
  if (target.ends_with("::embedding_bag")) return {of_bags(graph, piece_op, local)};
  if (transforms_real_numbers(target)) return {real_transform_of(graph, piece_op, local).added};
  if (target == "planscope::index_rows") return {of_row_numbers(local)};
  if (target.starts_with("aten::col2im")) return {of_folding(graph, piece_op, local)};
  if (const Formula* f = formula_of(graph, piece_op)) return bytes_of(graph, piece_op, local, f->kept);
  return {};
}

Bytes taken_meanwhile(const Graph& graph, const PieceOp& piece_op, bool saves) {
  constexpr std::int64_t elements_at_a_time = 1 << 14;
  const std::string_view target = graph.node(piece_op.op).target;
  const Local local(graph, piece_op);
  if (const Formula* f = formula_of(graph, piece_op)) return bytes_of(graph, piece_op, local, f->forward);
  if (const auto r = recurrent_of(graph, piece_op, local)) return {r->gates * r->unit + (r->nets > 1 ? r->result : 0)};
  if (classify(graph, piece_op.op) == OperatorClass::attention) return {of_added_mask(graph, piece_op, local)};
  if (target == "planscope::grouped_mm") return {of_grouped_product(graph, piece_op, local)};
  if (target.find("rms_norm") != std::string_view::npos) {
    const RmsNormalization n = of_rms_normalization(graph, piece_op, local);
    return {saves ? n.forward : n.forward_only};
  }
  if (target != "planscope::lse") return {};
  const Operand* x = local.input("self");
  if (!x || x->map.empty()) return {};
  const std::int64_t row = local.dim(*x, x->map.size() - 1);
  const std::int64_t rows = std::max<std::int64_t>(1, elements_at_a_time / std::max<std::int64_t>(1, row));
  return {std::min(rows, local.rows(*x, 1)) * row * local.element(*x)};
}

CompositeBackward composite_backward(const Graph& graph, const PieceOp& piece_op) {
  if (graph.node(piece_op.op).target.find("rms_norm") == std::string::npos) return {};
  return of_rms_normalization(graph, piece_op, Local(graph, piece_op)).composite;
}

Bytes taken_backward(const Graph& graph, const PieceOp& piece_op) {
  const Op& op = graph.ops[at(piece_op.op)];
  if (!op.backward) return {};
  const Local local(graph, piece_op);
  const std::string_view target = graph.node(piece_op.op).target;
  const std::int64_t result = local.rows(op.outputs.front(), 0) * local.element(op.outputs.front());
  const Formula* formula = formula_of(graph, piece_op);
  if (formula && op.rule != "elementwise") return bytes_of(graph, piece_op, local, formula->backward);
  if (classify(graph, piece_op.op) == OperatorClass::attention) return {of_added_mask(graph, piece_op, local)};
  if (target == "planscope::grouped_mm") return {of_grouped_product(graph, piece_op, local)};
  if (transforms_real_numbers(target)) return {real_transform_of(graph, piece_op, local).backward};
  // The gradient of the weights between states is added up step by step; what the steps have kept goes meanwhile, and with it as
  // much as the gradients take that are there at the end alone.
  if (const auto r = recurrent_of(graph, piece_op, local))
    return {r->weights - r->input - 2 * r->result - (r->nets - 1) * r->kept};
  if (target.find("rms_norm") != std::string_view::npos) return {of_rms_normalization(graph, piece_op, local).backward};
  if (target == "aten::matmul") return {of_repeated_lists(graph, op, local)};
  // The gradient of an operand that is repeated is there for all elements before it is summed; a sum hands its own on. An einsum
  // that contracts nothing is a product of elements.
  const bool outer = target == "aten::einsum" && std::none_of(op.factors.begin(), op.factors.end(), [](const Factor& f) {
    return f.kind == FactorKind::sum;
  });
  const bool sum = target.starts_with("aten::add.") || target.starts_with("aten::sub.");
  if ((op.rule != "elementwise" && !outer) || sum) return {};
  std::int64_t products = formula ? bytes_of(graph, piece_op, local, formula->backward).count : 0;
  for (const Operand& o : op.inputs)
    if (graph.tensors[at(o.tensor)].gradient && local.rows(o, 0) < local.rows(op.outputs.front(), 0))
      products += result;
  // The gradient of what divides: -grad * (self / other / other).
  if (target == "aten::div.Tensor" && op.inputs.size() == 2 && graph.tensors[at(op.inputs[1].tensor)].gradient)
    products += 2 * result;
  return {products};
}

}  // namespace planscope
