#include "planner/verify/values.h"

#include <algorithm>

#include "planner/verify/algebra.h"
#include "planner/verify/indices.h"

namespace planscope::verification {

namespace {

template <class T>
const T& at(const std::vector<T>& list, int k) {
  return list[static_cast<std::size_t>(k)];
}

class ValueCheck {
 public:
  ValueCheck(const Graph& g, const Program& p, Ledger& ledger) : g_(g), p_(p), ledger_(ledger) {}

  void run() {
    for (const Segment& s : p_.segments)
      for (const Instruction& i : s.instructions)
        if (i.code == Code::update) updates_.push_back(&i);
    for (ProgramValueId id = 0; id < static_cast<ProgramValueId>(p_.values.size()); ++id) check(id);
  }

 private:
  void fail(const ProgramValue& v, const char* expected, std::string got) {
    ledger_.fail(FailureKind::layout, {v.place, -1, "value"}, v.tensor, expected, std::move(got));
  }

  void check(ProgramValueId id) {
    const ProgramValue& v = at(p_.values, id);
    const Layout& layout = at(p_.layouts, v.layout);
    ledger_.obligation();
    if (!pairwise_disjoint(digits_of(layout)))
      fail(v, "a layout that uses every digit of an axis once", ledger_.layout(layout, v.tensor));
    for (const Split& s : layout.splits) split(v, s);
    for (const Partial& x : layout.partials) coordinate(v, x.digit, v.indexed);
    if (v.role == Role::home) check_home(v, layout);
    if (v.role == Role::state) check_state(id);
    if (v.role == Role::gradient && !at(g_.tensors, v.tensor).gradient)
      fail(v, "gradients only where one flows", "a gradient of this tensor");
    if (v.refills >= 0) check_refill(v, at(p_.values, v.refills));
  }

  void split(const ProgramValue& v, const Split& s) {
    const auto text = [&] { return ledger_.layout(at(p_.layouts, v.layout), v.tensor); };
    std::vector<AxisId> indices = v.indexed;  // and those of which it has every one
    for (const Digit& d : s.digits) {
      if (!is_bijection(p_, d)) fail(v, "a layout in which every block comes once", text());
      if (d.reach == Reach::every && s.part == kByKey) fail(v, "rows selected at one index by one key", text());
      if (d.reach == Reach::every && at(p_.axes, d.axis).grid < 0) indices.push_back(d.axis);
      coordinate(v, d, indices);
    }
  }

  void coordinate(const ProgramValue& v, const Digit& d, const std::vector<AxisId>& indices) {
    if (!has_coordinate(p_, d, at(p_.places, v.place), indices))
      fail(v, "a layout over axes that the value has",
           ledger_.layout(at(p_.layouts, v.layout), v.tensor) + ", but it has no " + at(p_.axes, d.axis).name);
  }

  void check_home(const ProgramValue& v, const Layout& layout) {
    const ValueKind kind = at(g_.model->values, v.tensor).kind;
    if (kind != ValueKind::parameter && kind != ValueKind::buffer && kind != ValueKind::constant)
      fail(v, "a parameter, a buffer or a constant", "a stored value of another tensor");
    if (is_partial(layout) || is_keyed(layout) || holds_every(layout))
      fail(v, "a stored parameter that is whole", ledger_.layout(layout, v.tensor));
    if (!v.indexed.empty())
      fail(v, "a stored parameter that is there once", "one for every " + at(p_.axes, v.indexed[0]).name);
  }

  // Of a parameter that is stored in the same way; and its update knows that it is not always there.
  void check_state(ProgramValueId id) {
    const ProgramValue& v = at(p_.values, id);
    int updates = 0, others = 0;
    for (const Instruction* i : updates_)
      if (is_home_of(at(p_.values, i->in[0]), v)) ++(i->in.size() > 2 && i->in[2] == id ? updates : others);
    if (updates != 1 || others > 0 || !v.indexed.empty())
      fail(v, "the state of one stored parameter, read by its update alone",
           updates == 0 ? "no update reads it" : "the parameter is updated without it");
  }

  bool is_home_of(const ProgramValue& home, const ProgramValue& state) const {
    return home.role == Role::home && home.tensor == state.tensor &&
           at(p_.layouts, home.layout) == at(p_.layouts, state.layout) && same_place(p_, home.place, state.place);
  }

  void check_refill(const ProgramValue& v, const ProgramValue& of) {
    const bool same = v.tensor == of.tensor && v.role == Role::data && of.role == Role::data &&
                      at(p_.layouts, v.layout) == at(p_.layouts, of.layout) && same_place(p_, v.place, of.place) &&
                      v.indexed == of.indexed;
    if (!same || of.refills >= 0)
      fail(v, "the same contents as the value that it refills", "another tensor, layout or place");
  }

  const Graph& g_;
  const Program& p_;
  Ledger& ledger_;
  std::vector<const Instruction*> updates_;
};

}  // namespace

void check_values(const Graph& g, const Program& p, Ledger& ledger) { ValueCheck(g, p, ledger).run(); }

}  // namespace planscope::verification
