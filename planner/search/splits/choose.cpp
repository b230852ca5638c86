#include "planner/search/splits/choose.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <numeric>

#include "engine/base/format.h"
#include "engine/base/text.h"
#include "engine/plan/parser.h"
#include "planner/evaluate/evaluate.h"
#include "planner/search/layout/dominance.h"
#include "planner/search/layout/solve.h"
#include "planner/search/splits/statements.h"

namespace planscope::splits {
namespace {

constexpr int kMostPlays = 6;   // of plans, to find one that fits
constexpr double kNear = 1.02;  // of the bound: a plan that fits is not looked for further

// Of an elimination, in entries: several axes make large tables. What memory is worth takes tens of evaluations.
constexpr double kLargestTable = 1e8, kWork = 2e9, kWorkWithMemory = 2e8;

class Watch {
 public:
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - begin_).count();
    begin_ = now;
    return seconds;
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

std::optional<Diagnostic> fault(const Cluster& cluster, const LayoutSpec& spec) {
  std::int64_t devices = 1;
  for (const AxisSize& a : spec.axes) {
    if (a.second < 1 || a.first.empty()) return error("an axis needs a name and at least one device");
    devices *= std::min(a.second, cluster.device_count() + 1);
    if (devices > cluster.device_count())
      return error("the axes need more devices than the cluster has",
                   cluster.name + " has " + std::to_string(cluster.device_count()));
  }
  if (spec.axes.empty()) return error("layouts are chosen over at least one axis", "write one as tensor=8");
  if (spec.micro_batches < 1 || spec.under_way < 1) return error("a step has at least one micro-batch");
  for (const std::string& z : spec.zero)
    if (std::none_of(spec.axes.begin(), spec.axes.end(), [&](const AxisSize& a) { return a.first == z; }))
      return error("ZeRO over '" + z + "', which is none of the axes");
  return std::nullopt;
}

std::vector<int> axes_named(const LayoutSpec& spec, const std::vector<std::string>& names) {
  std::vector<int> out;
  for (int a = 0; a < static_cast<int>(spec.axes.size()); ++a)
    for (const std::string& n : names)
      if (spec.axes[static_cast<std::size_t>(a)].first == n) out.push_back(a);
  return out;
}

Diagnostic none_found(const layouts::Answer& a) {
  return error("no choice of splits was found: " + std::string(layouts::to_string(a.outcome)),
               a.least_memory.empty() ? "" : "at least " + std::to_string(a.least_memory[0]) + " bytes are needed");
}

}  // namespace

std::string devices_line(const std::vector<AxisSize>& axes) {
  std::int64_t devices = 1;
  std::vector<std::string> words;
  for (const AxisSize& a : axes) {
    devices *= a.second;
    words.push_back(a.first + "=" + std::to_string(a.second));
  }
  return "devices " + std::to_string(devices) + " as " + join(words, " ") + "\n";
}

struct Chooser::State {
  std::optional<layouts::Outcome> none;  // of the last choice
  State(const Graph& g, const Cluster& c, const LayoutSpec& s)
      : graph(g),
        cluster(c),
        spec(s),
        info(model_info(g)),
        space(graph, cluster, spec.costs, spec.axes),
        storage(graph, info, spec.storage, spec.axes.size() > 1),
        weights{spec.micro_batches, spec.optimizer_state_bytes, axes_named(spec, spec.zero)},
        network(make_network(space, info, weights, storage, {spec.memory_limit, spec.under_way}, spec.ended)) {}

  // ---- solving

  Diagnostic none_in_time() {
    none = layouts::Outcome::unknown;
    return error("no choice of splits was found in time", "give it longer");
  }

  // A solver of the network without dominated strategies. That of the limit itself stays: changed locks are solved fast
  // there, as long as none asks for a strategy that was dominated.
  struct Solving {
    std::int64_t limit = 0;
    layouts::Reduced reduced;
    std::optional<layouts::Solver> solver;
  };

  layouts::Answer solved(const layouts::Locks& locks, std::int64_t limit) {
    Solving& s = limit == spec.memory_limit ? usual : lowered;
    if (!s.solver || s.limit != limit) make(s, {}, limit);
    std::optional<layouts::Locks> here = s.reduced.locks(locks);
    Solving other;
    if (!here) {
      make(other, locks, limit);
      here.emplace();
    }
    Solving& taken = other.solver ? other : s;
    layouts::Answer a = taken.solver->solve(*here);
    if (a.outcome == layouts::Outcome::found) a.choice = taken.reduced.original(a.choice);
    return a;
  }

