// Operators along dimensions: reductions, normalizations, scans, sorting.
#include <algorithm>
#include <set>

#include "engine/graph/arguments.h"
#include "engine/graph/draft.h"
#include "engine/graph/element_types.h"

namespace planscope {

namespace {

std::set<int> dims_of(RuleContext& c, const char* argument) {
  std::set<int> out;
  for (const std::int64_t d : c.integers(argument)) out.insert(static_cast<int>(d));
  return out;
}

// Whether the type in which the result is computed (`dtype`) leaves the operator linear.
bool linear_in_type(RuleContext& c) {
  const Argument* type = c.argument("dtype");
  if (!type || std::holds_alternative<None>(*type)) return true;
  const auto* to = std::get_if<DType>(type);
  return to && carries_gradient(*to) && c.linear_cast();
}

// Input dimensions in `reduced` vanish (or become 1 with keepdim); the others are free.
bool reduce(RuleContext& c, const std::set<int>& reduced, FactorKind kind, const std::string& reason, bool keepdim) {
  const int rank = static_cast<int>(c.draft.inputs[0].dims.size());
  std::vector<int> f;
  for (int d = 0; d < rank; ++d) {
    const bool r = reduced.count(d) > 0;
    f.push_back(c.factor("", r ? kind : FactorKind::free, c.parts_of(0, d), r ? reason : ""));
    c.tie(0, d, f.back());
  }
  c.begin_outputs();
  for (std::size_t o = 0; o < c.node.outputs.size(); ++o) {
    for (int d = 0; d < rank; ++d) {
      if (!reduced.count(d))
        c.output_dim(static_cast<int>(o), f[static_cast<std::size_t>(d)]);
      else if (keepdim)
        c.output_dim(static_cast<int>(o), c.factor("", FactorKind::free, {}));
    }
    if (c.draft.outputs[o].dims.size() != c.output_sizes(static_cast<int>(o)).size()) return false;
  }
  return true;
}

// The result has the input's sizes; dimensions in `whole` are frozen. Further tensor inputs must have equal sizes.
bool along(RuleContext& c, const std::set<int>& whole, const std::string& reason) {
  const int rank = static_cast<int>(c.draft.inputs[0].dims.size());
  c.begin_outputs();
  std::vector<int> f;
  for (int d = 0; d < rank; ++d) {
    const bool w = whole.count(d) > 0;
    f.push_back(c.factor("", w ? FactorKind::frozen : FactorKind::free, c.parts_of(0, d), w ? reason : ""));
    c.tie(0, d, f.back());
  }
  for (std::size_t o = 0; o < c.node.outputs.size(); ++o) {
    const AskedSizes sizes = c.output_sizes(static_cast<int>(o));
    if (static_cast<int>(sizes.size()) != rank) return false;
    for (int d = 0; d < rank; ++d) {
      const bool same =
          sizes[static_cast<std::size_t>(d)] == c.sizes(c.draft.inputs[0].tensor)[static_cast<std::size_t>(d)];
      if (same)
        c.output_dim(static_cast<int>(o), f[static_cast<std::size_t>(d)]);
      else if (whole.count(d))
        c.output_dim(static_cast<int>(o),
                     c.factor("", FactorKind::frozen, c.fresh(sizes[static_cast<std::size_t>(d)]), reason));
      else
        return false;
    }
  }
  return true;
}

// diff: differences along `dim`, with tensors joined before and behind; the other dimensions are free.
bool differences(RuleContext& c) {
  const int dim = static_cast<int>(c.integer("dim"));
  const int rank = static_cast<int>(c.draft.inputs[0].dims.size());
  const std::string reason = "neighbours are subtracted";
  c.begin_outputs();
  for (int d = 0; d < rank; ++d) {
    if (d == dim) {
      for (std::size_t i = 0; i < c.draft.inputs.size(); ++i)
        c.tie(static_cast<int>(i), d, c.factor("", FactorKind::frozen, c.parts_of(static_cast<int>(i), d), reason));
      c.output_dim(0, c.factor("", FactorKind::frozen, c.fresh(c.output_sizes()[static_cast<std::size_t>(d)]), reason));
      continue;
    }
    const int f = c.factor("", FactorKind::free, c.parts_of(0, d));
    for (std::size_t i = 0; i < c.draft.inputs.size(); ++i)
      if (!c.tie(static_cast<int>(i), d, f)) return false;
    c.output_dim(0, f);
  }
  return true;
}

// layer_norm, rms_norm: the last dimensions are normalized; weight and bias have them.
bool normalize(RuleContext& c) {
  const int count = static_cast<int>(c.integers("normalized_shape").size());
  const int self = c.input("input");
  if (self != 0 || count == 0) return false;
  const int rank = static_cast<int>(c.draft.inputs[0].dims.size());
  c.begin_outputs();
  for (int d = 0; d < rank; ++d) {
    const bool w = d >= rank - count;
    const int f = c.factor("", w ? FactorKind::frozen : FactorKind::free, c.parts_of(0, d), w ? "normalized over" : "");
    c.tie(0, d, f);
    c.output_dim(0, f);
    if (!w) continue;
    for (const char* name : {"weight", "bias"})
      if (const int i = c.input(name); i >= 0 && !c.tie(i, d - (rank - count), f)) return false;
  }
  c.draft.saves = {0};
  if (const int w = c.input("weight"); w >= 0) c.draft.saves.push_back(w);
  return c.node.outputs.size() == 1;
}

// group_norm, instance_norm: the first `free` dimensions are free (the batch; of instance_norm the channels too), the others
// are normalized over. Weight and bias have the channels, the second dimension.
bool normalize_planes(RuleContext& c, int free) {
  const int rank = static_cast<int>(c.draft.inputs[0].dims.size());
  if (rank < 2 || c.node.outputs.size() != 1) return false;
  c.begin_outputs();
  for (int d = 0; d < rank; ++d) {
    const bool whole = d >= free;
    const int f = c.factor("", whole ? FactorKind::frozen : FactorKind::free, c.parts_of(0, d),
                           whole ? "normalized over" : "");
    c.tie(0, d, f);
    c.output_dim(0, f);
    if (d != 1) continue;
    for (const char* name : {"weight", "bias"})
      if (const int i = c.input(name); i >= 0 && !c.tie(i, 0, f)) return false;
  }
  c.draft.saves = {0};
  if (const int w = c.input("weight"); w >= 0) c.draft.saves.push_back(w);
  return true;
}

// cosine_similarity, pairwise_distance: two tensors of equal sizes along one dimension, which vanishes.
bool compare(RuleContext& c, int dim) {
  const int rank = static_cast<int>(c.draft.inputs[0].dims.size());
  if (c.draft.inputs.size() != 2 || c.node.outputs.size() != 1 || dim < 0 || dim >= rank ||
      c.sizes(c.draft.inputs[0].tensor) != c.sizes(c.draft.inputs[1].tensor))
    return false;
  c.begin_outputs();
  for (int d = 0; d < rank; ++d) {
    const int f = c.factor("", d == dim ? FactorKind::frozen : FactorKind::free, c.parts_of(0, d),
                           d == dim ? "compared along it" : "");
    if (!c.tie(0, d, f) || !c.tie(1, d, f)) return false;
    if (d != dim)
      c.output_dim(0, f);
    else if (c.boolean("keepdim"))
      c.output_dim(0, c.factor("", FactorKind::free, {}));
  }
  c.draft.saves = {0, 1, -1};
  return c.draft.outputs[0].dims.size() == c.output_sizes().size();
}

// linalg_cross: three numbers of each with three of the other; `dim` is theirs.
bool crossed(RuleContext& c) {
  const int rank = static_cast<int>(c.draft.inputs[0].dims.size());
  const auto given = static_cast<int>(c.integer("dim", -1));
  const int dim = given < 0 ? given + rank : given;
  if (c.draft.inputs.size() != 2 || c.sizes(c.draft.inputs[0].tensor) != c.sizes(c.draft.inputs[1].tensor)) return false;
  c.begin_outputs();
  for (int d = 0; d < rank; ++d) {
    const int f = c.factor("", d == dim ? FactorKind::frozen : FactorKind::free, c.parts_of(0, d),
                           d == dim ? "a vector is multiplied as a whole" : "");
    if (!c.tie(0, d, f) || !c.tie(1, d, f)) return false;
    c.output_dim(0, f);
  }
  if (c.draft.inputs[0].tensor != c.draft.inputs[1].tensor) c.draft.linear = {{0}, {1}};
  c.draft.saves = {0, 1};
  return true;
}

// histc: how many elements fall into each bin. Without bounds it takes them from the whole tensor.
bool histogram(RuleContext& c) {
  const bool bounded = c.number("min") != c.number("max");
  c.begin_outputs();
  for (int d = 0; d < static_cast<int>(c.draft.inputs[0].dims.size()); ++d)
    c.tie(0, d,
          c.factor("", bounded ? FactorKind::sum : FactorKind::frozen, c.parts_of(0, d),
                   bounded ? "" : "its bounds are those of all elements"));
  const std::vector<int> bins = c.fresh(c.output_sizes()[0]);
  c.output_dim(0, c.factor("bins", FactorKind::frozen, bins, "elements fall into any of them"));
  c.relate(bins, {}, c.output_sizes()[0]);  // as many at any size of the operand
  return true;
}

}  // namespace

bool apply_reduction_family(RuleContext& c) {
  const std::string& t = c.node.target;
  Draft& d = c.draft;
  if (d.inputs.empty()) return false;
  const bool keepdim = c.boolean("keepdim");
  bool done = false;
  if (t == "aten::sum.dim_IntList" || t == "aten::mean.dim") {
    done = reduce(c, dims_of(c, "dim"), FactorKind::sum, "", keepdim);
    if (linear_in_type(c)) d.linear.push_back({0});
    if (t == "aten::mean.dim") d.shard = ShardForm::global_mean;
  } else if (t == "aten::softmax.int" || t == "aten::_softmax" || t == "aten::_safe_softmax" ||
             t == "aten::log_softmax.int" || t == "aten::_log_softmax") {
    c.any("dtype half_to_float");
    done = along(c, dims_of(c, "dim"), "normalized over");
    d.saves = {-1};
    if (done && d.inputs[0].dims.size() == 4) c.name(c.parts_of(0, 1), "heads");
  } else if (t == "aten::cumsum" || t == "aten::cumprod" || t == "aten::logcumsumexp") {
    done = along(c, dims_of(c, "dim"), "accumulated along it");
    if (t == "aten::cumsum" && linear_in_type(c)) d.linear.push_back({0});
    c.any("dtype");
    if (t == "aten::cumprod" || t == "aten::logcumsumexp") d.saves = {0, -1};
  } else if (t == "aten::sort" || t == "aten::sort.stable" || t == "aten::topk" || t == "aten::argsort") {
    c.any("stable descending k largest sorted");
    done = along(c, dims_of(c, "dim"), "sorted along it");
    d.saves = {-2};
  } else if (t == "aten::msort") {
    done = along(c, {0}, "sorted along it");
  } else if (t == "aten::renorm") {
    std::set<int> normalized;
    for (int k = 0; k < static_cast<int>(d.inputs[0].dims.size()); ++k)
      if (!dims_of(c, "dim").contains(k)) normalized.insert(k);
    c.any("p maxnorm");
    done = along(c, normalized, "normalized over");
    d.saves = {0};
  } else if (t == "aten::linalg_cross") {
    done = crossed(c);
  } else if (t == "aten::histc") {
    c.any("bins");
    done = c.output_sizes().size() == 1 && histogram(c);
  } else if (t == "aten::diff") {
    c.any("n");
    done = differences(c);
  } else if (t == "aten::logsumexp") {
    done = reduce(c, dims_of(c, "dim"), FactorKind::frozen, "log-sum-exp over it", keepdim);
    d.saves = {0, -1};
  } else if (t == "aten::max.dim" || t == "aten::min.dim" || t == "aten::argmax" || t == "aten::argmin" ||
             t == "aten::any.dim" || t == "aten::all.dim" || t == "aten::amax" || t == "aten::amin" ||
             t == "aten::std.dim" || t == "aten::var.dim" || t == "aten::std.correction" ||
             t == "aten::var.correction" || t == "aten::linalg_vector_norm" || t == "aten::prod.dim_int" ||
             t == "aten::median.dim" || t == "aten::nanmedian.dim" || t == "aten::mode" || t == "aten::kthvalue" ||
             t == "aten::quantile.scalar") {
    c.any("unbiased correction ord dtype k q interpolation");
    std::set<int> dims = dims_of(c, "dim");
    if (dims.empty())
      for (int k = 0; k < static_cast<int>(d.inputs[0].dims.size()); ++k) dims.insert(k);
    done = reduce(c, dims, FactorKind::frozen, "reduced as a whole", keepdim);
    if (c.node.outputs.size() == 2)
      d.saves = {-2};  // which element it is
    else if (t != "aten::quantile.scalar")
      d.saves = t.starts_with("aten::var") ? std::vector<int>{0} : std::vector<int>{0, -1};
  } else if (t == "aten::layer_norm" || t == "aten::rms_norm") {
    c.any("eps cudnn_enable");
    done = normalize(c);
  } else if (t == "aten::group_norm") {
    c.any("num_groups eps cudnn_enabled");
    done = normalize_planes(c, 1);
  } else if (t == "aten::instance_norm") {
    c.any("momentum eps cudnn_enabled");
    // By the statistics of each instance, not by running ones.
    const bool own = c.boolean("use_input_stats") && c.input("running_mean") < 0;
    done = own && d.inputs[0].dims.size() >= 3 && normalize_planes(c, 2);
  } else if (t == "aten::cosine_similarity" || t == "aten::pairwise_distance") {
    const int rank = static_cast<int>(d.inputs[0].dims.size());
    const int dim = static_cast<int>(c.integer("dim", -1));
    c.any("p eps");
    done = compare(c, dim < 0 ? dim + rank : dim);
  } else if (t == "aten::max" || t == "aten::min" || t == "aten::prod" || t == "aten::any" || t == "aten::all" ||
             t == "aten::median" || t == "aten::aminmax") {
    std::set<int> dims = t == "aten::aminmax" ? dims_of(c, "dim") : std::set<int>();
    if (dims.empty())
      for (int k = 0; k < static_cast<int>(d.inputs[0].dims.size()); ++k) dims.insert(k);
    c.any("dtype");
    done = (t == "aten::aminmax" || is_none(c.node, "dim")) && reduce(c, dims, FactorKind::frozen, "reduced as a whole", keepdim);
    d.saves = {0, -1};
    if (c.node.outputs.size() == 2) d.saves.push_back(-2);
  } else if (t == "aten::cummax" || t == "aten::cummin") {
    done = along(c, dims_of(c, "dim"), "accumulated along it");
    d.saves = {0, -2};
  }
  if (done) d.rule = t.substr(6);
  return done;
}

}  // namespace planscope
