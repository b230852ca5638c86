#pragma once
// The Program: what every device does in one training step. It is derived from Graph + Plan + Cluster by materialize()
// (materialize.h), never edited, and is what is verified, simulated, run and exported. It is symbolic in axes: one
// segment serves every coordinate of its grid and every index of its free axes, so that its size depends neither on the
// number of devices nor on the number of micro-batches.
//
// Reading guide. A *device class* runs its *slots* in order; a slot is one run of a *segment* at one index of the
// segment's free axes; a segment is straight-line *instructions* over *values* (vTensors); computing instructions run a
// *piece*, a list of operators between which nothing is converted, forward or backward.
//
//   f(S[0])[mb]:  load input_ids; compute piece 0; issue all_reduce over tensor; wait; compute piece 1; send hidden
//
// Semantics of a value: at coordinates c and free indices m, `layout` names the region and the value part of its tensor
// that the device holds. Splits are into `count` blocks as equal as possible, the first ones larger by one where the
// size does not divide, unless a digit lists the sizes. Where a split is by key, the device holds, of that region, the rows
// whose key lies in its block, in the order of the whole tensor; how many is known at run time. Sizes are expected ones
// then: keys are taken to be spread evenly.
#include <cstdint>
#include <string>
#include <vector>

#include "engine/graph/graph.h"

