#include "planner/search/splits/space.h"

#include <algorithm>

#include "planner/cost/communication_cost.h"

namespace planscope::splits {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

template <class T>
void add_once(std::vector<T>& to, T x) {
  if (std::find(to.begin(), to.end(), x) == to.end()) to.push_back(std::move(x));
}

}  // namespace

Space::Space(const Graph& graph, const Cluster& cluster, const CostModel& costs, const std::vector<AxisSize>& axes)
    : graph_(graph), cluster_(cluster), costs_(costs), kind_of_(graph.tensors.size(), -1) {
  Grid grid;
  grid.name = "all";
  std::int64_t stride = 1;
  for (const AxisSize& a : axes) stride *= a.second;
  program_.device_count = static_cast<int>(stride);
  for (const AxisSize& a : axes) {
    stride /= a.second;
    grid.axes.push_back(static_cast<AxisId>(program_.axes.size()));
    grid.strides.push_back(stride);
    program_.axes.push_back({.name = a.first, .size = a.second, .grid = 0});
  }
  program_.grids.push_back(std::move(grid));
  program_.places.push_back({});
  device_kinds_ = cluster.kinds_in(0, program_.device_count);
  intern(Layout{});
}

LayoutId Space::intern(const Layout& l) {
  const auto [known, fresh] = ids_.try_emplace(l, static_cast<LayoutId>(program_.layouts.size()));
  if (fresh) program_.layouts.push_back(l);
  return known->second;
}

double Space::bytes(TensorId t, LayoutId l) const {
  return static_cast<double>(local_elements(graph_, t, layout(l)) * byte_size(graph_.model->values[at(t)].dtype));
}

int Space::kind(TensorId t) {
  int& known = kind_of_[at(t)];
  if (known >= 0) return known;
  const Value& value = graph_.model->values[at(t)];
  std::vector<std::int64_t> key = {static_cast<std::int64_t>(value.dtype), value.kind == ValueKind::parameter};
  for (const std::vector<ClassId>& dim : graph_.tensors[at(t)].dims) {
    key.push_back(-1);
    for (const ClassId c : dim) key.push_back(graph_.classes[at(c)].size);
  }
  return known = kinds_.emplace(std::move(key), static_cast<int>(kinds_.size())).first->second;
}

const Space::Conversion& Space::conversion(TensorId t, LayoutId from, LayoutId to) {
  const auto [known, fresh] = conversions_.try_emplace({kind(t), from, to});
  Conversion& c = known->second;
  if (!fresh) return c;
  const auto path = cheapest_conversion({graph_, program_, cluster_, t, 0}, layout(from), layout(to));
  if (!path) return c;
  c.cost = c.chosen_by = path->cost;
  Layout l = layout(from);
  for (const Move& m : path->moves) {
    const Bytes taken = local_bytes(t, l);
    l = apply(l, m);
    c.gathers = c.gathers || m.kind == MoveKind::all_gather;
    const Bytes made = local_bytes(t, l);
    c.cost += is_local(m.kind) ? copy_us(2.0 * static_cast<double>(made.count)) : message_us(m, taken, made);
  }
  return c;
}

Bytes Space::local_bytes(TensorId t, const Layout& l) const {
  return {local_elements(graph_, t, l) * byte_size(graph_.model->values[at(t)].dtype)};
}

double Space::copy_us(double moved) const {
  return moved > 0 ? slowest_us([&](const DeviceType& d) { return memory_time(moved, d, costs_); }) : 0;
}

// What the device itself does of communication, where nothing goes on behind its back (Cluster::background).
double Space::message_us(const Move& m, Bytes taken, Bytes made) const {
  if (cluster_.background) return 0;
  Instruction issue;
  issue.move = m;
  issue.out = {0};
  const bool as_made = m.kind == MoveKind::all_gather || m.kind == MoveKind::rotate;
  const MessageCopies copies = message_copies(issue, as_made ? made : taken, true);
  return copy_us(copies.before) + copy_us(copies.after);
}

// As engine/program/build/bases.cpp: a partial value is reduced into the layout that is cheapest for all readers together.
// What is gathered from there is freed, and gathered again for a backward that reads it (Emitter::refill_leaves).
Space::Forward Space::forward_cost(TensorId t, LayoutId written, const std::vector<Read>& reads) {
  std::vector<LayoutId> bases;
  const bool passes =
      std::any_of(reads.begin(), reads.end(), [&](const Read& r) { return !layout(r.layout).partials.empty(); });
  if (layout(written).partials.empty() || passes) {
    bases = {written};
  } else {
    for (const Read& r : reads) bases.push_back(r.layout);
    Layout whole = layout(written);
    whole.partials.clear();
    add_once(bases, intern(whole));
  }
  double least = -1;
  Forward out;
  for (const LayoutId base : bases) {
    const auto known = [&](LayoutId from, LayoutId to) {
      return from == to ? Conversion{0, 0, false} : conversion(t, from, to);
    };
    Conversion all = known(written, base);
    Forward here{0, all.cost, 0};
    for (const Read& r : reads) {
      const Conversion c = known(base, r.layout);
      const bool twice = r.saved && c.gathers;
      all.cost += c.cost * (twice ? 2 : 1);
      all.chosen_by += c.chosen_by;
      if (!twice) here.again += c.cost;
    }
    if (least >= 0 && all.chosen_by >= least) continue;
    least = all.chosen_by;
    here.cost = all.cost;
    out = here;
  }
  return out;
}

std::vector<Space::Read> Space::reads_of(const std::vector<Interface>& readers) const {
  std::vector<Read> reads;
  for (const Interface& i : readers) {
    const auto same = std::find_if(reads.begin(), reads.end(), [&](const Read& r) { return r.layout == i.read; });
    if (same == reads.end())
      reads.push_back({i.read, i.saved});
    else
      same->saved = same->saved || i.saved;
  }
  return reads;
}

double Space::again_cost(TensorId t, LayoutId written, const std::vector<Interface>& readers, bool inside) {
  if (readers.empty()) return 0;
  const Forward f = forward_cost(t, written, reads_of(readers));
  return f.cost >= kNever ? 0 : f.again + (inside ? f.reduced : 0);
}

double Space::tensor_cost(TensorId t, LayoutId written, LayoutId needed, const std::vector<Interface>& readers) {
  const bool gradient = graph_.tensors[at(t)].gradient;
  const auto [known, fresh] = tensors_.try_emplace({kind(t), gradient, written, needed, readers}, 0);
  if (!fresh) return known->second;
  const std::vector<Read> reads = reads_of(readers);
  std::vector<LayoutId> contributions;
  for (const Interface& i : readers)
    if (gradient && i.contribution >= 0) add_once(contributions, i.contribution);
  double cost = reads.empty() ? 0 : forward_cost(t, written, reads).cost;
  for (const LayoutId c : contributions)
    if (c != needed) cost += conversion(t, c, needed).cost;
  return known->second = std::min(cost, kNever);
}

}  // namespace planscope::splits