  void make(Solving& s, const layouts::Locks& locks, std::int64_t limit) const {
    layouts::CostNetwork costs = network.costs;
    if (!costs.limits.empty()) costs.limits[0] = limit;
    s.limit = limit;
    s.reduced = layouts::without_dominated(costs, locks, spec.ended);
    layouts::SolveOptions options;
    options.work = 4e5;  // the network of a model is solved once, and its plans are simulated after it
    options.ended = spec.ended;
    if (space.axes() > 1) options.elimination = {kLargestTable, costs.limits.empty() ? kWork : kWorkWithMemory};
    s.solver.emplace(s.reduced.network, options);
  }

  // Where the network is too large to be sure: choices in which one axis splits the batch wherever it can, which are those of
  // a network with an axis less. The bound stays.
  void try_replicas(const layouts::Locks& locks, layouts::Answer& a, std::int64_t limit) {
    for (int axis = 0; axis < space.axes(); ++axis) {
      layouts::Locks more = locks;
      for (OpId o = 0; o < static_cast<OpId>(network.node_of.size()); ++o) {
        const int node = network.node_of[static_cast<std::size_t>(o)];
        if (node < 0) continue;
        const std::vector<int> all = layouts::allowed_strategies(network.costs, locks, node);
        std::vector<int> some;
        for (const int s : all)
          if (network
                  .strategies[static_cast<std::size_t>(network.kind_of[static_cast<std::size_t>(o)])]
                             [static_cast<std::size_t>(s)]
                  .options[static_cast<std::size_t>(axis)]
                  .word == spec.batch)
            some.push_back(s);
        if (!some.empty()) more[node] = some;
      }
      layouts::Answer b = solved(more, limit);
      if (b.outcome != layouts::Outcome::found || b.cost >= kNever) continue;
      if (a.outcome == layouts::Outcome::found && a.cost <= b.cost) continue;
      b.lower_bound = a.lower_bound;
      b.optimal = false;
      b.method = a.method;
      a = std::move(b);
    }
  }

  // Layers that can say the same are told apart by nothing but their place: their words in order, if that costs no more.
  void sort_words(layouts::Locks locks, layouts::Answer& a, std::int64_t limit) {
    std::map<std::string, std::vector<std::size_t>> alike_layers;
    for (std::size_t l = 0; l < storage.layers().size(); ++l)
      if (network.node_of_layer[l] >= 0) alike_layers[without_numbers(storage.layers()[l].path)].push_back(l);
    bool changed = false;
    for (const auto& [list, layers] : alike_layers) {
      std::vector<int> words;
      for (const std::size_t l : layers) words.push_back(a.choice[static_cast<std::size_t>(network.node_of_layer[l])]);
      std::sort(words.rbegin(), words.rend());
      for (std::size_t i = 0; i < layers.size(); ++i) {
        const auto& all = storage.layers()[layers[i]].words;
        if (all != storage.layers()[layers[0]].words) return;
        const int node = network.node_of_layer[layers[i]];
        changed = changed || a.choice[static_cast<std::size_t>(node)] != words[i];
        if (locks.contains(node)) return;
        locks[node] = {words[i]};
      }
    }
    if (!changed) return;
    layouts::Answer sorted = solved(locks, limit);
    if (sorted.outcome != layouts::Outcome::found || sorted.cost > a.cost * (1 + 1e-4)) return;
    sorted.lower_bound = a.lower_bound;
    sorted.optimal = a.optimal && sorted.cost <= a.cost;
    sorted.method = a.method;
    a = std::move(sorted);
  }

  std::string text(const std::string& rows, const std::vector<std::string>& lines) const {
    return rows + (lines.empty() ? "" : join(lines, "\n") + "\n");
  }

  // Devices, and the micro-batches of a step.
  std::string head() const {
    std::string out = devices_line(spec.axes);
    if (spec.micro_batches == 1) return out;
    for (const plan::InputDimension& d : info.inputs)
      if (d.name == spec.batch)
        out += "axis mb=" + std::to_string(spec.micro_batches) + "\nmodel " + d.name + "=" +
               std::to_string(d.size * spec.micro_batches) + "\ntrans * " + d.name + " by mb\n";
    return out;
  }

  struct Chosen {
    layouts::Choice choice;
    GraphLayout layout;  // without statements
  };

