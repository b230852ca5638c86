#include "planner/simulate/events.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "engine/base/stop.h"
#include "planner/simulate/instances.h"
#include "planner/simulate/lane.h"
#include "planner/simulate/last_period.h"
#include "planner/simulate/step_load.h"

namespace planscope {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

struct Meeting {  // of the classes of a party, for one collective
  int arrived = 0, expected = 0;
  Nanoseconds ready = 0;
  std::vector<std::tuple<int, int, int>> members;  // class, slot, instruction
};

class Player {
  static constexpr std::int64_t kRounds = 6;  // of overlapping steps, until their times are taken to repeat

 public:
  Player(const Program& p, const Steps& s, const SimulationOptions& o, const Closer& closer)
      : program_(p),
        steps_(s),
        options_(o),
        closer_(closer),
        ahead_(most_ahead(p)),
        periods_(ahead_ == 0 ? 1 : kRounds * (ahead_ + 1)),
        training_(ahead_ + periods_) {}

  Result<Played> play() {
    if (!survey()) return error_;
    for (bool progress = true; progress;) {
      progress = false;
      for (std::size_t c = 0; c < lanes_.size(); ++c) progress |= advance(static_cast<int>(c));
      if (error_.what.size()) return error_;
    }
    for (const Lane& lane : lanes_)
      if (!lane.cursor.done()) return stuck();
    finish();
    return std::move(played_);
  }

 private:
  // Not one that only begins the gradients of the loss.
  static bool goes_backward(const Segment& s) {
    return s.phase == Phase::backward && std::any_of(s.instructions.begin(), s.instructions.end(),
                                                     [](const Instruction& i) { return i.code == Code::backward; });
  }

  // Blocks of one run, where all of them are shown.
  static std::int64_t would_be_recorded(const SegmentSteps& segment) {
    return std::count_if(segment.steps.begin(), segment.steps.end(),
                         [](const Step& s) { return s.duration > 0 || s.own > 0 || s.traffic >= 0; });
  }

  // Checks every slot, counts sends by instance and finds the landmarks of every class.
  bool survey() {
    played_.simulation.classes.resize(program_.classes.size());
    played_.waiting.resize(program_.classes.size());
    posts_.resize(steps_.instances.size());
    if (closer_.kinds) closer_.kinds->assign(program_.classes.size(), {});
    std::int64_t runs = 0;
    std::vector<StepLoad> loads, of_lanes(program_.classes.size());
    std::vector<std::int64_t> recorded;
    for (const SegmentSteps& s : steps_.segments) loads.push_back(load_of(s, steps_.traffic)), recorded.push_back(would_be_recorded(s));
    lanes_.reserve(program_.classes.size());
    for (std::size_t c = 0; c < program_.classes.size(); ++c) {
      lanes_.emplace_back(static_cast<int>(c), program_, program_.classes[c], periods_, steps_, options_.alive,
                          played_.simulation.classes[c], closer_);
      Lane& lane = lanes_.back();
      hold_in_host(lane, played_.simulation.classes[c], steps_.host_standing[c]);
      for (const MemoryChange& m : steps_.standing[c]) of_lanes[c].bytes += static_cast<double>(m.bytes);
      for (SlotCursor cursor(program_.classes[c], periods_); !cursor.done(); cursor.next()) {
        const SegmentId id = cursor.segment();
        const Segment& segment = program_.segments[at(id)];
        if (cursor.index().size() != segment.free_axes.size())
          return fail("a slot of " + segment.name + " has " + std::to_string(cursor.index().size()) + " indices for " +
                      std::to_string(segment.free_axes.size()) + " free axes");
        for (std::size_t k = 0; k < segment.free_axes.size(); ++k)
          if (cursor.index()[k] < 0 || cursor.index()[k] >= program_.axes[at(segment.free_axes[k])].size)
            return fail("a slot of " + segment.name + " has index " + std::to_string(cursor.index()[k]) + " on axis " +
                        program_.axes[at(segment.free_axes[k])].name);
        if (segment.phase == Phase::forward) lane.last_forward = cursor.ordinal();
        if (lane.first_backward < 0 && goes_backward(segment)) lane.first_backward = cursor.ordinal();
        runs += recorded[at(id)];
        of_lanes[c] += loads[at(id)];
        for (const Step& s : steps_.segments[at(id)].steps)
          if (s.kind == StepKind::send) ++post(s.instance, cursor).expected;
      }
      if (ahead_ > 0) lane.last_forward = std::numeric_limits<int>::max();  // there is no end
    }
    error_ = uncountable(of_lanes);
    if (!error_.what.empty()) return false;
    detail_everywhere_ = !options_.window && runs <= options_.detail_limit;
    return true;
  }

