// What layers take in the configurations of a Space, from its probes.
#include <algorithm>
#include <cmath>
#include <future>
#include <limits>
#include <utility>

#include "engine/cluster/communication.h"
#include "engine/program/bucket.h"
#include "planner/search/stages/space.h"

namespace planscope::stages {
namespace {

constexpr double kSaved = 1;  // of what a device has: what lines of the user may save, and no more is hoped for

double layers_ns(const Probe& p) {
  double all = static_cast<double>(p.everywhere.forward_ns + p.everywhere.backward_ns);
  for (const LayerCost& l : p.layers) all += static_cast<double>(l.forward_ns + l.backward_ns);
  return all;
}

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
    const auto measured = [&](const std::vector<int>& kinds) {
      ProbeKey key = key_of(c, kinds);
      key.recompute = true;
      return known(std::move(key));
    };
    if (std::all_of(grounds.kinds.begin(), grounds.kinds.end(), measured)) return c;
  }
  return std::nullopt;
}

void Space::Costs::limit(const Cluster& cluster, std::int64_t bytes) {
  for (std::vector<Ground>* all : {&grounds, &early})
    for (std::size_t g = 0; g < all->size(); ++g)
      (*all)[g].memory = std::min(bytes, cluster.least_memory(kinds[g]).count) - elsewhere;
}

std::optional<Partition> Space::Costs::leanest() const {
  const std::optional<Partition> usual = leanest_of(grounds);
  return usual || early.empty() ? usual : leanest_of(early);
}

std::optional<Partition> Space::Costs::leanest_of(const std::vector<Ground>& all_grounds) const {
  if (std::optional<Partition> fitting = partition(all_grounds, spec)) return fitting;
  if (!stages::some_fits(all_grounds, spec, tolerance(all_grounds))) return std::nullopt;
  const std::optional<std::int64_t> lacking = shortage(all_grounds, spec);
  PartitionSpec all = spec;
  all.less.assign(static_cast<std::size_t>(spec.stages), -*lacking);
  return partition(all_grounds, all);
}

std::int64_t Space::Costs::tolerance(const std::vector<Ground>& all_grounds) const {
  std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
  for (const Ground& g : all_grounds) smallest = std::min(smallest, g.memory);
  return std::max<std::int64_t>(
      0, static_cast<std::int64_t>((open ? kSaved : kMemoryError) * static_cast<double>(smallest)));
}

bool Space::Costs::some_fits() const {
  return stages::some_fits(grounds, spec, tolerance(grounds)) ||
         (!early.empty() && stages::some_fits(early, spec, tolerance(early)));
}

std::optional<std::int64_t> Space::Costs::bound_ns() const {
  if (open && !leanest()) return std::nullopt;
  std::optional<std::int64_t> out;
  for (const std::vector<Ground>* some : {&grounds, &early}) {
    std::vector<Ground> all = *some;
    for (Ground& g : all)
      g.memory = open ? std::numeric_limits<std::int64_t>::max() / 4
                      : g.memory + static_cast<std::int64_t>(kBoundError * static_cast<double>(g.memory));
    const std::optional<Partition> least = all.empty() ? std::nullopt : partition(all, spec);
    if (least) out = std::min(out.value_or(least->step_ns), least->step_ns);
  }
  if (out) return out;
  const std::optional<Partition> least = leanest();
  return least ? std::optional(least->step_ns) : std::nullopt;
}

const Ground& Space::Costs::ground(std::size_t stage) const {
  return grounds[static_cast<std::size_t>(spec.ground[stage])];
}

std::vector<std::int64_t> Space::Costs::stage_bytes(const Configuration& c) const {
  std::vector<std::int64_t> out;
  int first = 0;
  for (std::size_t s = 0; s < c.stages.size(); ++s) {
    const int end = first + c.stages[s];
    out.push_back(stage_memory(ground(s), spec, static_cast<int>(s), first, end, c.recompute[s]));
    first = end;
  }
  return out;
}

std::optional<Space::Probes> Space::probes_of(ProbeKey key, const Configuration& c) {
  Probes out;
  ProbeKey again = key;
  again.recompute = true;
  const bool whole = !c.offload && (c.coshard == 1 || !c.in_pieces.empty());
  std::future<void> meanwhile;
  if (whole && !known(again)) meanwhile = std::async(std::launch::async, [&] { probe_of(again); });
  out.once = noted(probe_of(key));
  if (meanwhile.valid()) meanwhile.get();
  if (!out.once) return std::nullopt;
  if (c.offload) return out;
  key = std::move(again);
  if (whole) {
    out.whole = noted(probe_of(key));
    if (!out.whole) return std::nullopt;
  }
  if (c.coshard > 1) {
    key.coshard = c.coshard;
    out.pieces = noted(probe_of(key));
    if (!out.pieces) return std::nullopt;
  }
  return out;
}

