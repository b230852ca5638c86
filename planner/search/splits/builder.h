#pragma once
// Makes the network (network.h). Internal to planner/search/splits: one class in three files, by what it adds.
#include <functional>
#include <map>
#include <set>
#include <string>

#include "planner/search/splits/network.h"
#include "planner/search/splits/parameters.h"

namespace planscope::splits {

using Ways = std::vector<Interface>;  // sorted, each once

// The ways in which readers together read a tensor. Where a partial gradient would pass backward if all contributions were
// partial, one of a mixed set that is not has a reader that gives it: else sets would be padded to keep it from passing.
struct Reading {
  Ways ways;
  int witness = -1;  // position among the readers; -1: none is needed
  Interface of = {};
  int zero = 0;  // of a parameter
  bool operator==(const Reading&) const = default;
  auto operator<=>(const Reading&) const = default;
};

// A tensor and the operators that strategies are chosen for.
struct Wire {
  TensorId tensor = -1;
  std::vector<OpId> readers;
};

// What else is joined to a tensor's writer: its only reader, or the node of the tensor. By state how it is read.
struct Other {
  int node = -1;
  std::vector<std::int64_t> key;  // of its kind
  std::vector<Ways> ways;
};

class Builder {
 public:
  Builder(Space& space, const plan::ModelInfo& info, const Weights& weights, const Storage& storage,
          const Memory& memory, const layouts::Ended& ended);
  Network run();

 private:
  const std::vector<Strategy>& strategies(OpId o) const;
  const PTensor& tensor(TensorId t) const { return g_.tensors[static_cast<std::size_t>(t)]; }
  int number_of(const std::string& text) { return words_.emplace(text, static_cast<int>(words_.size())).first->second; }
  bool is_ended() { return out_.ended = out_.ended || ended_(); }
  bool is_limited() const { return !out_.costs.limits.empty(); }

  // network.cpp: operators, and tensors with one reader
  std::vector<std::int64_t> signature(OpId);
  void find_kind(OpId);
  void add_operator(OpId);
  int add_node(int kind);
  int add_kind(std::vector<double> cost, std::vector<std::int64_t> bytes);
  void add_edge(int from, int to, std::vector<std::int64_t> key, const std::function<layouts::Matrix()>& make);
  void connect(TensorId);
  void connect_pair(const Wire&, OpId reader);
  std::vector<int> positions(OpId, TensorId) const;
  Ways ways(OpId reader, const std::vector<int>& inputs, const Strategy&) const;
  double between(TensorId, const Strategy& writer, const Ways&);

  // readings.cpp: tensors with several readers
  void connect_all(const Wire&);
  void join_writer(const Wire&, const std::vector<Reading>&, int number, int node);
  void join_reader(const Wire&, const std::vector<Reading>&, int number, int node, int position);
  int tensor_kind(const Wire&, const std::vector<Reading>&, int number, bool parameter);
  std::vector<Reading> readings(const Wire&);
  std::vector<Reading> with_zero(TensorId, std::vector<Reading>);
  std::vector<Ways> sets(const Wire&) const;
  std::vector<Ways> similar_pairs(std::set<Ways> each, const std::set<Interface>& single) const;
  bool differ_on_one_axis(const Interface&, const Interface&) const;
  void add_unlike(const Ways&, int axis, std::vector<Interface>& kept) const;

  // stored.cpp: parameters under ZeRO, and what waits for backward
  struct Kept {
    std::vector<std::pair<int, std::vector<Demand>>> by;  // layers, and what each of their words asks for
    std::vector<int> things;                              // outputs of the operator; -1: what it needs beside
    bool operator==(const Kept&) const = default;
  };
  struct Wants {
    std::vector<int> always;  // things that have to be on the device whatever the layers say
    std::vector<Kept> open;
  };
  Wants wants(OpId) const;
  std::int64_t bytes_of(const Strategy&, const std::vector<int>& things) const;
  struct Zero {
    int kind = -1;
    std::vector<int> levels;          // by state
    std::vector<std::int64_t> bytes;  // by state
    layouts::Matrix costs;            // [strategy][state]
  };
  void add_parameters(OpId);
  ParameterCost own_cost(OpId, const std::vector<int>& own, const Strategy&, int level);
  void add_layers();
  void add_kept(OpId, const Kept&);
  // What is converted once more: by state, for every way of reading. Class 0: nothing is; 1: readers are computed again; 2:
  // the tensor with them.
  struct Again {
    std::vector<std::pair<int, std::vector<double>>> states;  // class, costs
    std::vector<std::vector<int>> state_of;                   // [class][strategy of the writer]
    bool any = false;                                         // some cost
  };
  void add_again(const Wire&, const Other&);
  void add_again(const Wire&, const Other&, int layer, const std::vector<int>& said);
  const Again& again(const Wire&, const Other&, const std::vector<std::int64_t>& key, bool outside, bool inside);
  double host_time(std::int64_t bytes) const;

  Space& space_;
  const Graph& g_;
  const plan::ModelInfo& info_;
  const Weights& weights_;
  const Storage& storage_;
  const Memory& memory_;
  const layouts::Ended& ended_;
  Network out_;
  std::map<std::string, int> words_;
  std::map<std::vector<std::int64_t>, int> operator_kinds_, pairs_, other_kinds_;
  std::map<std::vector<Reading>, int> sets_;
  std::map<std::vector<std::int64_t>, Again> again_;
  std::map<int, Zero> zero_;     // by kind of operator
  std::vector<int> node_kinds_;  // by kind of operator
};

}  // namespace planscope::splits
