#pragma once
// What the passes of materialize() share. Internal to engine/program.
//
// Words. An *instance* is an operator with its bindings at a place (or a receive, a combination over free axes, or the
// final read of the loss). A *var* is a tensor as written at a place: by an instance, or held there (parameters). Every
// read of a var by an instance says in which layout it is read and which layout its gradient contribution has.
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "engine/base/numbers_hash.h"
#include "engine/cluster/cluster.h"
#include "engine/graph/graph.h"
#include "engine/plan/bind.h"
#include "engine/program/conversion.h"
#include "engine/program/crossing.h"
#include "engine/program/followed.h"
#include "engine/program/operand_layouts.h"
#include "engine/program/ordered.h"
#include "engine/program/program.h"

namespace planscope::build {

using InstanceId = int;
using VarId = int;

// A digit of an axis by its index in Decisions::axes; size 0: the whole axis, whatever its size at the place.
struct LogicalDigit {
  int axis = -1;
  std::int64_t size = 0, stride = 1;
  std::vector<std::int64_t> sizes = {};  // of its blocks, as Digit::sizes
  plan::Turn turn = {};                  // of a whole axis; `by` is an index into Decisions::axes
  Reach reach = Reach::own;
  bool operator==(const LogicalDigit&) const = default;
  auto operator<=>(const LogicalDigit&) const = default;
};

struct FactorBinding {
  LogicalDigit digit;
  int factor = -1, part = 0;
  bool operator==(const FactorBinding&) const = default;
};

// How one operator meets one axis.
struct AxisBinding {
  std::vector<FactorBinding> factors;  // empty and no pass: not bound
  int pass = -1;                       // linear set whose partial operands pass through
  std::vector<LogicalDigit> pass_digits;
  bool backward_pass = false;  // a partial gradient passes backward (grid axes)
  Origin origin = Origin::follow;
  int statement = -1;
  bool bound() const { return !factors.empty() || pass >= 0; }
  bool operator==(const AxisBinding&) const = default;
};

struct LayoutHash {
  std::size_t operator()(const Layout&) const;
};

using AxisSet = std::vector<AxisId>;  // free axes, sorted

// Which class of indices of every divided axis (Work::divided) an instance or a var belongs to; -1: it is not bound to it.
using Classes = std::vector<int>;

// A free axis whose indices are at several places: the axes of its classes.
struct DividedAxis {
  int axis = -1;  // index into Decisions::axes
  std::vector<AxisId> classes;
};

enum class InstanceKind { op, receive, combine, output, write };

struct Instance {
  InstanceKind kind = InstanceKind::op;
  OpId op = -1;
  VarId var = -1;  // receive, combine: what it makes; output, write: what it reads
  PlaceId place = 0;
  std::vector<Binding> bindings;  // major to minor on one factor part
  AxisSet set;
  Classes classes;
  int unit = -1;  // of an order row
  int level = 0;
  int segment = -1;
  int recompute = -1;                   // recompute unit, -1: none
  bool offload = false;                 // what backward needs waits in host memory
  bool keep_gathered = false;           // gathered copies are kept for backward, not gathered again
  bool grad_split = false;              // gradients of parameters are computed apart, in a segment of their own
  std::vector<Digit> passed;            // a gradient partial over these passes backward
  std::vector<VarId> inputs;            // per operand
  std::vector<LayoutId> input_layouts;  // as read
  std::vector<VarId> outputs;           // per output; -1: nobody reads it
  std::vector<std::pair<VarId, LayoutId>> keys;  // that conversions of what it reads or writes need
};

struct Read {
  InstanceId instance = -1;
  int operand = 0;             // -1: one of Instance::keys
  LayoutId layout = -1;        // as read
  LayoutId contribution = -1;  // of its gradient; -1: none
};

// A gradient contribution that has arrived.
struct Contribution {
  ProgramValueId value = -1;
  LayoutId layout = -1;
};

// One of the vars that a combination reads.
struct CombinedPart {
  VarId from = -1;
  LayoutId ready = -1;  // in which it is added
};

// Stored: parameters, buffers that no step changes, and constants. Source: inputs, and buffers that steps change.
enum class VarKind { computed, received, combined, source, stored };

struct Var {
  VarKind kind = VarKind::computed;
  TensorId tensor = -1;
  PlaceId place = 0;
  LayoutId written = -1;
  LayoutId base = -1;    // after the reduction that all readers share; stored: as fetched
  LayoutId home = -1;    // stored
  LayoutId needed = -1;  // layout in which the producer takes the gradient; stored: that of home
  InstanceId producer = -1;
  VarId from = -1;                  // received: the var at the sending place
  LayoutId sent = -1;               // received: the layout in which it is sent there (it arrives as `base`)
  LayoutId returned = -1;           // received: that in which its gradient, sent as `needed`, arrives there
  std::vector<CombinedPart> parts;  // combined: those with an instance for each index
  bool of_classes = false;          // combined: of indices of several places
  AxisSet set;                      // free axes by which it has instances
  VarId log_sums = -1;              // partial as a softmax, or combined from such: what weighs it
  bool joined = false;              // combined: together with the value that it weighs
  bool gradient = false;
  bool fetch_split = false;   // parameters: gathered at every run of uses
  std::int64_t lag = 0;       // parameters: how many updates old they are where they are read
  LayoutId use = -1;          // stored: the splits that all their readers share
  LayoutId grad_layout = -1;  // parameters: accumulated in this layout where `grad` is split
  std::vector<Read> reads;
  std::vector<VarId> received;  // vars of other places that are made from it
  std::vector<VarId> combined;  // vars that combine it over free axes

