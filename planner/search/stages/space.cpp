#include "planner/search/stages/space.h"

#include <algorithm>
#include <array>
#include <future>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace planscope::stages {
namespace {

constexpr std::array<std::int64_t, 5> kPieces = {2, 3, 4, 6, 8};
constexpr int kLevels = 3;            // of layers that are in pieces, beside all
constexpr std::int64_t kSizesWork = 20'000;  // (solver/deadline.h) of what is measured for one size of all axes
constexpr double kWorthwhile = 0.98;  // of a cost: splits that are found have to be below that to be tried beside

bool valid(const Configuration& c) {
  if (c.zero > 0 && c.data == 1) return false;
  // Parameters gathered anew for every micro-batch of every stage: only where there is one stage.
  return c.zero != 3 || c.pipe == 1;
}

}  // namespace

bool may_save_memory(const std::vector<plan::Plan>& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const plan::Plan& p) {
    return std::any_of(p.statements.begin(), p.statements.end(), [](const plan::Statement& s) {
      return std::holds_alternative<plan::TransStatement>(s.body) ||
             std::holds_alternative<plan::AlgorithmStatement>(s.body) ||
             std::holds_alternative<plan::UseStatement>(s.body);
    });
  });
}

std::vector<std::int64_t> divisors(std::int64_t n) {
  std::vector<std::int64_t> out, large;
  for (std::int64_t i = 1; i * i <= n; ++i) {
    if (n % i != 0) continue;
    out.push_back(i);
    if (i * i < n) large.push_back(n / i);
  }
  out.insert(out.end(), large.rbegin(), large.rend());
  return out;
}

Space::Space(const Graph& graph, const ProbeModels& models, const Cluster& cluster, const ModelShape& shape,
             const Settings& settings, const Deadline& deadline, MaterializeCache& cache, std::int64_t count,
             std::int64_t size, std::int64_t least_memory)
    : tensor(size),
      devices_(count),
      models_(models),
      cluster_(cluster),
      shape_(shape),
      settings_(settings),
      least_memory_(least_memory),
      open_(may_save_memory(settings.rows)),
      cache_(cache),
      found_(graph, models, cluster, shape, settings, deadline, count, size) {}

// With every size of the other axes and every ZeRO.
template <class Visit>
void Space::for_sizes(std::int64_t micro_batch, const Visit& visit) const {
  for (std::int64_t pipe : divisors(devices_ / tensor)) {
    const std::int64_t data = devices_ / tensor / pipe;
    if (pipe > std::max(1, shape_.unit_count()) || shape_.batch_size % (data * micro_batch) != 0) continue;
    for (int zero : {0, 1, 2, 3}) {
      const Configuration c{pipe,        data,
                            tensor,      shape_.batch_size / data / micro_batch,
                            micro_batch, tensor > 1 && shape_.sequence,
                            zero,        {},
                            {},          !settings_.rows.empty()};
      if (!visit(c)) return;
    }
  }
}

// Fewer micro-batches than stages: one micro-batch passes all stages, one after the other, which takes the longer the
// fewer there are. They are measured only where nothing else takes less than that.
bool Space::later(const Configuration& c) const { return c.micro_batches < c.pipe && shared_work_us > 0; }

bool Space::wants(const Wanted& wanted) const {
  bool any = false;
  for (std::int64_t micro_batch : divisors(shape_.batch_size))
    for_sizes(micro_batch, [&](const Configuration& c) { return !(any = any || wanted(c)); });
  return any;
}

// Whether some plan of these sizes fits, by the costs of its layers, or may; `single`: if there were one micro-batch alone.
bool Space::some_fits(const Configuration::Sizes& sizes, std::int64_t memory, bool single) {
  const auto [known, fresh] = some_fits_.try_emplace({sizes, memory, single}, false);
  const auto [first, end] = measured_.at(sizes);
  for (std::size_t i = first; fresh && !known->second && i < end; ++i) {
    Point p = points[i];
    if (!p.refined && !p.configuration.has_template())
      continue;  // less is split than in the usual one: it needs no less
    if (single) p.configuration.micro_batches = 1;
    std::optional<Costs> cost = at_best(p);
    if (cost) cost->limit(cluster_, memory);
    known->second = !cost || cost->some_fits();
  }
  return known->second;
}