namespace planscope {

using AxisId = int;          // index into Program::axes
using GridId = int;          // index into Program::grids
using PlaceId = int;         // index into Program::places
using LayoutId = int;        // index into Program::layouts
using ProgramValueId = int;  // index into Program::values
using PieceId = int;         // index into Program::pieces
using SegmentId = int;       // index into Program::segments

// A free axis whose indices do not all run at one place is divided: every place's indices are an axis of their own, `of`
// the whole one. Coordinates keep the numbers that they have there: index 2 of `mb` is 2 of `mb[0:4:2]` too.
struct Axis {
  std::string name;
  std::int64_t size = 1;
  GridId grid = -1;                        // -1: a free axis
  AxisId of = -1;                          // the axis of which this has some indices
  std::vector<std::int64_t> indices = {};  // these, ascending
  bool operator==(const Axis&) const = default;
};

// Devices in the order of the axes, the last axis fastest: device = first + sum coordinate * stride, or the explicit list.
struct Grid {
  std::string name;
  std::vector<AxisId> axes;
  std::vector<std::int64_t> strides;  // of device numbers, per axis
  std::int64_t first = 0;
  std::vector<int> devices;  // not empty: the explicit list instead
  bool operator==(const Grid&) const = default;
};

// A grid with some axes fixed: a sub-grid. The other axes are the coordinates of the devices that take part.
struct Place {
  GridId grid = 0;
  std::vector<std::pair<AxisId, std::int64_t>> fixed;  // sorted by axis
  bool operator==(const Place&) const = default;
};

// Which of the blocks that a digit cuts are meant: its own; its own with all before it; or, of a free axis, those of every
// index, each by itself and one behind the other (a value that is not there index by index).
enum class Reach : std::uint8_t { own, prefix, every };

// A digit of an axis coordinate: (coordinate / stride) % size. Mostly the whole axis: size |axis|, stride 1. An axis larger than
// a part spills into the next part of the factor by two digits. A *turned* digit (`at` in a plan) names another block than
// its coordinate i: (start + step * i + turn * c + cross * i * c) % size, where c is the coordinate on the axis `by`: one of
// the grid where its own is free, a free one where its own is of the grid. For every c each block comes once while i runs,
// if step + cross * c and size have no common divisor. Behind a digit that stands for every index of `by`, c is each of
// these.
struct Digit {
  AxisId axis = -1;
  std::int64_t size = 1;
  std::int64_t stride = 1;
  std::vector<std::int64_t> sizes = {};  // of the blocks that it cuts a whole part into; empty: as equal as possible
  AxisId by = -1;
  std::int64_t step = 1, turn = 0, start = 0, cross = 0;
  Reach reach = Reach::own;
  bool operator==(const Digit&) const = default;
  auto operator<=>(const Digit&) const = default;
};

// One part of one dimension, split over digits, major to minor (nested: each digit cuts the block of those before it). By
// key (part == kByKey): the indices of the dimension whose element of `key` lies in the block of its domain
// (PTensor::domain). The key has the parts of the dimension.
inline constexpr int kByKey = -1;
struct Split {
  int dim = 0;
  int part = 0;
  std::vector<Digit> digits;
  TensorId key = -1;
  bool operator==(const Split&) const = default;
  auto operator<=>(const Split&) const = default;
};

// How the blocks of a partial value make the whole: their sum; the log of the sum of their exponentials (merge); or, for
// an operator's results and their log-sum-exps together (Op::log_sums), the average of the results weighted by these
// (softmax).
enum class PartialKind : std::uint8_t { sum, merge, softmax };
struct Partial {
  Digit digit;
  PartialKind kind = PartialKind::sum;
  bool operator==(const Partial&) const = default;
  auto operator<=>(const Partial&) const = default;
};

// Over digits that it does not name a vTensor is replicated.
struct Layout {
  std::vector<Split> splits;      // sorted by (dim, part)
  std::vector<Partial> partials;  // sorted by digit
  bool operator==(const Layout&) const = default;
  auto operator<=>(const Layout&) const = default;
};

enum class Role : std::uint8_t {
  data,      // of the forward pass (inputs, activations, fetched weights, the loss)
  gradient,  // of the loss with respect to the tensor
  home,      // of a parameter, a buffer or a constant, alive between steps; of a parameter in the layout of its update
  state,     // what the optimizer keeps of a home from one update to the next, in the layout of the home; a value only
             // where it waits in host memory: there at the beginning of a step, on the device from restore to offload
};

struct ProgramValue {
  TensorId tensor = -1;
  Role role = Role::data;
  LayoutId layout = -1;
  PlaceId place = -1;
  std::vector<AxisId> indexed;  // free axes by which there are separate instances (sorted)
  ProgramValueId refills = -1;  // >= 0: the same contents as that value, for a backward that reads what the forward pass
                                // had read; made after it, and all that refill it, were freed: they are one storage
  std::int64_t lag = 0;         // homes: what reads it has the contents of this many updates ago (the first ones where
                                // there were fewer), its update changes the newest; the versions between are kept
  bool operator==(const ProgramValue&) const = default;
};

enum class Origin : std::uint8_t { statement, follow, sweep, pass, demand };
std::string_view to_string(Origin);

// One digit of an operator's binding. factor >= 0: it splits that part of the factor. factor == -1: partial operands
// pass through (all inputs of the linear set `part`).
struct Binding {
  Digit digit;
  int factor = -1;
  int part = 0;
  Origin origin = Origin::follow;
  int statement = -1;  // index into Program::statements
  bool operator==(const Binding&) const = default;
};

// A slot of a piece holds one vTensor: first the leaves (PieceLeaf), then the results of its operators in order.
struct PieceSlot {
  TensorId tensor = -1;
  LayoutId layout = -1;
  bool operator==(const PieceSlot&) const = default;
};

struct PieceOp {
  OpId op = -1;
  std::vector<int> inputs;        // slots, parallel to Op::inputs
  int first_output = 0;           // its outputs are the slots first_output, first_output + 1, …
  std::vector<Binding> bindings;  // sorted by digit; on one factor part major to minor
  bool operator==(const PieceOp&) const = default;
};

// Operators on one place, run without any conversion of values or gradients between them. A tensor whose readers in the
// piece give gradients of different layouts is several leaves.
struct Piece {
  std::vector<PieceSlot> slots;
  int leaves = 0;  // the first `leaves` slots
  std::vector<PieceOp> ops;
  std::vector<int> outputs;  // slots that leave the piece
  bool gradient = false;     // has a backward
  bool operator==(const Piece&) const = default;
};

enum class MoveKind : std::uint8_t {
  all_gather,      // split -> replicated over `digits`
  reduce_scatter,  // partial -> split
  all_reduce,      // partial -> replicated
  all_to_all,      // split at (from_dim, from_part) -> split at (dim, part); rows by their tokens <-> rows by their key
  slice,           // replicated -> split, local
  to_partial,      // replicated -> partial: block 0 keeps it, the others have zero; local
  rotate,          // split over a grid axis -> over a digit turned by it: every device gets one block from its home
  rotate_back,     // split over such a digit and a partial sum over the grid axis -> split over the grid axis and a
                   // partial sum over the digit's own axis: every block goes home; where none comes is zero
};
std::string_view to_string(MoveKind);
bool is_local(MoveKind);

struct Move {
  MoveKind kind = MoveKind::slice;
  std::vector<Digit> digits;  // major to minor; see communicator()
  int dim = -1, part = -1;
  int from_dim = -1, from_part = -1;
  PartialKind reduce = PartialKind::sum;
  TensorId key = -1;  // of the side that is split by key
  Digit turned = {};  // rotate, rotate_back: `digits` say where its blocks are at home (is_home)
  bool operator==(const Move&) const = default;
};

enum class Code : std::uint8_t {
  load,        // out: the slice of an input, or of a buffer that steps change
  compute,     // run piece forward. in: its leaves, out: its outputs. `keep`: what backward reads is kept
  replay,      // the same again for a recompute unit, just before its backward
  backward,    // in: gradients of the piece's outputs (-1: none), then the whole values of softmax_outputs(), which its
               // operators read; out: gradients of its leaves (-1: not wanted). All of one run have the same `in`
  seed,        // out: the gradient of the loss, 1
  add,         // out = sum of in, in this order (equal layouts)
  accumulate,  // out += in over the free axes by which `in` is indexed and `out` is not. `in` is partial over them, or
               // split, on the minor side: then it is added to its block of `out`. out begins as zero
               // (moves and sums of what is split by key also read the key, in key_layout); a running softmax adds
               // results and their log-sum-exps
  local,       // a move without communication
  issue,       // start a collective move: in -> out; out may be read after its wait
  wait,        // of the move or of the receive that makes all of `out`
  send,        // in: values whose regions another place needs: `from` of its transfer
  receive,     // out: values made of regions sent before by another place (or this device): `to` of its transfer
  update,      // in: home, gradient, the state if it is a value; out: the same home, one step on
  free,        // in: values that end here
  offload,  // what the run of a piece has kept for its backward goes to host memory, as far as nothing else holds it;
            // or, without a piece, in: a state
  restore,  // … and comes back; out: a state
  write,    // in: what a buffer is after the step (Model::mutations), whole: loads of the next step read it
};
std::string_view to_string(Code);

struct Instruction {
  Code code = Code::compute;
  PieceId piece = -1;
  std::vector<ProgramValueId> in, out;
  Move move;
  int transfer = -1;  // index into Program::transfers
  bool keep = false;
  bool last =
      false;  // only in the last run of its segment in a step, which has put together what all have added: moves
              // and sums of values that have no index there (last_indices()), and writes, of which every run has the same
  int statement = -1;  // the statement that caused it, if one did; index into Program::statements
  bool operator==(const Instruction&) const = default;
};

// Point to point between places, from[k] -> to[k]: every device of the receiving place gets the region that its layout
// names, block by block, from devices of the sending place that hold it: from the first one with equal coordinates on most
// of the equally named axes (sender_of, transfer.h); equal devices copy. Several values (of one type) are one message for
// each pair of devices.
struct Transfer {
  std::vector<ProgramValueId> from, to;
  bool operator==(const Transfer&) const = default;
};

struct Segment {
  std::string name;  // `f(S[0])`, `b(S[0])`, `update`, …
  Phase phase = Phase::forward;
  PlaceId place = 0;
  std::vector<AxisId> free_axes;  // its index; of two segments, indices are equal by axis, in whatever order
  std::vector<Instruction> instructions;
  bool operator==(const Segment&) const = default;
};

// A run of a segment: index[k] = base[k] + step[k] * iteration of the loop it stands in. Steps may overlap: the slots of
// a device class are one period, in which each segment runs once at every index, and a slot runs for the training step
// that is `ahead` of the period's own. Period 0 comes after as many periods as the largest `ahead` says, in which only
// what belongs to steps from 0 on runs; likewise nothing runs beyond the last step.
struct SlotStep {
  SegmentId segment = -1;
  std::vector<std::int64_t> base, step;
  std::int64_t ahead = 0;
  bool operator==(const SlotStep&) const = default;
};
struct Loop {
  std::int64_t count = 1;
  std::vector<SlotStep> body;
  bool operator==(const Loop&) const = default;
};

// Devices that run the same slots: the intersection of `places`. Every device is in one class.
struct DeviceClass {
  std::string name;          // `pipe=0`
  Place place;               // where they can be written as one sub-grid
  std::vector<int> devices;  // else listed
  std::vector<Loop> loops;   // prefix, body x n, suffix
  bool operator==(const DeviceClass&) const = default;
};

struct StatementRef {
  int line = 0;
  std::string file, text;
  bool operator==(const StatementRef&) const = default;
};

// More versions of a parameter, or more steps under way, than any pipeline has are a typing error.
inline constexpr std::int64_t most_lag = 1024;

// The plan wants an operator to read parameters as they were `lag` updates ago. What is not here reads the newest.
struct Relaxation {
  OpId op = -1;
  std::int64_t lag = 0;
  int statement = -1;  // index into Program::statements
  bool operator==(const Relaxation&) const = default;
};

struct Program {
  std::uint64_t graph_digest = 0, plan_digest = 0, cluster_digest = 0;
  std::vector<std::pair<std::string, std::int64_t>> sizes;  // input dimensions that the plan changes
  int device_count = 1;
  std::vector<Axis> axes;
  std::vector<Grid> grids;
  std::vector<Place> places;
  std::vector<Layout> layouts;
  std::vector<ProgramValue> values;
  std::vector<Piece> pieces;
  std::vector<Transfer> transfers;
  std::vector<Segment> segments;
  std::vector<DeviceClass> classes;
  std::vector<StatementRef> statements;
  ProgramValueId loss = -1;             // replicated at its place
  std::vector<Relaxation> relaxations;  // by operator
  bool operator==(const Program&) const = default;
};

// The one way to write a layout: splits by dimension and part, partials by digit, and digits that stand next to each other
// in one axis joined (`tensor / 2` and `tensor % 2` on one part are `tensor`).
Layout canonical(Layout);

Digit plain(Digit);  // without block sizes, not turned: what a partial value or a communicator names
bool same(const Digit& a, const Digit& b);  // alike but for block sizes
bool is_turned(const Digit&);
bool is_bijection(const Program&,
                  const Digit&);  // every coordinate names a block of its own, at every coordinate of `by`
// Whether these digits cut a part into the blocks that a turned digit names, so that every block has one device that holds
// it, and the devices along `by` read different ones at every coordinate: what rotate needs. They are the minor end of a
// split: a digit of the whole axis `by`, behind those of which that device has every index. (Cuts one after the other are
// those at once where the part divides.)
bool is_home(const Program&, const std::vector<Digit>& digits, const Digit& turned);
std::vector<Digit> home_end(const std::vector<Digit>& split);  // what is_home may ask of a split
bool is_turned_by(const Layout&, const std::vector<Digit>&);   // some digit is turned by the axis of one of these
bool holds_every(const Layout&);                               // has digits that stand for every index of an axis
std::vector<Digit> communicator(const Move&);                  // its devices differ only in these

// Positions in Piece::outputs of results that are partial as a softmax and that their operator's backward reads: backward
// is given the whole value of each.
std::vector<int> softmax_outputs(const Graph&, const Program&, const Piece&);

// The indices at which segments of a free axis run: all, or those of a part of one.
std::int64_t index_count(const Axis&);
std::int64_t index_at(const Axis&, std::int64_t position);

// The side of a move, or of a sum over free axes, that is split by key says where: the layout in which the key is read, all
// elements of the region that the split selects from.
bool is_keyed(const Layout&);
Layout key_layout(const Layout& keyed, int dim);
Layout key_layout(const Layout& from, const Layout& to, const Move&);

// Half-open interval in elements of one part.
struct Interval {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end - begin; }
  bool operator==(const Interval&) const = default;
};

