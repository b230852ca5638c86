#include "planner/verify/buffers.h"

#include <algorithm>
#include <set>

#include "planner/verify/indices.h"

namespace planscope::verification {

namespace {

class Buffers {
 public:
  Buffers(const Graph& g, const Program& p, Ledger& ledger) : g_(g), p_(p), ledger_(ledger) {}

  void run() {
    for (const Segment& s : p_.segments)
      for (const Instruction& i : s.instructions) {
        if (i.code == Code::write) write(s, i);
        if (i.code == Code::load) load(s, i);
      }
    for (const ProgramValue& v : p_.values)
      if (v.role == Role::home && is_changed_by_steps(*g_.model, v.tensor))
        ledger_.fail(FailureKind::update, {v.place, -1, "value"}, v.tensor,
                     "a buffer that is loaded at every step, since steps change it", "a stored one");
    for (const auto& [buffer, place] : read_)
      for (const Mutation& m : g_.model->mutations)
        if (m.buffer == buffer) written(m, place);
    if (written_.empty()) return;
    for (const DeviceClass& c : p_.classes)
      for (const Loop& l : c.loops)
        for (const SlotStep& slot : l.body)
          if (slot.ahead != 0)
            return ledger_.fail(FailureKind::order,
                                {p_.segments[static_cast<std::size_t>(slot.segment)].place, -1, "write"},
                                written_.begin()->first, "a step that ends before the next one reads its buffers",
                                "steps that overlap");
  }

 private:
  const ProgramValue& value(ProgramValueId id) const { return p_.values[static_cast<std::size_t>(id)]; }

  void load(const Segment& s, const Instruction& i) {
    const TensorId t = value(i.out[0]).tensor;
    if (is_changed_by_steps(*g_.model, t)) read_.insert({t, s.place});
  }

  void write(const Segment& s, const Instruction& i) {
    const ProgramValue& v = value(i.in[0]);
    const Layout& layout = p_.layouts[static_cast<std::size_t>(v.layout)];
    const Site here{s.place, i.statement, name(p_, s, i)};
    const auto is = [&](const Mutation& m) { return m.value == v.tensor; };
    const auto& all = g_.model->mutations;
    ledger_.obligation();
    if (std::none_of(all.begin(), all.end(), is) || v.role != Role::data)
      return ledger_.fail(FailureKind::update, here, v.tensor, "what a buffer is after the step", "another value");
    if (layout != Layout{})
      return ledger_.fail(FailureKind::update, here, v.tensor, "the whole of it", ledger_.layout(layout, v.tensor));
    const bool once = i.last || (v.indexed.empty() && s.free_axes.empty());
    if (!once || !same_place(p_, v.place, s.place))
      return ledger_.fail(FailureKind::update, here, v.tensor, "one write a step where it is",
                          "one at every index, or elsewhere");
    if (!written_.insert({v.tensor, s.place}).second)
      ledger_.fail(FailureKind::update, here, v.tensor, "one write a step", "two");
  }

  void written(const Mutation& m, PlaceId place) {
    ledger_.obligation();
    for (const auto& [tensor, at] : written_)
      if (tensor == m.value && same_place(p_, at, place)) return;
    ledger_.fail(FailureKind::update, {place, -1, "write"}, m.buffer, "a write of what it is after the step", "none");
  }

  const Graph& g_;
  const Program& p_;
  Ledger& ledger_;
  std::set<std::pair<TensorId, PlaceId>> read_, written_;
};

}  // namespace

void check_buffers(const Graph& g, const Program& p, Ledger& ledger) { Buffers(g, p, ledger).run(); }

}  // namespace planscope::verification
