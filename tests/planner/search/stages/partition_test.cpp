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
    l.again_ns = static_cast<int>(random() % 6);
    l.kept = static_cast<int>(random() % 8);
    l.kept_again = static_cast<int>(random() % 3);
    l.state = static_cast<int>(random() % 4);
    l.working = static_cast<int>(random() % 4);
    l.working_again = static_cast<int>(random() % 6);
    out.push_back(l);
  }
  return out;
}

struct StageTimes {
  std::vector<std::int64_t> forward, backward;
};

StageTimes times_of(const std::vector<Layer>& layers, const std::vector<int>& cut, const std::vector<int>& again) {
  StageTimes out;
  int first = 0;
  for (std::size_t s = 0; s < cut.size(); ++s) {
    std::int64_t forward = 0, all = 0;
    for (int i = first; i < first + cut[s]; ++i) {
      const Layer& l = layers[static_cast<std::size_t>(i)];
      forward += l.forward_ns;
      all += l.time_ns + (i < first + again[s] ? l.again_ns : 0);
    }
    out.forward.push_back(forward);
    out.backward.push_back(all - forward);
    first += cut[s];
  }
  return out;
}

// The formula of partition.h, written once more.
std::int64_t bound(const StageTimes& t, std::int64_t micro_batches) {
  const std::size_t n = t.forward.size();
  std::int64_t all = 0, worst = INT64_MIN;
  for (std::size_t s = 0; s < n; ++s) all += t.forward[s] + t.backward[s];
  for (std::size_t s = 0; s < n; ++s) {
    std::int64_t after = 0;
    for (std::size_t k = s + 1; k < n; ++k) after += t.forward[k] + t.backward[k];
    const std::int64_t ahead = std::min<std::int64_t>(micro_batches, static_cast<std::int64_t>(n - s)) - 1;
    worst =
        std::max(worst, (micro_batches - 1) * (t.forward[s] + t.backward[s]) - std::min(after, ahead * t.forward[s]));
  }
  return all + worst;
}

// 1F1B played: stage s runs n - s forwards, then backward and forward in turn.
std::int64_t played(const StageTimes& t, int micro_batches) {
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
        now[u] = std::max(now[u], ready) + (back ? t.backward[u] : t.forward[u]);
        (back ? backward : forward)[at(s, m)] = now[u];
        ++next[u];
        moved = true;
      }
    }
  }
  return *std::max_element(now.begin(), now.end());
}

}  // namespace

TEST_CASE("the best cut of all, with the least recomputation that fits") {
  std::mt19937 random(5);
  int found = 0, impossible = 0;
  for (int round = 0; round < 400; ++round) {
    const int n = 3 + static_cast<int>(random() % 5);
    const PartitionSpec spec{1 + static_cast<int>(random() % 4), 1 + static_cast<int>(random() % 8),
                             10 + static_cast<int>(random() % 60)};
    const std::vector<Layer> layers = random_layers(random, n);
    std::int64_t best = INT64_MAX;
    std::vector<int> cut;
    const std::function<void(int)> place = [&](int first) {
      if (static_cast<int>(cut.size()) == spec.stages) {
        if (first < n) return;
        std::vector<int> again;
        for (int s = 0, from = 0; s < spec.stages; from += cut[static_cast<std::size_t>(s++)]) {
          int least = 0;
          const int end = from + cut[static_cast<std::size_t>(s)];
          while (least <= end - from && stage_memory(layers, spec, s, from, end, least) > spec.memory) ++least;
          if (least > end - from) return;
          again.push_back(least);
        }
        best = std::min(best, bound(times_of(layers, cut, again), spec.micro_batches));
        return;
      }
      for (int end = first + 1; end <= n; ++end) {
        cut.push_back(end - first);
        place(end);
        cut.pop_back();
      }
    };
    place(0);
    const auto p = partition(layers, spec);
    REQUIRE(p.has_value() == (best != INT64_MAX));
    if (!p) {
      ++impossible;
      continue;
    }
    ++found;
    CHECK(p->step_ns == best);
    const StageTimes t = times_of(layers, p->layers, p->recompute);
    CHECK(bound(t, spec.micro_batches) == best);
    CHECK(best <= played(t, static_cast<int>(spec.micro_batches)));
    int first = 0;
    for (int s = 0; s < spec.stages; ++s) {
      const int end = first + p->layers[static_cast<std::size_t>(s)];
      CHECK(stage_memory(layers, spec, s, first, end, p->recompute[static_cast<std::size_t>(s)]) <= spec.memory);
      first = end;
    }
  }
  CHECK(found > 100);
  CHECK(impossible > 20);
}

TEST_CASE("equal stages meet the bound") {
  Layer l;
  l.time_ns = 4;
  l.forward_ns = 1;
  const auto p = partition(std::vector<Layer>(8, l), {4, 10, 100});
  REQUIRE(p);
  CHECK(p->layers == std::vector<int>{2, 2, 2, 2});
  CHECK(p->step_ns == (10 + 3) * 8);
  CHECK(played(times_of(std::vector<Layer>(8, l), p->layers, p->recompute), 10) == p->step_ns);
}