// What is offloaded costs no time of the device (Layer::copied), and is there while its layer is at work; what operators keep
// for themselves stays.
LayerCost Space::Probes::again(const Configuration& c, std::size_t i) const {
  if (!c.offload) return (c.layer_in_pieces(static_cast<int>(i)) ? pieces : whole)->layers[i];
  LayerCost out = once->layers[i];
  out.working_bytes += out.kept_bytes - out.staying_bytes;
  out.kept_bytes = out.staying_bytes;
  return out;
}

// Whether two layers take the same.
bool Space::Probes::same(const Configuration& c, std::size_t i, std::size_t k) const {
  const auto of = [&](const Probe* p) { return !p || p->layers[i] == p->layers[k]; };
  return of(once) && of(whole) && of(pieces) &&
         c.layer_in_pieces(static_cast<int>(i)) == c.layer_in_pieces(static_cast<int>(k));
}

namespace {

// ZeRO-1 and 2 with one micro-batch: copies of parameters that are gathered for it alone. They are kept from forward to
// backward, which makes gradients in their place, and are offloaded with their layer.
bool gathers_once(const Configuration& c) { return c.micro_batches == 1 && (c.zero == 1 || c.zero == 2); }

// Whether layers are as in the only micro-batch of a step. (In stages, what that exchanges at its end is exchanged while others are at
// work.)
bool alone(const Configuration& c) { return c.micro_batches == 1 && c.pipe == 1; }

}  // namespace

Layer Space::layer_of(const Probe& once, const LayerCost& a, const LayerCost& b, const Network& network,
                      const Configuration& c) const {
  const auto taken = [&](std::int64_t ns) { return static_cast<std::int64_t>(once.share * static_cast<double>(ns)); };
  Layer l;
  l.time_ns = taken(a.forward_ns + a.backward_ns);
  l.forward_ns = taken(a.forward_ns);
  l.again_ns = std::max<std::int64_t>(0, taken(b.forward_ns + b.backward_ns) - l.time_ns);
  l.adding_ns = alone(c) ? 0 : taken(a.adding_ns);
  l.through_ns = std::max<std::int64_t>(0, taken(a.first_ns + a.backward_ns) - l.adding_ns);
  if (c.micro_batches == 1)  // there is nothing to add to
    l.time_ns = std::max<std::int64_t>(0, l.time_ns - std::exchange(l.adding_ns, 0));
  l.copied = c.offload ? a.kept_bytes - a.staying_bytes : 0;
  l.kept = a.kept_bytes;
  l.kept_again = b.kept_bytes;
  l.border = a.border_bytes;
  l.working = a.working_bytes;
  l.working_again = b.working_bytes;
  l.parameters = parameters_of(a, c, network);
  if (gathers_once(c)) {
    l.kept += a.parameter_bytes;
    (c.offload ? l.working_again : l.kept_again) += a.parameter_bytes;
    if (c.offload) l.copied += a.parameter_bytes;
  }
  l.reduce_ns = c.zero >= 2 ? 0 : network.share(network.reduce_ns, a);
  l.gather_ns = c.zero == 1 || c.zero == 2 ? network.share(network.gather_ns, a) : 0;
  return l;
}

// Where it may be that layers are segments of their own, whose gradients go as each is done.
bool Space::may_exchange_early(const Configuration& c) const {
  return c.pipe == 1 && c.data > 1 && c.tensor == 1 && c.zero < 3 && shape_.unit_count() > 1 && shape_.calls == 1;
}

// By which adding up gradients takes less than in a probe, which has no ZeRO: 2 and 3 add up what each replica keeps.
double Space::spared_ns(const std::vector<int>& kinds, std::int64_t bytes, const Configuration& c) const {
  if (c.zero < 2 || c.micro_batches == 1) return 0;
  double out = std::numeric_limits<double>::infinity();
  for (const int kind : kinds) {
    const DeviceType& device = cluster_.kinds[static_cast<std::size_t>(kind)].type;
    const auto us = [&](double added) {
      return accumulation_time(added, device, settings_.simulation.costs).time.count;
    };
    const auto all = static_cast<double>(bytes);
    out = std::min(out, 1000 * (us(all) - us(all / static_cast<double>(c.data))));
  }
  return std::isfinite(out) ? out : 0;
}

