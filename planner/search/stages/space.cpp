#include "planner/search/stages/space.h"

#include <algorithm>
#include <array>
#include <future>
#include <limits>
#include <utility>

#include "engine/base/text.h"
#include "engine/cluster/communication.h"
#include "planner/search/splits/choose.h"

namespace planscope::stages {
namespace {

constexpr std::array<std::int64_t, 5> kPieces = {2, 3, 4, 6, 8};
constexpr int kLevels = 3;            // of layers that are in pieces, beside all
constexpr double kSplitsShare = 0.2;  // of the time, for splits
constexpr double kMemoryError = 0.1;  // by which the costs of layers may be wrong: predictions say
constexpr double kWorthwhile = 0.98;  // of a cost: splits that are found have to be below that to be tried beside

bool valid(const Configuration& c) {
  if (c.zero > 0 && c.data == 1) return false;
  // Parameters gathered anew for every micro-batch of every stage: only where there is one stage.
  return c.zero != 3 || c.pipe == 1;
}

}  // namespace

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

Space::Space(const Graph& graph, const Cluster& cluster, const ModelShape& shape, const Settings& settings,
             const Deadline& deadline, std::int64_t count, std::int64_t size)
    : tensor(size),
      devices_(count),
      graph_(graph),
      cluster_(cluster),
      shape_(shape),
      settings_(settings),
      splits_deadline_(deadline.within(settings.seconds * kSplitsShare)) {}

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

void Space::fill(const Wanted& wanted, const Deadline& deadline) {
  filled = false;
  left_out.clear();
  bool ended = false, fits = true;  // larger micro-batches need more memory still
  for (std::int64_t micro_batch : divisors(shape_.batch_size)) {
    bool any = false, some = false;
    for_sizes(micro_batch, [&](Configuration c) {
      if (!wanted(c)) {
        left_out.push_back(std::move(c));
        return true;
      }
      if (!fits) return true;
      ended = deadline.stopped() || settings_.seconds <= 0 || (deadline.expired() && !points.empty());
      if (ended) return false;
      const auto [measured, fresh] = measured_.try_emplace(c.sizes(), points.size());
      if (fresh && later(c)) add_waiting(c);
      if (later(c)) return true;
      if (fresh) {
        add_points(c, splits_for(micro_batch));
        if (c.pipe > 1 && cluster_.kinds.size() > 1) {
          c.reversed = true;
          add_points(c, splits_for(micro_batch));
        }
        measured->second = points.size() - measured->second;
      }
      any = true;
      some = some || measured->second > 0;
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
  points.push_back({c, bound_us, false});
  if (cluster_.kinds.size() == 1) return;
  c.reversed = true;
  points.push_back({std::move(c), bound_us, false});
}

// Each is looked for beside those of the smaller micro-batches, whatever is wanted: so that it is always the same.
const std::vector<std::string>& Space::splits_for(std::int64_t micro_batch) {
  for (std::int64_t m : divisors(shape_.batch_size)) {
    if (m > micro_batch || splits_.contains(m)) continue;
    bool asked = false;
    for_sizes(m, [&](const Configuration& c) { return !(asked = !later(c)); });
    splits_[m] = asked ? find_splits(m) : std::vector<std::string>{};
  }
  return splits_[micro_batch];
}

namespace {

// The best that layers in pieces can be: they need nothing more at work, and not all of a layer is computed again.
Space::Costs in_pieces(Space::Costs c) {
  for (Ground& g : c.grounds)
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
      state += std::max<std::int64_t>(0, l->state - usual.state);
      *l = usual;
    }
    c.spec.everywhere_ns = std::max(c.spec.everywhere_ns, beside / c.spec.stages);
    g.memory -= state / c.spec.stages;
  }
  return c;
}

}  // namespace

// With what templates add: what asks for more probes only where it promises more, and later.
void Space::add_points(const Configuration& usual, const std::vector<std::string>& found) {
  const Templates& allowed = settings_.templates;
  const std::optional<Measured> plain = add_point(usual);
  if (!found.empty()) {
    Configuration c = usual;
    c.splits = found;
    add_point(std::move(c));
  }
  if (!plain) return;
  // Later, if the best that they can come to is enough below what there is.
  const auto add_promising = [&](Configuration c, const Costs& at_best) {
    const std::optional<Partition> best = partition(at_best.grounds, at_best.spec);
    if (!best) return;
    const auto step = static_cast<double>(best->step_ns);
    if (plain->cut && step >= kWorthwhile * static_cast<double>(plain->cut->step_ns)) return;
    points.push_back({std::move(c), step / 1000, false});
  };
  if (allowed.coshard && !plain->lean() && !shape_.blocks.empty()) {
    Configuration c = usual;
    c.coshard = kPieces.front();
    add_promising(std::move(c), in_pieces(plain->costs));
  }
  if (shape_.calls == 1 && cluster_.host.bandwidth > 0 && !plain->lean()) {
    Configuration c = usual;
    c.offload = true;
    add_point(std::move(c));
  }
  if (usual.pipe == 1 || usual.micro_batches == 1) return;  // nothing to order
  if (allowed.interlaced && !shape_.vocabulary.empty() && shape_.calls == 1 && shape_.unit_count() > 2) {
    Configuration c = usual;
    c.interlaced = true;
    c.order = Order::searched;
    add_promising(std::move(c), without_vocabulary(plain->costs));
  }
  if (allowed.three_f1b && shape_.calls > 1)
    for (Order order : {Order::table7, Order::searched}) {
      Configuration c = usual;
      c.order = order;
      add_point(std::move(c));
    }
}

bool Space::Measured::lean() const {
  return cut && std::all_of(cut->recompute.begin(), cut->recompute.end(), [](int n) { return n == 0; });
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

namespace {

void find_grounds(const Cluster& cluster, const Configuration& c, Space::Costs& out) {
  const std::int64_t size = c.data * c.tensor;
  for (std::int64_t s = 0; s < c.pipe; ++s) {
    const std::int64_t first = c.place(s) * size;
    std::vector<int> kinds = cluster.kinds_in(first, first + size);
    const auto known = std::find(out.kinds.begin(), out.kinds.end(), kinds);
    out.spec.ground.push_back(static_cast<int>(known - out.kinds.begin()));
    if (known == out.kinds.end()) out.kinds.push_back(std::move(kinds));
  }
}

}  // namespace

// With the largest micro-batch that is measured already: smaller ones take less time and less memory.
std::optional<Configuration> Space::smaller(Configuration c) const {
  Costs grounds;
  find_grounds(cluster_, c, grounds);
  const std::vector<std::int64_t> all = divisors(c.micro_batch);
  for (auto size = all.rbegin(); size != all.rend(); ++size) {
    c.micro_batch = *size;
    const bool known = std::all_of(grounds.kinds.begin(), grounds.kinds.end(), [&](const std::vector<int>& kinds) {
      ProbeKey key = key_of(c, kinds);
      key.recompute = true;
      if (probes_.contains(key)) return true;
      key.only = !key.only;
      return probes_.contains(key);
    });
    if (known) return c;
  }
  return std::nullopt;
}

std::optional<Point> Space::refined(const Point& point) {
  const std::size_t before = points.size();
  add_point(point.configuration.coshard > 1 ? best_pieces(point.configuration) : point.configuration);
  if (points.size() == before) return std::nullopt;
  Point out = std::move(points.back());
  points.pop_back();
  return out;
}

void Space::Costs::limit(const Cluster& cluster, std::int64_t bytes) {
  for (std::size_t g = 0; g < grounds.size(); ++g)
    grounds[g].memory = std::min(bytes, cluster.least_memory(kinds[g]).count) - elsewhere;
}

std::optional<Partition> Space::Costs::leanest() const {
  const std::optional<std::int64_t> lacking = shortage(grounds, spec);
  const auto too_much = [&](const Ground& g) {
    return static_cast<double>(*lacking) > kMemoryError * static_cast<double>(g.memory);
  };
  if (!lacking || std::any_of(grounds.begin(), grounds.end(), too_much)) return std::nullopt;
  PartitionSpec all = spec;
  all.less.assign(static_cast<std::size_t>(spec.stages), -*lacking);
  return partition(grounds, all);
}

const Ground& Space::Costs::ground(std::size_t stage) const {
  return grounds[static_cast<std::size_t>(spec.ground[stage])];
}

std::vector<std::int64_t> Space::Costs::stage_bytes(const Configuration& c) const {
  std::vector<std::int64_t> out;
  int first = 0;
  for (std::size_t s = 0; s < c.stages.size(); ++s) {
    const int end = first + c.stages[s];
    out.push_back(stage_memory(ground(s).layers, spec, static_cast<int>(s), first, end, c.recompute[s]));
    first = end;
  }
  return out;
}

std::optional<Space::Probes> Space::probes_of(ProbeKey key, const Configuration& c) {
  Probes out;
  out.once = probe_of(key);
  if (!out.once) return std::nullopt;
  if (c.offload) return out;
  key.recompute = true;
  if (c.coshard == 1 || !c.in_pieces.empty()) {
    out.whole = probe_of(key);
    if (!out.whole) return std::nullopt;
  }
  if (c.coshard > 1) {
    key.coshard = c.coshard;
    out.pieces = probe_of(key);
    if (!out.pieces) return std::nullopt;
  }
  return out;
}

// What is offloaded costs no time of the device (Layer::copied), and is there while its layer is at work.
LayerCost Space::Probes::again(const Configuration& c, std::size_t i) const {
  if (!c.offload) return (c.layer_in_pieces(static_cast<int>(i)) ? pieces : whole)->layers[i];
  LayerCost out = once->layers[i];
  out.working_bytes += std::exchange(out.kept_bytes, 0);
  return out;
}

Layer Space::layer_of(const Probe& once, const LayerCost& a, const LayerCost& b, const Network& network,
                      const Configuration& c) const {
  const auto taken = [&](std::int64_t ns) { return static_cast<std::int64_t>(once.share * static_cast<double>(ns)); };
  Layer l;
  l.time_ns = taken(a.forward_ns + a.backward_ns);
  l.forward_ns = taken(a.forward_ns);
  l.through_ns = taken(a.first_ns + a.backward_ns);
  l.again_ns = std::max<std::int64_t>(0, taken(b.forward_ns + b.backward_ns) - l.time_ns);
  l.copied = c.offload ? a.kept_bytes : 0;
  l.kept = a.kept_bytes;
  l.kept_again = b.kept_bytes;
  l.working = a.working_bytes;
  l.working_again = b.working_bytes;
  l.state = state_bytes(a, c);
  l.reduce_ns = c.zero >= 2 ? 0 : network.share(network.reduce_ns, a);
  l.gather_ns = c.zero == 1 || c.zero == 2 ? network.share(network.gather_ns, a) : 0;
  return l;
}

std::optional<Space::Costs> Space::costs(const Configuration& c) {
  Costs out;
  PartitionSpec& spec = out.spec;
  spec.stages = static_cast<int>(c.pipe);
  spec.micro_batches = c.micro_batches;
  spec.any_order = c.order != Order::one_f_one_b || shape_.calls > 1;
  // Each task on all devices is one more that a micro-batch waits for on its way.
  if (c.interlaced) spec.more_under_way = 2;
  find_grounds(cluster_, c, out);
  std::optional<Network> network;
  for (const std::vector<int>& kinds : out.kinds) {
    const std::optional<Probes> p = probes_of(key_of(c, kinds), c);
    if (!p) return std::nullopt;
    if (!network) network = network_of(*p->once, c);
    const LayerCost& everywhere = p->once->everywhere;
    const auto everywhere_ns = static_cast<double>(everywhere.forward_ns + everywhere.backward_ns);
    spec.everywhere_ns = std::max(spec.everywhere_ns, static_cast<std::int64_t>(p->once->share * everywhere_ns));
    out.elsewhere = std::max(out.elsewhere, state_bytes(everywhere, c) + everywhere.working_bytes);
    Ground& ground = out.grounds.emplace_back();
    for (std::size_t i = 0; i < p->once->layers.size(); ++i)
      ground.layers.push_back(layer_of(*p->once, p->once->layers[i], p->again(c, i), *network, c));
  }
  out.limit(cluster_, std::numeric_limits<std::int64_t>::max());
  for (Ground& g : out.grounds) {
    g.host = cluster_.host.memory.count;
    g.host_rate = cluster_.host.bandwidth / 1e9;
  }
  return out;
}

// Layers take together what a micro-batch with borders takes: computed once, and computed again, as that may hide what borders
// expose. (Layers in pieces: as without.)
void Space::with_borders(std::vector<Layer>& layers, ProbeKey key, const Configuration& c) {
  const auto longer = [&](const auto& time_of) {
    std::int64_t all = 0;
    for (const Layer& l : layers) all += time_of(l);
    const std::optional<std::int64_t> most = bordered_ns(key);
    return most && all > 0 ? static_cast<double>(*most) / static_cast<double>(all) : 1.0;
  };
  const auto scaled = [](double by, std::int64_t ns) {
    return static_cast<std::int64_t>(by * static_cast<double>(ns));
  };
  const auto again_of = [](const Layer& l) { return l.time_ns + l.again_ns; };
  const double once = longer([](const Layer& l) { return l.time_ns; });
  key.recompute = true;
  const double again = c.offload ? once : c.coshard > 1 ? 1 : longer(again_of);
  for (Layer& l : layers) {
    const std::int64_t twice = scaled(again, again_of(l));
    for (std::int64_t* ns : {&l.time_ns, &l.forward_ns, &l.through_ns}) *ns = scaled(once, *ns);
    l.again_ns = std::max<std::int64_t>(0, twice - l.time_ns);
  }
}

std::optional<std::int64_t> Space::bordered_ns(const ProbeKey& key) {
  const auto [known, fresh] = bordered_.try_emplace(key);
  if (fresh) known->second = micro_batch_ns(graph_, shape_, cluster_, key, settings_.simulation, cache_, true).value;
  return known->second;
}

std::optional<Space::Costs> Space::bordered_costs(const Configuration& c) {
  std::optional<Costs> out = costs(c);
  if (!out || (c.zero != 3 && !c.offload)) return out;
  for (std::size_t g = 0; g < out->grounds.size(); ++g) {
    ProbeKey key{c.tensor, c.micro_batch, c.sequence, false, c.micro_batches == 1, c.splits};
    key.kinds = out->kinds[g];
    if (c.zero == 3) key.data = c.data;
    with_borders(out->grounds[g].layers, key, c);
    if (c.zero != 3) continue;
    key.only = false;
    const std::optional<Probes> p = probes_of(key, c);
    if (!p) return out;
    for (std::size_t i = 0; i < out->grounds[g].layers.size(); ++i) {
      Layer& l = out->grounds[g].layers[i];
      l.kept = p->once->layers[i].kept_bytes;
      l.working = p->once->layers[i].working_bytes;
      const LayerCost again = p->again(c, i);
      l.kept_again = again.kept_bytes;
      l.working_again = again.working_bytes;
    }
  }
  return out;
}

// Those of a tensor-parallel group that promise more than the template: of a model that the template knows they mostly do
// not. Lines of a smaller micro-batch are taken again where they cost nearly as little.
std::vector<std::string> Space::find_splits(std::int64_t micro_batch) {
  if (tensor == 1 || shape_.batch_size % micro_batch != 0 || splits_deadline_.expired()) return found_;
  const Result<Graph> one = resize(graph_, {{shape_.batch, micro_batch}});
  if (!one.ok()) return {};
  splits::LayoutSpec spec{.axes = {{"tensor", tensor}}};
  spec.micro_batches = std::max<std::int64_t>(1, shape_.batch_size * tensor / devices_ / micro_batch);
  spec.optimizer_state_bytes = settings_.simulation.optimizer_state_bytes;
  spec.costs = settings_.simulation.costs;
  spec.ended = [this] { return splits_deadline_.expired(); };
  const auto cost = [&](const std::string& lines) { return splits::cost_of_lines(*one, cluster_, spec, lines); };
  const Result<double> usual =
      cost("let L = " + shape_.selection() + "\n" + tensor_lines(shape_, tensor, shape_.sequence));
  const Result<double> again = found_.empty() ? usual : cost(join(found_, "\n") + "\n");
  const bool reused = !found_.empty() && again.ok() && (!usual.ok() || *again < *usual * kWorthwhile);
  if (usual.ok()) spec.below_us = *usual * kWorthwhile;
  if (reused) spec.below_us = *again * kWorthwhile;
  Result<splits::GraphLayout> found = splits::choose_layouts(*one, cluster_, spec);
  if (found.ok() && found->written) found_ = std::move(found->statements);
  return (found.ok() && found->written) || reused ? found_ : std::vector<std::string>{};
}

std::optional<Space::Measured> Space::add_point(Configuration c) {
  if (!valid(c)) return std::nullopt;
  std::optional<Costs> cost = shape_.unit_count() > 0 ? costs(c) : std::nullopt;
  if (!cost) {  // layers that do not run one after the other cannot be cut, but repeated on all devices
    if (c.pipe == 1 && c.coshard == 1) points.push_back({c, 0});
    return std::nullopt;
  }
  Measured out{std::move(*cost), {}};
  out.cut = partition(out.costs.grounds, out.costs.spec);
  if (!out.cut) too_large.push_back(c);
  const std::optional<Partition> cut = out.cut ? out.cut : out.costs.leanest();
  if (!cut) return out;
  if (out.lean() && (c.coshard > 1 || c.offload)) return out;  // there is nothing to be in pieces, or to be offloaded
  c.stages = cut->layers;
  c.recompute = cut->recompute;
  const std::int64_t bound = std::max(cut->step_ns, network_bound_ns(c));
  points.push_back({std::move(c), static_cast<double>(bound) / 1000, true, out.cut.has_value()});
  return out;
}

ProbeKey Space::key_of(const Configuration& c, std::vector<int> kinds) const {
  ProbeKey key{c.tensor, c.micro_batch, c.sequence, false, c.micro_batches == 1, c.splits};
  if (c.interlaced) key.pipe = c.pipe;
  key.kinds = std::move(kinds);
  return key;
}

namespace {

// Of all layers together, what a micro-batch of the model takes.
double share_of(const Probe& p, const Result<std::int64_t>& most) {
  double all = static_cast<double>(p.everywhere.forward_ns + p.everywhere.backward_ns);
  for (const LayerCost& l : p.layers) all += static_cast<double>(l.forward_ns + l.backward_ns);
  return most.ok() && all > 0 ? static_cast<double>(*most) / all : 1.0;
}

}  // namespace

const Probe* Space::probe_of(const ProbeKey& key) {
  const auto found = probes_.find(key);
  if (found != probes_.end()) return found->second ? &*found->second : nullptr;
  ProbeKey other = key;  // how many micro-batches there are concerns the share alone
  other.only = !key.only;
  const auto same = probes_.find(other);
  const bool shares = !key.recompute && key.data == 1;
  std::future<Result<std::int64_t>> most;
  if (shares)
    most = std::async(std::launch::async, [&] {
      MaterializeCache cache;
      return micro_batch_ns(graph_, shape_, cluster_, key, settings_.simulation, cache);
    });
  Result<Probe> p = same != probes_.end() && same->second
                        ? Result<Probe>(*same->second)
                        : probe(graph_, shape_, cluster_, key, settings_.simulation, cache_);
  if (!p.ok() && refusal.empty()) refusal = p.diagnostics;
  auto& kept = probes_[key];
  if (p.ok()) kept = std::move(*p.value);
  if (kept && shares) kept->share = std::min(1.0, share_of(*kept, most.get()));  // without borders it is less
  return kept ? &*kept : nullptr;
}

Space::Network Space::network_of(const Probe& p, const Configuration& c) const {
  Network out;
  for (const LayerCost& l : p.layers) out.bytes += l.parameter_bytes;
  if (c.data == 1) return out;
  const DeviceGroup group{0, {{c.data, c.tensor}}, {}};
  const auto ns = [&](Collective kind) {
    return static_cast<std::int64_t>(1000 * collective_time(cluster_, kind, Bytes{out.bytes}, group).count);
  };
  out.reduce_ns = ns(c.zero == 0 ? Collective::all_reduce : Collective::reduce_scatter);
  out.gather_ns = ns(Collective::all_gather);
  return out;
}

std::int64_t Space::Network::share(std::int64_t all_ns, const LayerCost& l) const {
  if (bytes == 0) return 0;
  return static_cast<std::int64_t>(static_cast<double>(all_ns) * static_cast<double>(l.parameter_bytes) /
                                   static_cast<double>(bytes));
}

// ZeRO-2 and 3 exchange gradients in every micro-batch, ZeRO-3 gathers parameters twice: the network works that long.
std::int64_t Space::network_bound_ns(const Configuration& c) {
  if (c.zero < 2 || c.pipe > 1) return 0;
  ProbeKey key{c.tensor, c.micro_batch, c.sequence, false, c.micro_batches == 1};
  key.kinds = cluster_.kinds_in(0, c.devices());
  const Probe* once = probe_of(key);
  if (!once) return 0;
  const Network n = network_of(*once, c);
  return c.micro_batches * (n.reduce_ns + (c.zero == 3 ? 2 * n.gather_ns : 0));
}

// Parameters, gradients and the optimizer's state, as ZeRO splits them, and constants; with one micro-batch gradients come and
// go.
std::int64_t Space::state_bytes(const LayerCost& l, const Configuration& c) const {
  const std::int64_t optimizer = settings_.simulation.optimizer_state_bytes * l.parameters;
  const std::int64_t split = c.zero > 0 ? c.data : 1;
  const std::int64_t whole = c.zero == 3 ? 0 : l.parameter_bytes;        // the copy that is used
  const std::int64_t home = c.zero > 0 ? l.parameter_bytes / split : 0;  // the one that is kept
  const std::int64_t gradient = c.micro_batches == 1 ? 0 : c.zero >= 2 ? l.parameter_bytes / split : l.parameter_bytes;
  return whole + home + gradient + optimizer / split + l.constant_bytes;
}

}  // namespace planscope::stages