  struct Post {
    int expected = 0, sent = 0;
    Nanoseconds arrival = 0;
    int last = -1;  // class that sent what arrived last
  };

  std::int64_t instance_of(const Instance& i, const SlotCursor& slot) const {
    return slot.step() * steps_.instances[at(i.handle)] + planscope::instance_of(i, slot.index());
  }
  Post& post(const Instance& i, const SlotCursor& slot) {
    std::vector<Post>& posts = posts_[at(i.handle)];
    if (posts.empty()) posts.resize(static_cast<std::size_t>(training_ * steps_.instances[at(i.handle)]));
    return posts[static_cast<std::size_t>(instance_of(i, slot))];
  }

  bool fail(std::string what) {
    error_ = error(std::move(what), {}, "the Program is damaged; materialize it again");
    return false;
  }

  // To the run that the lane is at. (Asked once for each: nothing that is counted has to wait.)
  bool belongs(Lane& lane, const Step& step) const {
    if ((step.last || step.but_last) && lane.last_run != step.last) return false;
    if (step.offload_with) {
      const Runs& r = *step.offload_with;
      if (count(lane, lane.taken_away, r) < r.runs) return false;
      lane.offloaded.begin(r.instance.handle, instance_of(r.instance, lane.cursor), instances_of(r));
    }
    if (step.restore_after) {
      const Runs& r = *step.restore_after;
      return lane.offloaded.has(r.instance.handle, instance_of(r.instance, lane.cursor)) && count(lane, lane.brought_back, r) == 1;
    }
    return true;
  }
  std::int64_t count(const Lane& lane, RunCounts& counts, const Runs& r) const {
    return counts.count(r.instance.handle, instance_of(r.instance, lane.cursor), instances_of(r));
  }
  std::int64_t instances_of(const Runs& r) const { return training_ * steps_.instances[at(r.instance.handle)]; }

  // Runs a class until it waits for another or is done; whether it got anywhere.
  bool advance(int c) {
    Lane& lane = lanes_[at(c)];
    ClassTimeline& out = played_.simulation.classes[at(c)];
    bool progress = false;
    while (!lane.cursor.done()) {
      if (!lane.in_slot) begin_slot(c, lane, out);
      const SegmentSteps& segment = steps_.segments[at(lane.cursor.segment())];
      const std::vector<Step>& steps = segment.steps;
      look_at_stop();
      while (lane.step < steps.size()) {
        if (pass(lane, out, segment)) {
          progress = true;
          continue;
        }
        const Step& step = steps[lane.step];
        if (belongs(lane, step) && !run(c, lane, out, step)) return progress;
        progress = true;
        ++lane.step;
      }
      end_slot(c, lane, out);
      progress = true;
    }
    return progress;
  }

  void begin_slot(int c, Lane& lane, ClassTimeline& out) {
    const Segment& segment = program_.segments[at(lane.cursor.segment())];
    if (ahead_ > 0 && lane.ends.empty() && lane.cursor.period() == 0) lane.ends.push_back(tally(c));
    SlotBlock block{lane.cursor.segment(), 0, kNever, kNever, lane.cursor.ahead()};
    for (std::size_t k = 0; k < segment.free_axes.size(); ++k)
      block.index = block.index * program_.axes[at(segment.free_axes[k])].size + lane.cursor.index()[k];
    out.slots.push_back(block);
    lane.memory.begin_slot();
    lane.step = lane.work_run = 0;
    lane.in_slot = true;
    lane.last_run = lane.cursor.index() == lane.last[at(lane.cursor.segment())];
  }

  void end_slot(int c, Lane& lane, ClassTimeline& out) {
    SlotBlock& block = out.slots.back();
    if (block.start == kNever) block.start = block.end = lane.now;
    lane.memory.end_slot(lane.now);
    const std::int64_t period = lane.cursor.period();
    lane.cursor.next();
    lane.in_slot = false;
    if (ahead_ == 0 || period < 0 || (!lane.cursor.done() && lane.cursor.period() == period)) return;
    lane.ends.push_back(tally(c));
    lane.memory.end_step(steps_.freed_with_step[at(c)], lane.now);  // the step of that period
    if (period != periods_ - 2) return;
    lane.last_period_from = lane.cursor.ordinal();
    lane.memory.forget_peak();
  }

