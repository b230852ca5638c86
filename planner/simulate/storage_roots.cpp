#include "planner/simulate/storage_roots.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>

#include "engine/graph/arguments.h"
#include "planner/cost/operator_class.h"
#include "planner/cost/operator_memory.h"
#include "planner/simulate/einsum_groups.h"

namespace planscope {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

struct Cell {
  int dim = 0, part = 0;
  bool apart = false;  // does not lie beside the next one: something was cut out between
  bool is(int d, int p) const { return dim == d && part == p; }
};
using Order = std::vector<Cell>;  // parts of more than one element, major to minor in memory

class Follower {
 public:
  Follower(const Graph& graph, const Piece& piece)
      : graph_(graph), piece_(piece), orders_(piece.slots.size()), known_(piece.slots.size(), 0) {
    roots_.storage.resize(piece.slots.size());
    for (std::size_t s = 0; s < piece.slots.size(); ++s) roots_.storage[s] = static_cast<int>(s);
    roots_.gradient = roots_.storage;
  }

  StorageRoots follow() {
    for (const PieceOp& o : piece_.ops) {
      const Op& op = graph_.ops[at(o.op)];
      for (std::size_t i = 0; i < o.inputs.size(); ++i)
        if (!known_[at(o.inputs[i])]) set(o.inputs[i], in_order(o, op.inputs[i]));
      roots_.copied.push_back(copied(o, op));
      for (std::size_t k = 0; k < op.outputs.size(); ++k) make(o, op, k);
    }
    follow_back();
    return std::move(roots_);
  }

 private:
  void set(int slot, Order order) {
    orders_[at(slot)] = std::move(order);
    known_[at(slot)] = 1;
  }

  std::int64_t size(const PieceOp& o, const Operand& operand, int dim, int part) const {
    return local_size(graph_, o, operand, dim, part);
  }

  Order in_order(const PieceOp& o, const Operand& operand) const {
    Order out;
    const PTensor& tensor = graph_.tensors[at(operand.tensor)];
    for (std::size_t d = 0; d < tensor.dims.size(); ++d)
      for (std::size_t p = 0; p < tensor.dims[d].size(); ++p)
        if (size(o, operand, static_cast<int>(d), static_cast<int>(p)) != 1)
          out.push_back({static_cast<int>(d), static_cast<int>(p)});
    return out;
  }

  void make(const PieceOp& o, const Op& op, std::size_t k) {
    const int slot = o.first_output + static_cast<int>(k);
    const Order plain = in_order(o, op.outputs[k]);
    if (classify(graph_, o.op) == OperatorClass::view && !o.inputs.empty()) {
      Order order = through(o, op.inputs[0], orders_[at(o.inputs[0])], op.outputs[k], plain);
      if (!is_part(o, op, k)) roots_.gradient[at(slot)] = roots_.gradient[at(o.inputs[0])];
      if (op.rule != "view" || lies_right(order, plain)) {
        roots_.storage[at(slot)] = roots_.storage[at(o.inputs[0])];
        return set(slot, std::move(order));
      }
      return set(slot, plain);
    }
    if (k == 0 && attention_kernel(graph_, o) == AttentionKernel::fused)
      return set(slot, by_dimensions(orders_[at(o.inputs[0])], plain));
    if (const auto groups = einsum_groups(graph_, o)) return set(slot, one_by_one(groups->result, plain));
    if (op.rule == "elementwise") {
      for (std::size_t i = 0; i < o.inputs.size(); ++i) {
        Order order = through(o, op.inputs[i], orders_[at(o.inputs[i])], op.outputs[k], plain);
        if (order.size() != plain.size()) continue;
        return set(slot, beside(std::move(order)));
      }
    }
    set(slot, plain);
  }

