#pragma once
// The layouts that splits over a grid's axes give, each with a number, and what it costs to get from one to another.
//
//   Space s(graph, cluster, costs, {{"tensor", 8}});
//   s.conversion(tensor, partial, whole).cost        // microseconds: the cheapest path, its copies included
//
// The grid is that of the plan `devices N as a=… b=…`: the last axis innermost, device 0 first.
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/cluster/cluster.h"
#include "engine/program/conversion.h"
#include "engine/program/operand_layouts.h"
#include "planner/cost/device_kinds.h"

namespace planscope::splits {

using AxisSize = std::pair<std::string, std::int64_t>;

inline constexpr double kNever = 1e11;  // microseconds: what cannot be

// How a reader reads a tensor, and what gradient it gives.
struct Interface {
  LayoutId read = -1;
  LayoutId contribution = -1;  // -1: none
  bool saved = false;          // its backward reads it again: what was gathered for it is gathered twice
  bool operator==(const Interface&) const = default;
  auto operator<=>(const Interface&) const = default;
};

class Space {
 public:
  Space(const Graph&, const Cluster&, const CostModel&, const std::vector<AxisSize>& axes);

  const Graph& graph() const { return graph_; }
  const Cluster& cluster() const { return cluster_; }
  const CostModel& costs() const { return costs_; }
  // On the slowest of the grid's devices; `time`: a Figure for a DeviceType.
  template <typename Time>
  double slowest_us(const Time& time) const {
    return slowest(cluster_, device_kinds_, time).time.count;
  }
  const Program& program() const { return program_; }  // axes, the grid, a place and the layouts: nothing else
  int axes() const { return static_cast<int>(program_.axes.size()); }
  std::int64_t size(int axis) const { return program_.axes[static_cast<std::size_t>(axis)].size; }

  LayoutId intern(const Layout&);
  const Layout& layout(LayoutId l) const { return program_.layouts[static_cast<std::size_t>(l)]; }
  LayoutId whole() const { return 0; }
  double bytes(TensorId, LayoutId) const;  // on a device

  // Tensors of equal parts and type are converted alike: a number for each kind.
  int kind(TensorId);

  struct Conversion {
    double cost = kNever;       // microseconds, with copies: those of messages, too, where devices make them themselves
    double chosen_by = kNever;  // what materialize compares: of communication alone
    bool gathers = false;
  };
  const Conversion& conversion(TensorId, LayoutId from, LayoutId to);

  // From how it is written to all who read it, and of their gradients back to how its writer takes them. Readers share:
  // a partial value is reduced once, equal reads are one conversion, equal contributions are added before theirs.
  double tensor_cost(TensorId, LayoutId written, LayoutId needed, const std::vector<Interface>&);

  // Of the way forward, what is done once more where all these readers are computed again: all conversions but those that
  // are counted twice already; `inside`, with the reduction that readers share, if the tensor is computed again with them.
  double again_cost(TensorId, LayoutId written, const std::vector<Interface>&, bool inside);

 private:
  struct Read {
    LayoutId layout = -1;
    bool saved = false;
  };
  struct Forward {
    double cost = kNever;
    double reduced = 0;  // of it, up to the layout that readers share
    double again = 0;    // conversions from there that are counted once
  };
  Forward forward_cost(TensorId, LayoutId written, const std::vector<Read>&);
  std::vector<Read> reads_of(const std::vector<Interface>&) const;
  Bytes local_bytes(TensorId, const Layout&) const;
  double copy_us(double moved) const;
  double message_us(const Move&, Bytes taken, Bytes made) const;

  const Graph& graph_;
  const Cluster& cluster_;
  const CostModel& costs_;
  std::vector<int> device_kinds_;
  Program program_;
  std::map<Layout, LayoutId> ids_;
  std::map<std::vector<std::int64_t>, int> kinds_;
  std::vector<int> kind_of_;  // by tensor; -1: not known yet
  std::map<std::tuple<int, LayoutId, LayoutId>, Conversion> conversions_;
  std::map<std::tuple<int, bool, LayoutId, LayoutId, std::vector<Interface>>, double> tensors_;
};

}  // namespace planscope::splits
