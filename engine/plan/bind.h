#pragma once
// NAMESPACE: everything of engine/plan is in planscope::plan (engine/graph and engine/program have their own Split, Place,
// Phase and FactorKind in planscope, and engine/program includes both). Keep it so.
//
// Binding: what a plan means on one model. Plan + ModelInfo -> Decisions, plain data that engine/program materializes.
//
// The model is seen through ModelInfo, a list of operators with named factors; whoever has a graph fills it (this folder
// knows no graph). Binding expands templates, evaluates lets, cuts and conditions, resolves every selection to operator
// indices, lets the last statement win for every decision, and checks names, factors, axes and divisibility. It does not
// decide what no statement names (follow, place follow: engine/program), find open values (planner) or sequence tasks.
//
//   Result<Plan> script = parse_plan(text, "a.plan");
//   Result<InputSizes> sizes = model_sizes(*script, inputs);     // `model batch=64`: build the ModelInfo at these sizes
//   Result<Decisions> d = plan::bind(*script, model_info);       // qualified: std::bind is found by name lookup too
//   for (int op = 0; op < operators; ++op)
//     for (int axis = 0; axis < int(d->axes.size()); ++axis)
//       if (d->split(op, axis).factor >= 0) …                     // operator `op` splits that factor over that axis
//
// Errors: a Decisions value comes even with errors (the statements that are right still apply); nothing throws. Errors
// carry the plan's file, the line (of the `use`, for a line of a template) and the statement's text as subject.
//
// Cost: linear in operators × statements that name them; 7,000 operators and a plan of twenty lines take milliseconds.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/base/diagnostic.h"
#include "engine/plan/expression.h"
#include "engine/plan/plan.h"