  ProgramValueId written_value = -1, base_value = -1, home_value = -1;
  std::map<LayoutId, ProgramValueId> hoisted;  // conversions made where it was written, for readers of larger sets
  std::map<std::pair<SegmentId, LayoutId>, ProgramValueId> as_key;  // as conversions by key of a pass read it
  // Read up to the reader's index: what has been put together so far, and the sum of the gradients of these reads.
  ProgramValueId growing = -1;
  std::vector<Contribution> contributions;
  std::vector<std::pair<VarId, int>> incoming;  // gradients sent back: (received var, transfer)
  ProgramValueId gradient_value = -1;
};

struct SegmentWork {
  int level = 0;
  AxisSet set;
  PlaceId place = 0;
  int unit = -1;
  std::vector<InstanceId> instances;
  SegmentId forward = -1, backward = -1, weight = -1;
  SegmentId fetch_forward = -1, fetch_backward = -1, load = -1, store = -1, replay = -1;  // where order rows name them
};

class Work {
 public:
  Work(const Graph& graph, const plan::Decisions& decisions, const Cluster& cluster)
      : g(graph), d(decisions), cluster(cluster) {}

  const Graph& g;
  const plan::Decisions& d;
  const Cluster& cluster;
  Program p;
  std::vector<Diagnostic> diagnostics;
  std::vector<OrderedRuns> ordered;  // by the schedule

  // places
  std::vector<std::vector<AxisId>> axis_ids;  // [grid][decision axis] -> AxisId or -1
  std::vector<AxisId> free_axis_ids;          // [decision axis] -> AxisId or -1
  std::vector<PlaceId> op_place;              // where axes are divided: at the first class of each
  std::vector<DividedAxis> divided;
  std::vector<std::vector<PlaceId>> class_places;  // [combination of classes, first axis major][op]
  std::vector<int> op_unit;
  std::vector<plan::Lag> op_lag;  // of what an operator reads of parameters
  std::vector<int> unit_of_order;

  // bindings; of an operator and an axis by number, [op * axes + axis]
  std::vector<int> kinds;  // by operator (kinds.cpp)
  int& binding_id(OpId op, int axis) { return binding_ids[d.cell(op, axis)]; }
  int binding_id(OpId op, int axis) const { return binding_ids[d.cell(op, axis)]; }
  const AxisBinding& binding(OpId op, int axis) const {
    return axis_bindings[static_cast<std::size_t>(binding_id(op, axis))];
  }
  int intern(const AxisBinding&);

  std::vector<int> binding_ids;
  std::deque<AxisBinding> axis_bindings = {{}};  // each once; the first: not bound

  std::vector<Instance> instances;
  std::vector<Var> vars;
  std::vector<SegmentWork> segments;
  std::map<std::pair<TensorId, PlaceId>, std::vector<std::pair<LayoutId, VarId>>> keys;  // Instance::keys, by tensor
  // The segments of tasks that run once a step, by unit, phase and what it stands around.
  std::map<std::tuple<int, plan::Phase, plan::Phase>, std::vector<SegmentId>> parameter_tasks;

  LayoutId intern(const Layout&);
  PlaceId intern(const Place&);
  int statement(int decision_statement);  // index into p.statements
  std::string statement_text(int decision_statement) const;

  // Whether a parameter is behind what an operator computes (labels alone are behind the count of tokens).
  bool reached(OpId);

  // The place of an operator for one class of every divided axis (-1: the first).
  PlaceId place_of(OpId, const Classes&) const;

  // The axis at a place, or -1 where its grid lacks it or the place fixes it; its size there (1 then).
  AxisId axis_at(PlaceId, int axis) const;
  std::int64_t size_at(PlaceId, int axis) const;
  std::optional<Digit> digit_at(PlaceId, const LogicalDigit&, const Classes& = {}) const;
  void turn(Digit&, PlaceId, const plan::Turn&, const Classes&) const;
  std::int64_t whole_bytes(TensorId t) const {
    return g.elements(t) * byte_size(g.model->values[static_cast<std::size_t>(t)].dtype);
  }
  bool is_free(AxisId a) const { return p.axes[static_cast<std::size_t>(a)].grid < 0; }

  const ValueKind& kind(TensorId t) const { return g.model->values[static_cast<std::size_t>(t)].kind; }
  const Op& op(OpId o) const { return g.ops[static_cast<std::size_t>(o)]; }

