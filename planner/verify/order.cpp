#include "planner/verify/order.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/base/text.h"
#include "planner/verify/rendezvous.h"
#include "planner/verify/trace.h"

namespace planscope::verification {

namespace {

constexpr std::int64_t most_instances = std::int64_t{1} << 27;  // of values on one device class
constexpr std::int64_t most_runs = std::int64_t{1} << 24;       // of slots, in all steps that are replayed

template <class T>
const T& at(const std::vector<T>& list, int k) {
  return list[static_cast<std::size_t>(k)];
}
template <class T>
T& at(std::vector<T>& list, int k) {
  return list[static_cast<std::size_t>(k)];
}

// About several instances with the same contents.
bool is_choice(const Step& s) { return s.event == Event::read_any || s.event == Event::alone; }

// Tells each problem of an instruction and a value once, however many slots have it.
class Teller {
 public:
  Teller(const Program& p, Ledger& ledger) : p_(p), ledger_(ledger) {}

  void tell(SegmentId s, const Step& step, Subject x, Problem problem, const std::string& index) {
    if (!told_.insert({s, step.instruction, x}).second) return;
    const Segment& segment = at(p_.segments, s);
    const Instruction& i = at(segment.instructions, step.instruction);
    const bool value = x < static_cast<Subject>(p_.values.size());
    const TensorId t = value ? at(p_.values, x).tensor : -1;
    const std::string what =
        value ? ""
              : "what piece " + std::to_string(x - static_cast<int>(p_.values.size())) + " keeps for its backward: ";
    ledger_.fail(FailureKind::order, {segment.place, i.statement, name(p_, segment, i) + index}, t,
                 expected_text(step.event, problem), what + got_text(problem));
  }

 private:
  const Program& p_;
  Ledger& ledger_;
  std::set<std::tuple<SegmentId, int, Subject>> told_;
};

class OrderCheck {
 public:
  OrderCheck(const Graph& g, const Program& p, const Makers& m, const Occupancy& o, Ledger& ledger)
      : p_(p), makers_(m), occupancy_(o), ledger_(ledger), teller_(p, ledger), traces_(traces(g, p, m)) {}

  void run() {
    needs();
    for (const Trace& t : traces_)
      for (const Step& step : t.steps)
        if (step.event == Event::read_some)
          grows_over_[at(t.subjects, step.subject)] = t.growing.at(step.instruction).axis;
    lift_out_internal();
    for (int c = 0; c < static_cast<int>(p_.classes.size()); ++c) replay(c);
  }

 private:
  // How many terms every accumulator needs; which homes are updated.
  void needs() {
    needs_.assign(p_.values.size(), 0);
    updated_.assign(p_.values.size(), false);
    for (const Segment& s : p_.segments)
      for (const Instruction& i : s.instructions) {
        if (i.code == Code::update) updated_[static_cast<std::size_t>(i.out[0])] = true;
        if (i.code != Code::accumulate) continue;
        for (const ProgramValueId v : i.out) {
          const std::vector<AxisId>& kept = at(p_.values, v).indexed;
          std::int64_t n = 1;
          for (const AxisId a : s.free_axes)
            if (std::find(kept.begin(), kept.end(), a) == kept.end()) n *= index_count(at(p_.axes, a));
          std::uint32_t& needs = at(needs_, v);  // several instructions may add to one value
          needs = static_cast<std::uint32_t>(std::min<std::int64_t>(n + needs, 0xffffffff));
        }
      }
    for (std::uint32_t& n : needs_) n = std::max(n, 1u);
  }

  // Subjects that only one segment names, that begin with being made in it and end before it does (or have an instance
  // for each run): one look is enough.
  void lift_out_internal() {
    std::vector<int> only(p_.values.size() + p_.pieces.size(), -1);
    for (int s = 0; s < static_cast<int>(traces_.size()); ++s)
      for (const Subject x : at(traces_, s).subjects) at(only, x) = at(only, x) == -1 ? s : -2;
    for (int s = 0; s < static_cast<int>(traces_.size()); ++s) lift_out(s, only);
  }