std::optional<Space::Costs> Space::costs(const Configuration& c) {
  if (shape_.unit_count() == 0) return std::nullopt;
  Costs out;
  out.open = open_;
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
    const double alone_ns = std::max(0.0, everywhere_ns - spared_ns(kinds, everywhere.parameter_bytes, c));
    spec.everywhere_ns = std::max(spec.everywhere_ns, static_cast<std::int64_t>(p->once->share * alone_ns));
    const Parameters held = parameters_of(everywhere, c, *network);
    out.elsewhere = std::max(out.elsewhere, held.state + held.gradient + everywhere.working_bytes);
    Ground& ground = out.grounds.emplace_back();
    ground.layers.reserve(p->once->layers.size());
    for (std::size_t i = 0; i < p->once->layers.size(); ++i) {
      if (i > 0 && p->same(c, i - 1, i)) {
        ground.layers.push_back(ground.layers.back());
        continue;
      }
      Layer& l = ground.layers.emplace_back(layer_of(*p->once, p->once->layers[i], p->again(c, i), *network, c));
      const auto spared =
          static_cast<std::int64_t>(p->once->share * spared_ns(kinds, p->once->layers[i].parameter_bytes, c));
      for (std::int64_t* ns : {&l.time_ns, &l.adding_ns}) *ns = std::max<std::int64_t>(0, *ns - spared);
    }
    if (may_exchange_early(c)) {
      Ground& at_once = out.early.emplace_back(ground);
      for (std::size_t i = 0; i < at_once.layers.size(); ++i)
        at_once.layers[i].parameters = i > 0 && p->once->layers[i] == p->once->layers[i - 1]
                                           ? at_once.layers[i - 1].parameters
                                           : parameters_of(p->once->layers[i], c, *network, true);
    }
    for (const Tied& t : p->once->tied) {
      Parameters tied = parameters_of(t.cost, c, *network);
      if (gathers_once(c)) {  // the copy stays with its stage, and what gradients take comes in its place
        tied.state += t.cost.parameter_bytes;
        for (std::int64_t* bytes : {&tied.first, &tied.first_again, &tied.exchange, &tied.exchange_again})
          *bytes = std::max<std::int64_t>(0, *bytes - t.cost.parameter_bytes);
      }
      ground.shared.push_back({t.before, t.layer, tied});
    }
  }
  out.limit(cluster_, std::numeric_limits<std::int64_t>::max());
  for (std::vector<Ground>* all : {&out.grounds, &out.early})
    for (Ground& g : *all) {
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
    for (std::int64_t* ns : {&l.time_ns, &l.forward_ns, &l.through_ns, &l.adding_ns}) *ns = scaled(once, *ns);
    l.again_ns = std::max<std::int64_t>(0, twice - l.time_ns);
  }
}

// Of ZeRO-3, with what it gathers one layer ahead, or when it can, as one segment: whichever takes less.
std::optional<std::int64_t> Space::bordered_ns(const ProbeKey& key) {
  return bordered_.at(key, [&] {
    const auto ns = [&](const ProbeKey& of) {
      return micro_batch_ns(models_, cluster_, of, settings_.simulation, cache_, true).value;
    };
    std::optional<std::int64_t> out = ns(key);
    if (key.data == 1 || !out) return out;
    ProbeKey together = key;
    together.prefetch = false;
    if (const auto at_once = ns(together)) out = std::min(*out, *at_once);
    return out;
  });
}