  Tally tally(int c) const {
    const Lane& lane = lanes_[at(c)];
    const ClassTimeline& out = played_.simulation.classes[at(c)];
    return {lane.now, out.compute, out.collective,         out.transfer,
            out.host, out.sources, played_.waiting[at(c)], lane.traffic};
  }

  // Whether the step that a lane is at is to take another time; a collective of several classes is one for all of them.
  bool is_other(const Lane& lane, const ClassTimeline& out, const Step& step) const {
    if (!closer_.other) return false;
    const OtherTime& o = *closer_.other;
    return (o.device_class == lane.index || step.parties) && o.segment == lane.cursor.segment() &&
           (o.index < 0 || o.index == out.slots.back().index) && (o.instruction < 0 || o.instruction == step.instruction);
  }
  Nanoseconds duration(const Lane& lane, const ClassTimeline& out, const Step& step) const {
    return is_other(lane, out, step) && closer_.other->no_time ? 0 : step.duration;
  }
  Nanoseconds own(const Lane& lane, const ClassTimeline& out, const Step& step) const {
    return is_other(lane, out, step) && closer_.other->no_time ? 0 : step.own;
  }
  // Of a whole slot: when its first work begins, after what it waits for.
  Nanoseconds slot_delay(const Lane& lane, const ClassTimeline& out, const Step& step) const {
    const bool first = out.slots.back().start == kNever;
    return first && is_other(lane, out, step) && closer_.other->instruction < 0 && closer_.other->device_class == lane.index
               ? closer_.other->later
               : 0;
  }
  // Of a single instruction.
  Nanoseconds delay(const Lane& lane, const ClassTimeline& out, const Step& step) const {
    return is_other(lane, out, step) && closer_.other->instruction >= 0 ? closer_.other->later : 0;
  }

  bool detailed(Nanoseconds from, Nanoseconds to) const {
    return detail_everywhere_ || (options_.window && to >= options_.window->from && from <= options_.window->to);
  }

  // False: it has to wait for another class; nothing has changed then.
  bool run(int c, Lane& lane, ClassTimeline& out, const Step& step) {
    const SlotCursor& slot = lane.cursor;
    switch (step.kind) {
      case StepKind::compute:
        work(lane, out, step, true);
        return true;
      case StepKind::accumulate: {
        const int handle = step.instance.handle;
        const std::int64_t instances = training_ * steps_.instances[at(handle)];
        work(lane, out, step, lane.begun.begin(handle, instance_of(step.instance, slot), instances));
        return true;
      }
      case StepKind::issue:
        return issue(c, lane, out, step);
      case StepKind::send: {
        const Nanoseconds over = steps_.background ? communicate(lane, out, step, Stream::transfer)
                                                   : own_work(c, lane, out, step, Stream::transfer);
        Post& p = post(step.instance, slot);
        ++p.sent;
        if (over >= p.arrival) p.arrival = over, p.last = c;
        return true;
      }
      case StepKind::wait_receive: {
        const Post& p = post(step.instance, slot);
        if (p.expected == 0 || p.sent < p.expected) return false;
        wait(c, lane, out, step, p.arrival, p.last);
        return true;
      }
      case StepKind::wait_collective: {
        const Nanoseconds moment =
            lane.under_way.take(step.instance.handle, instance_of(step.instance, slot), step.values);
        if (moment == kNever) return false;
        wait(c, lane, out, step, moment, -1);
        return true;
      }
      case StepKind::offload:
      case StepKind::restore:
        copy(lane, out, step);
        return true;
      case StepKind::wait_restore: {
        const Nanoseconds moment = lane.copies.back.take(step.instance.handle, instance_of(step.instance, slot), 1);
        if (moment <= lane.now) return true;
        played_.waiting[at(c)].host += moment - lane.now;
        record_gap(out, IdleCause::memory, lane.now, moment);
        lane.now = moment;
        return true;
      }
    }
    return true;
  }

  // The steps that follow, where they are plain computations and nothing of them is shown or changed.
  bool pass(Lane& lane, ClassTimeline& out, const SegmentSteps& segment) const {
    while (lane.work_run < segment.runs.size() && segment.runs[lane.work_run].begin < lane.step) ++lane.work_run;
    if (lane.work_run == segment.runs.size()) return false;
    const WorkRun& run = segment.runs[lane.work_run];
    if (run.begin != lane.step) return false;
    if (closer_.other && closer_.other->segment == lane.cursor.segment()) return false;
    if (detailed(lane.now, lane.now + run.duration) || !lane.memory.pass(run, segment.steps, lane.now)) return false;
    lane.step = run.end;
    if (run.duration == 0) return true;
    SlotBlock& block = out.slots.back();
    if (block.start == kNever) block.start = lane.now;
    lane.now += run.duration;
    block.end = lane.now;
    out.compute += run.duration;
    for (std::size_t k = 0; k < out.sources.size(); ++k) out.sources[k] += run.sources[k];
    return true;
  }

