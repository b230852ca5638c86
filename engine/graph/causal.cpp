#include "engine/graph/causal.h"

#include <algorithm>

#include "engine/graph/arguments.h"

namespace planscope {

namespace {

constexpr int kRow = -2, kColumn = -1;  // dimensions of a mask, from the last one

class Causal {
 public:
  explicit Causal(const Graph& g) : g_(g) {}

  // Whether a mask hides every key behind its query.
  bool hides(TensorId t, int depth = 0) const {
    const Node* n = maker(t);
    if (!n || depth > most_depth) return false;
    const std::string& target = n->target;
    if (target == "aten::bitwise_and.Tensor" || target == "aten::logical_and" || target == "aten::__and__.Tensor")
      return operand_hides(*n, "self", t, depth) || operand_hides(*n, "other", t, depth);
    if (target == "aten::le.Tensor") return counts(*n, "self", kColumn) && counts(*n, "other", kRow);
    if (target == "aten::ge.Tensor") return counts(*n, "self", kRow) && counts(*n, "other", kColumn);
    if (target == "aten::expand") return operand_hides(*n, "self", t, depth);
    return false;
  }

 private:
  static constexpr int most_depth = 16;

  const Node* maker(TensorId t) const {
    const OpId op = t < 0 ? -1 : g_.tensors[static_cast<std::size_t>(t)].producer;
    return op < 0 ? nullptr : &g_.node(op);
  }
  const std::vector<std::int64_t>& sizes(TensorId t) const {
    return g_.model->values[static_cast<std::size_t>(t)].sizes;
  }

  // Of a part of the condition that has the same rows and columns.
  bool operand_hides(const Node& n, std::string_view argument, TensorId whole, int depth) const {
    const TensorId t = tensor_argument(n, argument);
    if (t < 0) return false;
    const auto &part = sizes(t), &all = sizes(whole);
    return part.size() >= 2 && all.size() >= 2 && std::equal(part.end() - 2, part.end(), all.end() - 2) &&
           hides(t, depth + 1);
  }

  bool counts(const Node& n, std::string_view argument, int dim) const {
    const TensorId t = tensor_argument(n, argument);
    return t >= 0 && position(t, 0) == dim;
  }

  // The dimension, from the last one, along which the elements count 0, 1, 2, …, equal in all others; 0: none.
  int position(TensorId t, int depth) const {
    const Node* n = maker(t);
    if (!n || depth > most_depth) return 0;
    if (n->target.starts_with("aten::arange")) {
      const bool begins = is_none(*n, "start") || int_argument(*n, "start") == 0;
      const bool steps = is_none(*n, "step") || int_argument(*n, "step") == 1;
      return begins && steps && sizes(t).size() == 1 ? -1 : 0;
    }
    const TensorId from = tensor_argument(*n, "self");
    const int dim = from < 0 ? 0 : position(from, depth + 1);
    if (dim == 0) return 0;
    if (n->target == "aten::expand") return dim;
    if (n->target == "aten::view") return reshaped(sizes(from), dim, sizes(t));
    return 0;
  }

  // Where a dimension is after dimensions of size 1 have come or gone; 0: another change.
  static int reshaped(const std::vector<std::int64_t>& from, int dim, const std::vector<std::int64_t>& to) {
    const auto longer = [](std::int64_t n) { return n != 1; };
    std::vector<std::int64_t> a, b;
    std::copy_if(from.begin(), from.end(), std::back_inserter(a), longer);
    std::copy_if(to.begin(), to.end(), std::back_inserter(b), longer);
    if (a != b || from.end()[dim] == 1) return 0;
    auto left = std::count_if(from.end() + dim + 1, from.end(), longer);
    for (int k = -1; k >= -static_cast<int>(to.size()); --k)
      if (longer(to.end()[k]) && left-- == 0) return k;
    return 0;
  }

  const Graph& g_;
};

}  // namespace

void mark_causal(Graph& g) {
  const Causal causal(g);
  for (Op& op : g.ops) {
    const Node& n = g.node(static_cast<OpId>(&op - g.ops.data()));
    if (n.target != "planscope::attention" || !op.known) continue;
    const TensorId mask = tensor_argument(n, "attn_mask");
    if (!bool_argument(n, "is_causal").value_or(false) && !(mask >= 0 && causal.hides(mask))) continue;
    int queries = -1;
    for (int f = 0; f < static_cast<int>(op.factors.size()); ++f)
      if (op.factors[static_cast<std::size_t>(f)].name == "queries") queries = f;
    for (Factor& f : op.factors)
      if (f.kind == FactorKind::softmax) f.until = queries;
  }
}

}  // namespace planscope