std::optional<Space::Costs> Space::bordered_costs(const Configuration& c) {
  std::optional<Costs> out = costs(c);
  if (!out || (c.zero != 3 && !c.offload)) return out;
  for (std::size_t g = 0; g < out->grounds.size(); ++g) {
    ProbeKey key = key_of(c, out->kinds[g]);
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

// Of a micro-batch without borders between layers, of whole stages; nothing: it cannot be predicted.
std::optional<std::int64_t> Space::whole_ns(const ProbeKey& key) {
  return whole_.at(key, [&] { return micro_batch_ns(models_, cluster_, key, settings_.simulation, cache_).value; });
}

// Whether a micro-batch takes less than in the usual configuration where some of it is whole on every device: sums in one go wait
// less often than in two halves, and small tensors gain nothing by being split.
bool Space::shorter(const Configuration& c, const Configuration& usual, const std::vector<std::vector<int>>& kinds) {
  return std::any_of(kinds.begin(), kinds.end(), [&](const std::vector<int>& k) {
    const Probe* with = noted(probe_of(key_of(usual, k)));
    const std::optional<std::int64_t> ns = whole_ns(key_of(c, k));
    return with && ns && static_cast<double>(*ns) < with->share * layers_ns(*with);
  });
}

ProbeKey Space::key_of(const Configuration& c, std::vector<int> kinds) const {
  ProbeKey key{c.tensor, c.micro_batch, c.sequence, false, alone(c), c.splits};
  if (c.interlaced) key.pipe = c.pipe;
  key.kinds = std::move(kinds);
  key.vocabulary = c.vocabulary;
  return key;
}

namespace {

// Of all layers together, what a micro-batch of the model takes.
double share_of(const Probe& p, const Result<std::int64_t>& most) {
  const double all = layers_ns(p);
  return most.ok() && all > 0 ? static_cast<double>(*most) / all : 1.0;
}

}  // namespace

// How many micro-batches there are concerns the share alone.
bool Space::known(ProbeKey key) const {
  if (probes_.find(key)) return true;
  key.only = !key.only;
  return probes_.find(key);
}

const Probe* Space::noted(const Result<Probe>& p) {
  if (p.ok()) return &*p.value;
  const std::lock_guard lock(noting_);
  if (refusal.empty()) refusal = p.diagnostics;
  return nullptr;
}

const Result<Probe>& Space::probe_of(const ProbeKey& key) {
  return probes_.at(key, [&] {
    ProbeKey other = key;
    other.only = !key.only;
    const Result<Probe>* same = probes_.find(other);
    const bool shares = !key.recompute && key.data == 1;
    std::future<Result<std::int64_t>> most;
    if (shares)
      most = std::async(std::launch::async,
                        [&] { return micro_batch_ns(models_, cluster_, key, settings_.simulation, cache_); });
    Result<Probe> out = same && same->ok() ? *same : probe(models_, cluster_, key, settings_.simulation, cache_);
    if (out.ok() && shares) out->share = std::min(1.0, share_of(*out, most.get()));  // without borders it is less
    return out;
  });
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

// ZeRO-2 and 3 exchange gradients in every micro-batch, ZeRO-3 gathers parameters twice: the network of some stage works that
// long.
std::int64_t Space::network_bound_ns(const Configuration& c) {
  if (c.zero < 2) return 0;
  const std::int64_t size = c.data * c.tensor, first = c.place(0) * size;
  const Probe* once = noted(probe_of(key_of(c, cluster_.kinds_in(first, first + size))));
  if (!once) return 0;
  const Network n = network_of(*once, c);
  return c.micro_batches * (n.reduce_ns + (c.zero == 3 ? 2 * n.gather_ns : 0)) / c.pipe;
}

// As ZeRO splits them, without the copies that are kept (gathers_once).
// `early`: gradients are exchanged layer by layer (Configuration::overlap).
Parameters Space::parameters_of(const LayerCost& l, const Configuration& c, const Network& network, bool early) const {
  const std::int64_t optimizer = settings_.simulation.optimizer_state_bytes * l.parameters;
  const std::int64_t split = c.zero > 0 ? c.data : 1, all = l.parameter_bytes;
  const bool one = c.micro_batches == 1, copies = gathers_once(c);
  const std::int64_t reduced = c.zero >= 2 ? all / split : all;
  Parameters out;
  out.state = (c.zero == 3 || copies ? 0 : all) + (c.zero > 0 ? all / split : 0) + optimizer / split + l.constant_bytes;
  out.gradient = one ? 0 : reduced;
  out.first_again = copies ? all : reduced;
  // Communication within layers makes pieces of them, and so does what ZeRO-3 gathers; and pieces end where they have a part of
  // all gradients that are added up or exchanged.
  const bool pieces = c.tensor > 1 || c.zero == 3 || early, whole = one && c.data == 1;
  const double least =
      static_cast<double>(c.pipe << 20) / static_cast<double>(std::max<std::int64_t>(1, network.bytes));
  const double part = pieces ? 0 : whole ? 1 : std::min(1.0, std::max(1.0 / 16, least));
  out.later = static_cast<std::int64_t>(part * static_cast<double>(l.gradient_bytes));
  out.first = whole ? out.later : out.first_again + (copies || reduced < all ? out.later : 0);
  if (c.data == 1) return out;
  const auto in_message = [&](std::int64_t bytes) {
    const double share = std::min(1.0, static_cast<double>(kBucketBytes) / static_cast<double>(network.bytes));
    return static_cast<std::int64_t>(share * static_cast<double>(bytes));
  };
  if (copies && pieces) {  // exchanged piece by piece, as they come
    out.first = out.first_again = all / split;
    out.exchange = out.exchange_again = 2 * (all / split);
    return out;
  }
  if (c.zero == 0) {
    out.exchange = out.exchange_again = pieces ? all : 2 * all;  // pieces: one after the other
  } else if (c.zero == 1 || (c.zero == 2 && one)) {
    out.exchange = out.exchange_again = all + all / split + in_message(all - all / split);
  } else {
    out.exchange_again = 2 * (all / split);
    out.exchange = out.exchange_again + out.later;
  }
  // Copies for all micro-batches go with the last backward, before gradients are exchanged: those of layers that are computed
  // again after it, and in stages with it.
  if (!one && c.pipe == 1 && (c.zero == 1 || c.zero == 2)) out.exchange = std::max(out.first, out.exchange - all);
  return out;
}

}  // namespace planscope::stages
