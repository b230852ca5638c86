#pragma once
// How long operators take on one device, at the shapes that a Program gives them.
//
// An operator's work is floating-point operations and bytes moved; its time is
//   max(flops / (peak(dtype) * efficiency), bytes / (memory bandwidth * efficiency)) + launch
// (roofline: Williams, Waterman, Patterson, CACM 2009), with an efficiency per class of operator. Where a profile has
// the operator at these very shapes, the measured time is taken; where it has the operator at other shapes, the ratio
// measured / modelled is interpolated between the nearest ones. A view costs nothing, or what a profile says: its time
// does not depend on its size.
//
// Backward: a product costs its forward operations once more for each operand whose gradient is wanted; attention 2.5
// times its forward (it recomputes its scores: Dao, FlashAttention-2, 2023, §3.1); everything else moves what it saved,
// the gradients of its results and those of its operands.
//
// Units: flops, bytes, microseconds. Uneven splits count as the largest block. Not modelled: caches, fusion, overlap.
//
//   const CostModel model;
//   const std::vector<Bytes> slots = slot_bytes(graph, program, piece);
//   Figure f = forward_time(graph, program, piece, piece.ops[0], slots, cluster.device(0), model);   // f.time, f.source
//
// Where devices of several kinds run it, the slowest counts: device_kinds.h.
#include <array>
#include <map>
#include <string>
#include <vector>

#include "engine/base/units.h"
#include "engine/cluster/cluster.h"
#include "engine/graph/graph.h"
#include "engine/program/program.h"
#include "planner/cost/operator_class.h"

namespace planscope {

enum class FigureSource : std::uint8_t { measured, interpolated, modelled };
std::string_view to_string(FigureSource);

struct Figure {
  Microseconds time;
  FigureSource source = FigureSource::modelled;
  bool operator==(const Figure&) const = default;
};

struct Work {
  double flops = 0;
  double bytes = 0;
  int kernels = 0;           // launches; 0: a view
  DType dtype = DType::f32;  // that the arithmetic runs in
  OperatorClass kind = OperatorClass::pointwise;
  bool operator==(const Work&) const = default;
};

// Share of the peak that a class of operators reaches.
struct Efficiency {
  double compute = 0.7;
  double memory = 0.7;
  bool operator==(const Efficiency&) const = default;
};

// Measured times of one operator in one direction, by the shapes that it ran at.
struct ProfileSample {
  std::string shapes;      // of shapes_key()
  double modelled_us = 0;  // what the roofline said: orders the samples; 0: a view
  double measured_us = 0;
  bool operator==(const ProfileSample&) const = default;
};
struct Profile {
  std::map<std::string, std::vector<ProfileSample>> samples;  // by profile_key(); sorted by modelled_us
  bool operator==(const Profile&) const = default;
};

struct CostModel {
  // view, product, attention, reduction, index, pointwise
  std::array<Efficiency, kOperatorClasses> efficiency = {Efficiency{1.0, 1.0}, {0.7, 0.8}, {0.5, 0.7},
                                                         {0.5, 0.6},           {0.5, 0.5}, {0.5, 0.8}};
  std::map<std::string, Profile> profiles;  // by what devices were measured (DeviceType::name)
  Profile links;                            // of messages (link_key(), communication_cost.h)
  bool operator==(const CostModel&) const = default;
};

// Bytes that each slot of a piece takes on a device.
std::vector<Bytes> slot_bytes(const Graph&, const Program&, const Piece&);
Bytes value_bytes(const Graph&, const Program&, ProgramValueId);

// The share of an operator's iteration space that one device runs: product over bound parts of largest block / size.
double local_share(const Graph&, const PieceOp&);

// `seen`: the share of an attention's blocks that are worked on (hidden_blocks.h).
Work forward_work(const Graph&, const Piece&, const PieceOp&, const std::vector<Bytes>& slots, double seen = 1);
Work backward_work(const Graph&, const Piece&, const PieceOp&, const std::vector<Bytes>& slots, double seen = 1);
Microseconds roofline(const Work&, const DeviceType&, const CostModel&);

Figure forward_time(const Graph&, const Program&, const Piece&, const PieceOp&, const std::vector<Bytes>& slots,
                    const DeviceType&, const CostModel&, double seen = 1);
Figure backward_time(const Graph&, const Program&, const Piece&, const PieceOp&, const std::vector<Bytes>& slots,
                     const DeviceType&, const CostModel&, double seen = 1);

// Time to move so many bytes through a device's memory once, one kernel: copies, sums.
Figure memory_time(double bytes, const DeviceType&, const CostModel&);
inline constexpr const char* memory_key = "memory";  // that a profile has it under

// Time to add values of so many bytes to sums: both are read, the sums are written.
Figure accumulation_time(double bytes, const DeviceType&, const CostModel&);

// Time of the update of a parameter by an optimizer that keeps `state` bytes of each element, one kernel; `bytes` are
// those read and written: the gradient once, the parameter and the state twice.
Figure update_time(double bytes, std::int64_t state, const DeviceType&, const CostModel&);
std::string update_key(std::int64_t state);

// What a profile is looked up by: the operator with what it is told to do (arguments that are true), the type of its
// arithmetic and the direction, `aten::linear float32 forward`; and the sizes of the largest blocks of its operands and
// results that a device holds, `4x64x768 2304x768 > 4x64x2304`. Backward, `*` marks operands whose gradient is wanted.
std::string profile_key(const Graph&, const PieceOp&, DType, bool backward);
std::string shapes_key(const Graph&, const Program&, const Piece&, const PieceOp&, bool backward);

// Every device does the same at every index of the free axes, so that one measurement at these shapes holds for all. Not
// so where blocks are uneven by the plan or split by key, where indices see prefixes of others, or where an attention has
// a block of its keys: such an operator is never `measured`, but interpolated from others of its kind.
bool is_uniform(const Graph&, const Program&, const Piece&, const PieceOp&);

// Some operand's gradient is wanted.
bool has_backward(const Graph&, OpId);

// The time that a profile and the roofline together give.
Figure look_up(const Profile&, const std::string& key, const std::string& shapes, Microseconds modelled);

}  // namespace planscope
