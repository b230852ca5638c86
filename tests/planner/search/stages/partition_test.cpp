// Cuts against trying every one, and their bound against playing 1F1B.
#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <random>

#include "planner/search/stages/partition.h"

using namespace planscope::stages;

namespace {

std::vector<Layer> random_layers(std::mt19937& random, int n) {
  std::vector<Layer> out;
  for (int i = 0; i < n; ++i) {
    Layer l;
    l.forward_ns = 1 + static_cast<int>(random() % 9);
    l.time_ns = l.forward_ns + 1 + static_cast<int>(random() % 15);
    l.adding_ns = static_cast<int>(random() % 4) % (l.time_ns - l.forward_ns + 1);
    l.through_ns = l.time_ns - l.adding_ns;
    l.again_ns = static_cast<int>(random() % 6);
    l.kept = static_cast<int>(random() % 8);
    l.kept_again = static_cast<int>(random() % 3);
    l.parameters.state = static_cast<int>(random() % 4);
    l.parameters.gradient = static_cast<int>(random() % 3);
    l.parameters.first = static_cast<int>(random() % 3);
    l.parameters.first_again = static_cast<int>(random() % 3);
    l.parameters.later = static_cast<int>(random() % 3);
    l.parameters.exchange_again = static_cast<int>(random() % 6);
    l.parameters.exchange = l.parameters.exchange_again + static_cast<int>(random() % 3);
    if (i > 0) l.border = static_cast<int>(random() % 8) % (1 + std::min(out.back().kept, out.back().kept_again));
    l.working = static_cast<int>(random() % 4);
    l.working_again = static_cast<int>(random() % 6);
    l.reduce_ns = static_cast<int>(random() % 12);
    l.gather_ns = static_cast<int>(random() % 6);
    out.push_back(l);
  }
  return out;
}

struct StageTimes {
  std::vector<std::int64_t> forward, again, backward, adding;  // of backward, what adds up gradients
  std::int64_t through(std::size_t s) const { return forward[s] + backward[s] - adding[s]; }
  std::int64_t all(std::size_t s) const { return forward[s] + again[s] + backward[s]; }
  std::int64_t last(std::size_t s) const { return s > 0 ? adding[s] : 0; }
};

// Of each stage on its own ground.
const Layer& layer(const std::vector<Ground>& grounds, const PartitionSpec& spec, std::size_t s, int i) {
  return grounds[spec.ground.empty() ? 0 : static_cast<std::size_t>(spec.ground[s])]
      .layers[static_cast<std::size_t>(i)];
}

std::int64_t less_of(const PartitionSpec& spec, int s) {
  return spec.less.empty() ? 0 : spec.less[static_cast<std::size_t>(s)];
}

StageTimes times_of(const std::vector<Ground>& grounds, const PartitionSpec& spec, const std::vector<int>& cut,
                    const std::vector<int>& again) {
  StageTimes out;
  int first = 0;
  for (std::size_t s = 0; s < cut.size(); ++s) {
    std::int64_t forward = 0, once = 0, all = 0, copied = 0, adding = 0;
    for (int i = first; i < first + cut[s]; ++i) {
      const Layer& l = layer(grounds, spec, s, i);
      forward += l.forward_ns;
      once += l.time_ns;
      adding += l.adding_ns;
      all += l.time_ns + (i < first + again[s] ? l.again_ns : 0);
      copied += i < first + again[s] ? l.copied : 0;
    }
    const Ground& g = grounds[spec.ground.empty() ? 0 : static_cast<std::size_t>(spec.ground[s])];
    if (copied > 0) all = std::max(all, static_cast<std::int64_t>(static_cast<double>(copied) / g.host_rate));
    out.forward.push_back(forward);
    out.again.push_back(all - once);
    out.backward.push_back(once - forward);
    out.adding.push_back(adding);
    first += cut[s];
  }
  return out;
}

// The formula of partition.h, written once more.
std::int64_t bound(const StageTimes& t, std::int64_t micro_batches) {
  const std::size_t n = t.forward.size();
  std::int64_t worst = INT64_MIN;
  for (std::size_t s = 0; s < n; ++s) {
    std::int64_t before = 0, behind = 0;
    for (std::size_t k = 0; k < s; ++k) before += t.through(k);
    for (std::size_t k = s + 1; k < n; ++k) behind += t.through(k);
    const std::int64_t ahead = std::min<std::int64_t>(micro_batches, static_cast<std::int64_t>(n - s)) - 1;
    const std::int64_t waits = std::max<std::int64_t>(0, behind - ahead * t.forward[s] - t.again[s]);
    worst = std::max(worst, before + micro_batches * t.all(s) - t.last(s) + waits);
  }
  return worst;
}

// The other one: of any order of tasks.
std::int64_t any_order_bound(const std::vector<Ground>& grounds, const PartitionSpec& spec, const std::vector<int>& cut,
                             const std::vector<int>& again) {
  const StageTimes t = times_of(grounds, spec, cut, again);
  std::int64_t worst = INT64_MIN, before = 0;
  int first = 0;
  for (std::size_t s = 0; s < cut.size(); ++s) {
    worst = std::max(worst, before + spec.micro_batches * (t.all(s) + spec.everywhere_ns) - t.last(s));
    for (int i = first; i < first + cut[s]; ++i) before += layer(grounds, spec, s, i).through_ns;
    first += cut[s];
  }
  return worst;
}

// What the first stage's exchange adds.
std::int64_t exposed(const std::vector<Ground>& grounds, const PartitionSpec& spec, const std::vector<int>& cut,
                     const std::vector<int>& again) {
  const StageTimes t = times_of(grounds, spec, cut, again);
  std::int64_t reduce = 0, gather = 0;
  for (int i = 0; i < cut[0]; ++i) {
    reduce += layer(grounds, spec, 0, i).reduce_ns;
    gather += layer(grounds, spec, 0, i).gather_ns;
  }
  return std::max<std::int64_t>(0, reduce - t.again[0] - t.backward[0]) +
         std::max<std::int64_t>(0, gather - t.forward[0]);
}

// 1F1B played: stage s runs n - s forwards, then backward and forward in turn. What is computed again is done before the gradient
// comes, if there is time.
std::int64_t played(const StageTimes& t, int micro_batches, bool adding_later = false) {
  const int n = static_cast<int>(t.forward.size());
  std::vector<std::vector<std::pair<bool, int>>> order(static_cast<std::size_t>(n));  // backward?, micro-batch
  for (int s = 0; s < n; ++s) {
    const int ahead = std::min(micro_batches, n - s);
    auto& list = order[static_cast<std::size_t>(s)];
    for (int m = 0; m < ahead; ++m) list.emplace_back(false, m);
    for (int m = 0; m < micro_batches; ++m) {
      list.emplace_back(true, m);
      if (m + ahead < micro_batches) list.emplace_back(false, m + ahead);
    }
  }
  const auto size = static_cast<std::size_t>(n * micro_batches);
  std::vector<std::int64_t> forward(size, -1), backward(size, -1), now(static_cast<std::size_t>(n), 0);
  std::vector<std::size_t> next(static_cast<std::size_t>(n), 0);
  const auto at = [&](int s, int m) { return static_cast<std::size_t>(s * micro_batches + m); };
  for (bool moved = true; moved;) {
    moved = false;
    for (int s = 0; s < n; ++s) {
      const auto u = static_cast<std::size_t>(s);
      while (next[u] < order[u].size()) {
        const auto [back, m] = order[u][next[u]];
        const std::int64_t ready =
            back ? (s + 1 == n ? forward[at(s, m)] : backward[at(s + 1, m)]) : (s == 0 ? 0 : forward[at(s - 1, m)]);
        if (ready < 0) break;
        if (back) now[u] += t.again[u];
        now[u] = std::max(now[u], ready) + (back ? t.backward[u] : t.forward[u]);
        (back ? backward : forward)[at(s, m)] = now[u] - (back && adding_later ? t.adding[u] : 0);
        ++next[u];
        moved = true;
      }
    }
  }
  return *std::max_element(now.begin(), now.end());
}

}  // namespace

