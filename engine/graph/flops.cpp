#include "engine/graph/flops.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "engine/graph/arguments.h"
#include "engine/graph/bodies.h"
#include "engine/graph/einsum.h"
#include "engine/graph/element_types.h"

namespace planscope {

namespace {

using Sizes = std::vector<std::int64_t>;

double product(const Sizes& sizes, std::size_t from = 0, std::size_t behind = 0) {
  double n = 1;
  for (std::size_t d = from; d + behind < sizes.size(); ++d) n *= static_cast<double>(sizes[d]);
  return n;
}

// An operator with its operands by name, at the graph's sizes.
struct Counted {
  const Graph& g;
  const Op& op;
  const Node& node;

  std::optional<Sizes> operand(std::string_view name) const {
    const ValueId id = tensor_argument(node, name);
    return id < 0 ? std::nullopt : std::optional(g.sizes(id));
  }
  std::optional<Sizes> result() const {
    return op.outputs.empty() ? std::nullopt : std::optional(g.sizes(op.outputs[0].tensor));
  }
};

// Every element of the result contracts the last dimension of the first operand.
std::optional<double> contraction(const Counted& c, std::string_view first) {
  const auto a = c.operand(first), out = c.result();
  if (!a || !out || a->empty()) return std::nullopt;
  return 2 * product(*out) * static_cast<double>(a->back());
}

// A row of the first operand with the matrix of its own key.
std::optional<double> grouped(const Counted& c, std::string_view first) {
  const auto a = c.operand(first), out = c.result();
  if (!a || !out || a->size() != 2 || out->size() != 2) return std::nullopt;
  return 2 * product(*out) * static_cast<double>((*a)[1]);
}

// Every weight is used once for each place of the windows in a row's plane.
std::optional<double> convolution(const Counted& c, bool transposed) {
  const auto input = c.operand("input"), weight = c.operand("weight"), out = c.result();
  if (!input || !weight || !out || weight->size() < 3) return std::nullopt;
  const Sizes& plane = transposed ? *input : *out;
  const std::size_t rank = weight->size();
  if (plane.size() + 1 < rank) return std::nullopt;
  const double rows = plane.size() == rank ? static_cast<double>(plane[0]) : 1;
  const double products = is_complex(c.g.model->values[static_cast<std::size_t>(c.op.outputs.front().tensor)].dtype)
                              ? 3
                              : 1;  // of real numbers
  return 2 * products * rows * product(plane, plane.size() + 2 - rank) * product(*weight);
}

// Scores contract the width of a head, the result contracts the keys.
std::optional<double> attention(const Counted& c) {
  const auto q = c.operand("query"), k = c.operand("key"), v = c.operand("value");
  if (!q || !k || !v || q->size() < 2 || k->size() < 2 || v->empty()) return std::nullopt;
  return 2 * product(*q, 0, 1) * static_cast<double>((*k)[k->size() - 2]) * static_cast<double>(q->back() + v->back());
}

// Letters that only one of the two operands has are summed before, and without any to contract there is no product of
// matrices. More operands are taken two at a time by the import.
std::optional<double> einsum(const Counted& c) {
  const auto text = string_argument(c.node, "equation");
  std::vector<std::size_t> ranks;
  for (const Operand& o : c.op.inputs) ranks.push_back(c.g.sizes(o.tensor).size());
  const auto e = text ? parse_equation(*text, ranks) : std::nullopt;
  if (!e || e->operands.size() != 2) return std::nullopt;
  std::map<char, double> size;
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t d = 0; d < ranks[i]; ++d)
      size[e->operands[i][d]] =
          std::max(size[e->operands[i][d]], static_cast<double>(c.g.sizes(c.op.inputs[i].tensor)[d]));
  const auto has = [](const std::string& letters, char letter) { return letters.find(letter) != std::string::npos; };
  double work = 2;
  bool contracts = false;
  for (const auto& [letter, extent] : size) {
    const bool both = has(e->operands[0], letter) && has(e->operands[1], letter), kept = has(e->result, letter);
    if (both || kept) work *= extent;
    contracts = contracts || (both && !kept);
  }
  return contracts ? std::optional(work) : std::nullopt;
}

// The order of products that costs least, as torch.linalg.multi_dot chooses; a vector at an end is a row or a column.
std::optional<double> chain(const Counted& c) {
  std::vector<double> sides;
  for (std::size_t i = 0; i < c.op.inputs.size(); ++i) {
    const Sizes s = c.g.sizes(c.op.inputs[i].tensor);
    if (s.empty() || s.size() > 2) return std::nullopt;
    if (i == 0) sides.push_back(s.size() == 1 ? 1 : static_cast<double>(s[0]));
    sides.push_back(s.size() == 1 && i > 0 ? 1 : static_cast<double>(s.back()));
  }
  const std::size_t n = c.op.inputs.size();
  std::vector<std::vector<double>> least(n, std::vector<double>(n, 0));
  for (std::size_t length = 1; length < n; ++length)
    for (std::size_t i = 0; i + length < n; ++i) {
      double best = std::numeric_limits<double>::infinity();
      for (std::size_t k = i; k < i + length; ++k)
        best = std::min(best,
                        least[i][k] + least[k + 1][i + length] + 2 * sides[i] * sides[k + 1] * sides[i + length + 1]);
      least[i][i + length] = best;
    }
  return n < 2 ? std::nullopt : std::optional(least[0][n - 1]);
}

// A layer's gates are products of its input and of its state, at every step; a projection is one more.
// Squares, and products of those that the bits of the exponent name: x^13 is x^8 · x^4 · x.
std::optional<double> power(const Counted& c) {
  const auto a = c.operand("self");
  const auto n = int_argument(c.node, "n");
  if (!a || a->size() < 2 || !n) return std::nullopt;
  auto left = static_cast<std::uint64_t>(*n < 0 ? -(*n + 1) + 1 : *n);
  double products = 0;
  for (bool first = true; left > 0; left >>= 1) {
    if (left > 1) ++products;
    if (left & 1 && !std::exchange(first, false)) ++products;
  }
  return 2 * products * product(*a) * static_cast<double>(a->back());
}

std::optional<double> recurrent(const Counted& c) {
  const auto input = c.operand("input");
  const auto* params = tensors_argument(c.node, "params");
  if (!input || !params || input->empty()) return std::nullopt;
  const double rows = product(*input, 0, 1);  // batch and steps
  double work = 0;
  for (const Tensor& t : *params) {
    const Sizes s = t.id < 0 ? Sizes{} : c.g.sizes(t.id);
    if (s.size() == 2) work += 2 * rows * product(s);
  }
  return work;
}

std::optional<double> cell(const Counted& c) {
  const auto input = c.operand("input"), in = c.operand("w_ih"), state = c.operand("w_hh");
  if (!input || !in || !state) return std::nullopt;
  return 2 * product(*input, 0, 1) * (product(*in) + product(*state));
}

std::optional<double> product_flops(const Counted& c) {
  const std::string& t = c.node.target;
  if (t == "aten::linear") return contraction(c, "input");
  if (t == "aten::addmm" || t == "aten::addmv") return contraction(c, t == "aten::addmm" ? "mat1" : "mat");
  if (t == "aten::mm" || t == "aten::bmm" || t == "aten::matmul" || t == "aten::mv" || t == "aten::dot" ||
      t == "aten::vdot")
    return contraction(c, "self");
  if (t == "aten::baddbmm" || t == "aten::addbmm") {
    const auto batches = c.operand("batch1");
    const auto once = contraction(c, "batch1");
    return once && t == "aten::addbmm" && batches ? *once * static_cast<double>((*batches)[0]) : once;
  }
  if (t == "planscope::attention" || t == "aten::scaled_dot_product_attention") return attention(c);
  if (t == "planscope::grouped_mm" || t == "aten::_grouped_mm") return grouped(c, "self");
  if (t == "transformers::grouped_mm_fallback") return grouped(c, "input");
  if (t.starts_with("aten::conv_transpose")) return convolution(c, true);
  if (t.starts_with("aten::conv1d") || t.starts_with("aten::conv2d") || t.starts_with("aten::conv3d"))
    return convolution(c, false);
  if (t == "aten::convolution" || t == "aten::_convolution")
    return convolution(c, bool_argument(c.node, "transposed").value_or(false));
  if (t == "aten::einsum") return einsum(c);
  if (t == "aten::matrix_power" || t == "aten::linalg_matrix_power") return power(c);
  if (t == "aten::linalg_multi_dot" || t == "aten::chain_matmul") return chain(c);
  if (t == "aten::lstm.input" || t == "aten::gru.input" || t == "aten::rnn_tanh.input" || t == "aten::rnn_relu.input")
    return recurrent(c);
  if (t == "aten::lstm_cell" || t == "aten::gru_cell" || t == "aten::rnn_tanh_cell" || t == "aten::rnn_relu_cell")
    return cell(c);
  return std::nullopt;
}

}  // namespace

void count_flops(Graph& g) {
  for (Op& op : g.ops) {
    const Node& node = g.model->nodes[static_cast<std::size_t>(op.node)];
    if (!node.bodies.empty()) {
      op.flops = body_flops(*g.model, node);
      continue;
    }
    if (const auto work = product_flops({g, op, node})) {
      op.flops = *work;
      op.elementwise_cost = false;
      continue;
    }
    op.flops = op.elementwise_cost ? 0 : 2;
    if (op.elementwise_cost)
      for (const Operand& o : op.outputs) op.flops += static_cast<double>(g.elements(o.tensor));
    else  // by a rule of one's own: every index of every factor
      for (const Factor& f : op.factors)
        if (f.key < 0)
          for (const ClassId c : f.parts) op.flops *= static_cast<double>(g.classes[static_cast<std::size_t>(c)].size);
  }
}

}  // namespace planscope