  void lift_out(int s, const std::vector<int>& only) {
    Trace& trace = at(traces_, s);
    const std::size_t n = trace.subjects.size();
    std::vector<bool> outside(n, false), seen(n, false);
    for (const auto& choice : trace.choices)
      for (const int k : choice) outside[static_cast<std::size_t>(k)] = true;
    std::vector<bool> ends(n, false);
    for (const Step& step : trace.steps) {
      if (is_choice(step)) continue;
      const auto k = static_cast<std::size_t>(step.subject);
      if (step.last) outside[k] = true;  // not once for each run
      if (!seen[k] && step.event != Event::make && step.event != Event::begin) outside[k] = true;
      seen[k] = true;
      ends[k] = step.event == Event::end;
    }
    for (std::size_t k = 0; k < n; ++k) {
      const Subject x = trace.subjects[k];
      const bool value = x < static_cast<Subject>(p_.values.size());
      const bool home = value && (at(p_.values, x).role == Role::home || at(p_.values, x).role == Role::state);
      const bool each_run = indexed_by(p_, makers_, x).size() == at(p_.segments, s).free_axes.size();
      if (at(only, x) == -2 || home || grows_over_.contains(x) || x == p_.loss || (!ends[k] && !each_run))
        outside[k] = true;
    }
    walk_internal(s, trace, outside);
    keep_outside(trace, outside);
  }

  void walk_internal(int s, const Trace& trace, const std::vector<bool>& outside) {
    std::vector<Life> life(trace.subjects.size());
    Terms terms;
    for (const Step& step : trace.steps) {
      if (is_choice(step) || outside[static_cast<std::size_t>(step.subject)]) continue;
      const Problem problem = apply(step.event, at(life, step.subject), terms);
      if (problem != Problem::none) teller_.tell(s, step, at(trace.subjects, step.subject), problem, "");
    }
  }

  // Drops internal subjects, and reads that follow a read.
  static void keep_outside(Trace& trace, const std::vector<bool>& outside) {
    std::vector<int> number(trace.subjects.size(), -1);
    std::vector<bool> just_read(trace.subjects.size(), false);
    Trace out;
    out.growing = trace.growing;
    for (std::size_t k = 0; k < outside.size(); ++k)
      if (outside[k]) {
        number[k] = static_cast<int>(out.subjects.size());
        out.subjects.push_back(trace.subjects[k]);
      }
    for (Step step : trace.steps) {
      if (!is_choice(step)) {
        const auto k = static_cast<std::size_t>(step.subject);
        if (!outside[k]) continue;
        const bool again = step.event == Event::read && just_read[k];
        just_read[k] = step.event == Event::read && (again || !step.last);
        if (again) continue;
        step.subject = number[k];
      }
      out.steps.push_back(step);
    }
    for (auto& choice : trace.choices) {
      for (int& k : choice) k = at(number, k);
      out.choices.push_back(std::move(choice));
    }
    trace = std::move(out);
  }

  // Instances of the subjects of one device class, in one array: for each step of training those of all free indices.
  struct Table {
    std::int64_t steps = 1, of_step = 0;
    std::int64_t most = 1;                          // instances of a subject in a step: what makes it runs so often
    std::vector<std::int64_t> first;                // per subject; -1: not named on this class
    std::vector<std::vector<std::int64_t>> stride;  // per subject, parallel to indexed_by
    std::vector<Life> life;
    std::vector<std::pair<Subject, std::vector<Terms>>> terms;
    std::vector<int> terms_of;  // per subject; -1: no accumulator

    Life& of(Subject x, std::int64_t step) {
      return life[static_cast<std::size_t>(step * of_step + first[static_cast<std::size_t>(x)])];
    }
  };

  std::int64_t lay_out(Table& t, Subject x, std::int64_t total) const {
    const std::vector<AxisId> axes = indexed_by(p_, makers_, x);
    std::int64_t n = 1;
    auto& stride = at(t.stride, x);
    stride.assign(axes.size(), 0);
    for (std::size_t k = axes.size(); k-- > 0;) {
      stride[k] = n;
      n *= index_count(at(p_.axes, axes[k]));
      if (n > t.most) return -1;
    }
    at(t.first, x) = total;
    if (x < static_cast<Subject>(p_.values.size()) && at(needs_, x) > 1) {
      at(t.terms_of, x) = static_cast<int>(t.terms.size());
      t.terms.emplace_back(x, std::vector<Terms>(static_cast<std::size_t>(n * t.steps), Terms{0, at(needs_, x)}));
    }
    return total + n <= most_instances / t.steps ? total + n : -1;
  }