namespace {

// One to three kinds of devices under stages of any of them.
struct Case {
  std::vector<Ground> grounds;
  PartitionSpec spec;
};
Case random_case(std::mt19937& random, int n, int kinds, bool equal) {
  Case out;
  out.spec.stages = 1 + static_cast<int>(random() % 4);
  out.spec.micro_batches = 1 + static_cast<int>(random() % 8);
  for (int k = 0; k < kinds; ++k)
    out.grounds.push_back({random_layers(random, n), 10 + static_cast<int>(random() % 60)});
  const bool offload = random() % 3 == 0;
  for (Ground& g : out.grounds) {
    if (!offload) continue;
    g.host = static_cast<int>(random() % 60);
    g.host_rate = 0.25 * static_cast<double>(1 + random() % 8);
    for (Layer& l : g.layers) l.copied = static_cast<int>(random() % 12);
  }
  for (Ground& g : out.grounds)  // equal ones behind each other, as in most models
    for (std::size_t i = 1; equal && i < g.layers.size(); ++i)
      if (const Layer& before = g.layers[i - 1]; random() % 5 > 0) {
        g.layers[i] = before;
      } else {
        g.layers[i].border = std::min({g.layers[i].border, before.kept, before.kept_again});
      }
  const bool listed = kinds > 1 || random() % 2 == 0;
  for (int s = 0; listed && s < out.spec.stages; ++s)
    out.spec.ground.push_back(static_cast<int>(random() % static_cast<unsigned>(kinds)));
  if (random() % 4 == 0) out.spec.more_under_way = 2;
  const bool kept_free = random() % 3 == 0;
  for (int s = 0; kept_free && s < out.spec.stages; ++s) out.spec.less.push_back(static_cast<int>(random() % 6));
  if (random() % 4 == 0) {
    out.spec.any_order = true;
    out.spec.everywhere_ns = static_cast<int>(random() % 5);
  }
  return out;
}

// The least bound of all cuts, each with the least recomputation that fits; INT64_MAX: none fits.
std::int64_t tried(const Case& c, int n) {
  std::int64_t best = INT64_MAX;
  std::vector<int> cut;
  const std::function<void(int)> place = [&](int first) {
    if (static_cast<int>(cut.size()) == c.spec.stages) {
      if (first < n) return;
      std::vector<int> again;
      for (int s = 0, from = 0; s < c.spec.stages; from += cut[static_cast<std::size_t>(s++)]) {
        const Ground& g =
            c.grounds[c.spec.ground.empty() ? 0 : static_cast<std::size_t>(c.spec.ground[static_cast<std::size_t>(s)])];
        int least = 0;
        const int end = from + cut[static_cast<std::size_t>(s)];
        while (least <= end - from && stage_memory(g, c.spec, s, from, end, least) > g.memory - less_of(c.spec, s))
          ++least;
        if (least > end - from) return;
        const std::int64_t under_way =
            std::min<std::int64_t>(c.spec.micro_batches, c.spec.stages - s + c.spec.more_under_way);
        std::int64_t copied = 0;
        for (int i = from; i < from + least; ++i) copied += g.layers[static_cast<std::size_t>(i)].copied;
        if (under_way * copied > g.host) return;
        again.push_back(least);
      }
      const std::int64_t step = c.spec.any_order ? any_order_bound(c.grounds, c.spec, cut, again)
                                                 : bound(times_of(c.grounds, c.spec, cut, again), c.spec.micro_batches);
      best = std::min(best, step + exposed(c.grounds, c.spec, cut, again));
      return;
    }
    for (int end = first + 1; end <= n; ++end) {
      cut.push_back(end - first);
      place(end);
      cut.pop_back();
    }
  };
  place(0);
  return best;
}

void check_cut(const Case& c, const Partition& p) {
  int first = 0;
  for (int s = 0; s < c.spec.stages; ++s) {
    const auto u = static_cast<std::size_t>(s);
    const Ground& g = c.grounds[c.spec.ground.empty() ? 0 : static_cast<std::size_t>(c.spec.ground[u])];
    const int end = first + p.layers[u];
    CHECK(stage_memory(g, c.spec, s, first, end, p.recompute[u]) <= g.memory - less_of(c.spec, s));
    first = end;
  }
  const StageTimes t = times_of(c.grounds, c.spec, p.layers, p.recompute);
  const std::int64_t more = exposed(c.grounds, c.spec, p.layers, p.recompute);
  if (c.spec.any_order) {
    CHECK(any_order_bound(c.grounds, c.spec, p.layers, p.recompute) + more == p.step_ns);
    return;
  }
  const int micro_batches = static_cast<int>(c.spec.micro_batches);
  CHECK(bound(t, micro_batches) + more == p.step_ns);
  CHECK(p.step_ns <= played(t, micro_batches, true) + more);
  std::vector<StageTime> times;
  for (std::size_t s = 0; s < t.forward.size(); ++s) times.push_back({t.forward[s], t.again[s], t.backward[s]});
  CHECK(play_1f1b(times, micro_batches) == played(t, micro_batches));
  const Partition better = refined(c.grounds, c.spec, p);
  CHECK(played(times_of(c.grounds, c.spec, better.layers, better.recompute), micro_batches) <=
        played(t, micro_batches));
}

}  // namespace