  const std::optional<ConversionPath>& path(TensorId, PlaceId, LayoutId from, LayoutId to);  // convert.cpp
  const Crossing& crossing(TensorId, PlaceId from, const std::vector<CrossingEnd>& held, PlaceId to,
                           const std::vector<CrossingEnd>& read, const CrossingPair& usual);  // the cheapest

  ProgramValueId new_value(TensorId, Role, LayoutId, PlaceId, AxisSet, ProgramValueId refills = -1);

 private:
  std::map<std::tuple<std::vector<std::vector<ClassId>>, DType, bool, PlaceId, LayoutId, LayoutId>,
           std::optional<ConversionPath>, std::less<>>
      paths_;
  using PlaceKey = std::pair<GridId, std::vector<std::pair<AxisId, std::int64_t>>>;
  std::map<std::tuple<std::vector<std::vector<ClassId>>, DType, PlaceKey, PlaceKey, std::vector<CrossingEnd>,
                      std::vector<CrossingEnd>, CrossingPair>,
           Crossing>
      crossings_;
  std::unordered_map<Layout, LayoutId, LayoutHash> layout_ids_;
  std::map<PlaceKey, PlaceId> place_ids_;
  std::map<int, int> statement_ids_;
  std::vector<bool> reached_;                                // by operator
  std::unordered_multimap<std::size_t, int> known_bindings_;  // by what mostly tells them apart
};

// Passes, in order. A false result: w.diagnostics has an error.
bool make_places(Work&);
std::vector<int> operator_kinds(const Work&);  // after make_places: Work::kinds
bool bind_axes(Work&);
std::vector<FollowCost> compared_bindings(Work&, OpId, int axis);  // after make_places (followed.h)
std::vector<std::vector<int>> repeated_axes(const Work&);          // by operator (repeated.cpp)
bool make_instances(Work&);
void combine_vars(Work&);  // combinations.cpp
void set_homes(Work&);     // homes.cpp
void choose_bases(Work&);  // bases.cpp
bool set_lags(Work&);      // lags.cpp
bool make_segments(Work&);
bool emit(Work&);  // emit.h
bool set_around(Work&);
bool fuse_reductions(Work&);  // buckets.cpp
bool fuse_transfers(Work&);   // batches.cpp
bool put_off_sums(Work&);     // sums.cpp
bool insert_waits(Work&);
bool find_causes(Work&);  // causes.cpp
bool insert_frees(Work&);
bool make_schedule(Work&);

// The layout in which another place gets a var, as far as it is known before bases are chosen.
LayoutId as_received(Work&, const Var& from, PlaceId);

// The var that puts parts together over axes; with classes: those of several places (combinations.cpp).
VarId make_combined(Work&, std::vector<CombinedPart>, const AxisSet& over, LayoutId, PlaceId, const Classes&);

inline bool is_softmax(const Partial& p) { return p.kind == PartialKind::softmax; }
AxisSet softmax_axes(const Work&, const Var&);  // over which it is partial as a softmax

// One axis onto the parts of a factor, from `part` on; `left` is what earlier axes have left of each part. An axis larger
// than that goes on in the next part; where it does not divide (binding has said so), blocks are of different sizes.
void bind_axis(const Graph&, AxisBinding&, int axis, std::int64_t size, int factor, std::size_t part,
               const std::vector<ClassId>& parts, std::vector<std::int64_t>& left,
               const std::vector<std::int64_t>& sizes = {}, const plan::Turn& = {});  // stated.cpp

// layouts.cpp; those of operands are in operand_layouts.h
Layout without_free_splits(const Work&, const Layout&);
Layout without_grid_partials(const Work&, const Layout&);
Layout without_keys(const Layout&);  // the region from which it selects
// A layout without the digits that stand minor to those of some axes, and without splits by key of rows that these cut;
// then their indices can be put together, or left out (without_axes): the layout of all of them.
Layout made_minor(const Layout&, const AxisSet&);
Layout without_axes(const Layout&, const AxisSet&);
Layout only_axes(const Layout&, const AxisSet&);
Layout with_every(const Layout&,
                  const AxisSet&);  // the same for layouts that are not made minor: blocks of every index
AxisSet axes_of(const Layout&);     // that its digits are of (an index of each), sorted
// Turned digits of these axes as they are at home (rotate), if that is how `home` has them; with `gradient`, where the layout
// is a partial sum over the axis that turns them, and then a partial sum over their own instead (rotate_back).
Layout at_home(const Program&, const Layout&, const Layout& home, const AxisSet&, bool gradient);
Layout with_own(const Layout&);       // digits that reach over all indices before theirs as their own
AxisSet prefix_axes(const Layout&);   // of such digits
std::size_t result_count(const Op&);  // without log-sum-exps, which only joins read
AxisSet free_axes_of(const Work&, const std::vector<Binding>&);

// Cheapest moves from one layout to another on one place (convert.cpp); nullptr if there are none (a free axis would
// have to be gathered). They stay where they are.
const std::vector<Move>* conversion(Work&, TensorId, PlaceId, LayoutId from, LayoutId to);
double conversion_cost(Work&, TensorId, PlaceId, LayoutId from, LayoutId to);

}  // namespace planscope::build
