#include "tests/planner/search/schedule/shapes.h"

#include <map>

#include <algorithm>
#include <numeric>

namespace planscope::schedule::testing {
namespace {

Case empty(int devices, std::int64_t memory, int micro_batches) {
  Case c;
  c.devices = devices;
  c.memory.assign(static_cast<std::size_t>(devices), memory);
  c.micro_batches = {micro_batches};
  return c;
}

void chain(Case& c, std::size_t from) {
  for (std::size_t b = from; b + 1 < c.blocks.size(); ++b)
    c.after.push_back({static_cast<int>(b), static_cast<int>(b) + 1, 0, 0});
}

std::vector<int> all(int devices) {
  std::vector<int> out(static_cast<std::size_t>(devices));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

void add_pipeline(Case& c, int devices, bool upwards) {
  for (int i = 0; i < devices; ++i)
    c.blocks.push_back({"f" + std::to_string(i), {upwards ? devices - 1 - i : i}, 1, 1, 0, 0});
  for (int i = devices - 1; i >= 0; --i)
    c.blocks.push_back({"b" + std::to_string(i), {upwards ? devices - 1 - i : i}, 3, -1, 0, 0});
}

}  // namespace

Case v_shape(int devices, std::int64_t memory, int micro_batches) {
  Case c = empty(devices, memory, micro_batches);
  add_pipeline(c, devices, false);
  chain(c, 0);
  return c;
}

Case m_shape(int devices, std::int64_t memory, int micro_batches) {
  Case c = empty(devices, memory, micro_batches);
  c.blocks.push_back({"embed_f", all(devices), 1, 0, 0, 0});
  add_pipeline(c, devices, false);
  c.blocks.push_back({"embed_b", all(devices), 1, 0, 0, 0});
  chain(c, 0);
  return c;
}

Case x_shape(int devices, std::int64_t memory, int micro_batches) {
  Case c = empty(devices, memory, micro_batches);
  add_pipeline(c, devices, false);
  chain(c, 0);
  const std::size_t second = c.blocks.size();
  add_pipeline(c, devices, true);
  chain(c, second);
  return c;
}

Case random_case(std::mt19937& random, const RandomKinds& kinds) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  Case c = empty(kinds.devices, 2 + below(3), 2 + below(2));
  if (kinds.streams) c.streams.emplace_back("send");
  const int pairs = kinds.tasks / 2;
  for (int i = 0; i < kinds.tasks; ++i) {
    Block b{"t" + std::to_string(i), {below(kinds.devices)}, 1 + below(kinds.most_time), 0, 0, 0};
    if (below(4) == 0) b.devices = all(kinds.devices);
    if (kinds.streams) b.stream = below(2);
    c.blocks.push_back(b);
  }
  // The first half may take memory; its mirror image gives it back on the same devices.
  for (int i = 0; i < pairs; ++i) {
    if (below(3) == 0) continue;
    Block& take = c.blocks[static_cast<std::size_t>(i)];
    Block& give = c.blocks[static_cast<std::size_t>(kinds.tasks - 1 - i)];
    give.devices = take.devices;
    take.memory = 1 + below(2);
    give.memory = -take.memory;
  }
  for (int i = 0; i + 1 < kinds.tasks; ++i) c.after.push_back({i, i + 1, below(4) == 0 ? 1 + below(2) : 0, 0});
  if (kinds.diamonds && kinds.tasks > 4) {  // 1 and 2 both behind 0 and both before 3
    c.after[1] = {0, 2, 0, 0};
    c.after.push_back({1, 3, 0, 0});
  }
  if (kinds.distances) c.after.push_back({kinds.tasks - 1 - below(2), below(2), below(2), 1 + below(2)});
  return c;
}

void add_random_rows(std::mt19937& random, Case& c, int count, bool of_some) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const auto blocks = static_cast<int>(c.blocks.size());
  for (int i = 0; i < count; ++i) {
    Relation r{below(blocks), below(blocks), below(4) - 1, 0, Relation::kEvery, i};
    if (of_some && below(2) == 0) {
      r.first = below(2);
      r.count = 1 + below(2);
    }
    c.order.push_back(r);
    c.rows.push_back("row " + std::to_string(i));
  }
}

namespace {

// The micro-batches m that a relation speaks of; whether these are all that there are.
struct Range {
  int low, high;
  bool every;
};
Range range_of(const Case& c, const Relation& r) {
  const int count = c.micro_batches[static_cast<std::size_t>(c.blocks[static_cast<std::size_t>(r.before)].kind)];
  Range out{count, 0, true};
  for (int m = 0; m < count; ++m) {
    if (m + r.distance < 0 || m + r.distance >= count) continue;
    if (m < r.first || m - r.first >= r.count) {
      out.every = false;
      continue;
    }
    out.low = std::min(out.low, m);
    out.high = m + 1;
  }
  return out;
}

}  // namespace

std::optional<std::string> broken_row(const Case& c, const Problem& p, const std::vector<std::int64_t>& starts) {
  std::map<std::pair<int, int>, std::int64_t> start;  // by block, micro-batch
  for (int t = 0; t < static_cast<int>(p.tasks.size()); ++t)
    for (int n = 0; n < p.rounds; ++n)
      start[{p.tasks[static_cast<std::size_t>(t)].block, micro_batch(c, p, t, n)}] =
          starts[static_cast<std::size_t>(t * p.rounds + n)];
  for (const Relation& r : c.order) {
    const Range range = range_of(c, r);
    for (int m = range.low; m < range.high; ++m)
      if (start.at({r.after, m + r.distance}) <
          start.at({r.before, m}) + c.blocks[static_cast<std::size_t>(r.before)].time)
        return c.rows[static_cast<std::size_t>(r.row)] + " at " + std::to_string(m);
  }
  return std::nullopt;
}

std::optional<std::string> broken_row_of_pattern(const Case& c, std::int64_t period,
                                                 const std::vector<std::int64_t>& starts) {
  for (const Relation& r : c.order) {
    const Range range = range_of(c, r);
    if (range.low >= range.high || !range.every) continue;
    if (starts[static_cast<std::size_t>(r.after)] + period * r.distance <
        starts[static_cast<std::size_t>(r.before)] + c.blocks[static_cast<std::size_t>(r.before)].time)
      return c.rows[static_cast<std::size_t>(r.row)];
  }
  return std::nullopt;
}

}  // namespace planscope::schedule::testing
