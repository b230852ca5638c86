#include <algorithm>
#include <utility>

#include "tests/planner/verify/mutations/mutations.h"

namespace planscope::testing {

Mutations order_mutations() {
  return {
      {"drop an instruction",
       [](Program& p, const Graph&, Random& r) {
         Spot at;
         if (!pick(p, r, [](const Instruction& i) { return i.code != Code::free; }, &at)) return false;
         erase(p, at);
         return true;
       }},
      {"in every run what the last one does",
       [](Program& p, const Graph&, Random& r) {
         Instruction* i = pick(p, r, [](const Instruction& x) { return x.last; });
         if (!i) return false;
         i->last = false;
         return true;
       }},
      {"in the last run what every one does",
       [](Program& p, const Graph&, Random& r) {
         Spot at;
         if (!pick(p, r, [](const Instruction& x) { return !x.last; }, &at)) return false;
         const Segment& s = p.segments[static_cast<std::size_t>(at.segment)];
         std::int64_t runs = 1;
         for (const AxisId a : s.free_axes) runs *= index_count(p.axes[static_cast<std::size_t>(a)]);
         if (runs < 2) return false;
         p.segments[static_cast<std::size_t>(at.segment)].instructions[static_cast<std::size_t>(at.instruction)].last =
             true;
         return true;
       }},
      {"another run is the last",
       [](Program& p, const Graph&, Random& r) {
         DeviceClass& c = any(p.classes, r);
         const std::vector<SlotRun> once = period(c);
         const auto sums = [&](const SlotRun& run) {
           const Segment& s = p.segments[static_cast<std::size_t>(run.segment)];
           return std::any_of(s.instructions.begin(), s.instructions.end(),
                              [](const Instruction& i) { return i.last; });
         };
         std::vector<std::size_t> of;  // the runs of one such segment
         for (std::size_t k = 0; k < once.size(); ++k)
           if (sums(once[k]) && (of.empty() || once[k].segment == once[of[0]].segment)) of.push_back(k);
         if (of.size() < 2) return false;
         // The last one comes again, for the one before it.
         c.loops.clear();
         for (std::size_t k = 0; k < once.size(); ++k) {
           const SlotRun& run = once[k == of[of.size() - 2] ? of.back() : k];
           c.loops.push_back(
               {1, {{run.segment, run.index, std::vector<std::int64_t>(run.index.size(), 0), run.ahead}}});
         }
         return true;
       }},
      {"slices in the other order",
       [](Program& p, const Graph&, Random& r) {
         std::vector<std::pair<SegmentId, AxisId>> grows;
         for (SegmentId s = 0; s < static_cast<SegmentId>(p.segments.size()); ++s)
           for (const Instruction& i : p.segments[static_cast<std::size_t>(s)].instructions) {
             if (i.code != Code::accumulate) continue;
             for (const Instruction& reader : p.segments[static_cast<std::size_t>(s)].instructions)
               if (reader.code == Code::local && reader.in[0] == i.out[0] && reader.move.kind == MoveKind::slice)
                 grows.emplace_back(s, reader.move.digits[0].axis);
           }
         if (grows.empty()) return false;
         const auto [segment, axis] = grows[r() % grows.size()];
         const auto& axes = p.segments[static_cast<std::size_t>(segment)].free_axes;
         const auto k = static_cast<std::size_t>(std::find(axes.begin(), axes.end(), axis) - axes.begin());
         for (DeviceClass& c : p.classes)
           for (Loop& loop : c.loops)
             for (SlotStep& s : loop.body)
               if (s.segment == segment) {
                 s.base[k] = p.axes[static_cast<std::size_t>(axis)].size - 1 - s.base[k];
                 s.step[k] = -s.step[k];
               }
         return true;
       }},
      {"a slot is left out",
       [](Program& p, const Graph&, Random& r) {
         DeviceClass& c = any(p.classes, r);
         if (c.loops.empty()) return false;
         Loop& loop = any(c.loops, r);
         if (loop.body.empty() || loop.count == 0) return false;
         loop.body.erase(loop.body.begin() + static_cast<std::ptrdiff_t>(r() % loop.body.size()));
         return true;
       }},
      {"a slot runs twice",
       [](Program& p, const Graph&, Random& r) {
         DeviceClass& c = any(p.classes, r);
         if (c.loops.empty()) return false;
         Loop& loop = any(c.loops, r);
         if (loop.body.empty() || loop.count == 0) return false;
         loop.body.push_back(any(loop.body, r));
         return true;
       }},
      {"a loop is shorter",
       [](Program& p, const Graph&, Random& r) {
         DeviceClass& c = any(p.classes, r);
         if (c.loops.empty()) return false;
         Loop& loop = any(c.loops, r);
         if (loop.body.empty() || loop.count == 0) return false;
         --loop.count;
         return true;
       }},
      {"all slots backwards",
       [](Program& p, const Graph&, Random& r) {
         DeviceClass& c = any(p.classes, r);
         std::reverse(c.loops.begin(), c.loops.end());
         for (Loop& loop : c.loops) std::reverse(loop.body.begin(), loop.body.end());
         return true;
       }},
      {"free before a use",
       [](Program& p, const Graph&, Random& r) {
         Spot at;
         Instruction* i = pick(p, r, [](const Instruction& x) { return x.code == Code::free && !x.in.empty(); }, &at);
         if (!i) return false;
         auto& list = p.segments[at.segment].instructions;
         const ProgramValueId v = any(i->in, r);
         std::ptrdiff_t use = -1;
         for (std::size_t k = 0; k < at.instruction; ++k)
           if (std::find(list[k].in.begin(), list[k].in.end(), v) != list[k].in.end())
             use = static_cast<std::ptrdiff_t>(k);
         if (use < 0) return false;
         std::erase(i->in, v);
         Instruction early;
         early.code = Code::free;
         early.in = {v};
         list.insert(list.begin() + use, early);
         return true;
       }},
      {"free twice",
       [](Program& p, const Graph&, Random& r) {
         Instruction* i = pick(p, r, [](const Instruction& x) { return x.code == Code::free && !x.in.empty(); });
         if (!i) return false;
         i->in.push_back(any(i->in, r));
         return true;
       }},
      {"fewer devices run it",
       [](Program& p, const Graph&, Random& r) {
         DeviceClass& c = any(p.classes, r);
         std::vector<int> list = devices(p, c);
         if (list.size() < 2) return false;
         list.pop_back();
         c.devices = list;
         return true;
       }},
      {"an index of a part of an axis less",
       [](Program& p, const Graph&, Random& r) {
         if (p.axes.empty()) return false;
         Axis& a = any(p.axes, r);
         if (a.indices.size() < 2) return false;
         a.indices.erase(a.indices.begin() + static_cast<std::ptrdiff_t>(r() % a.indices.size()));
         return true;
       }},
      {"an index of a part of an axis is another one",
       [](Program& p, const Graph&, Random& r) {
         if (p.axes.empty()) return false;
         Axis& a = any(p.axes, r);
         if (a.of < 0) return false;
         std::int64_t& i = any(a.indices, r);
         i = static_cast<std::int64_t>((i + 1) % a.size);
         std::sort(a.indices.begin(), a.indices.end());
         return true;
       }},
      {"a slot at another index",
       [](Program& p, const Graph&, Random& r) {
         DeviceClass& c = any(p.classes, r);
         if (c.loops.empty()) return false;
         Loop& loop = any(c.loops, r);
         if (loop.body.empty()) return false;
         SlotStep& s = any(loop.body, r);
         if (s.base.empty()) return false;
         const Segment& segment = p.segments[static_cast<std::size_t>(s.segment)];
         const std::size_t k = r() % s.base.size();
         if (loop.count > 1 || p.axes[static_cast<std::size_t>(segment.free_axes[k])].size < 2) return false;
         s.base[k] = (s.base[k] + 1) % p.axes[static_cast<std::size_t>(segment.free_axes[k])].size;
         return true;
       }},
      {"a forward further ahead than its parameters have versions for",
       [](Program& p, const Graph&, Random& r) {
         DeviceClass& c = any(p.classes, r);
         if (c.loops.empty()) return false;
         Loop& loop = any(c.loops, r);
         if (loop.body.empty()) return false;
         SlotStep& s = any(loop.body, r);
         if (!reads_version(p, p.segments[static_cast<std::size_t>(s.segment)], s.ahead)) return false;
         ++s.ahead;
         return true;
       }},
      {"a backward, or an update, of the step after",
       [](Program& p, const Graph&, Random& r) {
         DeviceClass& c = any(p.classes, r);
         if (c.loops.empty()) return false;
         Loop& loop = any(c.loops, r);
         if (loop.body.empty()) return false;
         SlotStep& s = any(loop.body, r);
         const Segment& segment = p.segments[static_cast<std::size_t>(s.segment)];
         const auto& list = segment.instructions;
         if (std::none_of(list.begin(), list.end(),
                          [](const Instruction& i) { return i.code == Code::backward || i.code == Code::update; }))
           return false;
         s.ahead += 1 + static_cast<std::int64_t>(r() % 2);
         return true;
       }},
      {"wait for a part of a bucket",
       [](Program& p, const Graph&, Random& r) {
         Instruction* i = pick(p, r, [](const Instruction& x) { return x.code == Code::wait && x.out.size() > 1; });
         if (!i) return false;
         i->out.erase(i->out.begin() + static_cast<std::ptrdiff_t>(r() % i->out.size()));
         return true;
       }},
      {"a wait after the reader",
       [](Program& p, const Graph&, Random& r) {
         Spot at;
         if (!pick(p, r, is(Code::wait), &at)) return false;
         auto& list = p.segments[at.segment].instructions;
         if (at.instruction + 1 >= list.size() || list[at.instruction + 1].code == Code::wait) return false;
         const auto& next = list[at.instruction + 1].in;
         const auto& made = list[at.instruction].out;
         if (std::find_first_of(next.begin(), next.end(), made.begin(), made.end()) == next.end()) return false;
         std::swap(list[at.instruction], list[at.instruction + 1]);
         return true;
       }},
      {"wait for nothing",
       [](Program& p, const Graph&, Random& r) {
         Spot at;
         if (!pick(p, r, is(Code::wait), &at)) return false;
         erase(p, at);
         return true;
       }},
  };
}

}  // namespace planscope::testing