  void work(Lane& lane, ClassTimeline& out, const Step& step, bool allocate) {
    const Nanoseconds duration = this->duration(lane, out, step);
    lane.now += delay(lane, out, step) + (duration > 0 ? slot_delay(lane, out, step) : 0);
    const Nanoseconds start = lane.now;
    const bool detail = detailed(start, start + duration);
    if (allocate) lane.memory.begin(step, start, lane.cursor.ordinal(), detail);
    lane.now += duration;
    lane.memory.end(step, lane.now, detail);
    for (const Release& r : step.releases)
      if (count(lane, lane.runs, r) == r.runs) lane.memory.release(r.change, lane.now, detail);
    if (duration == 0) return;
    SlotBlock& block = out.slots.back();
    if (block.start == kNever) block.start = start;
    block.end = lane.now;
    out.compute += duration;
    for (std::size_t k = 0; k < out.sources.size(); ++k) out.sources[k] += step.sources[k];
    if (detail) out.instructions.push_back({Stream::compute, lane.cursor.ordinal(), step.instruction, start, lane.now});
  }

  // Communication that the device's own thread carries out; the moment when it is over.
  Nanoseconds own_work(int c, Lane& lane, ClassTimeline& out, const Step& step, Stream stream) {
    const Nanoseconds start = lane.now;
    lane.memory.begin(step, start, lane.cursor.ordinal(), detailed(start, start));
    occupy(c, lane, out, step, stream);
    ++lane.traffic[at(step.traffic)];
    return lane.now;
  }

  void occupy(int c, Lane& lane, ClassTimeline& out, const Step& step, Stream stream) {
    const Nanoseconds own = this->own(lane, out, step);
    if (own == 0) return;
    lane.now += delay(lane, out, step) + slot_delay(lane, out, step);
    const Nanoseconds start = lane.now;
    lane.now += own;
    played_.waiting[at(c)].communication += own;
    record_gap(out, IdleCause::communication, start, lane.now);
    SlotBlock& block = out.slots.back();
    if (block.start == kNever) block.start = start;
    block.end = lane.now;
    (stream == Stream::transfer ? out.transfer : out.collective) += own;
    keep(out, {stream, lane.cursor.ordinal(), step.instruction, start, lane.now});
  }

  // The moment when it is over, unless a later message over the same links delays it.
  Nanoseconds communicate(Lane& lane, ClassTimeline& out, const Step& step, Stream stream) {
    lane.links.forget_until(lane.now);
    const Nanoseconds start = std::max(lane.now, lane.links.free(stream)) + delay(lane, out, step);
    lane.memory.begin(step, lane.now, lane.cursor.ordinal(), detailed(lane.now, lane.now));
    Message message{
        stream, step.level, start, start + duration(lane, out, step), step.instance.handle, 0, out.communication.size()};
    message.instance = instance_of(step.instance, lane.cursor);
    const Nanoseconds over = lane.links.enter(message, [&](const Message& other, Nanoseconds by) {
      lane.under_way.delay(other.handle, other.instance, by);
      InstructionBlock& block = out.communication[other.block];
      block.start = std::max(block.start, other.start);  // of one that was queued behind a message that is over later now
      block.end = std::max(block.end, other.end);
      (other.stream == Stream::transfer ? out.transfer : out.collective) += by;
    });
    lane.links.last(stream).block =
        record(lane, out, step, {stream, lane.cursor.ordinal(), step.instruction, start, over});
    return over;
  }