  // A view of a part of what is no parameter, or of a part several times: its gradient is a tensor of its own, of which the
  // gradient of the whole is made. Gradients of parts of a parameter are put in that of the whole as they come.
  bool is_part(const PieceOp& o, const Op& op, std::size_t k) const {
    const int root = roots_.gradient[at(o.inputs[0])];
    const bool parameter =
        root < piece_.leaves && graph_.model->values[at(piece_.slots[at(root)].tensor)].kind == ValueKind::parameter;
    return !parameter && elements(o, op.outputs[k]) != elements(o, op.inputs[0]);
  }
  std::int64_t elements(const PieceOp& o, const Operand& operand) const {
    std::int64_t count = 1;
    for (const Cell& c : in_order(o, operand)) count *= size(o, operand, c.dim, c.part);
    return count;
  }

  // Gradients that are given, through views, sums and operators of elements; a sum along dimensions spreads its own over what it has
  // summed, an einsum gives those of its matrices.
  void follow_back() {
    std::vector<std::optional<Order>> given(piece_.slots.size());
    std::vector<char> output(piece_.slots.size(), 0);  // whose gradient the piece is given, in order
    for (const int slot : piece_.outputs) output[at(slot)] = 1;
    roots_.puts_in_order.assign(piece_.ops.size(), 0);
    for (std::size_t k = piece_.ops.size(); k-- > 0;) {
      const PieceOp& o = piece_.ops[k];
      const Op& op = graph_.ops[at(o.op)];
      if (o.inputs.empty() || op.outputs.empty()) continue;
      std::optional<Order>& comes = given[at(o.first_output)];
      if (output[at(o.first_output)]) comes = in_order(o, op.outputs[0]);
      if (hand_on(o, op, comes, given)) continue;
      if (const auto groups = einsum_groups(graph_, o)) {
        roots_.puts_in_order[k] =
            comes && !comes->empty() && !lies_in_groups(*comes, in_order(o, op.outputs[0]), groups->result);
        for (std::size_t i = 0; i < 2; ++i)
          given[at(o.inputs[i])] = one_by_one(groups->operands[i], in_order(o, op.inputs[i]));
      }
      if (!comes) continue;
      if (const auto lists = product_lists(o, op))
        roots_.puts_in_order[k] = !comes->empty() && !lies_as_one(*comes, in_order(o, op.outputs[0]), *lists);
      if (op.rule == "elementwise" && comes->size() == in_order(o, op.outputs[0]).size())  // else it has no order of its own
        for (std::size_t i = 0; i < o.inputs.size(); ++i)
          if (elements(o, op.inputs[i]) == elements(o, op.outputs[0]))
            given[at(o.inputs[i])] = beside(through(o, op.outputs[0], *comes, op.inputs[i], in_order(o, op.inputs[i])));
      if (classify(graph_, o.op) != OperatorClass::view) continue;
      const Order plain = in_order(o, op.inputs[0]);
      Order order = through(o, op.outputs[0], *comes, op.inputs[0], plain);
      roots_.puts_in_order[k] = op.rule == "view" && !lies_right(order, plain);
      given[at(o.inputs[0])] = roots_.puts_in_order[k] || is_part(o, op, 0) ? plain : std::move(order);
    }
  }

  // Whether it is a sum, whose operands have its gradient.
  bool hand_on(const PieceOp& o, const Op& op, const std::optional<Order>& own,
               std::vector<std::optional<Order>>& given) const {
    const bool along = spreads_gradient(graph_, o.op);
    if (!along && !hands_gradient_on(graph_, o.op, 0)) return false;
    if (!along && !own) return true;
    const Order comes = own ? *own : in_order(o, op.outputs[0]);
    for (std::size_t i = 0; i < o.inputs.size(); ++i)
      if (along || (hands_gradient_on(graph_, o.op, i) && elements(o, op.inputs[i]) == elements(o, op.outputs[0])))
        given[at(o.inputs[i])] = through(o, op.outputs[0], comes, op.inputs[i], in_order(o, op.inputs[i]));
    return true;
  }

  // How many first dimensions of its result a product has as one, if it is of more than two.
  std::optional<int> product_lists(const PieceOp& o, const Op& op) const {
    const std::string_view target = graph_.node(o.op).target;
    const auto rank = static_cast<int>(op.outputs[0].map.size());
    if (rank < 3 || (target != "aten::linear" && target != "aten::matmul")) return std::nullopt;
    return target == "aten::linear" || op.inputs[1].map.size() < 3 ? rank - 1 : rank - 2;
  }

