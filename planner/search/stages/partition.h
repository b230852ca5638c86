#pragma once
// Where a pipeline is cut, and how many layers of each stage are computed again: the least step time that the costs of the
// layers allow, by dynamic programming over (stage, layers so far).
//
// Bound, of n stages in 1F1B with M micro-batches. Stage s works M t(s), of which again(s) is what each micro-batch computes again,
// and adding(s) adds up gradients of parameters. It begins after the forward of the stages before it, and is followed by their
// backward. What is computed again needs no gradient, so that it may be done by the time that one comes, and nothing waits for
// what is added up: a micro-batch is on its way through a stage for through(s) = t(s) - again(s) - adding(s). Before its first
// backward, which comes after those of the stages behind it, a stage may run min(M, n - s) forwards, and compute one micro-batch
// again. With before(s) and behind(s) the sums of through in the stages before and behind it:
//   step >= before(s) + M t(s) - adding(s) + max(0, behind(s) - (min(M, n - s) - 1) forward(s) - again(s))    for every s > 0
// and all of M t(0) for the first one, behind which nothing comes. The program, from the last stage to the first, minimises the
// largest of these; no cut has less. (Equal stages that keep all and add nothing meet it: (M + n - 1) t.) The first stage's last
// backward is the end of it: what is left then of its gradients' exchange, which that backward may hide, is added; and what its
// first forward does not hide of bringing parameters.
//
// The program leaves out whatever takes longer than a limit, which begins a little above the least that all stages together must work
// and is raised until a cut is found: what is found within it is the best of all. (208 equal layers in 64 stages: 1.3 ms instead of 30.)
//
// Of any order of tasks (repeated calls, tasks that share devices): stage s works M t(s), begins after the first forward of the
// stages before it and is followed by their backward; what all devices do beside (`everywhere_ns`) is work of each:
//   step >= before(s) + M (t(s) + everywhere) - adding(s)                           for every s > 0
//
// Layers may be offloaded instead of computed again: copies run beside the work, so that a stage works as long, or its way to host
// memory does, whichever is longer.
//
// Memory of stage s with n stages, u = min(M, n - s + more) micro-batches under way, is the most of:
//   its first backward, with what u - 1 others keep; of the one at work in a layer, what this layer and those before it keep,
//     what it works with, and the gradients of the layers behind it (what comes from the stage before is kept, what goes to
//     the next one is not);
//   a later one, beside the sums of all gradients; of M = u micro-batches one is over by then. Gradients of this micro-batch
//     that are not summed up yet are there as well: layers that are computed once may be one piece to autograd;
//   the exchange of gradients.
// What lives all the time comes to it; parameters that several layers read (tied weights) count once in a stage.
//
// Devices of several kinds: every stage stands on one of several *grounds*, on which layers take other times and which have other
// memory. The bound sums the times of each stage on its own ground. (A stage on devices of two kinds has a ground of its
// own: the slower times, the smaller memory.)
//
//   const Partition p = partition({{layers, memory}}, {.stages = 4, .micro_batches = 16});
//   p.step_ns; p.layers; p.recompute
#include <cstdint>
#include <optional>
#include <vector>

