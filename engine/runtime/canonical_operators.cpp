#include "engine/runtime/canonical_operators.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <unordered_map>

#include "engine/runtime/attention.h"
#include "engine/runtime/grouped_product.h"
#include "engine/runtime/log_sum_exp.h"

namespace planscope {

CallArguments::CallArguments(const std::vector<NamedArgument>& arguments, const TensorList& operands)
    : arguments_(arguments), operands_(operands), first_operand_(arguments.size(), -1) {
  const auto places = operand_places(arguments);
  for (std::size_t i = places.size(); i-- > 0;)
    first_operand_[static_cast<std::size_t>(places[i].argument)] = static_cast<int>(i);
}

int CallArguments::index(const std::string& name) const {
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    if (arguments_[i].name == name) return static_cast<int>(i);
  }
  throw std::runtime_error("argument '" + name + "' is missing");
}

const Argument& CallArguments::value(const std::string& name) const {
  return arguments_[static_cast<std::size_t>(index(name))].value;
}

at::Tensor CallArguments::tensor(const std::string& name) const {
  const int operand = first_operand_[static_cast<std::size_t>(index(name))];
  return operand < 0 ? at::Tensor() : operands_[static_cast<std::size_t>(operand)];
}

std::int64_t CallArguments::integer(const std::string& name) const { return std::get<std::int64_t>(value(name)); }

double CallArguments::number(const std::string& name) const {
  const Argument& argument = value(name);
  if (const auto* whole = std::get_if<std::int64_t>(&argument)) return static_cast<double>(*whole);
  return std::get<double>(argument);
}

bool CallArguments::flag(const std::string& name) const { return std::get<bool>(value(name)); }

std::vector<std::int64_t> CallArguments::integers(const std::string& name) const {
  return std::get<std::vector<std::int64_t>>(value(name));
}

DType CallArguments::dtype(const std::string& name) const { return std::get<DType>(value(name)); }

namespace {

// Groups are counted from the operands, so that a shard of the heads or of the groups needs no other arguments. Log-sum-exps
// are made where keys are split (operator_shard.cpp).
TensorList attention(const CallArguments& arguments, Precision) {
  const AttentionOperands operands{arguments.tensor("query"), arguments.tensor("key"), arguments.tensor("value"),
                                   arguments.tensor("attn_mask"), arguments.number("scale")};
  return {whole_attention(operands, arguments.flag("is_causal")), at::Tensor()};
}

TensorList grouped_mm(const CallArguments& arguments, Precision) {
  return {grouped_product(arguments.tensor("self"), arguments.tensor("weight"), arguments.tensor("index"))};
}

TensorList grouped_mm_fallback(const CallArguments& arguments, Precision) {
  return {sorted_grouped_product(arguments.tensor("input"), arguments.tensor("weight"), arguments.tensor("offs"))};
}

// LibTorch's own knows few types and alignments.
TensorList native_grouped_mm(const CallArguments& arguments, Precision) {
  const at::Tensor self = arguments.tensor("self"), weight = arguments.tensor("mat2"), ends = arguments.tensor("offs");
  if (self.dim() != 2 || weight.dim() != 3 || !ends.defined() || arguments.tensor("bias").defined() ||
      !std::holds_alternative<None>(arguments.value("out_dtype"))) {
    throw std::runtime_error("_grouped_mm of these operands is not supported");
  }
  return {sorted_grouped_product(self, weight, ends)};
}

TensorList where_mask(const CallArguments& arguments, Precision) {
  return {arguments.tensor("scores").masked_fill(arguments.tensor("mask").logical_not(),
                                                 -std::numeric_limits<double>::infinity())};
}

TensorList log_sum_exp(const CallArguments& arguments, Precision) {
  return {row_log_sum_exp(arguments.tensor("self"), arguments.integer("dim"))};
}

TensorList pick(const CallArguments& arguments, Precision) {
  const at::Tensor logits = arguments.tensor("self");
  const at::Tensor target = arguments.tensor("target");
  const at::Tensor ignored = target.eq(arguments.integer("ignore_index"));
  const at::Tensor index = target.masked_fill(ignored, 0).unsqueeze(-1);
  return {logits.gather(-1, index).squeeze(-1).masked_fill(ignored, 0)};
}

TensorList index_rows(const CallArguments& arguments, Precision) {
  const at::Tensor index = arguments.tensor("index");
  std::vector<std::int64_t> counted(static_cast<std::size_t>(index.dim()), 1);
  counted[0] = index.size(0);
  const at::Tensor rows = at::arange(index.size(0), index.options().dtype(at::kLong)).view(counted);
  return {at::index(arguments.tensor("self"), {rows, index})};
}

TensorList token_mask(const CallArguments& arguments, Precision precision) {
  const at::Tensor kept = arguments.tensor("target").ne(arguments.integer("ignore_index"));
  return {kept.to(scalar_type(arguments.dtype("dtype"), precision))};
}

TensorList copy(const CallArguments& arguments, Precision) {
  const at::Tensor self = arguments.tensor("self");
  return {arguments.tensor("src").to(self.scalar_type()).expand(self.sizes())};
}

// A mean of n numbers as their sum over n - correction; n is that of the whole tensor (operator_shard.cpp).
TensorList unbias(const CallArguments& arguments, Precision) {
  const auto count = static_cast<double>(arguments.integer("count"));
  return {arguments.tensor("self").mul(count / std::max(0.0, count - arguments.number("correction")))};
}

TensorList embedding_bag(const CallArguments& arguments, Precision) {
  const at::Tensor indices = arguments.tensor("indices");
  const at::Tensor offsets = at::arange(indices.size(0), indices.options()).mul_(indices.size(1));
  return {std::get<0>(
      at::embedding_bag(arguments.tensor("weight"), indices.reshape({-1}), offsets, false, arguments.integer("mode")))};
}

TensorList divide_by_count(const CallArguments& arguments, Precision) {
  return {arguments.tensor("self").div(arguments.integer("count"))};
}

TensorList multiply_by_count(const CallArguments& arguments, Precision) {
  return {arguments.tensor("self").mul(arguments.integer("count"))};
}

TensorList view(const CallArguments& arguments, Precision) {
  return {arguments.tensor("self").reshape(arguments.integers("size"))};
}

// The two parts of a number are neighbours in memory; what puts them there is no operator of its own.
TensorList view_as_complex(const CallArguments& arguments, Precision) {
  return {at::view_as_complex(arguments.tensor("self").contiguous())};
}

}  // namespace

CanonicalOperator canonical_operator(const std::string& target) {
  static const std::unordered_map<std::string, CanonicalOperator> operators = {
      {"planscope::attention", attention},
      {"planscope::grouped_mm", grouped_mm},
      {"transformers::grouped_mm_fallback", grouped_mm_fallback},
      {"aten::_grouped_mm", native_grouped_mm},
      {"planscope::where_mask", where_mask},
      {"planscope::lse", log_sum_exp},
      {"planscope::pick", pick},
      {"planscope::index_rows", index_rows},
      {"planscope::token_mask", token_mask},
      {"planscope::copy", copy},
      {"statistics::unbias", unbias},
      {"planscope::embedding_bag", embedding_bag},
      {"statistics::divide_by_count", divide_by_count},
      {"statistics::multiply_by_count", multiply_by_count},
      {"aten::view", view},
      {"aten::view_as_complex", view_as_complex},
  };
  const auto found = operators.find(target);
  return found == operators.end() ? nullptr : found->second;
}

}  // namespace planscope