  Result<Chosen> cheapest(const layouts::Locks& locks, std::int64_t limit) {
    Watch watch;
    layouts::Answer answer = solved(locks, limit);
    if (spec.axes.size() > 1 && !answer.optimal && !spec.ended()) try_replicas(locks, answer, limit);
    if (answer.outcome != layouts::Outcome::found) {
      none = answer.outcome;
      return none_found(answer);
    }
    if (answer.cost >= kNever && spec.ended()) return none_in_time();
    if (answer.cost >= kNever) return error("no choice of splits fits together");
    sort_words(locks, answer, limit);
    GraphLayout out;
    out.solve_seconds = watch.lap();
    out.cost_us = answer.cost;
    out.lower_bound_us = answer.lower_bound;
    out.optimal = answer.optimal;
    out.method = answer.method;
    if (!answer.memory.empty()) out.bytes = answer.memory[0];
    return Chosen{std::move(answer.choice), std::move(out)};
  }

  Result<GraphLayout> solve(const layouts::Locks& locks, const std::string& rows, std::int64_t limit) {
    Result<Chosen> chosen = cheapest(locks, limit);
    if (!chosen.ok()) return chosen.diagnostics;
    Watch watch;
    GraphLayout out = std::move(chosen->layout);
    const layouts::Choice& choice = chosen->choice;
    const Result<Written>& written = split_lines(choice, rows);
    if (!written.ok()) return written.diagnostics;
    if (!written->exact) return error("no statements give the chosen splits", written->different + " binds otherwise");
    out.statements = written->lines;
    for (std::string& line : stored_lines(space, network, storage, choice, info, weights))
      out.statements.push_back(std::move(line));
    if (const auto other = says_otherwise(choice, devices_line(spec.axes) + text(rows, out.statements))) return *other;
    out.plan = head() + text(rows, out.statements);
    out.statement_seconds = watch.lap();
    return out;
  }

  // Of splits that were written before, the same lines.
  const Result<Written>& split_lines(const layouts::Choice& choice, const std::string& rows) {
    std::vector<int> splits;
    for (const int node : network.node_of) splits.push_back(node < 0 ? -1 : choice[static_cast<std::size_t>(node)]);
    const auto [known, fresh] = written_.try_emplace({rows, std::move(splits)}, Diagnostic{});
    if (fresh) known->second = write(space, network, choice, info, devices_line(spec.axes) + rows, spec.abandoned);
    return known->second;
  }

  // Whether the whole text means something else than what was chosen.
  std::optional<Diagnostic> says_otherwise(const layouts::Choice& choice, const std::string& plan) const {
    const Result<layouts::Locks> said = locks_of(space, network, storage, info, weights, plan, false);
    if (!said.ok()) return said.diagnostics.front();
    for (const auto& [node, left] : *said)
      if (std::find(left.begin(), left.end(), choice[static_cast<std::size_t>(node)]) == left.end())
        return error("no statements give the chosen plan", "node " + std::to_string(node) + " means something else");
    return std::nullopt;
  }

  // ---- playing

  std::optional<Diagnostic> play(GraphLayout& out) {
    Watch watch;
    const Result<plan::Plan> plan = plan::parse_plan(out.plan, "");
    if (!plan.ok()) return plan.diagnostics.front();
    SimulationOptions options;
    options.costs = spec.costs;
    options.optimizer_state_bytes = spec.optimizer_state_bytes;
    const Result<Evaluation> played = evaluate(graph, *plan, cluster, cache, options);
    if (!played.ok()) return played.diagnostics.front();
    out.step_us = played->simulation.step_us();
    out.peak_bytes = std::max(out.peak_bytes, peak_bytes(played->simulation));
    out.fits = spec.memory_limit == 0 || out.peak_bytes <= spec.memory_limit;
    ++out.times_played;
    out.play_seconds = watch.lap();
    return std::nullopt;
  }

