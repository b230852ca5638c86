#pragma once
// An operator whose rule is being applied: factors over parts that may still be cut by later operators. A rule is a
// function that fills one Draft: it names factors, says which dimension of which operand has which factor, and makes the
// dimensions of the outputs. make_graph() turns drafts into Ops when all parts are final.
//
// Files need not have what a rule expects. Whatever a rule asks of its context and the node does not have (an operand, a
// result, a dimension) makes the rule fail: the operator stays whole.
#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/graph/parts.h"
#include "engine/graph/stated_values.h"

namespace planscope {

// Thrown by a rule's context, caught by apply_rule().
struct RuleMisfit {};

// A vector whose elements are asked for by rules.
template <class T>
struct AskedVector : std::vector<T> {
  using std::vector<T>::vector;
  T& operator[](std::size_t i) {
    if (i >= this->size()) throw RuleMisfit{};
    return std::vector<T>::operator[](i);
  }
  const T& operator[](std::size_t i) const {
    if (i >= this->size()) throw RuleMisfit{};
    return std::vector<T>::operator[](i);
  }
};

// Sizes of a value of the model, as a rule sees them.
class AskedSizes {
 public:
  explicit AskedSizes(const std::vector<std::int64_t>& sizes) : sizes_(sizes) {}
  operator std::vector<std::int64_t>() const { return {begin(), end()}; }
  std::int64_t operator[](std::size_t i) const {
    if (i >= sizes_.size()) throw RuleMisfit{};
    return sizes_[i];
  }
  std::size_t size() const { return sizes_.size(); }
  bool empty() const { return sizes_.empty(); }
  std::int64_t back() const { return (*this)[size() - 1]; }
  const std::int64_t* begin() const { return sizes_.data(); }
  const std::int64_t* end() const { return sizes_.data() + sizes_.size(); }
  bool operator==(const AskedSizes& other) const { return std::equal(begin(), end(), other.begin(), other.end()); }

 private:
  std::span<const std::int64_t> sizes_;
};

struct DraftFactor {
  std::string name;  // empty: takes the name of its parts
  FactorKind kind = FactorKind::free;
  std::vector<int> nodes;
  std::string reason;
  bool counted = false;     // a number of pieces (graph.h: PartClass)
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
  AskedVector<std::vector<DraftRef>> dims;
  bool added = false;
};

struct Draft {
  bool known = true;
  bool leafwise = false;  // view: every leaf of the input, in order, is a factor of its own
  std::string rule;
  std::string why;  // no rule holds
  AskedVector<DraftFactor> factors;
  AskedVector<DraftOperand> inputs, outputs;
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
  AskedSizes sizes(ValueId v) const;
  AskedSizes output_sizes(int i = 0) const;
  bool linear_cast() const;  // floating or complex to floating or complex, not narrower

  // What a rule reads it states (stated_values.h); `any`: it holds for every value of these, listed with spaces between.
  mutable StatedArguments stated;
  void any(std::string_view names);
  std::optional<std::string> unfit;  // an argument value for which a line of the table was passed over

  const Argument* argument(std::string_view name) const;
  std::int64_t integer(std::string_view name, std::int64_t otherwise = 0) const;
  bool boolean(std::string_view name, bool otherwise = false) const;
  double number(std::string_view name, double otherwise = 0) const;
  std::vector<std::int64_t> integers(std::string_view name) const;

  std::vector<int>& parts_of(int input, int dim);  // of an input's dimension
  std::vector<int> fresh(std::int64_t size);       // {} for size 1
  int factor(std::string name, FactorKind kind, std::vector<int> nodes, std::string reason = {});
  // Parts of both lists are unified as far as they fit; what does not is frozen in the end. False: other sizes.
  bool agree(const std::vector<int>& a, const std::vector<int>& b);
  std::int64_t total(const std::vector<int>& nodes) const;
  // Dimension `dim` of input `i` has the whole factor; its parts agree with the factor's. False: another size.
  bool tie(int i, int dim, int factor);
  void untied(int i, int dim);         // the dimension is read whole
  // Dimensions that are broadcast against one another (input, dimension), and the parts of the result's: those of one with more than
  // one element; else of a 1 that is no literal, as the batch of a file exported at batch 1.
  std::vector<int> broadcast_parts(const std::vector<std::pair<int, int>>& dims);
  // `tie`, or `untied` where the dimension is a 1 that is broadcast to the factor.
  bool tie_or_broadcast(int i, int dim, int factor);
  void counted(int factor) { draft.factors[static_cast<std::size_t>(factor)].counted = true; }
  // size(out) = (constant + times * sum of sizes(terms)) / per, where each of them is one part.
  void relate(const std::vector<int>& out, const std::vector<std::vector<int>>& terms, std::int64_t constant,
              std::int64_t times = 1, std::int64_t per = 1);
  void output_dim(int o, int factor);  // appends a dimension with the factor to output o
  void begin_outputs();                // makes the outputs, without dimensions
  void finish_outputs();               // writes their parts into `dims`
  void name(const std::vector<int>& nodes, std::string name);

  // All inputs and outputs whole, nothing may be split. Any node can be opaque.
  void opaque(const std::string& reason);
  bool outputs_fit() const;  // the outputs have the sizes that the model gives
};

// Fills context.draft; a target without a rule, or with arguments that its rule was not written for, becomes opaque and
// `known = false`.
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
bool apply_convolution(RuleContext& context);
bool apply_windows(RuleContext& context);    // pooling, interpolation, padding by what is there, im2col …
bool apply_recurrent(RuleContext& context);  // lstm gru rnn, and their cells
bool apply_einsum(RuleContext& context);
bool apply_bodies(RuleContext& context);  // cond while_loop scan map associative_scan
bool apply_transform(RuleContext& context);  // Fourier transforms

}  // namespace planscope