// Block `index` of [0, size) cut into `count` blocks as equal as possible: the first size % count have one more.
Interval block(std::int64_t size, std::int64_t count, std::int64_t index);

// Block of [0, size) that digits name at a point, the first one outermost.
Interval block_of(std::int64_t size, const std::vector<Digit>&, const std::vector<std::int64_t>& point);

// A point: the value of every axis (grid axes of the device, free axes of the slot); -1 where it has none.
using Point = std::vector<std::int64_t>;
std::int64_t digit_value(const Digit&, const Point&);

// The interval of every part of every dimension that a layout names at a point; by key, that from which is selected. Of
// what holds every index of an axis: the one of the index of the point; `regions`: all, in their order (mostly one).
std::vector<std::vector<Interval>> region(const Graph&, TensorId, const Layout&, const Point&);
std::vector<std::vector<std::vector<Interval>>> regions(const Graph&, TensorId, const Program&, const Layout&, Point);
// Local sizes per dimension at a point: products of the parts' sizes; by key, what is expected (rounded up).
std::vector<std::int64_t> local_sizes(const Graph&, TensorId, const Layout&, const Point&);
std::vector<std::int64_t> local_sizes(const Graph&, TensorId, const Layout&);  // of the largest blocks
// Largest number of elements that any device holds (at even splits, what every device holds); by key, what is expected.
std::int64_t local_elements(const Graph&, TensorId, const Layout&);