  // What comes back has been copied there before.
  void copy(Lane& lane, ClassTimeline& out, const Step& step) {
    const bool back = step.kind == StepKind::restore;
    Nanoseconds& stream_free = back ? lane.copies.restore_free : lane.copies.offload_free;
    const int handle = step.instance.handle;
    const std::int64_t instance = handle < 0 ? 0 : instance_of(step.instance, lane.cursor);
    const Nanoseconds there = back && handle >= 0 ? lane.copies.there.take(handle, instance, 1) : kNever;
    const Nanoseconds start = std::max({lane.now, stream_free, there}) + delay(lane, out, step);
    const Nanoseconds duration = this->duration(lane, out, step);
    stream_free = start + duration;
    if (handle >= 0) (back ? lane.copies.back : lane.copies.there).set(handle, instance, 1, stream_free);
    if (!back)
      lane.memory.apply_later(step.after, stream_free);
    else if (there > lane.now)
      lane.memory.apply_later(step.before, there);
    else
      lane.memory.begin(step, lane.now, lane.cursor.ordinal(), detailed(lane.now, lane.now));
    hold_in_host(lane, out, step.host);
    out.host += duration;
    keep(out, {back ? Stream::restore : Stream::offload, lane.cursor.ordinal(), step.instruction, start, stream_free});
  }

  static void hold_in_host(Lane& lane, ClassTimeline& out, std::int64_t bytes) {
    lane.copies.bytes += bytes;
    out.host_peak = std::max(out.host_peak, Bytes{lane.copies.bytes});
  }

  std::size_t record(Lane& lane, ClassTimeline& out, const Step& step, InstructionBlock block) const {
    (block.stream == Stream::transfer ? out.transfer : out.collective) += block.end - block.start;
    ++lane.traffic[at(step.traffic)];
    return keep(out, block);
  }

  // Where it is shown.
  std::size_t keep(ClassTimeline& out, InstructionBlock block) const {
    if (!detailed(block.start, block.end)) {
      if (InstructionBlock* whole = of_slot(out.communication, block)) {
        whole->end = std::max(whole->end, block.end);
        return static_cast<std::size_t>(whole - out.communication.data());
      }
      block.instruction = -1;
    }
    out.communication.push_back(block);
    return out.communication.size() - 1;
  }

  // The block that stands for all communication of that slot on that stream, up to a message that is shown by itself; a slot
  // before may still be under way.
  static InstructionBlock* of_slot(std::vector<InstructionBlock>& list, const InstructionBlock& block) {
    for (auto b = list.rbegin(); b != list.rend() && b->slot + 1 >= block.slot; ++b) {
      if (b->stream != block.stream) continue;
      if (b->instruction >= 0) return nullptr;
      if (b->slot == block.slot) return &*b;
    }
    return nullptr;
  }

  bool issue(int c, Lane& lane, ClassTimeline& out, const Step& step) {
    if (lane.meeting) return false;
    const std::int64_t instance = instance_of(step.instance, lane.cursor);
    const Stream stream = step.network ? Stream::network : Stream::collective;
    if (!step.parties && !steps_.background) {
      lane.under_way.set(step.instance.handle, instance, step.values, own_work(c, lane, out, step, stream));
      return true;
    }
    if (!step.parties) {
      lane.under_way.set(step.instance.handle, instance, step.values, communicate(lane, out, step, stream));
      return true;
    }
    if (steps_.background)
      lane.memory.begin(step, lane.now, lane.cursor.ordinal(), detailed(lane.now, lane.now));
    else
      own_work(c, lane, out, step, stream);
    const int party = (*step.parties)[at(c)];
    Meeting& meeting = meetings_[{step.instance.handle, instance, party}];
    if (meeting.expected == 0)
      meeting.expected = static_cast<int>(std::count(step.parties->begin(), step.parties->end(), party));
    meeting.ready = std::max({meeting.ready, lane.now + delay(lane, out, step), lane.links.free(stream)});
    meeting.members.emplace_back(c, lane.cursor.ordinal(), step.instruction);
    lane.meeting = true;
    if (++meeting.arrived < meeting.expected) return true;
    for (const auto& [member, slot, instruction] : meeting.members) {
      Lane& other = lanes_[at(member)];
      other.meeting = false;
      const Nanoseconds free = meeting.ready + (steps_.background ? duration(lane, out, step) : 0);
      other.under_way.set(step.instance.handle, instance, step.values, free);
      if (!steps_.background) continue;
      other.links.book({stream, step.level, meeting.ready, free, step.instance.handle, instance,
                        played_.simulation.classes[at(member)].communication.size()});
      record(other, played_.simulation.classes[at(member)], step, {stream, slot, instruction, meeting.ready, free});
    }
    meetings_.erase({step.instance.handle, instance, party});
    return true;
  }