  // The dimensions one after the other as they are in `like`, each in order.
  static Order by_dimensions(const Order& like, const Order& plain) {
    std::vector<int> dims;
    for (const Order* from : {&like, &plain})
      for (const Cell& c : *from)
        if (std::find(dims.begin(), dims.end(), c.dim) == dims.end()) dims.push_back(c.dim);
    return one_by_one({dims}, plain);
  }

  static Order beside(Order order) {
    for (Cell& c : order) c.apart = false;
    return order;
  }

  // The parts of an operand that are parts of the result, in the operand's order.
  Order through(const PieceOp& o, const Operand& from, const Order& order, const Operand& to,
                const Order& parts) const {
    Order out;
    for (const Cell& c : order) {
      const auto same = successor(from, c, to, parts);
      if (same == parts.end() || size(o, from, c.dim, c.part) != size(o, to, same->dim, same->part)) {
        if (!out.empty()) out.back().apart = true;
        if (same == parts.end()) continue;
      }
      out.push_back({same->dim, same->part, c.apart});
    }
    return out;
  }

  // The part of the result with the same factor; where a dimension is cut or moved along, that at the same position.
  static Order::const_iterator successor(const Operand& from, const Cell& c, const Operand& to, const Order& parts) {
    const PartRef own = ref(from, c);
    const auto by_factor =
        std::find_if(parts.begin(), parts.end(), [&](const Cell& x) { return own.factor >= 0 && ref(to, x) == own; });
    if (by_factor != parts.end() || from.map.size() != to.map.size()) return by_factor;
    return std::find_if(parts.begin(), parts.end(),
                        [&](const Cell& x) { return x.is(c.dim, c.part) && !has(from, ref(to, x)); });
  }
  static bool has(const Operand& operand, const PartRef& wanted) {
    return wanted.factor >= 0 && std::any_of(operand.map.begin(), operand.map.end(), [&](const auto& dim) {
             return std::find(dim.begin(), dim.end(), wanted) != dim.end();
           });
  }
  static PartRef ref(const Operand& operand, const Cell& c) {
    const auto& parts = operand.map[at(c.dim)];
    return at(c.part) < parts.size() ? parts[at(c.part)] : PartRef{};
  }

  // A product of more than two dimensions is one of matrices, or of lists of them: what does not lie so is copied.
  std::vector<int> copied(const PieceOp& o, const Op& op) const {
    std::vector<int> out;
    const std::string_view target = graph_.node(o.op).target;
    const auto copy_unless = [&](std::size_t i, std::size_t lists) {
      const Operand& operand = op.inputs[i];
      const auto dims = static_cast<int>(operand.map.size() - lists);
      if (operand.map.size() > 2 && !lies_as_one(orders_[at(o.inputs[i])], in_order(o, operand), dims))
        out.push_back(o.inputs[i]);
    };
    if (target == "aten::linear") copy_unless(0, 1);
    if (target == "aten::matmul") {
      const bool lists = std::min(op.inputs[0].map.size(), op.inputs[1].map.size()) > 2;
      copy_unless(0, lists ? 2 : 1);
      if (lists) copy_unless(1, 2);
      // PyTorch computes a matrix times a list of matrices as the transposed product if the matrix needs a gradient. The
      // transposed list is not contiguous, so it is copied.
      if (op.inputs[0].map.size() < 3 && op.inputs[1].map.size() > 2 && graph_.tensors[at(op.inputs[0].tensor)].gradient)
        out.push_back(o.inputs[1]);
      for (std::size_t i = 0; lists && i < 2; ++i) {
        const std::int64_t times = lists_of(o, op.outputs[0]) / std::max<std::int64_t>(1, lists_of(o, op.inputs[i]));
        std::erase_if(out, [&](int slot) { return times > 1 && slot == o.inputs[i]; });
        if (times > 1) out.insert(out.end(), static_cast<std::size_t>(times), o.inputs[i]);
      }
    }
    if (const auto groups = einsum_groups(graph_, o))
      for (std::size_t i = 0; i < 2; ++i)
        if (!lies_in_groups(orders_[at(o.inputs[i])], in_order(o, op.inputs[i]), groups->operands[i]))
          out.push_back(o.inputs[i]);
    if (attention_kernel(graph_, o) == AttentionKernel::products) {
      out.assign({o.inputs[0], o.inputs[1]});  // query and key are scaled
      copy_unless(2, 2);
    }
    return out;
  }

