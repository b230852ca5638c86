// What a plan leaves every node of a network to choose from.
#include <algorithm>
#include <set>

#include "planner/search/splits/bound.h"
#include "planner/search/splits/statements.h"

namespace planscope::splits {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

StorageMode mode_of(plan::Algorithm a) {
  return a == plan::Algorithm::recompute ? StorageMode::recompute
         : a == plan::Algorithm::offload ? StorageMode::offload
                                         : StorageMode::keep;
}

class Locker {
 public:
  Locker(const Space& s, const Network& n, const Storage& storage, const plan::ModelInfo& info, const Weights& w,
         const plan::Decisions& d, bool stated)
      : space_(s), network_(n), storage_(storage), info_(info), weights_(w), d_(d), stated_(stated) {
    for (int a = 0; a < s.axes(); ++a) axes_.push_back(plan::find_axis(d, s.program().axes[at(a)].name));
  }

  Result<layouts::Locks> run(const std::vector<BoundAxes>& bound) {
    for (OpId o = 0; o < static_cast<OpId>(network_.node_of.size()); ++o)
      if (network_.node_of[at(o)] >= 0) lock_operator(o, bound);
    for (int l = 0; l < static_cast<int>(storage_.layers().size()); ++l)
      if (network_.node_of_layer[at(l)] >= 0) lock_layer(l);
    for (const ParameterNode& p : network_.parameters) lock_parameters(p);
    if (!wrong_.empty()) return wrong_;
    return std::move(out_);
  }

 private:
  void lock(int node, std::size_t all, const std::vector<int>& left, const std::string& what) {
    if (left.empty()) wrong_.push_back(error("no strategy does what the plan says of " + what));
    if (left.size() < all) out_[node] = left;
  }

  void lock_operator(OpId o, const std::vector<BoundAxes>& bound) {
    const std::vector<Strategy>& all = network_.strategies[at(network_.kind_of[at(o)])];
    std::vector<int> left;
    for (int s = 0; s < static_cast<int>(all.size()); ++s)
      if (stated_ ? allowed(o, all[at(s)]) : bound_by(space_, o, all[at(s)]) == bound[at(o)]) left.push_back(s);
    lock(network_.node_of[at(o)], all.size(), left, space_.graph().node(o).name());
  }

  bool allowed(OpId o, const Strategy& s) const {
    for (int a = 0; a < space_.axes(); ++a) {
      if (axes_[at(a)] < 0) continue;
      const Option& x = s.options[at(a)];
      const int factor = x.kind == Option::Kind::split ? x.factor : plan::kNone;
      const plan::Split& said = d_.split(o, axes_[at(a)]);
      if (said.statement >= 0 && said.factor == plan::kOpen) {
        const std::vector<int>& some = d_.alternatives[at(said.alternatives)].factors;
        if (std::find(some.begin(), some.end(), factor) == some.end()) return false;
      } else if (said.statement >= 0 && (said.factor != factor || (factor != plan::kNone && said.part != x.part))) {
        return false;
      }
      if (is_forbidden(plan::Phase::forward, o, axes_[at(a)], factor)) return false;
    }
    return true;
  }

  void lock_layer(int l) {
    const Storage::Layer& layer = storage_.layers()[at(l)];
    std::vector<int> left;
    for (int w = 0; w < static_cast<int>(layer.words.size()); ++w)
      if (allowed(layer, w)) left.push_back(w);
    lock(network_.node_of_layer[at(l)], layer.words.size(), left, layer.path);
  }

  // Algorithms of all operators, and units: operators of one unit stay in one.
  bool allowed(const Storage::Layer& layer, int word) const {
    std::set<std::pair<int, int>> units;  // of the plan, of the word
    for (std::size_t k = 0; k < layer.operators.size(); ++k) {
      const int a = d_.operator_storage[at(layer.operators[k])];
      const Storage::Role role = layer.roles[k][at(word)];
      if (a < 0) {
        if (!stated_ && role.mode != StorageMode::keep) return false;
        continue;
      }
      const std::vector<plan::Algorithm>& said = d_.algorithms[at(a)].alternatives;
      if (std::none_of(said.begin(), said.end(), [&](plan::Algorithm x) { return mode_of(x) == role.mode; }))
        return false;
      if (role.mode == StorageMode::recompute) units.emplace(d_.algorithms[at(a)].unit, role.unit);
    }
    std::set<int> plans, words;
    for (const auto& [of_plan, of_word] : units) {
      plans.insert(of_plan);
      words.insert(of_word);
    }
    return units.size() == plans.size() && units.size() == words.size() && !is_forbidden(layer, word);
  }