namespace planscope::plan {

// ---------------------------------------------------------------------------------------------- the model, as seen here

enum class FactorKind : std::uint8_t { free, sum, merge, softmax, frozen };

struct PartInfo {
  std::int64_t size = 0;
  std::string name;     // for messages: `heads`, `head_dim`; may be empty
  bool frozen = false;  // a neighbour freezes it (the 3 of a fused q, k, v; head_dim): never cut
  bool operator==(const PartInfo&) const = default;
};

struct FactorInfo {
  std::vector<std::string> names;  // every name that it answers to; the first is shown in messages
  std::int64_t size = 0;           // product of the parts
  FactorKind kind = FactorKind::free;
  std::string reason;           // frozen: why (`normalized over`)
  std::vector<PartInfo> parts;  // outermost first; empty: one part of `size`
  bool operator==(const FactorInfo&) const = default;
};

struct OperatorInfo {
  std::string module;  // path of the module instance, `model.layers.3.mlp.up_proj`; empty: the root
  int call = -1;       // number of the call where a module is called several times, else -1
  std::string kind;    // `linear`; an operator made by canonicalization has the kind of the one that it replaces
  int ordinal = 0;     // among the operators of equal module, call and kind
  bool parameter_free = false;  // no parameter and no random draw reaches it: `*` does not name it
  bool has_backward = false;
  bool has_weight_gradient = false;
  std::vector<FactorInfo> factors;
  bool operator==(const OperatorInfo&) const = default;
};

struct ParameterInfo {
  std::string name;                 // dotted, `model.layers.3.mlp.up_proj.weight`
  std::vector<int> readers;         // operators, ascending: update(X), grad(X), fetch(X) select by these
  std::vector<FactorInfo> factors;  // named dim0, dim1, …
  bool operator==(const ParameterInfo&) const = default;
};

struct ModuleInfo {
  std::string path, type;
  bool operator==(const ModuleInfo&) const = default;
};

struct InputDimension {
  std::string name;  // batch, seq
  std::int64_t size = 0;
  std::vector<std::string> words = {};  // what `size` counts, where it is a choice by name or position: `loss`
  bool operator==(const InputDimension&) const = default;
};

struct ModelIndex;  // selection.h

struct ModelInfo {
  std::vector<OperatorInfo> operators;  // forward, in program order
  std::vector<ParameterInfo> parameters;
  std::vector<InputDimension> inputs;  // named input dimensions with the sizes that `operators` were built at
  std::vector<ModuleInfo> modules;     // in program order; only for messages, may be empty
  // model_index() of the operators, for those who bind many plans on one model; absent: binding makes its own.
  std::shared_ptr<const ModelIndex> index = nullptr;
};

// -------------------------------------------------------------------------------------------------------- open values

// A value for an open `?x`: an integer (sizes) or a word (a factor).
using OpenValue = std::variant<std::int64_t, std::string>;
using OpenValues = std::map<std::string, OpenValue>;  // by name, without the question mark

using InputSizes = std::map<std::string, std::int64_t>;

// The sizes of named input dimensions: those of the model where no `model` statement changes them.
Result<InputSizes> model_sizes(const Plan&, const std::vector<InputDimension>&, const OpenValues& = {});

// ---------------------------------------------------------------------------------------------------------- decisions

constexpr std::string_view kStepAxis = "step";  // the axis of training steps, which no plan declares
constexpr int kNone = -1;                       // whole and repeated: `none`
constexpr int kOpen = -2;                       // not decided yet: see `alternatives`

// An axis by name. Grid axes of one name in several grids are one entry here; their sizes are in the grids.
struct AxisInfo {
  std::string name;
  bool free = false;                    // belongs to no grid
  std::int64_t size = 0;                // of a free axis; 0: open, or a grid axis
  int statement = -1;                   // that declared it first
  std::optional<Expression> open_size;  // free and open: over open values alone (`?m`)
  bool operator==(const AxisInfo&) const = default;
};

struct GridAxis {
  int axis = 0;                         // index into Decisions::axes
  std::int64_t size = 0;                // 0: open
  std::optional<Expression> open_size;  // open: over open values alone (`?t`)
  bool operator==(const GridAxis&) const = default;
};

struct GridInfo {
  std::string name;            // `all` (always grids[0]), `odd`, `G[1]`; a sub-grid or listed devices: as written
  int statement = -1;          // -1: implicit
  std::vector<int> devices;    // global device numbers, first axis major; empty while a size is open
  std::vector<GridAxis> axes;  // may be empty (plain set of devices); major to minor
  bool operator==(const GridInfo&) const = default;
};

// How one factor (of an operator, or of a parameter in one phase) meets one axis.
struct Split {
  int statement = -1;     // that decided it, index into Decisions::plan.statements; -1: nobody, it follows
  int factor = kNone;     // index into factors, kNone or kOpen
  int part = 0;           // of the factor: where the axis begins to cut; see find_part in trans.h
  int position = 0;       // of the axis in the statement's `by` list
  int alternatives = -1;  // kOpen: index into Decisions::alternatives
  bool operator==(const Split&) const = default;
};

struct Alternatives {
  std::vector<int> factors;  // factor indices and perhaps kNone, as written
  int variable = -1;  // one shared value (`?dim`): index into variables, whose words are `words`; -1: each its own
  std::vector<std::string> words;  // the word of each entry of `factors`
  bool operator==(const Alternatives&) const = default;
};

// `by a|b`: one of these axes takes the factor, for each operator (or parameter) its own. Where a later statement decides
// one of them, the others are whole.
struct AxisChoice {
  int statement = -1;
  Phase phase = Phase::forward;  // of operators; fetch, grad, update: of parameters
  std::vector<int> axes;
  bool none = false;  // all of them may be whole
  bool operator==(const AxisChoice&) const = default;
};

// Block sizes of a split, by statement.
struct SplitSizes {
  Sizes::Form form = Sizes::Form::equal;
  std::vector<std::int64_t> listed;  // elements of the outermost cut part
  bool operator==(const SplitSizes&) const = default;
};

// A split whose block is not the coordinate i of its axis but (start + step * i + turn * c + cross * i * c) modulo the axis'
// size, c the coordinate on the axis `by` (`at` in a statement).
struct Turn {
  int by = -1;  // -1: none
  std::int64_t step = 1, turn = 0, start = 0, cross = 0;
  bool operator==(const Turn&) const = default;
  auto operator<=>(const Turn&) const = default;
};

// Indices of a free axis, ascending.
struct AxisIndices {
  int axis = 0;  // into Decisions::axes
  std::vector<std::int64_t> indices;
  bool operator==(const AxisIndices&) const = default;
};
// Whether some combination of indices is in both; an axis that is not listed: all of its indices.
bool overlap(const std::vector<AxisIndices>&, const std::vector<AxisIndices>&);

// A place: a grid with some axes fixed. Open if it has alternatives or a variable (then grid and fixed mean nothing).
struct PlaceInfo {
  struct Fixed {
    int axis = 0;  // index into Decisions::axes
    std::int64_t value = 0;
    bool operator==(const Fixed&) const = default;
  };
  int statement = -1;
  int grid = 0;
  std::vector<Fixed> fixed;             // `pipe=2`, in the grid's order
  std::vector<PlaceInfo> alternatives;  // `pipe=0|1`
  // Of alternatives by index (`assign X[mb=m] to pipe=0|1`): the indices that take one of them together.
  std::vector<AxisIndices> index;
  int variable = -1;  // `?x`: a device number; index into Decisions::variables
  bool open() const { return !alternatives.empty() || variable >= 0; }
  bool operator==(const PlaceInfo&) const = default;
};

// Places by index of free axes (`assign X[mb=m] to pipe=m%2`): one for every combination of indices, first axis major.
struct IndexedPlaces {
  std::vector<int> axes;    // free axes, into Decisions::axes, ascending
  std::vector<int> places;  // into Decisions::places; -1: no statement names that index
  bool operator==(const IndexedPlaces&) const = default;
};

// A unit: one module instance that a path matched, or one part of a cut.
struct UnitInfo {
  std::string name;            // `S[2]`, `model.layers[3].mlp`
  std::vector<int> operators;  // ascending
  bool operator==(const UnitInfo&) const = default;
};

struct CutInfo {
  std::string name;  // of the let
  int statement = -1;
  std::vector<int> units;  // into Decisions::units, in order
  bool operator==(const CutInfo&) const = default;
};

enum class Algorithm : std::uint8_t { keep, recompute, offload, keep_gathered, grad_split };
std::string_view to_string(Algorithm);

// One algorithm statement on one unit. Later statements take operators away from earlier ones.
struct AlgorithmUnit {
  int statement = -1;
  int unit = 0;                         // into Decisions::units
  std::vector<Algorithm> alternatives;  // one: decided; more: open, one for the unit
  bool operator==(const AlgorithmUnit&) const = default;
};

// `relax fetch(X) lag k`: an operator reads parameters as they were k updates ago. No statement: the newest.
struct Lag {
  int statement = -1;
  std::int64_t updates = 0;
  bool operator==(const Lag&) const = default;
};

// --- order

// Tasks `phase(units[unit_index])[index…]`, one for each value of the row's variables.
struct TaskFamily {
  struct AxisIndex {
    int axis = 0;  // a free axis
    Expression index;
    std::optional<Expression> end = {};  // `[m:m+2]`: every index from `index` to before this one
    bool operator==(const AxisIndex&) const = default;
  };
  Phase phase = Phase::forward;
  Phase of = Phase::forward;       // fetch, load, store: around the forward, backward or update work of the units
  std::vector<int> units;          // into Decisions::units; the list that `unit` counts in
  std::optional<Expression> unit;  // a number where it is known; nothing: the whole list is one group
  std::vector<AxisIndex> index;    // an axis that is not named: all its indices
  std::optional<Expression> step;  // of the row's own; nothing: that one
  bool operator==(const TaskFamily&) const = default;
};

// One `order` row, with variables that only count units expanded (one row for each of their values). What is left are
// integer variables over which the row holds; names in the expressions below are these variables and nothing else.
struct OrderRow {
  int statement = -1;
  std::vector<std::string> variables;  // `m`, sorted
  std::vector<Condition> conditions;   // `m >= 0`
  std::vector<TaskFamily> chain;       // a < b < c
  bool operator==(const OrderRow&) const = default;
};

// One task, and one pair of tasks in order.
struct Task {
  Phase phase = Phase::forward;
  Phase of = Phase::forward;                        // fetch, load, store: around forward, backward or update
  std::vector<int> units;                           // into Decisions::units
  std::vector<std::pair<int, std::int64_t>> index;  // (free axis, index); other axes: all indices
  std::int64_t step = 0;                            // relative to that of the pair's other task
  bool operator==(const Task&) const = default;
};
struct OrderPair {
  int statement = -1;
  Task before, after;
  bool operator==(const OrderPair&) const = default;
};

// --- open values and constraint rows

struct OpenVariable {
  std::string name;                               // without the question mark; `mb=4|8` makes one named `mb`
  std::vector<std::int64_t> values;               // domain, ascending, if it is finite and of integers
  std::vector<std::string> words;                 // domain, if it is of words
  std::optional<std::int64_t> at_least, at_most;  // bounds from the rows that name it alone
  std::vector<int> statements;                    // that mention it, ascending
  bool operator==(const OpenVariable&) const = default;
};

// A condition that has to hold, over open values alone (lets, `|S|` and fixed axis sizes are replaced by numbers).
// Those without an open value were evaluated: they are not here.
struct ConditionRow {
  int statement = -1;
  Condition condition;
  bool operator==(const ConditionRow&) const = default;
};

// memory(place) <= bytes, for every device of the place.
struct MemoryRow {
  int statement = -1;
  int place = 0;                            // into Decisions::places
  Expression limit;                         // bytes, over open values alone
  std::optional<std::int64_t> limit_bytes;  // if it has none
  bool strict = false;                      // `<`
  bool operator==(const MemoryRow&) const = default;
};

// None of these decisions may be taken.
struct ForbiddenSplit {
  int row = 0;  // operator or parameter
  int axis = 0;
  int factor = kNone;
  Phase phase = Phase::forward;  // of operators; fetch, grad, update: of parameters
  bool operator==(const ForbiddenSplit&) const = default;
};
struct ForbiddenPlace {
  int row = 0;  // operator
  int place = 0;
  std::vector<AxisIndices> index;  // at these; none: at all
  bool operator==(const ForbiddenPlace&) const = default;
};
struct ForbiddenAlgorithm {
  int unit = 0;
  Algorithm algorithm = Algorithm::keep;
  bool operator==(const ForbiddenAlgorithm&) const = default;
};
struct ForbiddenState {
  int parameter = 0;
  Algorithm algorithm = Algorithm::keep;  // keep or offload: of what the optimizer keeps
  bool operator==(const ForbiddenState&) const = default;
};
struct ForbidRow {
  int statement = -1;
  std::vector<ForbiddenSplit> splits;
  std::vector<ForbiddenPlace> places;
  std::vector<ForbiddenAlgorithm> algorithms;
  std::vector<ForbiddenState> states;
  bool operator==(const ForbidRow&) const = default;
};

struct Decisions {
  Plan plan;  // templates expanded; `statement` numbers everywhere index plan.statements
  InputSizes input_sizes;
  std::int64_t device_count = 1;  // 0: open
  std::vector<AxisInfo> axes;     // in declaration order
  std::vector<GridInfo> grids;    // grids[0] is `all`