  bool make_table(Table& t, const std::vector<bool>& runs) const {
    const std::size_t subjects = p_.values.size() + p_.pieces.size();
    t.first.assign(subjects, -1);
    t.stride.resize(subjects);
    t.terms_of.assign(subjects, -1);
    std::int64_t total = 0;
    for (std::size_t s = 0; s < traces_.size(); ++s) {
      if (!runs[s]) continue;
      for (const Subject x : traces_[s].subjects)
        if (at(t.first, x) < 0 && (total = lay_out(t, x, total)) < 0) return false;
    }
    t.of_step = total;
    t.life.resize(static_cast<std::size_t>(total * t.steps));
    for (ProgramValueId v = 0; v < static_cast<ProgramValueId>(p_.values.size()); ++v)
      if (at(p_.values, v).role == Role::home && at(t.first, v) >= 0)
        for (std::int64_t step = 0; step < t.steps; ++step) t.of(v, step).status = Status::alive;
    return true;
  }

  // Where the instance of every subject of a segment is, as a linear function of the segment's index.
  struct Address {
    std::int64_t first = 0;
    std::vector<std::int64_t> stride;  // parallel to the segment's free axes
    std::int64_t count = 1;            // of instances in a step
    int terms = -1;
    ProgramValueId home = -1;
    bool stays = false;  // from step to step: the state of an optimizer
  };
  std::vector<Address> addresses(const Table& t, SegmentId s) const {
    std::vector<Address> out;
    const Segment& segment = at(p_.segments, s);
    for (const Subject x : at(traces_, s).subjects) {
      Address a{at(t.first, x), std::vector<std::int64_t>(segment.free_axes.size(), 0), 1, at(t.terms_of, x)};
      if (a.terms >= 0) a.count = static_cast<std::int64_t>(at(t.terms, a.terms).second.size()) / t.steps;
      if (x < static_cast<Subject>(p_.values.size())) {
        if (at(p_.values, x).role == Role::home) a.home = x;
        a.stays = at(p_.values, x).role == Role::state;
      }
      const std::vector<AxisId> axes = indexed_by(p_, makers_, x);
      for (std::size_t k = 0; k < axes.size(); ++k)
        for (std::size_t j = 0; j < segment.free_axes.size(); ++j)
          if (segment.free_axes[j] == axes[k]) a.stride[j] = at(t.stride, x)[k];
      out.push_back(std::move(a));
    }
    return out;
  }

  std::string index_text(SegmentId s, const std::vector<std::int64_t>& index) const {
    std::vector<std::string> out;
    for (std::size_t k = 0; k < index.size(); ++k)
      out.push_back(at(p_.axes, at(p_.segments, s).free_axes[k]).name + "=" + std::to_string(index[k]));
    return out.empty() ? "" : " at " + join(out, ", ");
  }

  void replay(int c) {
    const DeviceClass& device_class = at(p_.classes, c);
    std::vector<SlotRun> runs = slots(device_class);
    std::vector<bool> runs_it(p_.segments.size(), false);
    for (const SlotRun& r : runs) runs_it[static_cast<std::size_t>(r.segment)] = true;
    if (!every_slot_once(c, runs)) return;
    Table table;
    table.steps = replayed_steps(p_);
    table.most = std::max<std::int64_t>(1, std::ssize(runs));
    if (table.steps > 1) runs = slots(device_class, table.steps);
    if (!make_table(table, runs_it)) {
      ledger_.fail(FailureKind::unproved, {-1, -1, "devices " + device_class.name}, -1,
                   "a number of values that can be replayed", "more instances than slots make, or than 2^27");
      return;
    }
    std::vector<std::vector<Address>> address(p_.segments.size());
    for (int s = 0; s < static_cast<int>(p_.segments.size()); ++s)
      if (runs_it[static_cast<std::size_t>(s)]) at(address, s) = addresses(table, s);
    const std::vector<std::vector<std::int64_t>> last = last_indices(p_, device_class);
    for (const SlotRun& r : runs) replay_slot(table, r, at(address, r.segment), r.index == at(last, r.segment));
    const bool has_loss =
        p_.loss >= 0 && std::binary_search(on(p_.values[static_cast<std::size_t>(p_.loss)].place).begin(),
                                           on(p_.values[static_cast<std::size_t>(p_.loss)].place).end(), c);
    for (std::int64_t step = 0; has_loss && step < table.steps; ++step) {
      if (at(table.first, p_.loss) >= 0 && table.of(p_.loss, step).status == Status::alive) continue;
      ledger_.fail(FailureKind::loss, {at(p_.values, p_.loss).place, -1, "loss"}, at(p_.values, p_.loss).tensor,
                   "the loss at the end of the step", "it is not there");
      break;
    }
    check_host(table);
  }

