#pragma once
// The logical model: operators over pTensors, with the rules that say how each operator may be split.
//
// A dimension of a tensor is a list of *parts*, major to minor; each part belongs to a *part class*: parts of equal size
// that are cut together. A dimension of size 1 that is only broadcast has no parts. Operators have local *factors*, each
// an ordered list of part classes; every part of every operand is mapped to one position of one factor. Binding an axis
// to a factor therefore says, for every operand, which part it splits; operands without the factor are read whole, and
// outputs without a `sum` factor become partial sums.
//
//   linear  x[b, s, k] w[n, k] -> y[b, s, n]      factors: batch{b} free, seq{s} free, in{k} sum, out{n} free
//   after `y` is viewed as [b, s, heads, head_dim]: out{heads, head_dim}, and so are dimension 0 of w, 2 of y
//
// A Graph is a plain value. The backward of an operator, the fetch, gradient accumulation and update of a parameter have
// no entries of their own: they are phases of an Op or of a Parameter (see Phase), derived from the forward rule.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/diagnostic.h"
#include "engine/graph/model.h"

namespace planscope {

using ClassId = int;
using TensorId = int;  // = ValueId of the Model
using OpId = int;      // index into Graph::ops; ops are in program order

enum class Phase : std::uint8_t { forward, backward, weight, replay, fetch, grad, update, load, store };
std::string_view to_string(Phase);  // "f" "b" "w" "r" "fetch" "grad" "update" "load" "store"

struct PartClass {
  std::string name;         // `batch`, `seq`, `heads`, …; may be empty
  std::int64_t size = 1;    // current size (a setting, see resize())
  bool frozen = false;      // some operator cannot split it (the reason is in that operator's factor)
  bool from_input = false;  // named by an input dimension: sizes of these can be set
  bool counted = false;     // a number of pieces that an operator takes or joins: it is the same at any size
  bool bounded = false;     // the size is an upper bound, the true one depends on data; no operator splits it
  bool operator==(const PartClass&) const = default;
};

struct PTensor {
  TensorId id = -1;
  std::vector<std::vector<ClassId>> dims;  // per dimension its parts, major to minor
  OpId producer = -1;                      // -1: input, parameter, buffer, constant
  int output = 0;                          // which output of the producer
  std::vector<OpId> readers;               // in program order, each once
  bool gradient = false;                   // a gradient flows to it (from the loss, towards a trained parameter)
  ClassId domain = -1;                     // its integers number the elements of this class: it can be a key (Factor)
  bool operator==(const PTensor&) const = default;
};

// What happens to results when a factor is split: nothing (`free`); outputs without it are partial sums (`sum`), partial
// log-sum-exps (`merge`), or averages of blocks beside the log-sum-exps that weigh them (`softmax`); or it cannot be split
// (`frozen`).
enum class FactorKind : std::uint8_t { free, sum, merge, softmax, frozen };
std::string_view to_string(FactorKind);

// A *keyed* factor selects rows. Its one part is the domain of the key, an integer tensor with an element for each row: a
// block of it stands for the rows whose key lies in the block, of the dimensions that have the whole factor `rows`
// (selected_dim), and for the block itself where an operand has the part. How many rows those are is known at run time
// only. Experts are one: grouped_mm multiplies row r with matrix index[r], so a block of experts needs the rows that are
// theirs; and whatever works row by row on its result can go on with these rows alone.
//
//   grouped_mm  self[r, k] weight[e, k, n] index[r] -> y[r, n]     expert{e} free, key index, rows {r}
//   silu        y[r, n] -> z[r, n]                                 expert{e} free, key index, rows {r}
struct Factor {
  std::string name;  // the rule's own: `out`, `in`, `heads`; or that of its first named part
  FactorKind kind = FactorKind::free;
  std::vector<ClassId> parts;
  std::string reason;  // why it is frozen
  TensorId key = -1;   // >= 0: it selects rows by this tensor
  int rows = -1;       // … of this factor
  int until = -1;  // >= 0: a block of that factor needs of this one no more than what ends where the block ends: keys
                   // of causal attention, of the queries
  bool operator==(const Factor&) const = default;
};

struct PartRef {
  int factor = -1;  // -1: tied to no factor, read whole
  int part = 0;     // position in Factor::parts
  bool operator==(const PartRef&) const = default;
};

struct Operand {
  TensorId tensor = -1;
  int argument = -1;                      // which argument of the node; outputs: which output
  int element = -1;                       // position in a list argument
  std::vector<std::vector<PartRef>> map;  // parallel to PTensor::dims
  bool added = false;                     // added, not multiplied: under a sum factor it is read as partial (a bias)
  bool operator==(const Operand&) const = default;
};

// How arguments change when an operator runs on shards. All offsets and sizes are local ones.
enum class ShardForm : std::uint8_t {
  same,          // arguments do not depend on sizes
  output_sizes,  // the size argument becomes the output's local sizes (view, expand, full, new_ones, …)
  offset_range,  // arange: the first element moves by the block's offset
  offset_index,  // embedding, pick, grouped_mm: subtract the block's offset, give zero outside
  global_mean,   // mean: the local mean times local elements over global elements of the reduced parts
};

struct Op {
  int node = -1;      // index into Model::nodes
  std::string rule;   // the rule that applies, as text; `opaque` where none is known
  bool known = true;  // false: no rule for the target, replicated only
  std::vector<Operand> inputs, outputs;
  std::vector<Factor> factors;
  std::vector<std::vector<int>> linear;  // sets of inputs: partial together in, partial out
  std::vector<int> saves;                // what backward reads: input i as i, output j as -1-j
  ShardForm shard = ShardForm::same;
  int log_sums = -1;             // the output that weighs blocks of a `softmax` factor; made only where one is split
  bool backward = false;         // has a mirrored backward
  bool parameter_free = false;   // no parameter and no random draw reaches it: computed where and as it is read
  bool elementwise_cost = true;  // bound by memory traffic, not by multiply-adds
  double flops = 0;              // of the forward pass at current sizes
  bool operator==(const Op&) const = default;
};

struct Parameter {
  TensorId tensor = -1;
  bool trained = true;
  int stands_for = 1;  // so many equal ones, of a model of which this graph has a part
  bool operator==(const Parameter&) const = default;
};

// size(out) = (constant + times * sum of sizes(terms)) / per, rounded down: how sizes of one class follow from others (pad,
// slice, cat; windows that slide by `per`, or that a transposed convolution lays out by `times`).
struct SizeRelation {
  ClassId out = -1;
  std::vector<ClassId> terms;
  std::int64_t constant = 0;
  std::int64_t times = 1, per = 1;
  OpId op = -1;
  bool operator==(const SizeRelation&) const = default;
};

struct OwnRules;  // own_rules.h

struct Graph {
  std::shared_ptr<const Model> model;  // names, targets, arguments; shared between copies
  std::shared_ptr<const OwnRules> own_rules;
  std::vector<PartClass> classes;
  std::vector<PTensor> tensors;  // by ValueId
  std::vector<Op> ops;
  std::vector<Parameter> parameters;  // in the model's order
  std::vector<SizeRelation> relations;
  std::vector<int> alike;    // by operator: equal numbers differ in nothing but the tensors that they name (alike.h)
  std::uint64_t digest = 0;  // of the model, the rules and the sizes

