// Rows that are sorted by an integer key, multiplied in groups of equal keys and put back in their order need no order:
// `planscope::grouped_mm` looks the key of each row up. With P the permutation of the sort,
//
//   sorted, P = sort(keys); rows = x[P]; y = grouped(f(rows), w, cumsum(histc(sorted))); result = g(y)[inverse of P]
//   result    = g(planscope::grouped_mm(f(x), w, keys))
//
// Every value v in sorted order gets a twin u in the order of the keys, v = u[P], where its operator works row by row;
// where a value returns from the sorted order, its twin stands for it, and what was sorted is dead. Whatever does not
// fit keeps the operators of the file.
#include <algorithm>
#include <map>
#include <optional>

#include "engine/graph/arguments.h"
#include "engine/graph/canonical/counters.h"
#include "engine/graph/canonical/passes.h"
#include "engine/graph/canonical/rewriter.h"
#include "engine/graph/elementwise.h"
#include "engine/graph/functional/views.h"

namespace planscope {
namespace {

using Sizes = std::vector<std::int64_t>;

struct Sorting {
  ValueId keys = -1, permutation = -1;
  std::int64_t rows = 0;
};

struct Twin {
  int sorting = -1;
  ValueId value = -1;
};

// How many rows have each of the keys 0 … count-1, or where they end in sorted order.
struct Groups {
  ValueId keys = -1;
  std::int64_t count = 0;
};

bool is_integer(DType type) { return type == DType::i64 || type == DType::i32 || type == DType::u8; }

bool is_number(const Node& node, std::string_view name, std::int64_t value) {
  return number_argument(node, name) == static_cast<double>(value);
}

class Dispatch {
 public:
  // True: the node is in the list, and so are the twins of its results.
  bool visit(Rewriter& rewriter, Node& node) {
    if (returns(rewriter, node)) return true;
    accumulate(node);
    if (auto sorting = sort(rewriter, node)) {
      const Node like = keep(rewriter, node);
      add_sorting(rewriter, like, *sorting);
      return true;
    }
    note_groups(rewriter, node);
    note_inverse(rewriter, node);
    std::optional<Node> twin = grouped_product(rewriter, node);
    if (!twin) twin = gathered(rewriter, node);
    if (!twin) twin = row_by_row(rewriter, node);
    if (!twin) return false;
    const Node like = keep(rewriter, node);
    add_twin(rewriter, like, std::move(*twin));
    return true;
  }

 private:
  static Node keep(Rewriter& rewriter, Node& node) {
    rewriter.model.nodes.push_back(std::move(node));
    return rewriter.model.nodes.back();
  }

  const Twin* twin(ValueId id) const {
    const auto found = twins_.find(id);
    return found == twins_.end() ? nullptr : &found->second;
  }
  const Sorting& sorting(int s) const { return sortings_[static_cast<std::size_t>(s)]; }

  // --- into the sorted order

  struct Sort {
    ValueId keys = -1, values = -1, permutation = -1;
  };

  // One-dimensional, ascending, of integers.
  std::optional<Sort> sort(const Rewriter& rewriter, const Node& node) const {
    const bool sorts = node.target == "aten::sort" || node.target == "aten::sort.stable";
    const bool argsorts = node.target == "aten::argsort" || node.target == "aten::argsort.stable";
    const ValueId keys = tensor_argument(node, "self");
    if ((!sorts && !argsorts) || keys < 0 || node.outputs.size() != (sorts ? 2U : 1U)) return std::nullopt;
    const Value& value = rewriter.value(keys);
    if (value.sizes.size() != 1 || !is_integer(value.dtype) || bool_argument(node, "descending") != false || twin(keys))
      return std::nullopt;
    if (node.outputs.back() < 0 || rewriter.value(node.outputs.back()).sizes != value.sizes) return std::nullopt;
    return Sort{keys, sorts ? node.outputs[0] : -1, node.outputs.back()};
  }

  void add_sorting(Rewriter& rewriter, const Node& like, const Sort& sort) {
    const std::int64_t rows = rewriter.value(sort.keys).sizes[0];
    const int s = static_cast<int>(sortings_.size());
    sortings_.push_back({sort.keys, sort.permutation, rows});
    const ValueId counter = rewriter.emit(
        like, "aten::arange",
        {{"end", rows}, {"dtype", DType::i64}, {"layout", None{}}, {"device", None{}}, {"pin_memory", None{}}},
        DType::i64, {rows});
    twins_[sort.permutation] = {s, counter};
    if (sort.values >= 0) twins_[sort.values] = {s, sort.keys};
  }