// At least with those of single samples: their layers are measured once for all, and something may fit. Larger micro-batches need
// more memory: as much as smaller ones, at least, if there is a single one, which has no gradients to add to.
void Space::fill(const Wanted& wanted, std::int64_t memory, const Deadline& deadline, const Enough& enough) {
  filled = false;
  left_out.clear();
  bool ended = false, fits = true;
  const std::int64_t most = deadline.work_left();
  std::map<std::tuple<std::int64_t, std::int64_t, int>, Configuration::Sizes>
      too_large_within;  // by pipe, data and ZeRO
  for (std::int64_t micro_batch : divisors(shape_.batch_size)) {
    bool any = false, some = false;
    for_sizes(micro_batch, [&](Configuration c) {
      if (!wanted(c)) {
        left_out.push_back(std::move(c));
        return true;
      }
      const std::tuple sizes(c.pipe, c.data, c.zero);
      const bool single = c.micro_batches == 1;
      const auto smaller = too_large_within.find(sizes);
      if (!fits && !(single && c.pipe == 1)) return true;
      if (smaller != too_large_within.end() && !(single && some_fits(smaller->second, memory, true))) return true;
      ended = deadline.over() || work >= most || (enough && enough(points, micro_batch));
      if (ended) return false;
      const auto [measured, fresh] = measured_.try_emplace(c.sizes(), points.size(), points.size());
      if (fresh && later(c)) add_waiting(c);
      if (later(c)) return true;
      if (fresh) {
        work += kSizesWork;
        add_points(c, splits_for(c));
        if (c.pipe > 1 && cluster_.kinds.size() > 1) {
          Configuration reversed = c;
          reversed.reversed = true;
          add_points(reversed, splits_for(reversed));
        }
        measured->second.second = points.size();
      }
      any = true;
      some = some || measured->second.second > measured->second.first;
      if (valid(c) && !some_fits(c.sizes(), memory, false)) too_large_within.emplace(sizes, c.sizes());
      return true;
    });
    if (ended) return;
    fits = fits && (!any || some);
  }
  filled = true;
}

void Space::add_waiting(Configuration c) {
  if (!valid(c)) return;
  const double bound_us = shared_work_us * static_cast<double>(c.pipe) / static_cast<double>(c.micro_batches);
  std::vector<Configuration> all = with_less_split(c);
  all.insert(all.begin(), std::move(c));
  for (Configuration& next : all)
    for (const bool reversed : {false, true}) {
      if (reversed && cluster_.kinds.size() == 1) continue;
      next.reversed = reversed;
      for (const bool offload : {false, true}) {
        next.offload = offload;
        if (!offload || may_offload()) points.push_back({next, bound_us, false});
      }
    }
}

// Where what stands between tensor-parallel products, the vocabulary, or both are whole on every device.
std::vector<Configuration> Space::with_less_split(const Configuration& usual) const {
  std::vector<Configuration> out;
  for (const bool sequence : {true, false})
    for (const bool vocabulary : {true, false}) {
      Configuration c = usual;
      c.sequence = c.sequence && sequence;
      c.vocabulary = c.vocabulary && (vocabulary || tensor == 1 || shape_.vocabulary.empty());
      if (c != usual && std::find(out.begin(), out.end(), c) == out.end()) out.push_back(std::move(c));
    }
  return out;
}

// Each is looked for beside those of the smaller micro-batches, whatever is wanted: so that it is always the same. Meanwhile the
// layers of the configuration are measured.
const std::vector<std::string>& Space::splits_for(const Configuration& c) {
  for (std::int64_t m : divisors(shape_.batch_size)) {
    if (m > c.micro_batch || splits_.contains(m)) continue;
    bool asked = false;
    for_sizes(m, [&](const Configuration& of_m) { return !(asked = !later(of_m)); });
    std::vector<std::string>& splits = splits_[m];
    if (!asked) continue;
    std::future<std::vector<std::string>> found = std::async(std::launch::async, [&] { return found_.at(m); });
    if (valid(c)) costs(c);
    splits = found.get();
  }
  return splits_[c.micro_batch];
}