  // The next step begins as this one did.
  void check_host(Table& table) {
    for (ProgramValueId v = 0; v < static_cast<ProgramValueId>(p_.values.size()); ++v) {
      const ProgramValue& value = at(p_.values, v);
      if (value.role != Role::state || at(table.first, v) < 0) continue;
      ledger_.obligation();
      if (table.of(v, 0).status == Status::ended) continue;
      ledger_.fail(FailureKind::order, {value.place, -1, "offload"}, value.tensor,
                   "the state of the optimizer in host memory at the end of the step", "it is on the device");
    }
  }

  const std::vector<int>& on(PlaceId place) const { return at(occupancy_.classes_on, place); }

  void replay_slot(Table& table, const SlotRun& r, const std::vector<Address>& addresses, bool last_run) {
    const Trace& trace = at(traces_, r.segment);
    const std::vector<std::int64_t> position = positions(r);
    instances_.resize(addresses.size());
    for (std::size_t k = 0; k < addresses.size(); ++k) {
      std::int64_t n = 0;
      for (std::size_t j = 0; j < position.size(); ++j) n += addresses[k].stride[j] * position[j];
      instances_[k] = n + (addresses[k].stays ? 0 : r.step * table.of_step);
    }
    Terms one;
    for (const Step& step : trace.steps) {
      if (step.last && !last_run) continue;
      if (is_choice(step)) {
        choose(table, trace, addresses, step, r);
        continue;
      }
      if (step.event == Event::read_some && !has_terms(table, trace, addresses, step, r)) {
        teller_.tell(r.segment, step, at(trace.subjects, step.subject), Problem::incomplete,
                     index_text(r.segment, r.index));
        continue;
      }
      const Address& a = at(addresses, step.subject);
      const std::int64_t n = at(instances_, step.subject);
      Terms& terms = a.terms < 0 ? one : at(table.terms, a.terms).second[term_of(table, a, n, r.step)];
      one = {};
      if (step.event == Event::accumulate) note_term(terms, at(trace.subjects, step.subject), r);
      Problem problem = apply(step.event, table.life[static_cast<std::size_t>(a.first + n)], terms);
      if (problem == Problem::none && a.home >= 0) problem = version_there(table, a.home, r.step);
      if (problem != Problem::none)
        teller_.tell(r.segment, step, at(trace.subjects, step.subject), problem, index_text(r.segment, r.index));
    }
  }

  // Whoever uses a parameter at a step sees it after as many updates as its lag says; these must have been made.
  Problem version_there(Table& table, ProgramValueId home, std::int64_t step) const {
    const std::int64_t before = step - 1 - at(p_.values, home).lag;
    const bool changes = updated_[static_cast<std::size_t>(home)];
    return changes && before >= 0 && table.of(home, before).status != Status::updated ? Problem::before_update
                                                                                      : Problem::none;
  }

  // The position of an instance among the accumulators of its subject.
  static std::size_t term_of(const Table& t, const Address& a, std::int64_t instance, std::int64_t step) {
    return static_cast<std::size_t>(instance - step * t.of_step + step * a.count);
  }

  // Of an index, that of each of its numbers among those that its axis has.
  std::vector<std::int64_t> positions(const SlotRun& r) const {
    std::vector<std::int64_t> out = r.index;
    for (std::size_t k = 0; k < out.size(); ++k) {
      const Axis& a = at(p_.axes, at(p_.segments, r.segment).free_axes[k]);
      if (a.of >= 0) out[k] = std::lower_bound(a.indices.begin(), a.indices.end(), out[k]) - a.indices.begin();
    }
    return out;
  }