TEST_CASE("the best cut of all, with the least recomputation that fits, on devices of one kind or several") {
  std::mt19937 random(5);
  int found = 0, impossible = 0;
  for (int round = 0; round < 1800; ++round) {
    const bool equal = round >= 1200;
    const int n = (equal ? 5 : 3) + static_cast<int>(random() % 5), kinds = 1 + round % 3;
    Case c = random_case(random, n, kinds, equal);
    const std::int64_t best = tried(c, n);
    const auto p = partition(c.grounds, c.spec);
    REQUIRE(p.has_value() == (best != INT64_MAX));
    CHECK(some_fits(c.grounds, c.spec, 0) == p.has_value());
    const std::optional<std::int64_t> lacking = shortage(c.grounds, c.spec);
    REQUIRE(lacking.has_value() == (c.spec.stages <= n));
    if (lacking) {
      CHECK((*lacking <= 0) == p.has_value());
      Case enough = c, too_little = c;
      for (Ground& g : enough.grounds) g.memory += *lacking;
      for (Ground& g : too_little.grounds) g.memory += *lacking - 1;
      CHECK(partition(enough.grounds, enough.spec).has_value());
      CHECK(!partition(too_little.grounds, too_little.spec).has_value());
      CHECK(some_fits(c.grounds, c.spec, *lacking));
      CHECK(!some_fits(c.grounds, c.spec, *lacking - 1));
    }
    if (!p) {
      ++impossible;
      continue;
    }
    ++found;
    CHECK(p->step_ns == best);
    check_cut(c, *p);
  }
  CHECK(found > 300);
  CHECK(impossible > 60);
}