namespace {

// The best that layers in pieces can be: they need nothing more at work, and not all of a layer is computed again.
Space::Costs in_pieces(Space::Costs c) {
  for (std::vector<Ground>* all : {&c.grounds, &c.early})
    for (Ground& g : *all)
      for (Layer& l : g.layers) {
        l.working_again = 0;
        l.again_ns = l.again_ns * 4 / 5;
      }
  return c;
}

// The best that an interlaced pipeline can be: first and last layer are as the others, what they had beside is on all stages.
Space::Costs without_vocabulary(Space::Costs c) {
  c.spec.any_order = true;
  for (Ground& g : c.grounds) {
    const Layer usual = g.layers[1];
    std::int64_t beside = 0, state = 0;
    for (Layer* l : {&g.layers.front(), &g.layers.back()}) {
      beside += std::max<std::int64_t>(0, l->time_ns - usual.time_ns);
      state += std::max<std::int64_t>(0, l->parameters.state - usual.parameters.state);
      *l = usual;
    }
    c.spec.everywhere_ns = std::max(c.spec.everywhere_ns, beside / c.spec.stages);
    g.memory -= state / c.spec.stages;
    g.shared.clear();
  }
  return c;
}

}  // namespace

// Later, if the best that it can come to is enough below what there is.
void Space::add_promising(Configuration c, Costs at_best, const Measured& plain) {
  const std::optional<Partition> best = partition(at_best.grounds, at_best.spec);
  if (!best) return;
  const auto promises = [&](const std::optional<Partition>& with, const std::optional<Partition>& without) {
    return !with || !without ||
           static_cast<double>(with->step_ns) < kWorthwhile * static_cast<double>(without->step_ns);
  };
  if (!promises(best, plain.cut)) {
    Costs usual = plain.costs;
    for (Costs* some : {&usual, &at_best}) some->limit(cluster_, least_memory_);
    if (!promises(partition(at_best.grounds, at_best.spec), partition(usual.grounds, usual.spec))) return;
  }
  points.push_back({std::move(c), static_cast<double>(best->step_ns) / 1000, false});
}

// With layers offloaded or in pieces, where those that are kept may not fit.
std::optional<Space::Measured> Space::add_with_less_memory(const Configuration& usual) {
  std::optional<Measured> plain = add_point(usual);
  if (!plain || plain->lean) return plain;
  if (settings_.templates.coshard && !shape_.blocks.empty()) {
    Configuration c = usual;
    c.coshard = kPieces.front();
    add_promising(std::move(c), in_pieces(plain->costs), *plain);
  }
  if (may_offload()) {
    Configuration c = usual;
    c.offload = true;
    add_point(std::move(c));
  }
  return plain;
}

// ZeRO-3 gathers parameters beside a micro-batch: where less is split, that has the network more for itself. Measured later, where
// nothing else is below what a micro-batch takes without them.
void Space::add_for_gathers(Configuration c, const Measured& plain) {
  const std::optional<std::int64_t> ns = whole_ns(key_of(c, plain.costs.kinds.front()));
  if (!ns) return;
  const double bound_us = static_cast<double>(c.micro_batches * *ns) / 1000;
  points.push_back({c, bound_us, false});
  if (plain.lean || !may_offload()) return;
  c.offload = true;
  points.push_back({std::move(c), bound_us, false});
}

bool Space::may_offload() const { return shape_.calls == 1 && cluster_.host.bandwidth > 0; }

// With what templates add: what asks for more probes only where it promises more, and later.
void Space::add_points(const Configuration& usual, const std::vector<std::string>& found) {
  const Templates& allowed = settings_.templates;
  const std::optional<Measured> plain = add_with_less_memory(usual);
  if (plain)
    for (const Configuration& c : with_less_split(usual)) {
      if (shorter(c, usual, plain->costs.kinds))
        add_with_less_memory(c);
      else if (usual.zero == 3)
        add_for_gathers(c, *plain);
    }
  if (!found.empty()) {
    Configuration c = usual;
    c.splits = found;
    add_with_less_memory(c);
  }
  if (!plain) return;
  if (usual.pipe == 1 || usual.micro_batches == 1) return;  // nothing to order
  if (allowed.interlaced && !shape_.vocabulary.empty() && shape_.calls == 1 && shape_.unit_count() > 2) {
    Configuration c = usual;
    c.interlaced = true;
    c.order = Order::searched;
    add_promising(std::move(c), without_vocabulary(plain->costs), *plain);
  }
  if (allowed.three_f1b && shape_.calls > 1)
    for (Order order : {Order::table7, Order::searched}) {
      Configuration c = usual;
      c.order = order;
      add_point(std::move(c));
    }
}

