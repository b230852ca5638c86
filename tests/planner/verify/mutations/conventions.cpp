// What whoever runs a Program and whoever checks it could take in different ways.
#include <algorithm>
#include <limits>
#include <optional>

#include "engine/program/transfer.h"
#include "tests/planner/verify/mutations/mutations.h"

namespace planscope::testing {

namespace {

template <class T>
T& at(std::vector<T>& list, int k) {
  return list[static_cast<std::size_t>(k)];
}

bool holds(const std::vector<ProgramValueId>& list, ProgramValueId v) {
  return std::find(list.begin(), list.end(), v) != list.end();
}

// The instruction after which a value is there: the wait for it, or what makes it at once.
std::optional<Spot> there(const Program& p, ProgramValueId v) {
  const auto waits = spots(p, [&](const Instruction& i) { return i.code == Code::wait && holds(i.out, v); });
  if (!waits.empty()) return waits.front();
  const auto makes = spots(p, [&](const Instruction& i) { return holds(i.out, v); });
  return makes.empty() ? std::nullopt : std::optional(makes.front());
}

void insert_after(Program& p, Spot s, Instruction i) {
  auto& list = p.segments[s.segment].instructions;
  list.insert(list.begin() + static_cast<std::ptrdiff_t>(s.instruction) + 1, std::move(i));
}

Instruction free_of(ProgramValueId v) {
  Instruction i;
  i.code = Code::free;
  i.in = {v};
  return i;
}

// A value that is made again, at random; -1: there is none.
ProgramValueId refill(const Program& p, Random& r) {
  std::vector<ProgramValueId> all;
  for (ProgramValueId v = 0; v < static_cast<ProgramValueId>(p.values.size()); ++v)
    if (p.values[static_cast<std::size_t>(v)].refills >= 0 && there(p, v)) all.push_back(v);
  return all.empty() ? -1 : all[r() % all.size()];
}

bool freed_late(Program& p, Random& r) {
  const ProgramValueId v = refill(p, r);
  if (v < 0) return false;
  const ProgramValueId original = at(p.values, v).refills;
  for (Segment& s : p.segments)
    for (Instruction& i : s.instructions)
      if (i.code == Code::free) std::erase(i.in, original);
  insert_after(p, *there(p, v), free_of(original));
  return true;
}

// The first of two is freed at once, the second lives as long as it did.
bool two_refills(Program& p, Random& r) {
  const ProgramValueId v = refill(p, r);
  if (v < 0) return false;
  const auto makes = spots(p, [&](const Instruction& i) { return i.code != Code::wait && holds(i.out, v); });
  if (makes.size() != 1) return false;
  Instruction again = p.segments[makes[0].segment].instructions[makes[0].instruction];
  if (again.out.size() != 1) return false;
  const auto second = static_cast<ProgramValueId>(p.values.size());
  p.values.push_back(ProgramValue(at(p.values, v)));
  for (Segment& s : p.segments)
    for (Instruction& i : s.instructions)
      if (i.code == Code::free) std::replace(i.in.begin(), i.in.end(), v, second);
  const bool waits = again.code == Code::issue;
  again.out = {second};
  Spot where = *there(p, v);
  insert_after(p, where, std::move(again));
  ++where.instruction;
  if (waits) {
    Instruction wait;
    wait.code = Code::wait;
    wait.out = {second};
    insert_after(p, where, std::move(wait));
    ++where.instruction;
  }
  insert_after(p, where, free_of(v));
  return true;
}

// Whether some device sends a part of what it receives itself.
bool to_itself(const Graph& g, const Program& p, const Transfer& t) {
  for (const Sending& s : sendings(p, t)) {
    const auto region_on = [&](const Place& place, const Layout& layout, int device) {
      Point point = point_of(p, place, device);
      for (std::size_t a = 0; a < p.axes.size() && !point.empty(); ++a)
        if (p.axes[a].grid < 0) point[a] = index_at(p.axes[a], 0);
      return point.empty() ? std::vector<std::vector<Interval>>{} : region(g, s.tensor, layout, point);
    };
    for (const int d : devices(p, s.to)) {
      const auto held = region_on(s.from, s.sent, d), wanted = region_on(s.to, s.got, d);
      bool meet = !point_of(p, s.from, d).empty();
      for (std::size_t dim = 0; meet && dim < held.size(); ++dim)
        for (std::size_t k = 0; k < held[dim].size(); ++k)
          meet = meet &&
                 std::max(held[dim][k].begin, wanted[dim][k].begin) < std::min(held[dim][k].end, wanted[dim][k].end);
      if (meet) return true;
    }
  }
  return false;
}

void one_by_one(const Program& p, DeviceClass& c, std::vector<SlotRun> runs) {
  c.loops.clear();
  for (const SlotRun& run : runs)
    c.loops.push_back({1, {{run.segment, run.index, std::vector<std::int64_t>(run.index.size(), 0), run.ahead}}});
  (void)p;
}

// Every slot that receives comes before the one that sends.
bool received_early(Program& p, const Graph& g, Random& r) {
  std::vector<int> all;
  for (int t = 0; t < static_cast<int>(p.transfers.size()); ++t)
    if (to_itself(g, p, at(p.transfers, t))) all.push_back(t);
  if (all.empty()) return false;
  const int t = all[r() % all.size()];
  const auto sends = spots(p, [&](const Instruction& i) { return i.code == Code::send && i.transfer == t; });
  const auto receives = spots(p, [&](const Instruction& i) { return i.code == Code::receive && i.transfer == t; });
  if (sends.size() != 1 || receives.size() != 1 || sends[0].segment == receives[0].segment) return false;
  const auto from = static_cast<SegmentId>(sends[0].segment), to = static_cast<SegmentId>(receives[0].segment);
  for (DeviceClass& c : p.classes) {
    std::vector<SlotRun> runs = period(c), first;
    if (std::none_of(runs.begin(), runs.end(), [&](const SlotRun& x) { return x.segment == from; })) continue;
    std::copy_if(runs.begin(), runs.end(), std::back_inserter(first),
                 [&](const SlotRun& x) { return x.segment == to; });
    if (first.empty()) continue;
    std::erase_if(runs, [&](const SlotRun& x) { return x.segment == to; });
    const auto send = std::find_if(runs.begin(), runs.end(), [&](const SlotRun& x) { return x.segment == from; });
    runs.insert(send, first.begin(), first.end());
    one_by_one(p, c, runs);
  }
  return true;
}

std::vector<std::int64_t> ends(std::int64_t size, const std::vector<Digit>& digits, const Digit& whole) {
  std::vector<std::int64_t> out;
  Point point(static_cast<std::size_t>(whole.axis) + 1, -1);
  for (std::int64_t c = 0; c < whole.size * whole.stride; c += whole.stride) {
    point[static_cast<std::size_t>(whole.axis)] = c;
    const Interval i = block_of(size, digits, point);
    out.insert(out.end(), {i.begin, i.end});
  }
  return out;
}

// A value, or a result of a piece, states two nested digits of an axis for one, or one for two, which are other blocks.
bool nested(Program& p, const Graph& g, Random& r) {
  struct Place {
    LayoutId* layout;
    Layout other;
  };
  std::vector<Place> all;
  const auto note = [&](TensorId t, LayoutId& id) {
    const Layout& l = at(p.layouts, id);
    for (std::size_t k = 0; k < l.splits.size(); ++k) {
      const Split& s = l.splits[k];
      if (s.part == kByKey || s.digits.size() != 1) continue;
      const Digit& d = s.digits[0];
      if (d != plain(d) || d.size < 4 || d.size % 2 != 0) continue;
      const std::vector<Digit> two = {{d.axis, 2, d.stride * d.size / 2}, {d.axis, d.size / 2, d.stride}};
      const auto& dims = g.tensors[static_cast<std::size_t>(t)].dims;
      const ClassId part = dims[static_cast<std::size_t>(s.dim)][static_cast<std::size_t>(s.part)];
      const std::int64_t size = g.classes[static_cast<std::size_t>(part)].size;
      if (ends(size, two, d) == ends(size, s.digits, d)) continue;
      Layout other = l;
      other.splits[k].digits = two;
      all.push_back({&id, std::move(other)});
    }
  };
  for (ProgramValue& v : p.values) note(v.tensor, v.layout);
  for (Piece& piece : p.pieces)
    for (PieceSlot& s : piece.slots) note(s.tensor, s.layout);
  if (all.empty()) return false;
  Place& one = all[r() % all.size()];
  *one.layout = static_cast<LayoutId>(p.layouts.size());
  p.layouts.push_back(std::move(one.other));
  return true;
}

bool larger_axis(Program& p, Random& r) {
  std::vector<AxisId> wholes;
  for (const Axis& a : p.axes)
    if (a.of >= 0) wholes.push_back(a.of);
  if (wholes.empty()) return false;
  const AxisId whole = wholes[r() % wholes.size()];
  const std::int64_t sizes[] = {std::int64_t{1} << 24, std::int64_t{1} << 28, std::numeric_limits<int>::max() - 1};
  const std::int64_t size = sizes[r() % 3];
  at(p.axes, whole).size = size;
  for (Axis& a : p.axes)
    if (a.of == whole) a.size = size;
  return true;
}

}  // namespace

Mutations convention_mutations() {
  return {
      {"a message to itself received before it is sent",
       [](Program& p, const Graph& g, Random& r) { return received_early(p, g, r); }},
      {"a value freed after it is made again", [](Program& p, const Graph&, Random& r) { return freed_late(p, r); }},
      {"a value made again twice", [](Program& p, const Graph&, Random& r) { return two_refills(p, r); }},
      {"nested digits for one", [](Program& p, const Graph& g, Random& r) { return nested(p, g, r); }},
      {"a divided axis of many indices", [](Program& p, const Graph&, Random& r) { return larger_axis(p, r); }},
      {"a device in two classes",
       [](Program& p, const Graph&, Random& r) {
         DeviceClass& c = any(p.classes, r);
         const std::vector<int> others = devices(p, any(p.classes, r));
         c.devices = devices(p, c);
         c.devices.push_back(others[r() % others.size()]);
         return true;
       }},
      {"a replay that keeps nothing",
       [](Program& p, const Graph&, Random& r) {
         Instruction* i = pick(p, r, [](const Instruction& x) { return x.code == Code::replay && x.keep; });
         if (!i) return false;
         i->keep = false;
         return true;
       }},
  };
}

}  // namespace planscope::testing