  // `from`: the class whose data it is; -1: it is for a collective.
  void wait(int c, Lane& lane, ClassTimeline& out, const Step& step, Nanoseconds until, int from) {
    const bool data = from >= 0;
    Waiting& w = played_.waiting[at(c)];
    w.receives |= data;
    if (until > lane.now) {
      const Nanoseconds gap = until - lane.now;
      const int slot = lane.cursor.ordinal();
      IdleCause cause = IdleCause::communication;
      if (data && slot <= (lane.first_backward >= 0 ? lane.first_backward : 0))
        cause = IdleCause::warm_up;
      else if (data)
        cause = slot > lane.last_forward ? IdleCause::cool_down : IdleCause::data;
      (cause == IdleCause::communication ? w.communication
       : cause == IdleCause::warm_up     ? w.warm_up
       : cause == IdleCause::cool_down   ? w.cool_down
                                         : w.steady) += gap;
      record_gap(out, cause, lane.now, until, from);
      lane.now = until;
    }
    if (!step.before.empty()) lane.memory.begin(step, lane.now, lane.cursor.ordinal(), detailed(lane.now, lane.now));
    occupy(c, lane, out, step, data ? Stream::transfer : Stream::collective);
    lane.memory.end(step, lane.now, detailed(lane.now, lane.now));
  }

  void record_gap(ClassTimeline& out, IdleCause cause, Nanoseconds from, Nanoseconds to, int sender = -1) {
    const bool between_slots = out.slots.back().start == kNever;
    if (!options_.gaps || !(between_slots || closer_.all_gaps || detailed(from, to))) return;
    std::vector<Gap>& gaps = out.gaps;
    if (!gaps.empty() && gaps.back().cause == cause && gaps.back().end == from && gaps.back().from == sender)
      gaps.back().end = to;
    else
      gaps.push_back({cause, from, to, sender});
  }

  void finish() {
    Simulation& s = played_.simulation;
    if (ahead_ > 0) show_last_period(lanes_, periods_, closer_, played_);
    for (std::size_t c = 0; c < lanes_.size(); ++c) {
      ClassTimeline& out = s.classes[c];
      lanes_[c].memory.finish();
      out.devices = static_cast<std::int64_t>(devices(program_, program_.classes[c]).size());
      if (ahead_ == 0) {
        const Lane& lane = lanes_[c];
        out.makespan = end_of(lane);
        played_.waiting[c].host_tail = out.makespan - std::max(lane.now, links_free(lane));
        s.step_ns = std::max(s.step_ns, out.makespan);
      }
      for (std::size_t t = 0; t < steps_.traffic.size(); ++t) {
        if (const std::int64_t n = lanes_[c].traffic[t]; n > 0) add_traffic(out.traffic, steps_.traffic[t], n);
      }
    }
  }

  static void add_traffic(std::vector<Traffic>& list, const Traffic& one, std::int64_t times) {
    auto found = std::find_if(list.begin(), list.end(), [&](const Traffic& t) {
      return t.kind == one.kind && t.group == one.group && t.level == one.level;
    });
    if (found == list.end()) {
      list.push_back({});
      found = std::prev(list.end());
      found->kind = one.kind, found->group = one.group, found->level = one.level;
    }
    found->add(one, times);
  }

  Diagnostic stuck() const {
    std::string why;
    for (std::size_t c = 0; c < lanes_.size(); ++c) {
      const Lane& lane = lanes_[c];
      if (lane.cursor.done()) continue;
      const ClassTimeline& out = played_.simulation.classes[c];
      const Segment& segment = program_.segments[at(out.slots.back().segment)];
      const Step& step = steps_.segments[at(out.slots.back().segment)].steps[lane.step];
      const Code code = segment.instructions[at(step.instruction)].code;
      why += (why.empty() ? "" : ", ") + program_.classes[c].name + " at " + std::string(to_string(code)) + " in " +
             label(program_, out.slots.back());
    }
    return error("the device classes wait for each other", why);
  }

  const Program& program_;
  const Steps& steps_;
  const SimulationOptions& options_;
  const Closer& closer_;
  const std::int64_t ahead_, periods_, training_;  // the latter: steps of which some work is played
  Played played_;
  std::vector<Lane> lanes_;
  std::vector<std::vector<Post>> posts_;  // by handle and instance
  std::map<std::tuple<int, std::int64_t, int>, Meeting> meetings_;
  bool detail_everywhere_ = true;
  Diagnostic error_;
};

}  // namespace

Result<Played> play(const Program& program, const Steps& steps, const SimulationOptions& options, const Closer& closer) {
  return Player(program, steps, options, closer).play();
}

}  // namespace planscope