  // Of a value that is read while terms are added: which index this one has.
  void note_term(Terms& terms, Subject x, const SlotRun& r) const {
    const auto axis = grows_over_.find(x);
    if (axis == grows_over_.end()) return;
    const std::int64_t size = at(p_.axes, axis->second).size;
    if (terms.which.empty()) terms.last_missing = size - 1;
    terms.which.resize(static_cast<std::size_t>(size), false);
    terms.which[static_cast<std::size_t>(index_on(axis->second, r))] = true;
    const auto had = [&](std::int64_t k) { return terms.which[static_cast<std::size_t>(k)]; };
    while (terms.first_missing < size && had(terms.first_missing)) ++terms.first_missing;
    while (terms.last_missing >= 0 && had(terms.last_missing)) --terms.last_missing;
  }

  std::int64_t index_on(AxisId a, const SlotRun& r) const {
    const std::vector<AxisId>& axes = at(p_.segments, r.segment).free_axes;
    return r.index[static_cast<std::size_t>(std::find(axes.begin(), axes.end(), a) - axes.begin())];
  }

  // Whether all terms are there whose blocks meet what is read: of what lies before an index, those up to it; of a block to
  // which later indices add, those from it on.
  bool has_terms(const Table& table, const Trace& trace, const std::vector<Address>& addresses, const Step& step,
                 const SlotRun& r) const {
    const GrowingRead& g = trace.growing.at(step.instruction);
    const Address& a = at(addresses, step.subject);
    if (a.terms < 0) return false;
    const std::size_t n = term_of(table, a, at(instances_, step.subject), r.step);
    const Terms& had = at(table.terms, a.terms).second[n];
    const std::vector<AxisId>& axes = at(p_.segments, r.segment).free_axes;
    if (had.which.empty()) return false;
    if (std::find(axes.begin(), axes.end(), g.axis) == axes.end()) return had.last_missing < 0;
    const std::int64_t own = index_on(g.axis, r);
    return had.which[static_cast<std::size_t>(own)] && (g.read != Reach::prefix || had.first_missing > own) &&
           (g.term != Reach::prefix || had.last_missing < own);
  }

  // One of several instances is there; or, where one begins, none of the others.
  void choose(Table& table, const Trace& trace, const std::vector<Address>& addresses, const Step& step,
              const SlotRun& r) {
    const std::vector<int>& choice = at(trace.choices, step.subject);
    const bool begins = step.event == Event::alone;
    Problem problem = begins ? Problem::none : Problem::ended;
    Terms none;
    const auto life = [&](std::size_t n) -> Life& {
      return table.life[static_cast<std::size_t>(at(addresses, choice[n]).first + at(instances_, choice[n]))];
    };
    // What refills a value has the storage of the one time that it was made.
    if (begins && at(p_.values, at(trace.subjects, choice[0])).refills < 0 && life(0).status == Status::ended)
      problem = Problem::twice;
    for (std::size_t n = begins ? 1 : 0; n < choice.size(); ++n) {
      const Problem one = apply(step.event, life(n), none);
      if (one == Problem::none && !begins) return;
      if (one != Problem::none && begins) problem = one;
    }
    if (problem != Problem::none)
      teller_.tell(r.segment, step, at(trace.subjects, choice.front()), problem, index_text(r.segment, r.index));
  }