  int operator_count = 0, parameter_count = 0;
  std::vector<Split> operator_splits;                           // [operator × axes.size() + axis]
  std::vector<Split> fetch_splits, grad_splits, update_splits;  // [parameter × axes.size() + axis]
  std::vector<Alternatives> alternatives;
  std::vector<AxisChoice> axis_choices;
  std::map<int, SplitSizes> sizes;  // by statement; statements that are not here: equal blocks, for update, grad
                                    // and fetch balanced ones

  std::map<std::pair<int, int>, Turn> turns;  // by statement and axis

  std::vector<PlaceInfo> places;              // pool
  std::vector<int> operator_place;            // into places; -1: follows; by index: the place of the first
  std::vector<IndexedPlaces> indexed_places;  // pool
  std::vector<int> operator_indexed;          // into indexed_places; -1: one place for all indices

  std::vector<UnitInfo> units;  // pool
  std::vector<CutInfo> cuts;
  std::vector<AlgorithmUnit> algorithms;
  std::vector<int> operator_storage;     // into algorithms: keep, recompute or offload; -1: nobody said, kept
  std::vector<int> operator_gathered;    // into algorithms: keep_gathered; -1: no
  std::vector<int> operator_grad_split;  // into algorithms: grad_split; -1: no
  std::vector<int> update_storage;  // by parameter, into algorithms: where the optimizer's state waits between steps
                                    // (keep or offload); -1: nobody said, kept
  std::vector<Lag> operator_lag;    // by operator

