// Changes of which some are harmless: what verify() accepts is to be run.
#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include "engine/program/program_json.h"
#include "tests/planner/verify/mutations/mutations.h"

namespace planscope::testing {

namespace {

template <class T>
T& at(std::vector<T>& list, int k) {
  return list[static_cast<std::size_t>(k)];
}

std::vector<Instruction>& instructions(Program& p, Spot s) { return p.segments[s.segment].instructions; }

bool communicates(const Instruction& i) {
  return i.code == Code::issue || i.code == Code::send || i.code == Code::receive;
}

// Takes an instruction and puts it at another place of its segment, or of another one.
bool elsewhere(Program& p, Random& r, const std::function<bool(const Instruction&)>& wanted, bool same_segment) {
  Spot from;
  const Instruction* i = pick(p, r, wanted, &from);
  if (!i) return false;
  const Instruction moved = *i;
  const std::size_t to = same_segment ? from.segment : r() % p.segments.size();
  if (!same_segment && to == from.segment) return false;
  erase(p, from);
  auto& list = p.segments[to].instructions;
  list.insert(list.begin() + static_cast<std::ptrdiff_t>(r() % (list.size() + 1)), moved);
  return true;
}

// Exchanges two of those that are next to each other among the wanted ones of a segment.
bool exchanged(Program& p, Random& r, const std::function<bool(const Instruction&)>& wanted) {
  const std::size_t segment = r() % p.segments.size();
  auto& list = p.segments[segment].instructions;
  std::vector<std::size_t> of;
  for (std::size_t k = 0; k < list.size(); ++k)
    if (wanted(list[k])) of.push_back(k);
  if (of.size() < 2) return false;
  const std::size_t k = r() % (of.size() - 1);
  std::swap(list[of[k]], list[of[k + 1]]);
  return true;
}

void one_by_one(DeviceClass& c, const std::vector<SlotRun>& runs) {
  c.loops.clear();
  for (const SlotRun& run : runs)
    c.loops.push_back({1, {{run.segment, run.index, std::vector<std::int64_t>(run.index.size(), 0), run.ahead}}});
}

bool slots_exchanged(Program& p, Random& r, bool neighbours) {
  DeviceClass& c = any(p.classes, r);
  std::vector<SlotRun> runs = period(c);
  if (runs.size() < 2 || runs.size() > 4096) return false;
  const std::size_t a = r() % (runs.size() - 1), b = neighbours ? a + 1 : r() % runs.size();
  std::swap(runs[a], runs[b]);
  one_by_one(c, runs);
  return true;
}

// A segment names its free axes in another order.
bool axes_in_another_order(Program& p, Random& r, Phase phase) {
  std::vector<SegmentId> all;
  for (SegmentId s = 0; s < static_cast<SegmentId>(p.segments.size()); ++s)
    if (at(p.segments, s).free_axes.size() > 1 && at(p.segments, s).phase == phase) all.push_back(s);
  if (all.empty()) return false;
  const SegmentId s = all[r() % all.size()];
  const std::size_t k = r() % (at(p.segments, s).free_axes.size() - 1);
  std::swap(at(p.segments, s).free_axes[k], at(p.segments, s).free_axes[k + 1]);
  for (DeviceClass& c : p.classes)
    for (Loop& loop : c.loops)
      for (SlotStep& step : loop.body)
        if (step.segment == s) std::swap(step.base[k], step.base[k + 1]), std::swap(step.step[k], step.step[k + 1]);
  return true;
}

bool uneven(Program& p, Random& r) {
  if (p.layouts.empty()) return false;
  Layout& l = any(p.layouts, r);
  if (l.splits.empty()) return false;
  Digit& d = any(l.splits, r).digits[0];
  if (d.sizes.empty()) {
    d.sizes.assign(static_cast<std::size_t>(d.size), 1 + static_cast<std::int64_t>(r() % 8));
    return true;
  }
  std::int64_t &a = any(d.sizes, r), &b = any(d.sizes, r);
  if (a == 0) return false;
  --a, ++b;
  return true;
}

// Of the text of a program one number is another one.
bool random_number(Program& p, const Graph&, Random& r) {
  std::string text = to_json(p);
  std::vector<std::pair<std::size_t, std::size_t>> numbers;
  bool quoted = false;
  for (std::size_t k = text.find("\"axes\""); k < text.size(); ++k) {
    if (text[k] == '"' && text[k - 1] != '\\') quoted = !quoted;
    if (quoted || !std::isdigit(static_cast<unsigned char>(text[k]))) continue;
    const std::size_t begin = k > 0 && text[k - 1] == '-' ? k - 1 : k;
    while (k < text.size() && std::isdigit(static_cast<unsigned char>(text[k]))) ++k;
    numbers.emplace_back(begin, k - begin);
    --k;
  }
  if (numbers.empty()) return false;
  const auto [begin, length] = numbers[r() % numbers.size()];
  const auto [other, width] = numbers[r() % numbers.size()];
  const std::int64_t old = std::stoll(text.substr(begin, length));
  const std::string now = r() % 3 == 0 ? text.substr(other, width) : std::to_string(old + (r() % 2 == 0 ? 1 : -1));
  text.replace(begin, length, now);
  Result<Program> changed = program_from_json(text);
  if (!changed.value) return false;
  p = std::move(*changed);
  return true;
}

bool merged(Program& p, Random& r) {
  if (p.segments.size() < 2) return false;
  const std::size_t a = r() % p.segments.size(), b = r() % p.segments.size();
  if (a == b) return false;
  Segment &to = p.segments[a], &from = p.segments[b];
  if (to.free_axes != from.free_axes || to.place != from.place) return false;
  to.instructions.insert(to.instructions.end(), from.instructions.begin(), from.instructions.end());
  from.instructions.clear();
  return true;
}

template <class T>
bool shuffled(std::vector<T>& list, Random& r) {
  if (list.size() < 2) return false;
  std::swap(any(list, r), any(list, r));
  return true;
}

}  // namespace

Mutations open_mutations() {
  const auto everything = [](const Instruction&) { return true; };
  return {
      {"two instructions exchanged", [=](Program& p, const Graph&, Random& r) { return exchanged(p, r, everything); }},
      {"an instruction elsewhere in its segment",
       [=](Program& p, const Graph&, Random& r) { return elsewhere(p, r, everything, true); }},
      {"an instruction in another segment",
       [=](Program& p, const Graph&, Random& r) { return elsewhere(p, r, everything, false); }},
      {"two communications exchanged",
       [](Program& p, const Graph&, Random& r) { return exchanged(p, r, communicates); }},
      {"a communication elsewhere",
       [](Program& p, const Graph&, Random& r) { return elsewhere(p, r, communicates, true); }},
      {"a wait elsewhere", [](Program& p, const Graph&, Random& r) { return elsewhere(p, r, is(Code::wait), true); }},
      {"a wait in another segment",
       [](Program& p, const Graph&, Random& r) { return elsewhere(p, r, is(Code::wait), false); }},
      {"a free elsewhere", [](Program& p, const Graph&, Random& r) { return elsewhere(p, r, is(Code::free), true); }},
      {"a free in another segment",
       [](Program& p, const Graph&, Random& r) { return elsewhere(p, r, is(Code::free), false); }},
      {"no free",
       [](Program& p, const Graph&, Random& r) {
         Instruction* i = pick(p, r, [](const Instruction& x) { return x.code == Code::free && !x.in.empty(); });
         if (!i) return false;
         i->in.erase(i->in.begin() + static_cast<std::ptrdiff_t>(r() % i->in.size()));
         return true;
       }},
      {"an update elsewhere",
       [](Program& p, const Graph&, Random& r) { return elsewhere(p, r, is(Code::update), false); }},
      {"two slots exchanged", [](Program& p, const Graph&, Random& r) { return slots_exchanged(p, r, false); }},
      {"two slots next to each other exchanged",
       [](Program& p, const Graph&, Random& r) { return slots_exchanged(p, r, true); }},
      {"free axes of a backward in another order",
       [](Program& p, const Graph&, Random& r) { return axes_in_another_order(p, r, Phase::backward); }},
      {"free axes of a forward in another order",
       [](Program& p, const Graph&, Random& r) { return axes_in_another_order(p, r, Phase::forward); }},
      {"blocks of other sizes", [](Program& p, const Graph&, Random& r) { return uneven(p, r); }},
      {"two segments in one", [](Program& p, const Graph&, Random& r) { return merged(p, r); }},
      {"a segment without instructions",
       [](Program& p, const Graph&, Random& r) {
         any(p.segments, r).instructions.clear();
         return true;
       }},
      {"another phase",
       [](Program& p, const Graph&, Random& r) {
         any(p.segments, r).phase = static_cast<Phase>(r() % 9);
         return true;
       }},
      {"a slot ahead",
       [](Program& p, const Graph&, Random& r) {
         DeviceClass& c = any(p.classes, r);
         if (c.loops.empty()) return false;
         Loop& loop = any(c.loops, r);
         if (loop.body.empty()) return false;
         any(loop.body, r).ahead = static_cast<std::int64_t>(r() % 3);
         return true;
       }},
      {"a value at another place",
       [](Program& p, const Graph&, Random& r) {
         any(p.values, r).place = static_cast<PlaceId>(r() % p.places.size());
         return true;
       }},
      {"a segment at another place",
       [](Program& p, const Graph&, Random& r) {
         any(p.segments, r).place = static_cast<PlaceId>(r() % p.places.size());
         return true;
       }},
      {"a grid of devices in another order",
       [](Program& p, const Graph&, Random& r) {
         if (p.grids.empty()) return false;
         Grid& g = any(p.grids, r);
         return g.devices.empty() ? shuffled(g.strides, r) : shuffled(g.devices, r);
       }},
      {"a place with another coordinate",
       [](Program& p, const Graph&, Random& r) {
         Place& x = any(p.places, r);
         if (x.fixed.empty()) return false;
         auto& [axis, c] = any(x.fixed, r);
         c = (c + 1) % at(p.axes, axis).size;
         return true;
       }},
      {"a class at another place",
       [](Program& p, const Graph&, Random& r) {
         DeviceClass& c = any(p.classes, r);
         if (!c.devices.empty()) return shuffled(c.devices, r);
         c.place = any(p.places, r);
         return true;
       }},
      {"a value of another role",
       [](Program& p, const Graph&, Random& r) {
         any(p.values, r).role = static_cast<Role>(r() % 4);
         return true;
       }},
      {"a value that refills another",
       [](Program& p, const Graph&, Random& r) {
         any(p.values, r).refills = static_cast<ProgramValueId>(r() % p.values.size());
         return true;
       }},
      {"a random number", random_number},
      {"two random numbers",
       [](Program& p, const Graph& g, Random& r) { return random_number(p, g, r) && random_number(p, g, r); }},
  };
}

}  // namespace planscope::testing