  // Every segment of the class's places at every index, once.
  bool every_slot_once(int c, const std::vector<SlotRun>& runs) {
    std::vector<std::vector<bool>> done(p_.segments.size());
    std::vector<std::int64_t> count(p_.segments.size(), 0);
    const auto total = [&](SegmentId s) {
      std::int64_t n = 1;
      for (const AxisId a : at(p_.segments, s).free_axes) n = std::min(n * index_count(at(p_.axes, a)), most_instances);
      return n;
    };
    const auto fail = [&](SegmentId s, const std::string& index, const char* got) {
      ledger_.fail(FailureKind::order,
                   {at(p_.segments, s).place, -1, at(p_.segments, s).name + index + " on " + at(p_.classes, c).name},
                   -1, "every segment once at every index", got);
      return false;
    };
    for (const SlotRun& r : runs)
      if (total(r.segment) > std::ssize(runs)) return fail(r.segment, "", "it is not run at some index");
    for (const SlotRun& r : runs) {
      const Segment& segment = at(p_.segments, r.segment);
      if (!std::binary_search(on(segment.place).begin(), on(segment.place).end(), c))
        return fail(r.segment, "", "devices that are not on its place run it");
      auto& seen = at(done, r.segment);
      if (seen.empty()) seen.resize(static_cast<std::size_t>(total(r.segment)), false);
      const std::vector<std::int64_t> position = positions(r);
      std::int64_t n = 0;
      for (std::size_t k = 0; k < r.index.size(); ++k) {
        const Axis& axis = at(p_.axes, segment.free_axes[k]);
        if (axis.of >= 0 && !std::binary_search(axis.indices.begin(), axis.indices.end(), r.index[k]))
          return fail(r.segment, index_text(r.segment, r.index), "it runs at an index of another place");
        n = n * index_count(axis) + position[k];
      }
      if (n >= static_cast<std::int64_t>(seen.size())) return fail(r.segment, "", "it has too many indices");
      if (seen[static_cast<std::size_t>(n)]) return fail(r.segment, index_text(r.segment, r.index), "it runs twice");
      seen[static_cast<std::size_t>(n)] = true;
      ++at(count, r.segment);
    }
    bool good = true;
    for (SegmentId s = 0; s < static_cast<SegmentId>(p_.segments.size()); ++s) {
      const auto& classes = on(at(p_.segments, s).place);
      if (!std::binary_search(classes.begin(), classes.end(), c)) continue;
      ledger_.obligation();
      if (at(count, s) != total(s))
        good = fail(s, "", at(count, s) == 0 ? "it is never run" : "it is not run at some index");
    }
    return good;
  }

  const Program& p_;
  const Makers& makers_;
  const Occupancy& occupancy_;
  Ledger& ledger_;
  Teller teller_;
  std::vector<Trace> traces_;
  std::vector<std::uint32_t> needs_;
  std::vector<bool> updated_;
  std::map<Subject, AxisId> grows_over_;  // values that are read while terms are added
  std::vector<std::int64_t> instances_;
};

}  // namespace

Occupancy occupancy(const Program& p, Ledger& ledger) {
  Occupancy out;
  out.class_of.assign(static_cast<std::size_t>(p.device_count), -1);
  std::vector<std::int64_t> size(p.classes.size(), 0);
  for (int c = 0; c < static_cast<int>(p.classes.size()); ++c)
    for (const int d : devices(p, at(p.classes, c))) {
      at(out.class_of, d) = c;  // one alone: check_structure()
      ++at(size, c);
    }
  for (PlaceId place = 0; place < static_cast<PlaceId>(p.places.size()); ++place) {
    std::vector<std::int64_t> inside(p.classes.size(), 0);
    bool good = true;
    for (const int d : devices(p, at(p.places, place))) {
      const int c = at(out.class_of, d);
      if (c < 0)
        good = false;
      else
        ++at(inside, c);
    }
    std::vector<int> classes;
    for (int c = 0; c < static_cast<int>(p.classes.size()); ++c) {
      if (at(inside, c) == 0) continue;
      classes.push_back(c);
      good = good && at(inside, c) == at(size, c);
    }
    const bool used =
        std::any_of(p.segments.begin(), p.segments.end(), [&](const Segment& s) { return s.place == place; });
    if (!good && used) {
      out.sound = false;
      ledger.fail(FailureKind::order, {place, -1, "device classes"}, -1,
                  "every device of a place in a class that is wholly on it", "some are not");
    }
    out.classes_on.push_back(std::move(classes));
  }
  return out;
}

std::int64_t replayed_steps(const Program& p) {
  const std::int64_t most = most_ahead(p);
  return most == 0 ? 1 : most + 2;
}

void check_order(const Graph& g, const Program& p, const Makers& m, const Occupancy& o, Ledger& ledger) {
  if (!o.sound) return;
  std::int64_t runs = 0;
  for (const DeviceClass& c : p.classes)
    for (const Loop& loop : c.loops) runs += loop.count * std::ssize(loop.body);
  if (runs > most_runs / replayed_steps(p))
    return ledger.fail(FailureKind::unproved, {}, -1, "slots of all steps that can be replayed", "more than 2^24");
  OrderCheck(g, p, m, o, ledger).run();
  check_rendezvous(g, p, o, ledger);
}

}  // namespace planscope::verification
