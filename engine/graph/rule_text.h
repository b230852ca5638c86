#pragma once
// Rules as text: one line for each fixed pattern of an operator.
//
//   aten::linear : input b.. k, weight n k, bias +n -> b.. n ; sum k=in, free n=out ; linear input|weight ; product
//
// - before `->` an operand is an argument's name and its dimensions; an operand that the node does not give is passed
//   over; `+` at its first dimension: it is added, not multiplied; `b..` stands for any number of dimensions;
// - after `->` one list of dimensions per output;
// - `free|sum|merge x=name`: kind and name of factors (the default is free, `sum` if no output has it); `frozen x=name
//   "reason"`;
// - `linear a|b`: sets of operands (joined by `+`) that are partial together; `saves a b ~0`: what backward reads (~0:
//   output 0); `shard form`; `product`: costs 2 x the product of all factor sizes; `keyed e by a over r`: factor e
//   selects the rows of factor r by operand a (graph.h: Factor), where r is free and stands for whole dimensions;
// - `arguments a b=1|2`: the line holds for every value of a, and for these of b; every other argument of the operator has
//   its default value (stated_values.h).
// The first line of a target whose operand ranks and argument values fit is taken. Dimensions of size 1 are broadcast.
#include <string>
#include <vector>

#include "engine/base/diagnostic.h"
#include "engine/graph/graph.h"

namespace planscope {

struct PatternDim {
  std::string factor;
  bool many = false;
};
struct PatternOperand {
  std::string argument;  // empty for outputs
  bool added = false;
  std::vector<PatternDim> dims;
};
struct PatternFactor {
  std::string symbol, name;
  FactorKind kind = FactorKind::free;
  bool kind_given = false;
  std::string reason;
};
struct PatternKey {
  std::string factor, argument, rows;
};
struct PatternArgument {
  std::string name;
  std::vector<std::string> values;  // as print.h writes them; empty: any
};
struct TextRule {
  std::string target, text;
  std::vector<PatternOperand> inputs, outputs;
  std::vector<PatternFactor> factors;
  std::vector<PatternKey> keys;
  std::vector<PatternArgument> arguments;
  std::vector<std::vector<std::string>> linear;
  std::vector<std::string> saves;
  ShardForm shard = ShardForm::same;
  bool product = false;
};

Result<TextRule> parse_text_rule(const std::string& line);

// The built-in lines, in order.
const std::vector<std::string>& text_rule_lines();

}  // namespace planscope
