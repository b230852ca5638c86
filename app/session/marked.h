#pragma once
// What of everything that is shown belongs to the selection: canvases mark it and tables mark its rows by the same
// answers.
//
//   const Marked marked(state);
//   row.selected = marked.some_of(reader.ops);
//   row.selected = marked.tensor(edge.tensor);
//
// Operators bring the tensors that they make and read; a tensor, a statement and a communicator bring their
// operators; a place what runs there. Nothing is selected: nothing belongs to it. The selected part of the step is
// asked for apart (block marks, lanes).
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "app/session/state.h"
#include "app/workbench/tensor_tiles.h"
#include "app/workbench/traffic.h"
#include "viz/timeline/marks.h"

namespace planscope::session {

class Marked {
 public:
  explicit Marked(const State&);

  bool op(OpId) const;
  bool some_of(const std::vector<OpId>&) const;
  bool tensor(TensorId) const;
  bool some_of_tensors(const std::vector<TensorId>&) const;
  bool device_class(int) const;  // that runs it, or a lane of the part of the step that is selected
  bool statement(int line) const;
  // What a statement decides: operators (or parameters) that are selected themselves, not where they run.
  bool decided(const std::vector<OpId>&, const std::vector<int>& parameters) const;
  bool device(std::int64_t) const;
  // One side of a tensor, and one of its tiles: by where they are, if a place is selected, else by what computes there.
  bool side(const std::vector<OpId>& ops, const Tiling&) const;
  bool tile(const std::vector<OpId>& ops, const TensorTile&) const;
  bool communicator(const Communicator&) const;
  bool link(const LinkLoad&, const TrafficFacts&) const;  // that something of it is sent over
  // Operators where a device class runs them; of a class that is not of this plan, -1: wherever.
  bool run(const std::vector<OpId>&, int device_class) const;
  bool task(const TaskSlack&) const;  // the block that is selected

  const std::vector<OpId>& operators() const { return operators_; }
  const std::set<TensorId>& tensors() const { return tensors_; }
  // As viz/timeline/scene.h has them. Those of what is computed and sent are the same in all plans of the model; those of
  // the part of the step name lanes, as they are called there.
  std::vector<std::string> timeline_ids() const;
  std::vector<std::string> work_ids() const;
  std::vector<std::string> time_ids(const std::string& before_lane = "") const;

 private:
  const State& state_;
  const Selected* selected_;
  bool of_place_ = false;         // alone
  std::vector<OpId> operators_;   // ascending
  std::set<TensorId> tensors_;
  std::set<int> classes_, lanes_;  // lanes: classes of the part of the step that is selected
  std::vector<char> devices_;      // by number
};

}  // namespace planscope::session