// The numbers of pieces and the layers in pieces with which the best cut takes least.
Configuration Space::best_pieces(const Configuration& c) {
  Configuration best = c;
  std::optional<std::int64_t> least;
  for (const std::vector<bool>& layers : layers_for_pieces(c))
    for (const std::int64_t n : kPieces) {
      Configuration next = c;
      next.coshard = n;
      next.in_pieces = layers;
      const std::optional<Costs> cost = costs(next);
      const std::optional<Partition> cut = cost ? partition(cost->grounds, cost->spec) : std::nullopt;
      if (!cut || (least && cut->step_ns >= *least)) continue;
      least = cut->step_ns;
      best = std::move(next);
    }
  return best;
}

// Layers that need much to work with when they are computed again, those that need most first: with the next ones that need
// clearly less, and so on; at last all.
std::vector<std::vector<bool>> Space::layers_for_pieces(const Configuration& c) {
  std::vector<std::vector<bool>> out;
  Configuration whole = c;
  whole.coshard = 1;
  if (const std::optional<Costs> cost = costs(whole)) {
    std::int64_t below = std::numeric_limits<std::int64_t>::max();
    for (int level = 0; level < kLevels; ++level) {
      std::int64_t most = 0;
      for (const Layer& l : cost->grounds[0].layers)
        if (l.working_again < below) most = std::max(most, l.working_again);
      below = most / 4 * 3;
      std::vector<bool> layers;
      for (const Layer& l : cost->grounds[0].layers) layers.push_back(l.working_again >= below);
      if (std::find(layers.begin(), layers.end(), false) == layers.end()) break;
      out.push_back(std::move(layers));
    }
  }
  out.emplace_back();
  return out;
}

std::optional<Space::Costs> Space::at_best(const Point& p) {
  Configuration c = p.configuration;
  if (p.refined) return costs(c);
  if (!c.has_template()) {
    const std::optional<Configuration> known = smaller(std::move(c));
    return known ? costs(*known) : std::nullopt;
  }
  const bool pieces = std::exchange(c.coshard, 1) > 1;
  c.interlaced = false;
  c.order = Order::one_f_one_b;
  std::optional<Costs> usual = costs(c);
  if (!usual) return std::nullopt;
  return pieces ? in_pieces(std::move(*usual)) : without_vocabulary(std::move(*usual));
}

std::optional<Point> Space::refined(const Point& point) {
  const std::size_t before = points.size();
  add_point(point.configuration.coshard > 1 ? best_pieces(point.configuration) : point.configuration);
  if (points.size() == before) return std::nullopt;
  Point out = std::move(points.back());
  points.pop_back();
  return out;
}

std::optional<Space::Measured> Space::add_point(Configuration c) {
  if (!valid(c)) return std::nullopt;
  std::optional<Costs> cost = costs(c);
  if (!cost) {  // layers that do not run one after the other cannot be cut, but repeated on all devices
    if (c.pipe == 1 && c.coshard == 1) points.push_back({c, 0});
    return std::nullopt;
  }
  Measured out{std::move(*cost), {}};
  out.cut = partition(out.costs.grounds, out.costs.spec);
  out.lean = out.cut && out.cut->lean();
  if (out.lean && least_memory_ < std::numeric_limits<std::int64_t>::max()) {
    Costs least = out.costs;
    least.limit(cluster_, least_memory_);
    const std::optional<Partition> then = partition(least.grounds, least.spec);
    out.lean = then && then->lean();
  }
  if (!out.cut) too_large.push_back(c);
  const std::optional<Partition> cut = out.cut ? out.cut : out.costs.leanest();
  if (!cut) return out;
  if (out.lean && (c.coshard > 1 || c.offload)) return out;  // there is nothing to be in pieces, or to be offloaded
  c.stages = cut->layers;
  c.recompute = cut->recompute;
  const std::int64_t bound = std::max(out.costs.bound_ns().value_or(cut->step_ns), network_bound_ns(c));
  points.push_back({std::move(c), static_cast<double>(bound) / 1000, true, out.cut.has_value()});
  return out;
}

}  // namespace planscope::stages