  // --- in the sorted order

  // The histogram of the keys does not depend on their order; its running sum says where groups end.
  void note_groups(const Rewriter& rewriter, const Node& node) {
    const ValueId self = sole_operand(node);
    if (self < 0) return;
    const Sizes& sizes = rewriter.value(node.outputs[0]).sizes;
    if (node.target == "aten::bincount") {
      const auto least = int_argument(node, "minlength");
      if (least && sizes == Sizes{*least} && is_none(node, "weights"))
        counts_[node.outputs[0]] = {keys_of(rewriter, self), *least};
    } else if (node.target == "aten::one_hot") {  // of rows; summed over them below
      if (sizes.size() == 2) marked_[node.outputs[0]] = {keys_of(rewriter, self), sizes[1]};
    } else if (node.target == "aten::eq.Tensor") {
      note_compared(rewriter, node);
    } else if (node.target == "aten::sum.dim_IntList") {
      const auto* dims = ints_argument(node, "dim");
      const auto found = marked_.find(self);
      if (found != marked_.end() && dims && *dims == Sizes{0} && bool_argument(node, "keepdim") == false)
        counts_[node.outputs[0]] = found->second;
    } else if (node.target == "aten::histc") {
      const auto bins = int_argument(node, "bins");
      if (bins && *bins > 1 && sizes == Sizes{*bins} && is_number(node, "min", 0) && is_number(node, "max", *bins - 1))
        counts_[node.outputs[0]] = {keys_of(rewriter, self), *bins};
    } else if (node.target == "aten::to.dtype") {
      for (auto* known : {&counts_, &ends_, &marked_})
        if (const auto found = known->find(self); found != known->end()) (*known)[node.outputs[0]] = found->second;
    } else if (node.target == "aten::cumsum") {
      if (const auto found = counts_.find(self); found != counts_.end()) ends_[node.outputs[0]] = found->second;
    }
  }

  // keys[:, None] == 0, 1, 2 …: which rows have which key.
  void note_compared(const Rewriter& rewriter, const Node& node) {
    const ValueId self = tensor_argument(node, "self"), other = tensor_argument(node, "other");
    const Sizes& sizes = rewriter.value(node.outputs[0]).sizes;
    if (self < 0 || other < 0 || sizes.size() != 2) return;
    for (const auto& [keys, numbers] : {std::pair(self, other), std::pair(other, self)}) {
      const Node* column = rewriter.producer(keys);
      if (!column || column->target != "aten::view" || rewriter.value(keys).sizes != Sizes{sizes[0], 1}) continue;
      const Sizes& counted = rewriter.value(numbers).sizes;
      if (counted.empty() || counted.back() != sizes[1] || element_count(counted) != sizes[1]) continue;
      const Node* row = rewriter.producer(numbers);
      const ValueId counter = row && row->target == "aten::view" ? sole_operand(*row) : numbers;
      if (counts_up(rewriter, counter)) marked_[node.outputs[0]] = {keys_of(rewriter, sole_operand(*column)), sizes[1]};
    }
  }

  // What `id` has in the order of the keys, before casts.
  ValueId keys_of(const Rewriter& rewriter, ValueId id) const {
    ValueId keys = twin(id) ? twin(id)->value : id;
    for (const Node* node = rewriter.producer(keys); node && node->target == "aten::to.dtype";
         node = rewriter.producer(keys))
      keys = sole_operand(*node);
    return keys;
  }

  struct Product {
    ValueId rows = -1, weight = -1, ends = -1;
  };

  static std::optional<Product> product(const Node& node) {
    Product p;
    if (node.target == "transformers::grouped_mm_fallback")
      p = {tensor_argument(node, "input"), tensor_argument(node, "weight"), tensor_argument(node, "offs")};
    else if (node.target == "aten::_grouped_mm" && is_none(node, "bias") && is_none(node, "out_dtype"))
      p = {tensor_argument(node, "self"), tensor_argument(node, "mat2"), tensor_argument(node, "offs")};
    const bool complete = p.rows >= 0 && p.weight >= 0 && p.ends >= 0 && node.outputs.size() == 1;
    return complete && node.outputs[0] >= 0 ? std::optional(p) : std::nullopt;
  }