namespace planscope::stages {

// Bytes for parameters on one device, and for their gradients.
struct Parameters {
  std::int64_t state = 0;           // that live all the time: the parameters, the optimizer's state
  std::int64_t gradient = 0;        // sums of gradients, from one micro-batch to the next
  std::int64_t first = 0;           // gradients that the first backward leaves for layers before this one
  std::int64_t first_again = 0;     // … of a layer that is computed again
  std::int64_t later = 0;           // … that later ones leave, of a layer that is computed once
  std::int64_t exchange = 0;        // beside the state while gradients are exchanged
  std::int64_t exchange_again = 0;  // … of a layer that is computed again: no more than that
  bool operator==(const Parameters&) const = default;
};

// Of one layer on one device of its stage.
struct Layer {
  std::int64_t time_ns = 0;        // forward and backward of one micro-batch
  std::int64_t forward_ns = 0;     // the forward part of it
  std::int64_t through_ns = 0;     // its first forward and last backward: what surrounds the work of later layers
  std::int64_t adding_ns = 0;      // of `time_ns` but not of `through_ns`, to add up gradients
  std::int64_t again_ns = 0;       // more if it is computed again
  std::int64_t kept = 0;           // bytes from forward to backward, by micro-batch
  std::int64_t kept_again = 0;     // … if it is computed again
  std::int64_t border = 0;         // of `kept`, what layers before it made and it or later ones read
  std::int64_t working = 0;        // bytes beside all these while it is at work
  std::int64_t working_again = 0;  // … if it is computed again
  std::int64_t copied = 0;         // … bytes that go to host memory instead, and come back
  std::int64_t reduce_ns = 0;      // to reduce its gradients, once a step, from the last backward on
  std::int64_t gather_ns = 0;      // to bring its parameters, once a step, before the first forward
  Parameters parameters;
  bool operator==(const Layer&) const = default;
};

// Parameters of `layer` that it has where `before` is in another stage.
struct Shared {
  int before = 0, layer = 0;
  Parameters parameters;
};

// What stages stand on: all layers as they run there.
struct Ground {
  std::vector<Layer> layers;
  std::int64_t memory = 0;  // bytes of a device
  std::int64_t host = 0;    // … of host memory that it has
  double host_rate = 0;     // bytes per nanosecond, in either direction; 0: nothing is copied there
  std::vector<Shared> shared = {};
};

struct PartitionSpec {
  int stages = 1;
  std::int64_t micro_batches = 1;
  std::vector<int> ground = {};         // of each stage; empty: all stand on the first
  std::vector<std::int64_t> less = {};  // of each stage, bytes that stay unused; empty: none
  bool any_order = false;               // the bound of any order instead of that of 1F1B
  int more_under_way = 0;               // micro-batches, beside those of 1F1B
  std::int64_t everywhere_ns = 0;       // any order: work of every device for each micro-batch, beside its layers
};

struct Partition {
  std::vector<int> layers;     // of each stage
  std::vector<int> recompute;  // of each stage, the first so many
  std::int64_t step_ns = 0;    // the bound of this cut: the least of all cuts
  bool lean() const;           // nothing is computed again
};

// Nothing if no cut fits.
std::optional<Partition> partition(const std::vector<Ground>&, const PartitionSpec&);

// How many bytes devices of all grounds must have more, at least, so that some cut fits; negative: so many less would do. Nothing:
// there are more stages than layers.
std::optional<std::int64_t> shortage(const std::vector<Ground>&, const PartitionSpec&);

// Whether some cut fits if devices of all grounds have so many bytes more, told in a fraction of the time that the best one takes.
bool some_fits(const std::vector<Ground>&, const PartitionSpec&, std::int64_t more);

// What a stage takes for a micro-batch.
struct StageTime {
  std::int64_t forward_ns = 0, again_ns = 0, backward_ns = 0;
};

// How long 1F1B takes: every task as early as its stage and what it waits for allow. Computing again waits for no gradient.
std::int64_t play_1f1b(const std::vector<StageTime>&, std::int64_t micro_batches);

// A cut as it is: how long 1F1B takes with the least recomputation that fits. Nothing: it does not fit.
struct PlayedCut {
  std::vector<int> layers, recompute;  // of each stage
  std::int64_t step_ns = 0;
};
std::optional<PlayedCut> played(const std::vector<Ground>&, const PartitionSpec&, std::vector<int> layers);

// The cut from which no single layer that goes from one stage to another makes 1F1B shorter; `step_ns` stays the bound.
Partition refined(const std::vector<Ground>&, const PartitionSpec&, Partition);

// Bytes that a stage of layers [first, end) needs as stage s on its ground, with its first `again` layers computed again.
std::int64_t stage_memory(const Ground&, const PartitionSpec&, int s, int first, int end, int again);

}  // namespace planscope::stages