  const Node& node(OpId op) const {
    return model->nodes[static_cast<std::size_t>(ops[static_cast<std::size_t>(op)].node)];
  }
  std::int64_t size(TensorId, int dim) const;       // current size
  std::vector<std::int64_t> sizes(TensorId) const;  // current sizes
  std::int64_t elements(TensorId) const;
  std::int64_t bytes(TensorId) const;
  const std::string& tensor_name(TensorId) const;
};

// Adds rules, part classes, marks and FLOPs. Operators without a rule are kept, replicated, with a note.
Result<Graph> make_graph(std::shared_ptr<const Model>);

// The setting that says which of the scalar outputs is the loss, by its position among them.
inline constexpr std::string_view kLossSetting = "loss";

// The same graph with named input dimensions set: resize(g, {{"batch", 1024}}). Unknown names are errors that list the
// known ones; a size that no longer fits (a view whose literal no class explains) is one that names the operator.
Result<Graph> resize(const Graph&, const std::vector<std::pair<std::string, std::int64_t>>& sizes);

// The dimension of an operand of which a keyed factor selects rows; -1: the operand has none.
int selected_dim(const Op&, const Operand&, int factor);

// `batch`, `seq`, …: the names of input dimensions with their current sizes, in order of first use.
std::vector<std::pair<std::string, std::int64_t>> input_dimensions(const Graph&);

// Names that a factor answers to: the rule's own first, then those that its parts carry.
std::vector<std::string> factor_names(const Graph&, OpId, int factor);

// One line of text: `b s k, n k -> b s n  {b=batch:8 s=seq:1024 k=in:768 sum n=out:12x64}`.
std::string describe(const Graph&, OpId);

}  // namespace planscope