  std::optional<Node> grouped_product(const Rewriter& rewriter, const Node& node) const {
    const auto p = product(node);
    if (!p) return std::nullopt;
    const Twin* rows = twin(p->rows);
    const auto ends = ends_.find(p->ends);
    const Sizes& weight = rewriter.value(p->weight).sizes;
    if (!rows || twin(p->weight) || ends == ends_.end() || ends->second.keys != sorting(rows->sorting).keys)
      return std::nullopt;
    if (weight.size() != 3 || weight[0] != ends->second.count || rewriter.value(p->rows).sizes.size() != 2)
      return std::nullopt;
    Node made = node;
    made.target = "planscope::grouped_mm";
    made.arguments = {
        {"self", Tensor{rows->value}}, {"weight", Tensor{p->weight}}, {"index", Tensor{sorting(rows->sorting).keys}}};
    return made;
  }

  // x[v] for a plain x and sorted row numbers v.
  std::optional<Node> gathered(const Rewriter& rewriter, const Node& node) const {
    const ValueId self = tensor_argument(node, "self");
    if (self < 0 || twin(self) || node.outputs.size() != 1) return std::nullopt;
    const auto* indices = tensors_argument(node, "indices");
    const bool indexes = node.target == "aten::index.Tensor" && indices && indices->size() == 1;
    const bool selects = node.target == "aten::index_select" && int_argument(node, "dim") == 0;
    if (!indexes && !selects) return std::nullopt;
    const ValueId index = indexes ? indices->front().id : tensor_argument(node, "index");
    const Twin* rows = twin(index);
    if (!rows || rewriter.value(index).sizes.size() != 1) return std::nullopt;
    Node made = node;
    made.target = "aten::index.Tensor";
    made.arguments = {{"self", Tensor{self}}, {"indices", std::vector<Tensor>{Tensor{rows->value}}}};
    return made;
  }

  // Operators whose row r of every result depends on row r of the sorted operands alone.
  std::optional<Node> row_by_row(const Rewriter& rewriter, const Node& node) const {
    int s = -1;
    bool one_order = true, any = false;
    for_each_tensor(node, [&](ValueId id) {
      const Twin* t = twin(id);
      if (!t) return;
      one_order = one_order && (!any || t->sorting == s);
      s = t->sorting;
      any = true;
    });
    if (!any || !one_order || node.random || node.outputs.empty()) return std::nullopt;
    for (const ValueId id : node.outputs)
      if (id < 0 || rewriter.value(id).sizes.empty() || rewriter.value(id).sizes[0] != sorting(s).rows)
        return std::nullopt;
    if (!keeps_rows(rewriter, node)) return std::nullopt;
    Node made = node;
    map_tensors(made, [&](ValueId id) { return twin(id) ? twin(id)->value : id; });
    return made;
  }

  bool keeps_rows(const Rewriter& rewriter, const Node& node) const {
    const std::string& target = node.target;
    const std::size_t rank = rewriter.value(node.outputs[0]).sizes.size();
    if (is_elementwise(target)) {
      bool aligned = true;
      for_each_tensor(node, [&](ValueId id) {
        const Sizes& sizes = rewriter.value(id).sizes;
        aligned = aligned && (twin(id) ? sizes.size() == rank : sizes.size() < rank || sizes[0] == 1);
      });
      return aligned;
    }
    if (target == "aten::linear") return !twin(tensor_argument(node, "weight")) && !twin(tensor_argument(node, "bias"));
    const ValueId self = tensor_argument(node, "self");
    if (target == "aten::view") return twin(self) != nullptr;
    if (target == "aten::expand") return rewriter.value(self).sizes.size() == rank;
    if (target == "aten::permute") {
      const auto* dims = ints_argument(node, "dims");
      return dims && !dims->empty() && wrap_dim(dims->front(), rank) == 0;
    }
    static constexpr std::string_view along[] = {"aten::split_with_sizes", "aten::slice.Tensor",
                                                 "aten::select.int",       "aten::softmax.int",
                                                 "aten::mean.dim",         "aten::sum.dim_IntList"};
    const bool listed = std::find(std::begin(along), std::end(along), target) != std::end(along);
    return listed && twin(self) && spares_rows(node, rewriter.value(self).sizes.size());
  }