  // How many matrices there are.
  std::int64_t lists_of(const PieceOp& o, const Operand& operand) const {
    std::int64_t count = 1;
    for (const Cell& c : in_order(o, operand))
      if (at(c.dim) + 2 < operand.map.size()) count *= size(o, operand, c.dim, c.part);
    return count;
  }

  // Whether the first dimensions can be one stride.
  static bool lies_as_one(const Order& order, const Order& plain, int dims) {
    std::vector<int> first(at(dims));
    std::iota(first.begin(), first.end(), 0);
    return lies_in_groups(order, plain, {first});
  }

  // Whether each group of dimensions can be one stride.
  static bool lies_in_groups(const Order& order, const Order& plain, const DimGroups& groups) {
    return std::all_of(groups.begin(), groups.end(), [&](const std::vector<int>& dims) {
      const Order one = one_by_one({dims}, plain);
      for (std::size_t i = 0; i + 1 < one.size(); ++i)
        if (!lies_beside(order, one[i], one[i + 1])) return false;
      return true;
    });
  }

  // The dimensions of one group after the other.
  static Order one_by_one(const DimGroups& groups, const Order& plain) {
    Order out;
    for (const std::vector<int>& dims : groups)
      for (const int d : dims)
        std::copy_if(plain.begin(), plain.end(), std::back_inserter(out), [d](const Cell& c) { return c.dim == d; });
    return out;
  }

  // Whether each dimension of a reshape's result can be one stride.
  static bool lies_right(const Order& order, const Order& result) {
    for (std::size_t i = 0; i + 1 < result.size(); ++i)
      if (result[i].dim == result[i + 1].dim && !lies_beside(order, result[i], result[i + 1])) return false;
    return true;
  }
  static bool lies_beside(const Order& order, const Cell& a, const Cell& b) {
    const auto first = std::find_if(order.begin(), order.end(), [&](const Cell& c) { return c.is(a.dim, a.part); });
    return first != order.end() && !first->apart && first + 1 != order.end() && (first + 1)->is(b.dim, b.part);
  }

  const Graph& graph_;
  const Piece& piece_;
  std::vector<Order> orders_;
  std::vector<char> known_;
  StorageRoots roots_;
};

}  // namespace

bool spreads_gradient(const Graph& graph, OpId op) {
  const Op& o = graph.ops[at(op)];
  const auto type = [&](const Operand& operand) { return graph.model->values[at(operand.tensor)].dtype; };
  return graph.node(op).target == "aten::sum.dim_IntList" && type(o.inputs[0]) == type(o.outputs[0]);
}

bool hands_gradient_on(const Graph& graph, OpId op, std::size_t operand) {
  const Node& node = graph.node(op);
  const Op& o = graph.ops[at(op)];
  if (operand >= o.inputs.size()) return false;
  const auto type = [&](const Operand& of) { return graph.model->values[at(of.tensor)].dtype; };
  if (type(o.inputs[operand]) != type(o.outputs[0])) return false;
  const bool minuend = node.target == "aten::sub.Tensor" || node.target == "aten::sub.Scalar";
  if (operand > 0) return node.target == "aten::add.Tensor" && number_argument(node, "alpha").value_or(1) == 1;
  return minuend || node.target == "aten::add.Tensor" || node.target == "aten::add.Scalar";
}

StorageRoots storage_roots(const Graph& graph, const Piece& piece) { return Follower(graph, piece).follow(); }

}  // namespace planscope