  bool is_forbidden(const Storage::Layer& layer, int word) const {
    for (const plan::ForbidRow& row : d_.forbids)
      for (const plan::ForbiddenAlgorithm& f : row.algorithms)
        for (const int o : d_.units[at(f.unit)].operators)
          if (std::find(layer.operators.begin(), layer.operators.end(), o) != layer.operators.end() &&
              storage_.role(o, word).mode == mode_of(f.algorithm))
            return true;
    return false;
  }

  void lock_parameters(const ParameterNode& p) {
    std::vector<int> left;
    for (int s = 0; s < static_cast<int>(p.zero.size()); ++s)
      if (allowed(p, p.zero[at(s)])) left.push_back(s);
    lock(p.node, p.zero.size(), left, "the parameters of " + space_.graph().node(p.readers[0]).name());
  }

  // ZeRO of the first dimension, over all of its axes or none.
  bool allowed(const ParameterNode& p, int level) const {
    const bool open = std::any_of(p.zero.begin(), p.zero.end(), [](int z) { return z > 0; });
    if (!open) return true;  // there is nothing to split
    for (std::size_t i = 0; i < info_.parameters.size(); ++i) {
      const std::vector<int>& readers = info_.parameters[i].readers;
      if (std::find(readers.begin(), readers.end(), p.readers[0]) == readers.end()) continue;
      int needed = 0;
      for (const plan::Phase phase : {plan::Phase::update, plan::Phase::grad, plan::Phase::fetch}) {
        ++needed;
        for (const int a : weights_.zero) {
          if (axes_[at(a)] < 0) continue;
          if (is_forbidden(phase, static_cast<int>(i), axes_[at(a)], level >= needed ? 0 : plan::kNone)) return false;
          if (phase == plan::Phase::grad && weights_.micro_batches == 1)
            continue;  // gradients are reduced once in any case
          const plan::Split& said = d_.parameter_split(phase, static_cast<int>(i), axes_[at(a)]);
          if (said.statement < 0 && stated_) continue;
          const bool splits = said.statement >= 0 && said.factor >= 0;
          if (splits != (level >= needed)) return false;
        }
      }
    }
    return true;
  }

  bool is_forbidden(plan::Phase phase, int row, int axis, int factor) const {
    const plan::ForbiddenSplit split{row, axis, factor, phase};
    return std::any_of(d_.forbids.begin(), d_.forbids.end(), [&](const plan::ForbidRow& forbid) {
      return std::find(forbid.splits.begin(), forbid.splits.end(), split) != forbid.splits.end();
    });
  }

  const Space& space_;
  const Network& network_;
  const Storage& storage_;
  const plan::ModelInfo& info_;
  const Weights& weights_;
  const plan::Decisions& d_;
  const bool stated_;
  std::vector<int> axes_;  // of the space, in the decisions
  layouts::Locks out_;
  std::vector<Diagnostic> wrong_;
};

}  // namespace

Result<layouts::Locks> locks_of(const Space& space, const Network& network, const Storage& storage,
                                const plan::ModelInfo& info, const Weights& weights, const std::string& plan,
                                bool stated) {
  const Result<plan::Decisions> decisions = decisions_of(info, plan);
  if (!decisions.ok()) return decisions.diagnostics;
  std::vector<BoundAxes> bound;
  if (!stated) {
    Result<std::vector<BoundAxes>> all = bound_by(space, *decisions);
    if (!all.ok()) return all.diagnostics;
    bound = std::move(*all);
  }
  return Locker(space, network, storage, info, weights, *decisions, stated).run(bound);
}

}  // namespace planscope::splits