  // The dimensions that the operator speaks of are others than the rows.
  static bool spares_rows(const Node& node, std::size_t rank) {
    Sizes dims;
    if (const auto one = int_argument(node, "dim")) dims = {*one};
    if (const auto* several = ints_argument(node, "dim")) dims = *several;
    return !dims.empty() && std::all_of(dims.begin(), dims.end(), [&](std::int64_t dim) {
      const auto wrapped = wrap_dim(dim, rank);
      return wrapped && *wrapped > 0;
    });
  }

  void add_twin(Rewriter& rewriter, const Node& original, Node made) {
    const int s = sorting_read(original);
    for (std::size_t k = 0; k < made.outputs.size(); ++k) {
      const Value like = rewriter.value(original.outputs[k]);
      made.outputs[k] = rewriter.add_value(like.dtype, like.sizes);
      twins_[original.outputs[k]] = {s, made.outputs[k]};
    }
    rewriter.model.nodes.push_back(std::move(made));
  }

  int sorting_read(const Node& node) const {
    int s = -1;
    for_each_tensor(node, [&](ValueId id) {
      if (const Twin* t = twin(id)) s = t->sorting;
    });
    return s;
  }

  // --- out of the sorted order

  // The permutation that undoes P: written as inverse[P] = 0, 1, 2 …, or found by sorting P.
  void note_inverse(const Rewriter& rewriter, const Node& node) {
    const ValueId self = tensor_argument(node, "self");
    if (self < 0 || node.outputs.empty() || node.outputs.back() < 0) return;
    ValueId permutation = -1, written = -1;
    if (node.target == "aten::index_put" && bool_argument(node, "accumulate") == false) {
      const auto* indices = tensors_argument(node, "indices");
      if (indices && indices->size() == 1) permutation = indices->front().id;
      written = tensor_argument(node, "values");
    } else if (node.target == "aten::scatter.src") {
      permutation = tensor_argument(node, "index");
      written = tensor_argument(node, "src");
    } else if ((node.target == "aten::argsort" || node.target == "aten::sort") &&
               bool_argument(node, "descending") == false) {
      permutation = written = self;
    }
    for (std::size_t s = 0; s < sortings_.size(); ++s) {
      if (sortings_[s].permutation != permutation || rewriter.value(self).sizes != Sizes{sortings_[s].rows}) continue;
      const bool counts = written == permutation || (written >= 0 && counts_up(rewriter, written) &&
                                                     rewriter.value(written).sizes == Sizes{sortings_[s].rows});
      if (counts) inverses_[node.outputs.back()] = static_cast<int>(s);
    }
  }

  // Rows that are added up at places that are sorted with them: in the order of the keys the sums are the same.
  void accumulate(Node& node) const {
    const bool adds = node.target == "aten::index_add" || node.target == "aten::scatter_add";
    if (!adds || int_argument(node, "dim") != 0 || twin(tensor_argument(node, "self"))) return;
    const char* added = node.target == "aten::index_add" ? "source" : "src";
    const Twin *places = twin(tensor_argument(node, "index")), *rows = twin(tensor_argument(node, added));
    if (!places || !rows || places->sorting != rows->sorting) return;
    *find_argument(node, "index") = Tensor{places->value};
    *find_argument(node, added) = Tensor{rows->value};
  }

  bool returns(Rewriter& rewriter, const Node& node) const {
    const auto* indices = tensors_argument(node, "indices");
    const bool indexes = node.target == "aten::index.Tensor" && indices && indices->size() == 1;
    const bool selects = node.target == "aten::index_select" && int_argument(node, "dim") == 0;
    if ((!indexes && !selects) || node.outputs.size() != 1) return false;
    const Twin* rows = twin(tensor_argument(node, "self"));
    const auto inverse = inverses_.find(indexes ? indices->front().id : tensor_argument(node, "index"));
    if (!rows || inverse == inverses_.end() || inverse->second != rows->sorting) return false;
    rewriter.replace(node.outputs[0], rows->value);
    return true;
  }

  std::vector<Sorting> sortings_;
  std::map<ValueId, Twin> twins_;
  std::map<ValueId, Groups> counts_, ends_;
  std::map<ValueId, Groups> marked_;  // [rows, keys]: 1 where a row has a key
  std::map<ValueId, int> inverses_;
};

}  // namespace

Model dispatch(Model model) {
  Dispatch pass;
  return rewrite(std::move(model), [&](Rewriter& rewriter, Node& node) { return pass.visit(rewriter, node); });
}

}  // namespace planscope
