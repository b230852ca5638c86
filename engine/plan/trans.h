#pragma once
// op-trans: split a factor of operators over an axis, or choose another algorithm for them. (OSDI'24 nnScaler, Table 1:
// op-trans(op, algo, n); the algorithm is a factor, n the size of the axis.)
//
// vTensors of `y = linear(x, w)` with batch 8, in 16, out 12, before and after `trans up_proj out by tensor`, tensor=4:
//
//   before   x [0:8, 0:16]   w [0:12, 0:16]         y [0:8, 0:12]           on every device
//   after    x [0:8, 0:16]   w [3t:3t+3, 0:16]      y [0:8, 3t:3t+3]        on the devices with tensor=t
//   in       x [0:8, 4t:…]   w [0:12, 4t:4t+4]      y [0:8, 0:12] part t of 4 of a sum
//
// A statement decides (operator, axis): the last one wins. `none` is a decision too (whole and repeated). `a|b` and
// `?x` leave it open; `by a|b` leaves open which one axis takes the factor. Legal are factors that the operator has and
// that are not frozen; `*` passes over the others. Equal blocks are wanted: the axis divides the part of the factor
// where it begins, or spills into the next one. A word that names one part (`seq` of a factor that flattens batch and
// seq) begins there. update(X), grad(X) and fetch(X) split what belongs to the parameters that X reads, by dim0, dim1,
// …, balanced.
//
//   devices 4 as tensor=4
//   let L = model.layers[*]
//   trans L.mlp.{gate,up}_proj out by tensor
//   trans L.mlp.down_proj in by tensor
//   trans L recompute
//   trans update(L) offload        # the optimizer's state waits in host memory from one update to the next
//
// `at EXPRESSION` says which block an operator takes at a coordinate i of a free axis, where that is not block i: an
// expression of i and of the coordinate on one grid axis, modulo the size of the axis; over a free axis and one of devices,
// of both, a block of all of theirs (turn.cpp). With `keys by ring at (ring + cp) % 4`
// (ring attention) the devices cp=0, 1, 2, 3 read key blocks 0, 1, 2, 3 at ring=0, then 1, 2, 3, 0, and so on.
//
// Costs no more than the conversions around the operators; those are materialization's. Messages: no such factor (those
// that there are), frozen (why, the legal ones), no such axis (did you mean), does not divide (the dividing sizes), blocks
// that `at` reads twice or never. Not supported yet: `at` over axes of devices alone.
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/plan/context.h"

namespace planscope::plan {

void bind_trans(Context&, const TransStatement&);
bool take_turn(Context&, const TransStatement&, const std::vector<int>& axes, bool of_parameters);  // turn.cpp
void bind_algorithm(Context&, const AlgorithmStatement&);  // algorithms.cpp

// A selection by phase: of operators (forward), of parameters (fetch, grad, update).
std::optional<std::map<Phase, Units>> units_by_phase(Context&, const Units&);
// False, with a message: one is a free axis, over which parameters are not split.
bool split_parameters(Context&, const std::vector<int>& axes);
std::optional<Algorithm> algorithm_of(const std::string& word);
// Whether a statement speaks of the optimizer's state, `trans update(X) offload`.
bool speaks_of_updates(const AlgorithmStatement&);
// What it says of which groups, for each case of its variables. With a message: it says something else of tasks.
void for_states(Context&, const AlgorithmStatement&,
                const std::function<void(Algorithm, const Group&, const std::vector<Match>&)>& visit);
// After all statements: `by a|b` of which later lines have decided one (axis_choices.cpp).
void settle_axis_choices(Context&);

// What the words of a choice mean for one operator or parameter (factor_choice.cpp).
struct FactorChoice {
  std::vector<int> factors;        // indices and kNone
  std::vector<std::string> words;  // of each
  bool lacking = false;            // none of the words is a factor here
  bool frozen = false;             // one of them is, but frozen
};
FactorChoice choose(const std::vector<FactorInfo>&, const Choice&, const std::vector<std::string>& domain);

// The same, made once for every object of factors (Context::factors): a line of many equal operators costs little for each.
class FactorChoices {
 public:
  FactorChoices(const Choice& choice, std::vector<std::string> domain) : choice_(choice), domain_(std::move(domain)) {}
  const FactorChoice& of(const std::vector<FactorInfo>&);

 private:
  const Choice& choice_;
  const std::vector<std::string> domain_;
  std::unordered_map<const std::vector<FactorInfo>*, FactorChoice> known_;
};

// The factor of that name: index, or -1.
int find_factor(const std::vector<FactorInfo>&, std::string_view name);

// Where an axis begins to cut a factor: the part of that name, else the outermost one that no neighbour freezes, else the
// outermost.
int find_part(const FactorInfo&, std::string_view name);

// `in, out, batch`: the first names; `legal`: without the frozen ones.
std::string factor_names(const std::vector<FactorInfo>&, bool legal);

}  // namespace planscope::plan