  Result<GraphLayout> choose(const std::string& rows) {
    layouts::Locks locks;
    if (!rows.empty()) {
      Result<layouts::Locks> said =
          locks_of(space, network, storage, info, weights, devices_line(spec.axes) + rows, true);
      if (!said.ok()) return said.diagnostics;
      locks = std::move(*said);
    }
    Result<GraphLayout> best = solve(locks, rows, spec.memory_limit);
    if (!best.ok() || !spec.simulated) return best;
    if (const auto wrong = play(*best)) return *wrong;
    if (best->fits) return best;
    const GraphLayout first = *best;
    for (const layouts::Locks& some : families(locks)) {
      if (const auto wrong = make_fit(some, rows, first, *best)) return *wrong;
      if (best->fits) break;
    }
    if (best->fits && best->cost_us <= kNear * best->lower_bound_us) return best;
    for (const layouts::Locks& some : families(with_small_results(locks))) {
      const bool fitted = best->fits;
      if (const auto wrong = make_fit(some, rows, first, *best)) return *wrong;
      if (fitted || best->fits) break;
    }
    return best;
  }

  // What operators need while they are at work is no part of the row either: those that have several ways, with those in which
  // their results are small.
  layouts::Locks with_small_results(const layouts::Locks& locks) const {
    layouts::Locks out = locks;
    for (OpId o = 0; o < static_cast<OpId>(network.node_of.size()); ++o) {
      const int node = network.node_of[static_cast<std::size_t>(o)];
      if (node < 0) continue;
      const auto& all = network.strategies[static_cast<std::size_t>(network.kind_of[static_cast<std::size_t>(o)])];
      const auto bytes = [&](int s) {
        const std::vector<std::int64_t>& results = all[static_cast<std::size_t>(s)].results;
        return std::accumulate(results.begin(), results.end(), std::int64_t{0});
      };
      std::vector<int> left = layouts::allowed_strategies(network.costs, locks, node);
      std::int64_t least = std::numeric_limits<std::int64_t>::max();
      for (const int s : left) least = std::min(least, bytes(s));
      std::erase_if(left, [&](int s) { return bytes(s) > 2 * least; });
      if (!left.empty()) out[node] = std::move(left);
    }
    return out;
  }

  // What a layer needs while it is computed again is no part of the row, and is the more, the larger the units. So where nothing
  // fits, smaller units are looked for by themselves: any; none of whole layers; none but of cheap operators.
  std::vector<layouts::Locks> families(const layouts::Locks& locks) const {
    std::vector<layouts::Locks> out = {locks};
    for (const int smaller : {1, 2}) {
      layouts::Locks some = locks;
      for (std::size_t l = 0; l < storage.layers().size(); ++l) {
        const int node = network.node_of_layer[l];
        if (node < 0) continue;
        std::vector<int> left;
        for (const int w : layouts::allowed_strategies(network.costs, locks, node)) {
          const StorageWord& word = storage.layers()[l].words[static_cast<std::size_t>(w)];
          const bool whole = word.below == std::vector<std::string>{""};
          const bool cheap = !word.below.empty() && word.below[0].find(':') != std::string::npos;
          if (word.mode != StorageMode::recompute || (smaller == 1 ? !whole : cheap)) left.push_back(w);
        }
        if (!left.empty()) some[node] = left;
      }
      if (some != out.back()) out.push_back(std::move(some));
    }
    return out;
  }

  // Lowers the row by what the plans need beside it, until they fit, and raises it again while much is left.
  std::optional<Diagnostic> make_fit(const layouts::Locks& locks, const std::string& rows, const GraphLayout& first,
                                     GraphLayout& best) {
    const std::int64_t least = spec.memory_limit / 200;  // that is worth another try
    std::int64_t too_little = -1, enough = spec.memory_limit, tried = std::max(least, first.peak_bytes - first.bytes);
    for (int plays = 0; plays < kMostPlays && enough - too_little > least && !spec.ended(); ++plays) {
      if (tried >= enough || tried <= too_little)
        tried = std::max<std::int64_t>(too_little, 0) + (enough - std::max<std::int64_t>(too_little, 0)) / 2;
      Result<GraphLayout> next = solve(locks, rows, spec.memory_limit - tried);
      if (!next.ok()) {  // nothing needs so little
        enough = tried;
        continue;
      }
      if (const auto wrong = play(*next)) return wrong;
      (next->fits ? enough : too_little) = tried;
      const std::int64_t beside = next->peak_bytes - next->bytes;
      take(best, *next);
      if (next->fits && spec.memory_limit - next->peak_bytes < least) break;
      tried = beside;
    }
    return std::nullopt;
  }

