#pragma once
// One point of the space of whole plans, and the script that says it.
//
//   devices 64 as pipe=2 data=8 tensor=4       pipe outermost, tensor inside a node
//   axis mb=8                                  micro-batches
//   model batch=64
//   let L = model.layers[*]
//   let S = cut L into 17,15
//   trans * batch by mb, data
//   …                                          tensor parallel layers, vocabulary and sequence
//   trans L[0:5], L[17:20] recompute           or `offload`: only as many layers as memory asks for
//   assign S[i] to pipe=i
//   use 1f1b(S)
//   use zero(1, *, data)
//   order b(L[i+1])[m] < b(L[i])[m]            overlap: every layer is a segment, whose gradients go when it is done
#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "planner/search/stages/model_shape.h"

namespace planscope::stages {

// How a pipeline's stages run their micro-batches.
enum class Order : std::uint8_t {
  one_f_one_b,
  table7,    // repeated calls: `use table7(S)` (nnScaler, OSDI'24, Table 7)
  searched,  // by planner/search/orders, from the plan's own tasks
};

struct Configuration {
  std::int64_t pipe = 1, data = 1, tensor = 1, micro_batches = 1;
  std::int64_t micro_batch = 1;          // samples of one micro-batch on one replica
  bool sequence = false;                 // what stands between tensor-parallel products is split over the sequence
  int zero = 0;                          // 0 … 3
  std::vector<int> stages;               // layers of each; empty: one stage
  std::vector<int> recompute;            // of each stage, its first so many layers but `once`; or they are offloaded
  bool all_axes = false;                 // axes of size 1 are declared too: rows may speak of them
  std::vector<std::string> splits = {};  // lines of a tensor-parallel group that were found; empty: the template's
  std::int64_t coshard = 1;  // layers that are computed again are in so many pieces (nnScaler, OSDI'24, Table 5)
  std::vector<bool> in_pieces = {};  // … of each layer, whether it is one of them; empty: all are
  bool offload = false;  // what `recompute` counts is kept in the host's memory instead of being computed again
  // Vocabulary over all devices of a replica, which share their time between it and their stage (Table 6).
  bool interlaced = false;
  Order order = Order::one_f_one_b;
  std::vector<std::string> chains = {};  // of a searched order; empty: as soon as data is there
  std::vector<bool> once = {};           // of each layer, whether it may not be computed again; empty: all may
  bool reversed = false;                 // the first stage stands on the last devices: where these are of another kind
  bool vocabulary = true;                // split over tensor-parallel groups
  bool prefetch = true;                  // what ZeRO-3 gathers, or is offloaded in one stage, comes one layer ahead
  bool overlap = false;                  // gradients are exchanged layer by layer, while backward works on
  bool operator==(const Configuration&) const = default;

  std::int64_t devices() const { return pipe * data * tensor; }
  std::int64_t place(std::int64_t stage) const { return reversed ? pipe - 1 - stage : stage; }  // on the axis `pipe`
  bool has_template() const { return coshard > 1 || interlaced || order != Order::one_f_one_b; }
  using Sizes = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, int>;
  Sizes sizes() const { return {pipe, data, tensor, micro_batch, zero}; }
  // What tells an expert one plan from another: all but numbers of micro-batches, cuts and chains.
  auto shape() const { return std::tuple(pipe, reversed, tensor, zero, coshard > 1, offload, interlaced, order); }
  bool layer_in_pieces(int layer) const {
    return coshard > 1 && (in_pieces.empty() || in_pieces[static_cast<std::size_t>(layer)]);
  }
  bool keeps_all() const {  // nothing is computed again or offloaded
    return std::all_of(recompute.begin(), recompute.end(), [](int n) { return n == 0; });
  }
  bool brings_back_ahead() const { return offload && pipe == 1 && prefetch; }
  bool only_once(int layer) const { return !once.empty() && once[static_cast<std::size_t>(layer)]; }
  std::string name() const;  // `pipe=2 data=8 tensor=4 mb=8 zero=1`
};

// A searched order stands there as the answer to `order ?`, or as lines of the plan itself.
enum class Chains : std::uint8_t { answer, own };

std::string script(const ModelShape&, const Configuration&, Chains = Chains::answer);

// Of these lines those that split operators over replicas, micro-batches and the tensor-parallel group.
std::string split_lines(const ModelShape&, const Configuration&);

// Vocabulary over all of `axes` (`pipe, tensor`) with so many devices together.
std::string vocabulary_lines(const ModelShape&, const std::string& axes, std::int64_t devices);

// The lines of the template: layers over the axis `tensor`, vocabulary and sequence too if asked for; `L` stands for the layers.
std::string tensor_lines(const ModelShape&, std::int64_t tensor, bool sequence, bool vocabulary = true);

struct ProbeKey {
  std::int64_t tensor = 1, micro_batch = 1;
  bool sequence = false, recompute = false;
  bool only = false;                     // there is one micro-batch alone: no gradients are added up
  std::vector<std::string> splits = {};  // Configuration::splits
  std::int64_t coshard = 1;              // Configuration::coshard, where layers are computed again
  std::int64_t pipe = 1;         // interlaced: the vocabulary is over so many groups, the layers are on each of them
  std::int64_t data = 1;         // more: ZeRO-3 over so many replicas
  bool prefetch = true;          // … what it gathers comes one layer ahead
  std::vector<int> kinds = {0};  // of devices (Cluster::kinds): the slowest counts
  bool vocabulary = true;        // Configuration::vocabulary
  auto operator<=>(const ProbeKey&) const = default;
};

// The same tensor-parallel layers on `tensor` devices alone, one segment for each layer: what a layer takes and keeps can be
// read off its prediction (probe.h), of a micro-batch between others: what comes once a step belongs to the first or the last.
std::string probe_script(const ModelShape&, const ProbeKey&, std::int64_t micro_batches = 3);

// The same as one segment, over so many micro-batches: what none of a plan's borders costs.
std::string whole_script(const ModelShape&, const ProbeKey&, std::int64_t micro_batches);

}  // namespace planscope::stages
