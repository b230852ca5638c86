// Elementwise operators with broadcasting: every output dimension is a factor; operands of size 1 there are read whole.
#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>

#include "engine/graph/draft.h"
#include "engine/graph/elementwise.h"

namespace planscope {

namespace {

enum class Kind {
  unary_linear,
  cast,
  sum_like,
  product_like,
  quotient,
  select,
  keeps_input,
  keeps_output,
  keeps_both,
  keeps_input_and_output,
  keeps_pair,
  keeps_weighted,  // all operands, if the weight is one
  keeps_factors,   // all operands but the first, to which they are added
  keeps_last,
  keeps_all,
  power,
  keeps_none
};

struct Row {
  const char* name;  // without overload
  Kind kind;
  const char* arguments = "";  // those of which any value is right
};

constexpr Row rows[] = {
    {"aten::neg", Kind::unary_linear},
    {"aten::to", Kind::cast, "dtype"},
    {"aten::detach", Kind::keeps_none},
    {"aten::clone", Kind::unary_linear},
    {"planscope::copy", Kind::keeps_none},
    {"aten::real", Kind::unary_linear},
    {"aten::imag", Kind::unary_linear},
    {"aten::conj", Kind::unary_linear},
    {"aten::_conj", Kind::unary_linear},
    {"aten::conj_physical", Kind::unary_linear},
    {"aten::_conj_physical", Kind::unary_linear},
    {"aten::resolve_conj", Kind::unary_linear},
    {"aten::resolve_neg", Kind::unary_linear},
    {"aten::_neg_view", Kind::unary_linear},
    {"aten::complex", Kind::sum_like},
    {"aten::polar", Kind::keeps_output},
    {"aten::angle", Kind::keeps_input},
    {"aten::add", Kind::sum_like, "other alpha"},
    {"aten::sub", Kind::sum_like, "other alpha"},
    {"aten::rsub", Kind::sum_like, "other alpha"},
    {"aten::mul", Kind::product_like, "other"},
    {"aten::div", Kind::quotient, "other rounding_mode"},
    {"aten::where", Kind::select, "self other"},
    {"planscope::where_mask", Kind::keeps_input},
    {"aten::masked_fill", Kind::keeps_input, "value"},
    {"aten::lerp", Kind::keeps_weighted, "weight"},
    {"aten::addcmul", Kind::keeps_factors, "value"},
    {"aten::addcdiv", Kind::keeps_factors, "value"},
    {"aten::gelu", Kind::keeps_input, "approximate"},
    {"aten::silu", Kind::keeps_input},
    {"aten::relu", Kind::keeps_output},
    {"aten::leaky_relu", Kind::keeps_input, "negative_slope"},
    {"aten::elu", Kind::keeps_input, "alpha scale input_scale"},
    {"aten::tanh", Kind::keeps_output},
    {"aten::sigmoid", Kind::keeps_output},
    {"aten::hardsigmoid", Kind::keeps_input},
    {"aten::hardswish", Kind::keeps_input},
    {"aten::hardtanh", Kind::keeps_input, "min_val max_val"},
    {"aten::softplus", Kind::keeps_input, "beta threshold"},
    {"aten::exp", Kind::keeps_output},
    {"aten::expm1", Kind::keeps_output},
    {"aten::log", Kind::keeps_input},
    {"aten::log1p", Kind::keeps_input},
    {"aten::sqrt", Kind::keeps_output},
    {"aten::rsqrt", Kind::keeps_output},
    {"aten::reciprocal", Kind::keeps_output},
    {"aten::square", Kind::keeps_input},
    {"aten::pow", Kind::power, "self exponent"},
    {"aten::abs", Kind::keeps_input},
    {"aten::sin", Kind::keeps_input},
    {"aten::cos", Kind::keeps_input},
    {"aten::erf", Kind::keeps_input},
    {"aten::erfinv", Kind::keeps_input},
    {"aten::floor", Kind::keeps_none},
    {"aten::ceil", Kind::keeps_none},
    {"aten::round", Kind::keeps_none, "decimals"},
    {"aten::sign", Kind::keeps_none},
    {"aten::sgn", Kind::keeps_input_and_output},
    {"aten::clamp", Kind::keeps_input, "min max"},
    {"aten::clamp_min", Kind::keeps_input, "min"},
    {"aten::clamp_max", Kind::keeps_input, "max"},
    {"aten::minimum", Kind::keeps_both},
    {"aten::mse_loss", Kind::keeps_both},
    {"aten::smooth_l1_loss", Kind::keeps_both, "beta"},
    {"aten::huber_loss", Kind::keeps_both, "delta"},
    {"aten::kl_div", Kind::keeps_last, "log_target"},
    {"aten::binary_cross_entropy", Kind::keeps_both},
    {"aten::binary_cross_entropy_with_logits", Kind::keeps_both},
    {"aten::maximum", Kind::keeps_both},
    {"aten::nan_to_num", Kind::keeps_input, "nan posinf neginf"},
    {"aten::dropout", Kind::keeps_none, "p train"},
    {"aten::bernoulli", Kind::keeps_none, "p"},
    {"aten::uniform", Kind::keeps_none, "from to"},
    {"aten::normal_functional", Kind::keeps_none, "mean std"},
    {"aten::exponential", Kind::keeps_none, "lambd"},
    {"aten::geometric", Kind::keeps_none, "p"},
    {"aten::cauchy", Kind::keeps_none, "median sigma"},
    {"aten::log_normal", Kind::keeps_none, "mean std"},
    {"aten::eq", Kind::keeps_none, "other"},
    {"aten::ne", Kind::keeps_none, "other"},
    {"aten::lt", Kind::keeps_none, "other"},
    {"aten::le", Kind::keeps_none, "other"},
    {"aten::gt", Kind::keeps_none, "other"},
    {"aten::ge", Kind::keeps_none, "other"},
    {"aten::bitwise_and", Kind::keeps_none, "self other"},
    {"aten::bitwise_or", Kind::keeps_none, "self other"},
    {"aten::bitwise_xor", Kind::keeps_none, "self other"},
    {"aten::bitwise_not", Kind::keeps_none},
    {"aten::logical_and", Kind::keeps_none},
    {"aten::logical_or", Kind::keeps_none},
    {"aten::logical_not", Kind::keeps_none},
    {"aten::logical_xor", Kind::keeps_none},
    {"aten::floor_divide", Kind::keeps_none, "other"},
    {"aten::remainder", Kind::keeps_pair, "self other"},
    {"aten::fmod", Kind::keeps_pair, "other"},
    {"aten::isnan", Kind::keeps_none},
    {"aten::isinf", Kind::keeps_none},
    {"aten::zeros_like", Kind::keeps_none, "dtype"},
    {"aten::ones_like", Kind::keeps_none, "dtype"},
    {"aten::full_like", Kind::keeps_none, "fill_value dtype"},
    {"aten::empty_like", Kind::keeps_none, "dtype"},
    {"aten::rand_like", Kind::keeps_none, "dtype"},
    {"aten::randn_like", Kind::keeps_none, "dtype"},
    {"aten::isfinite", Kind::keeps_none},
    {"statistics::unbias", Kind::unary_linear},
    {"statistics::divide_by_count", Kind::unary_linear},
    {"statistics::multiply_by_count", Kind::unary_linear},
    {"aten::l1_loss", Kind::keeps_none},
    {"aten::soft_margin_loss", Kind::keeps_both},
    {"aten::poisson_nll_loss", Kind::keeps_last, "log_input full eps"},
    {"aten::hinge_embedding_loss", Kind::keeps_none, "margin"},
    {"aten::margin_ranking_loss", Kind::keeps_none, "margin"},
    {"aten::tan", Kind::keeps_output},
    {"aten::asin", Kind::keeps_input},
    {"aten::acos", Kind::keeps_input},
    {"aten::atan", Kind::keeps_input},
    {"aten::sinh", Kind::keeps_input},
    {"aten::cosh", Kind::keeps_input},
    {"aten::asinh", Kind::keeps_input},
    {"aten::acosh", Kind::keeps_input},
    {"aten::atanh", Kind::keeps_input},
    {"aten::atan2", Kind::keeps_both},
    {"aten::arctan2", Kind::keeps_both},
    {"aten::log2", Kind::keeps_input},
    {"aten::log10", Kind::keeps_input},
    {"aten::exp2", Kind::keeps_output},
    {"aten::sinc", Kind::keeps_input},
    {"aten::i0", Kind::keeps_input},
    {"aten::special_entr", Kind::keeps_input},
    {"aten::special_erfcx", Kind::keeps_input_and_output},
    {"aten::special_i0e", Kind::keeps_input_and_output},
    {"aten::special_i1", Kind::keeps_input_and_output},
    {"aten::special_i1e", Kind::keeps_input_and_output},
    {"aten::special_log_ndtr", Kind::keeps_input},
    {"aten::special_ndtr", Kind::keeps_none},  // it is an erf of a product, which is kept
    {"aten::special_ndtri", Kind::keeps_output},
    {"aten::polygamma", Kind::keeps_input, "n"},
    {"aten::erfc", Kind::keeps_input},
    {"aten::lgamma", Kind::keeps_input},
    {"aten::digamma", Kind::keeps_input},
    {"aten::logit", Kind::keeps_input, "eps"},
    {"aten::log_sigmoid", Kind::keeps_input},
    {"aten::xlogy", Kind::keeps_both, "self other"},
    {"aten::logaddexp", Kind::keeps_both},
    {"aten::logaddexp2", Kind::keeps_both},
    {"aten::hypot", Kind::keeps_all},
    {"aten::copysign", Kind::keeps_all, "other"},
    {"aten::float_power", Kind::power, "self exponent"},
    {"aten::fmax", Kind::keeps_both},
    {"aten::fmin", Kind::keeps_both},
    {"aten::celu", Kind::keeps_input, "alpha"},
    {"aten::selu", Kind::keeps_input},
    {"aten::mish", Kind::keeps_input},
    {"aten::relu6", Kind::keeps_input},
    {"aten::hardshrink", Kind::keeps_input, "lambd"},
    {"aten::softshrink", Kind::keeps_input, "lambd"},
    {"aten::threshold", Kind::keeps_input, "threshold value"},
    {"aten::deg2rad", Kind::unary_linear},
    {"aten::rad2deg", Kind::unary_linear},
    {"aten::trunc", Kind::keeps_none},
    {"aten::fix", Kind::keeps_none},
    {"aten::frac", Kind::keeps_none},
    {"aten::signbit", Kind::keeps_none},
    {"aten::isposinf", Kind::keeps_none},
    {"aten::isneginf", Kind::keeps_none},
    {"aten::heaviside", Kind::keeps_none},
    {"aten::bitwise_left_shift", Kind::keeps_none, "self other"},
    {"aten::bitwise_right_shift", Kind::keeps_none, "self other"},
    {"aten::__lshift__", Kind::keeps_none, "other"},
    {"aten::__rshift__", Kind::keeps_none, "other"},
    {"aten::gcd", Kind::keeps_none},
    {"aten::fake_quantize_per_tensor_affine", Kind::keeps_input, "scale zero_point quant_min quant_max"},
};

const Row* find_row(const std::string& target) {
  static const auto by_name = [] {
    std::unordered_map<std::string_view, const Row*> out;
    for (const Row& r : rows) out.emplace(r.name, &r);
    return out;
  }();
  if (target == "aten::where") return nullptr;  // of a condition alone it gives the indices where that holds
  const auto known = by_name.find(std::string_view(target).substr(0, target.find('.')));
  return known == by_name.end() ? nullptr : known->second;
}

// Overloads that are no elementwise functions of their operands (`min.dim`, `max.dim` are reductions).
bool elementwise_minmax(const std::string& target) {
  return target == "aten::min.other" || target == "aten::max.other";
}

void add_linear(RuleContext& c, Kind kind) {
  Draft& d = c.draft;
  std::vector<int> all;
  for (std::size_t i = 0; i < d.inputs.size(); ++i) all.push_back(static_cast<int>(i));
  const bool distinct = d.inputs.size() < 2 || d.inputs[0].tensor != d.inputs[1].tensor;
  switch (kind) {
    case Kind::unary_linear:
      d.linear.push_back({0});
      break;
    case Kind::cast:
      if (c.linear_cast()) d.linear.push_back({0});
      break;
    case Kind::sum_like:  // with a number added it is affine, not linear
      if (d.inputs.size() == 2) d.linear.push_back(all);
      break;
    case Kind::product_like:
      if (d.inputs.size() == 1)
        d.linear.push_back({0});
      else if (distinct)
        d.linear = {{0}, {1}};
      break;
    case Kind::quotient:
      if (distinct && !c.argument("rounding_mode")) d.linear.push_back({0});
      break;
    case Kind::select:
      if (d.inputs.size() == 3) d.linear.push_back({1, 2});
      break;
    default:
      break;
  }
  if (c.node.target == "aten::masked_fill.Scalar" && c.number("value", 1) == 0) d.linear.push_back({0});
}

void add_saves(RuleContext& c, Kind kind) {
  Draft& d = c.draft;
  const int n = static_cast<int>(d.inputs.size());
  switch (kind) {
    case Kind::keeps_input:
      for (int i = c.node.target.find("masked_fill") != std::string::npos ? 1 : 0; i < n; ++i) d.saves.push_back(i);
      break;
    case Kind::keeps_output:
      d.saves.push_back(-1);
      break;
    case Kind::keeps_both:
      for (int i = 0; i < n; ++i) d.saves.push_back(i);
      break;
    case Kind::keeps_input_and_output:
      d.saves = {0, -1};
      break;
    case Kind::power:
    case Kind::keeps_all:
      for (int i = 0; i < n; ++i) d.saves.push_back(i);
      if (kind == Kind::keeps_all || n == 2 || c.input("self") < 0)
        d.saves.push_back(-1);  // not of a power by a number
      break;
    case Kind::keeps_weighted:
      if (n == 3) d.saves = {0, 1, 2};
      break;
    case Kind::keeps_factors:
      for (int i = 1; i < n; ++i) d.saves.push_back(i);
      break;
    case Kind::keeps_last:
      d.saves.push_back(n - 1);
      break;
    case Kind::keeps_pair:
    case Kind::product_like:
    case Kind::quotient:
      if (n == 2) d.saves = {0, 1};
      break;
    case Kind::select:
      d.saves.push_back(0);
      break;
    default:
      break;
  }
}

// All operands against the output's sizes, aligned to the right.
bool tie_broadcast(RuleContext& c) {
  Draft& d = c.draft;
  const AskedSizes out = c.output_sizes();
  const int rank = static_cast<int>(out.size());
  for (int dim = 0; dim < rank; ++dim) {
    std::vector<std::pair<int, int>> operands;
    for (int i = 0; i < static_cast<int>(d.inputs.size()); ++i) {
      const int own = dim - (rank - static_cast<int>(c.sizes(d.inputs[static_cast<std::size_t>(i)].tensor).size()));
      if (own >= 0) operands.emplace_back(i, own);
    }
    std::vector<int> nodes = c.broadcast_parts(operands);
    if (nodes.empty()) nodes = c.fresh(out[static_cast<std::size_t>(dim)]);
    const int f = c.factor("", FactorKind::free, nodes);
    for (const auto& [i, own] : operands)
      if (!c.tie_or_broadcast(i, own, f)) return false;
  }
  c.begin_outputs();
  for (std::size_t o = 0; o < c.node.outputs.size(); ++o) {
    if (c.output_sizes(static_cast<int>(o)) != out) return false;
    for (int dim = 0; dim < rank; ++dim) c.output_dim(static_cast<int>(o), dim);
  }
  return true;
}

}  // namespace

bool is_elementwise(const std::string& target) { return find_row(target) || elementwise_minmax(target); }

bool apply_elementwise(RuleContext& c) {
  if (!is_elementwise(c.node.target) || c.draft.inputs.empty()) return false;
  if (const Row* row = find_row(c.node.target)) c.any(row->arguments);
  if (c.integer("reduction") != 0) return false;  // a loss that the losses pass left as it is
  if (!tie_broadcast(c)) return false;
  const Row* row = find_row(c.node.target);
  const Kind kind = row ? row->kind : Kind::keeps_both;
  c.draft.rule = "elementwise";
  add_linear(c, kind);
  add_saves(c, kind);
  return true;
}

}  // namespace planscope