std::int64_t device_count(const Program&, const Place&);
std::vector<int> devices(const Program&, const Place&);       // in the order of the place's free coordinates
std::vector<AxisId> free_axes(const Program&, const Place&);  // axes of the grid that the place leaves open
Point point_of(const Program&, const Place&, int device);     // coordinates of a device; empty: not in the place
std::vector<int> devices(const Program&, const DeviceClass&);

// One rank's slots, in order (a lazy view would do for all of them; a step has thousands at most per device).
struct SlotRun {
  SegmentId segment = -1;
  std::vector<std::int64_t> index;  // parallel to Segment::free_axes
  std::int64_t ahead = 0;
  std::int64_t step = 0;  // of training; it is run in period step - ahead
  bool operator==(const SlotRun&) const = default;
};
std::vector<SlotRun> slots(const DeviceClass&, std::int64_t steps = 1);  // of a training of so many steps
std::vector<SlotRun> period(const DeviceClass&);                         // all slots once, at step 0
std::int64_t most_ahead(const DeviceClass&);
// By segment: the index at which the class runs it last in a step; empty where it runs it at none, or has no index for it.
std::vector<std::vector<std::int64_t>> last_indices(const Program&, const DeviceClass&);
std::int64_t most_ahead(const Program&);  // 0: a step ends before the next one begins
int class_of(const Program&, int device);

std::string describe(const Program&, const Place&);  // `all[pipe=0]`
std::string describe(const Program&, const Graph&, const Layout&,
                     TensorId);  // `[batch/data, seq, hidden] partial(tensor)`
std::string describe(const Program&, const Graph&, const Instruction&);
std::string describe(const Program&, const Graph&, const Move&, TensorId);  // `all_gather over tensor at seq`
std::string print(const Program&, const Graph&);                            // readable text of everything

}  // namespace planscope