  std::vector<OrderRow> order;
  int open_order = -1;  // the statement `order ?`; -1: none

  std::vector<OpenVariable> variables;
  std::vector<ConditionRow> conditions;
  std::vector<MemoryRow> memory;
  std::vector<ForbidRow> forbids;
  std::vector<int> deferred;  // statements that cannot be evaluated before some open value is known

  bool complete = false;  // nothing is open

  template <class D>
  static auto& splits_of(D& d, Phase phase) {
    return phase == Phase::fetch    ? d.fetch_splits
           : phase == Phase::grad   ? d.grad_splits
           : phase == Phase::update ? d.update_splits
                                    : d.operator_splits;
  }
  // By phase: fetch, grad, update of parameters; any other: operators.
  std::vector<Split>& splits(Phase phase) { return splits_of(*this, phase); }
  const std::vector<Split>& splits(Phase phase) const { return splits_of(*this, phase); }
  const Split& split(int op, int axis) const { return operator_splits[cell(op, axis)]; }
  const Split& parameter_split(Phase phase, int parameter, int axis) const {  // fetch, grad or update
    return splits(phase)[cell(parameter, axis)];
  }
  std::size_t cell(int row, int axis) const {
    return static_cast<std::size_t>(row) * axes.size() + static_cast<std::size_t>(axis);
  }
  bool operator==(const Decisions&) const = default;
};

Result<Decisions> bind(const Plan&, const ModelInfo&, const OpenValues& = {});

// Whether nothing that waits for a value can take back what this statement decides; -1: what no statement says.
bool is_final(const Decisions&, int statement);

// What statements that wait for a value may still change: whether a size of the model is open; whether one of them may
// split operators anew that this statement splits over an axis; whether one may place some where the axis is fixed, or is
// none.
bool waits_for_sizes(const Decisions&);
bool may_be_split_anew(const Decisions&, int statement, int axis);
bool may_be_fixed(const Decisions&, int axis);

// Index into Decisions::axes, or -1.
int find_axis(const Decisions&, std::string_view name);
// The size of an axis where the place is: a free axis' own, a grid axis' in that grid unless it is fixed there (1);
// 0: open; nothing: the grid lacks the axis, so the split has no effect there.
std::optional<std::int64_t> axis_size(const Decisions&, const PlaceInfo&, int axis);
// Whether a split of an operator is open: an axis that its place lacks splits nothing.
bool open_split(const Decisions&, int op, int axis);
// Whether an axis is there for an operator, or for one that reads a parameter, as far as the plan says where they are.
bool has_axis(const Decisions&, const ModelInfo&, Phase, int row, int axis);
// The axes that split one factor of an operator, major to minor: as listed together in one statement, else free axes
// before grid axes, else declaration order. Only decided splits; grids are not looked at.
std::vector<int> split_axes(const Decisions&, int op, int factor);
std::vector<int> parameter_split_axes(const Decisions&, Phase, int parameter, int factor);
// The places of an operator (at some indices of free axes), ascending; none if it follows.
std::vector<int> places_of(const Decisions&, int op, const std::vector<AxisIndices>& at = {});
// The devices of a place, in the grid's order.
std::vector<int> devices_of(const Decisions&, const PlaceInfo&);

// All pairs that the order rows ask for. Tasks that do not exist are skipped (their neighbours are ordered); pairs come
// in the order of the rows, then of the variables' values. An error if a row names more than `limit` pairs.
Result<std::vector<OrderPair>> enumerate_order(const Decisions&, std::size_t limit = 4'000'000);

// ------------------------------------------------------------------------------------------------- for planners

// Something that a complete plan has one value for.
struct OpenChoice {
  enum class Kind : std::uint8_t { variable, split, place, algorithm, order };
  Kind kind = Kind::variable;
  int statement = -1;
  int variable = -1;                 // variable
  Phase phase = Phase::forward;      // split: forward (row is an operator), fetch, grad, update (row is a parameter)
  int row = -1;                      // split, place: operator or parameter; algorithm: index into Decisions::algorithms
  int axis = -1;                     // split
  int place = -1;                    // place: the open one, into Decisions::places
  std::vector<std::string> choices;  // as a statement writes them; of a split those that its axis divides, all if it divides none
  bool operator==(const OpenChoice&) const = default;
};
std::vector<OpenChoice> open_choices(const Decisions&, const ModelInfo&);

// `run needs a complete plan; open: ?t (line 1), order (line 16). 'planscope plan' fills them.`; empty if complete.
std::string open_summary(const Decisions&, std::string_view verb);

// The plan with `?x` replaced by its value wherever it is written, conditions included. `a|b` sizes of an axis are
// replaced by the value of the variable of that axis' name.
Plan with_values(const Plan&, const OpenValues&);

// The values that rows give: `require ?d = 2`, `|mb| = 4`, `?dim in {out}`, `?size[1] = 3`, `?D[0] = G[0]` (a grid). A
// planner answers in such rows (`auto require ?d = 2`) and leaves the hole as it is; a complete plan is bound with them:
//
//   bind(plan, model, given_values(plan))
OpenValues given_values(const Plan&);
std::optional<std::pair<std::string, OpenValue>> given_value(const Plan&, const Statement&);  // of one row

// The plan without the lines that a planner wrote.
Plan without_automatic(const Plan&);

}  // namespace planscope::plan