  // The later one, if it fits and is faster, or needs less. The bound stays that of the limit itself, seconds and plays add up.
  static void take(GraphLayout& best, const GraphLayout& next) {
    const bool better = next.fits == best.fits
                            ? (next.fits ? next.step_us < best.step_us : next.peak_bytes < best.peak_bytes)
                            : next.fits;
    GraphLayout sum = better ? next : best;
    sum.lower_bound_us = best.lower_bound_us;
    sum.optimal = false;
    sum.times_played = best.times_played + next.times_played;
    sum.solve_seconds = best.solve_seconds + next.solve_seconds;
    sum.statement_seconds = best.statement_seconds + next.statement_seconds;
    sum.play_seconds = best.play_seconds + next.play_seconds;
    best = std::move(sum);
  }

  // … of this network.
  Result<GraphLayout> described(Result<GraphLayout> out) const {
    if (!out.ok()) return out;
    out->operators = static_cast<int>(graph.ops.size());
    out->operator_kinds = static_cast<int>(network.strategies.size());
    for (const auto& s : network.strategies) out->strategies += static_cast<int>(s.size());
    out->nodes = static_cast<int>(network.costs.nodes.size());
    out->edges = static_cast<int>(network.costs.edges.size());
    out->pair_kinds = static_cast<int>(network.costs.pairs.size());
    out->cut_kinds = network.cut_kinds;
    out->optimal = out->optimal && network.cut_kinds == 0;
    out->network_seconds = network_seconds;
    return out;
  }

  const Graph graph;
  const Cluster cluster;
  const LayoutSpec spec;
  const plan::ModelInfo info;
  Space space;
  const Storage storage;
  const Weights weights;
  const Network network;
  double network_seconds = 0;
  Solving usual, lowered;  // at the limit itself, below it
  MaterializeCache cache;
  std::map<std::pair<std::string, std::vector<int>>, Result<Written>> written_;
};

Chooser::Chooser(std::unique_ptr<State> s) : state_(std::move(s)) {}
Chooser::Chooser(Chooser&&) noexcept = default;
Chooser& Chooser::operator=(Chooser&&) noexcept = default;
Chooser::~Chooser() = default;

Result<Chooser> Chooser::make(const Graph& graph, const Cluster& cluster, const LayoutSpec& spec) {
  if (const auto wrong = fault(cluster, spec)) return *wrong;
  Watch watch;
  auto state = std::make_unique<State>(graph, cluster, spec);
  state->network_seconds = watch.lap();
  return Chooser(std::move(state));
}

std::optional<layouts::Outcome> Chooser::none() const { return state_->none; }

Result<GraphLayout> Chooser::choose(const std::string& rows) {
  state_->none.reset();
  if (state_->network.ended) return state_->none_in_time();
  return state_->described(state_->choose(rows.empty() || rows.back() == '\n' ? rows : rows + "\n"));
}

Result<GraphLayout> Chooser::cheapest() {
  if (state_->network.ended) return state_->none_in_time();
  Result<State::Chosen> chosen = state_->cheapest({}, state_->spec.memory_limit);
  if (!chosen.ok()) return chosen.diagnostics;
  return state_->described(std::move(chosen->layout));
}

Result<double> Chooser::cost_of(const std::string& lines) {
  State& s = *state_;
  if (s.network.ended) return s.none_in_time();
  const Result<layouts::Locks> stated =
      locks_of(s.space, s.network, s.storage, s.info, s.weights, devices_line(s.spec.axes) + lines, false);
  if (!stated.ok()) return stated.diagnostics;
  layouts::CostNetwork costs = s.network.costs;  // what a plan costs does not depend on whether it fits
  costs.limits.clear();
  for (layouts::Kind& k : costs.kinds) k.memory.clear();
  layouts::Solver solver(layouts::without_dominated(costs, *stated).network);
  const layouts::Answer answer = solver.solve({});
  if (answer.outcome != layouts::Outcome::found || answer.cost >= kNever)
    return error("the plan reads a tensor in more ways than the network has");
  return answer.cost;
}

Result<GraphLayout> choose_layouts(const Graph& graph, const Cluster& cluster, const LayoutSpec& spec,
                                   const std::string& rows) {
  Result<Chooser> chooser = Chooser::make(graph, cluster, spec);
  if (!chooser.ok()) return chooser.diagnostics;
  return chooser->choose(rows);
}

Result<double> cost_of_lines(const Graph& graph, const Cluster& cluster, const LayoutSpec& spec,
                             const std::string& lines) {
  Result<Chooser> chooser = Chooser::make(graph, cluster, spec);
  if (!chooser.ok()) return chooser.diagnostics;
  return chooser->cost_of(lines);
}

}  // namespace planscope::splits