TEST_CASE("equal stages meet the bound") {
  Layer l;
  l.time_ns = l.through_ns = 4;
  l.forward_ns = 1;
  const std::vector<Ground> grounds = {{std::vector<Layer>(8, l), 100}};
  const PartitionSpec spec{4, 10};
  const auto p = partition(grounds, spec);
  REQUIRE(p);
  CHECK(p->layers == std::vector<int>{2, 2, 2, 2});
  CHECK(p->step_ns == (10 + 3) * 8);
  CHECK(played(times_of(grounds, spec, p->layers, p->recompute), 10) == p->step_ns);
}

TEST_CASE("a long pipeline takes as long as all its tasks do, one by one") {
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    const auto below = [&](std::uint32_t n) { return static_cast<std::int64_t>(random() % n); };
    StageTimes t;
    std::vector<StageTime> times;
    const std::uint32_t size = i % 2 == 0 ? 4 : 1000;
    for (std::int64_t s = 0, stages = 1 + below(7); s < stages; ++s) {
      t.forward.push_back(below(size));
      t.again.push_back(i % 3 == 0 ? below(size) : 0);
      t.backward.push_back(below(size));
      t.adding.push_back(0);
      times.push_back({t.forward.back(), t.again.back(), t.backward.back()});
    }
    const int micro_batches = static_cast<int>(1 + below(i % 4 == 0 ? 300 : 12));
    CHECK(play_1f1b(times, micro_batches) == played(t, micro_batches));
  }
}

TEST_CASE("a pipeline of any number of micro-batches is played") {
  const std::vector<StageTime> equal(4, {1, 0, 7});
  CHECK(play_1f1b(equal, 1'000'000'000'000) == (1'000'000'000'000 + 3) * 8);
}

TEST_CASE("a stage on devices of half the speed has half the layers, and less where memory is short") {
  Layer fast, slow;
  fast.time_ns = fast.through_ns = 6;
  fast.forward_ns = 2;
  fast.parameters.state = 10;
  slow = fast;
  slow.time_ns = slow.through_ns = 12;
  slow.forward_ns = 4;
  std::vector<Ground> grounds = {{std::vector<Layer>(12, fast), 1000}, {std::vector<Layer>(12, slow), 1000}};
  PartitionSpec spec{2, 20};
  spec.ground = {0, 1};
  CHECK(partition(grounds, spec)->layers == std::vector<int>{8, 4});
  spec.ground = {1, 0};
  CHECK(partition(grounds, spec)->layers == std::vector<int>{4, 8});
  grounds[1].memory = 25;
  CHECK(partition(grounds, spec)->layers == std::vector<int>{2, 10});
  grounds[1].memory = 5;
  CHECK_FALSE(partition(grounds, spec));
  CHECK(shortage(grounds, spec) == 5);
}
