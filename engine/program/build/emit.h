#pragma once
// Emission: instances of the segments become pieces, conversions and gradients. Internal to engine/program.
//
// Forward, segment by segment: operators are collected in an open piece; it is closed where an operator reads a value of
// the piece in another layout, or where the gradient of such a read has another layout than its writer takes, or at the
// border of a recompute unit, or where a weight has to be gathered for another module, or where its backward gives many
// gradients to be reduced or accumulated, so that this is done while the next piece runs back and their memory is free.
// Backward, in reverse: gradients
// of a tensor are summed layout by layout, converted once, and handed to the piece that wrote it. Under `grad_split` the
// backward of a piece is two instructions: gradients of what it reads, and in a segment behind, those of its parameters.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/program/build/work.h"

namespace planscope::build {

struct PieceLeaf {
  VarId var = -1;
  LayoutId layout = -1;
  LayoutId contribution = -1;
  ProgramValueId value = -1;
};

// A piece as emitted in a segment, for its backward.
struct PieceRecord {
  PieceId piece = -1;
  std::vector<PieceLeaf> leaves;
  std::vector<VarId> outputs;
  std::vector<std::string> modules;  // per leaf: of the first reader (weights that are gathered anew)
  int recompute = -1;
  bool grad_split = false;
  bool keep_gathered = false;
  bool offload = false;
};

class Emitter {
 public:
  explicit Emitter(Work& w) : w_(w) {}
  bool run();

 private:
  // emit.cpp
  void homes();
  void fetch_segments();
  void open_segment(SegmentId s);
  SegmentId new_segment(Phase, const SegmentWork&);
  std::string segment_name(const SegmentWork&, std::string_view phase) const;
  Instruction& push(Code, std::vector<ProgramValueId> in, std::vector<ProgramValueId> out);
  ProgramValueId value_for(VarId, LayoutId, const std::string& module);
  ProgramValueId base_of(VarId) const;
  // `reader`: whom a message names; nobody: the value.
  ProgramValueId convert(ProgramValueId from, LayoutId to, const std::string* reader = nullptr,
                         ProgramValueId refills = -1);
  int splits_in_turn(TensorId) const;
  ProgramValueId key_for(TensorId, LayoutId);
  void accumulate(ProgramValueId term, ProgramValueId sum);
  ProgramValueId load(VarId, LayoutId);
  void add_to_combined(VarId);
  void grow(VarId);
  void finish_var(VarId);
  void hoist(VarId);
  LayoutId outside_loops(LayoutId, const Var&);

  // emit_forward.cpp
  void forward(SegmentWork&);
  void add_op(InstanceId);
  bool must_close(const Instance&) const;
  std::int64_t passing_bytes(const PieceLeaf&) const;
  void bound_passing();
  void close_piece();
  void note_last_reads(const SegmentWork&);
  void offload(int segment, std::size_t emitted);
  void receive(InstanceId);

  // emit_backward.cpp
  void backward(SegmentWork&);
  std::size_t bring_back(const std::vector<PieceRecord>&, std::size_t end, std::size_t from);
  bool backward_piece(const PieceRecord&, int segment);
  void weight_gradients(SegmentWork&);
  bool is_parameter(const PieceLeaf&) const;
  ProgramValueId gradient_leaf(const PieceLeaf&);
  void arrive(const PieceRecord&, const std::vector<ProgramValueId>& gradients, int segment);
  void replay_unit(const std::vector<PieceRecord>&, int unit);
  void refill_leaves(const PieceRecord&);
  ProgramValueId gradient_of(VarId);
  Contribution own_part(const Var&, const Contribution&);
  ProgramValueId whole_of(VarId);
  ProgramValueId sum(std::vector<Contribution>, TensorId, LayoutId needed);
  void count_givers();
  void give(VarId, int segment);
  bool reduces_here(const Var&) const;
  void reduce_if_whole(VarId);
  Layout partial_over(Layout, const AxisSet&) const;
  void send_back(SegmentWork&, int segment);
  std::vector<PlaceId> parameter_places() const;

  // emit_update.cpp
  struct UnitParameters {
    int unit = -1;  // of an order row; -1: of none
    std::vector<VarId> vars;
  };
  struct Exchange {  // between places that store the same parameter
    std::map<VarId, ProgramValueId> own;
    std::map<VarId, std::vector<std::pair<VarId, int>>> arriving;  // var -> (sender, transfer)
  };
  void update_segments();
  std::map<TensorId, int> parameter_units(plan::Phase) const;
  bool ordered(plan::Phase, plan::Phase of, int unit) const;
  std::vector<UnitParameters> trained(PlaceId, const std::map<TensorId, int>& units) const;
  void open_task(Phase, plan::Phase of, PlaceId, int unit);
  std::vector<TensorId> offloaded() const;
  void reduce(VarId, const std::vector<VarId>& holders, Exchange&);
  ProgramValueId collect(VarId, const Exchange&);

  Work& w_;
  SegmentId current_ = -1;
  SegmentId pass_ = -1;  // the forward segment to whose pass the current one belongs
  AxisSet set_;
  PlaceId place_ = 0;

  struct Converted {
    ProgramValueId value = -1;
    std::string module;
  };
  std::map<std::pair<VarId, LayoutId>, Converted> memo_;
  std::map<VarId, ProgramValueId> replayed_;  // base values made again by a replay
  std::map<ProgramValueId, bool> gathered_;   // made by a path with an all-gather
  std::set<ProgramValueId> refilled_;         // values that the current segment has made again

  struct Open {
    Piece piece;
    std::vector<PieceLeaf> leaves;
    std::vector<std::string> modules;
    std::map<std::pair<ProgramValueId, LayoutId>, int> leaf_ids;
    std::vector<VarId> result_vars;
    std::vector<InstanceId> instances;
    int recompute = -1;
    bool grad_split = false;
    bool keep_gathered = false;
    bool offload = false;
    std::string module;
    std::int64_t passing_bytes = 0;  // of gradients of parameters that its backward gives on
    bool empty() const { return piece.ops.empty(); }
  };
  Open open_;
  std::vector<int> result_slots_;                 // by var: slot among results of the open piece; -1: it is none
  std::vector<std::vector<PieceRecord>> pieces_;  // by segment
  std::map<VarId, std::size_t> last_read_;        // in the forward segment under way: by which of its instances
  std::size_t seen_pieces_ = 0;                   // … of its pieces, and which of these wait to be offloaded
  std::vector<std::size_t> held_;
  std::map<VarId, std::vector<Contribution>> arrived_;  // in the segment under way
  std::map<VarId, int> expected_;                       // contributions of the segment that are still to come
  std::map<TensorId, int> reductions_;                  // parameters whose reduction order rows name
  std::vector<std::int64_t> passing_bounds_;            // by place
  std::map<VarId, int> givers_;                         // segments that contribute to the gradient of a parameter

  struct Apart {  // a piece whose gradients of parameters are computed later
    const PieceRecord* piece = nullptr;
    std::vector<ProgramValueId> in;
  };
  std::vector<Apart> apart_;  // of the segment under way
};

}  // namespace planscope::build
