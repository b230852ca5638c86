#pragma once
// An operator whose rule is being applied: factors over parts that may still be cut by later operators. A rule is a
// function that fills one Draft: it names factors, says which dimension of which operand has which factor, and makes the
// dimensions of the outputs. make_graph() turns drafts into Ops when all parts are final.
#include <string>
#include <string_view>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/graph/parts.h"

namespace planscope {

struct DraftFactor {
  std::string name;  // empty: takes the name of its parts
  FactorKind kind = FactorKind::free;
  std::vector<int> nodes;
  std::string reason;
  int key = -1, rows = -1;  // a keyed factor: the input that says which row is whose, and the factor of the rows
};

// One node of a factor standing in a dimension; factor -1: `node` is tied to no factor.
struct DraftRef {
  int factor = -1;
  int node = 0;  // position in DraftFactor::nodes; for factor -1 the node itself
};

struct DraftOperand {
  TensorId tensor = -1;
  int argument = -1, element = -1;
  std::vector<std::vector<DraftRef>> dims;
  bool added = false;
};

struct Draft {
  bool known = true;
  bool leafwise = false;  // view: every leaf of the input, in order, is a factor of its own
  std::string rule;
  std::vector<DraftFactor> factors;
  std::vector<DraftOperand> inputs, outputs;
  std::vector<std::vector<int>> linear;
  std::vector<int> saves;
  ShardForm shard = ShardForm::same;
  int log_sums = -1;
  bool product = false;                            // costs multiply-adds, not memory traffic alone
  std::vector<SizeRelation> relations;             // classes as nodes until the end
  std::vector<std::pair<int, std::string>> names;  // node -> name that the rule declares for its class
};

// What a rule sees: the node, its tensor arguments, and the dimensions of values so far (lists of parts).
struct TextRule;

class RuleContext {
 public:
  RuleContext(const Model& model, PartTable& parts, std::vector<std::vector<std::vector<int>>>& dims, const Node& node)
      : model(model), parts(parts), dims(dims), node(node) {}

  const Model& model;
  PartTable& parts;
  std::vector<std::vector<std::vector<int>>>& dims;  // [value][dimension] -> parts
  const Node& node;
  Draft draft;
  const std::vector<TextRule>* own = nullptr;  // rules that go before those of the tool
  int own_rule = -1;                           // of these, the one that holds

  // Tensor arguments in order; optional ones that are absent are left out. Adds them to the draft's inputs.
  void add_inputs();
  int input(std::string_view argument, int element = 0) const;  // index into draft.inputs; -1: absent
  const std::vector<std::int64_t>& sizes(ValueId v) const { return model.values[static_cast<std::size_t>(v)].sizes; }
  const std::vector<std::int64_t>& output_sizes(int i = 0) const {
    return sizes(node.outputs[static_cast<std::size_t>(i)]);
  }
  bool linear_cast() const;  // floating to floating, not narrower

  const Argument* argument(std::string_view name) const;
  std::int64_t integer(std::string_view name, std::int64_t otherwise = 0) const;
  bool boolean(std::string_view name, bool otherwise = false) const;
  double number(std::string_view name, double otherwise = 0) const;
  std::vector<std::int64_t> integers(std::string_view name) const;

  std::vector<int>& parts_of(int input, int dim);  // of an input's dimension
  std::vector<int> fresh(std::int64_t size);       // {} for size 1
  int factor(std::string name, FactorKind kind, std::vector<int> nodes, std::string reason = {});
  // Dimension `dim` of input `i` has the whole factor; its parts are unified with the factor's. False: misfit.
  bool tie(int i, int dim, int factor);
  void untied(int i, int dim);         // the dimension is read whole
  void output_dim(int o, int factor);  // appends a dimension with the factor to output o
  void begin_outputs();                // makes the outputs, without dimensions
  void finish_outputs();               // writes their parts into `dims`
  void name(const std::vector<int>& nodes, std::string name);

  // All inputs and outputs whole, nothing may be split.
  void opaque(const std::string& reason);
};

// Fills context.draft; a target without a rule becomes opaque and `known = false`.
void apply_rule(RuleContext& context);

// Text rules (rule_text.cpp) and families (family_*.cpp): each returns false if it does not apply to the node.
bool apply_own_rule(RuleContext& context);
bool apply_text_rule(RuleContext& context);
bool apply_elementwise(RuleContext& context);
bool apply_shape_family(RuleContext& context);      // view permute expand slice select split cat stack pad roll …
bool apply_reduction_family(RuleContext& context);  // sum mean softmax cumsum sort normalization …
bool apply_factory_family(RuleContext& context);    // arange full zeros …
bool apply_attention(RuleContext& context);
bool apply_index_family(RuleContext& context);  // index gather scatter index_select …
bool apply_convolution(RuleContext& context);   // of several groups
bool apply_einsum(RuleContext& context);

}  // namespace planscope
