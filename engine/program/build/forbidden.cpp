#include "engine/program/build/forbidden.h"

#include <algorithm>
#include <map>

namespace planscope::build {

namespace {

class Forbidden {
 public:
  explicit Forbidden(Work& w) : w_(w) {
    if (w.d.forbids.empty()) return;
    of_op_.resize(w.g.ops.size());
    of_parameter_.resize(w.g.tensors.size());
    for (const Instance& i : w.instances)
      if (i.kind == InstanceKind::op) of_op_[at(i.op)].push_back(&i);
    for (const Var& v : w_.vars)
      if (v.kind == VarKind::stored) of_parameter_[at(v.tensor)].push_back(&v);
  }

  void check(const plan::ForbidRow& row) {
    for (const plan::ForbiddenPlace& f : row.places)
      for (const Instance* i : of_op_[at(f.row)])
        if (inside(i->place, f.place) && plan::overlap(indices(*i), f.index)) return refuse_place(row, *i);
    for (const plan::ForbiddenSplit& f : row.splits)
      if (f.phase != plan::Phase::forward) {
        for (const Var* v : of_parameter_[at(w_.g.parameters[at(f.row)].tensor)])
          if (takes(*v, f)) return refuse_phase(row, *v, f);
      } else {
        for (const Instance* i : of_op_[at(f.row)])
          if (takes(*i, f)) return refuse_split(row, *i, f);
      }
  }

 private:
  // The indices of divided axes at which an instance runs.
  std::vector<plan::AxisIndices> indices(const Instance& i) const {
    std::vector<plan::AxisIndices> out;
    for (std::size_t k = 0; k < w_.divided.size() && k < i.classes.size(); ++k) {
      if (i.classes[k] < 0) continue;
      const AxisId part = w_.divided[k].classes[at(i.classes[k])];
      out.push_back({w_.divided[k].axis, w_.p.axes[at(part)].indices});
    }
    return out;
  }

  // Whether all devices of a place are among those of a forbidden one.
  bool inside(PlaceId place, int forbidden) {
    const auto [known, fresh] = inside_.try_emplace({place, forbidden}, false);
    if (!fresh) return known->second;
    std::vector<int> is = devices(w_.p, w_.p.places[static_cast<std::size_t>(place)]);
    std::vector<int> not_to_be = plan::devices_of(w_.d, w_.d.places[static_cast<std::size_t>(forbidden)]);
    std::sort(is.begin(), is.end());
    std::sort(not_to_be.begin(), not_to_be.end());
    return known->second = std::includes(not_to_be.begin(), not_to_be.end(), is.begin(), is.end());
  }

  // Whether a digit is one of this axis at a place: of all of it, or of a class of its indices.
  bool is_of(PlaceId place, const Digit& digit, int axis) const {
    const AxisId whole = w_.axis_at(place, axis);
    return whole >= 0 && (digit.axis == whole || w_.p.axes[static_cast<std::size_t>(digit.axis)].of == whole);
  }

  bool has_axis(PlaceId place, int axis) const { return w_.axis_at(place, axis) >= 0 && w_.size_at(place, axis) > 1; }

  bool takes(const Instance& i, const plan::ForbiddenSplit& f) const {
    if (!has_axis(i.place, f.axis)) return false;
    const auto takes_this = [&](const Binding& b) {
      const bool wanted = f.factor == plan::kNone || (b.factor == f.factor && b.digit.reach == Reach::own);
      return wanted && is_of(i.place, b.digit, f.axis);
    };
    return (f.factor != plan::kNone) == std::any_of(i.bindings.begin(), i.bindings.end(), takes_this);
  }

  bool takes(const Var& v, const plan::ForbiddenSplit& f) const {
    if (!has_axis(v.place, f.axis) || (f.phase == plan::Phase::grad && !v.gradient)) return false;
    const std::vector<Split>& splits = w_.p.layouts[at(layout(v, f.phase))].splits;
    const auto takes_this = [&](const Split& s) {
      return (f.factor == plan::kNone || s.dim == f.factor) &&
             std::any_of(s.digits.begin(), s.digits.end(), [&](const Digit& d) { return is_of(v.place, d, f.axis); });
    };
    return (f.factor != plan::kNone) == std::any_of(splits.begin(), splits.end(), takes_this);
  }

  static LayoutId layout(const Var& v, plan::Phase phase) {
    if (phase == plan::Phase::update) return v.home;
    if (phase == plan::Phase::fetch) return v.base;
    return v.grad_layout >= 0 ? v.grad_layout : v.use;
  }

  void refuse(const plan::ForbidRow& row, std::string what, std::string why, std::string hint) {
    Diagnostic d = error(std::move(what), std::move(why), std::move(hint));
    d.file = w_.d.plan.file;
    d.line = w_.d.plan.statements[static_cast<std::size_t>(row.statement)].line;
    d.subject = w_.statement_text(row.statement);
    w_.diagnostics.push_back(std::move(d));
  }

  void refuse_place(const plan::ForbidRow& row, const Instance& i) {
    const std::string name = w_.g.node(i.op).name();
    refuse(row, name + " is on " + describe(w_.p, w_.p.places[static_cast<std::size_t>(i.place)]),
           "no line places it, it follows its neighbours", "give it a place of its own: assign … to …");
  }

  void refuse_split(const plan::ForbidRow& row, const Instance& i, const plan::ForbiddenSplit& f) {
    const std::string name = w_.g.node(i.op).name(), axis = w_.d.axes[at(f.axis)].name;
    const std::string what = f.factor == plan::kNone ? name + " is whole by " + axis
                                                     : "'" + w_.op(i.op).factors[at(f.factor)].name + "' of " + name +
                                                           " is split by " + axis;
    refuse(row, what, "no line decides it, it follows what is around it", "say what it is to do: trans … by " + axis);
  }

  void refuse_phase(const plan::ForbidRow& row, const Var& v, const plan::ForbiddenSplit& f) {
    const std::string phase(to_string(f.phase)), axis = w_.d.axes[at(f.axis)].name;
    const std::string name = phase + "(" + w_.g.tensor_name(v.tensor) + ")";
    if (f.factor == plan::kNone)
      return refuse(row, name + " is whole by " + axis, "neither a line nor what reads it splits it there",
                    "say what it is to do: trans " + phase + "(…) dim0 by " + axis);
    refuse(row, "'dim" + std::to_string(f.factor) + "' of " + name + " is split by " + axis,
           "the operators that read it split it so", "split them otherwise, or leave them out of the row: except …");
  }

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  Work& w_;
  std::vector<std::vector<const Instance*>> of_op_;
  std::vector<std::vector<const Var*>> of_parameter_;
  std::map<std::pair<PlaceId, int>, bool> inside_;
};

}  // namespace

bool keep_forbids(Work& w) {
  Forbidden forbidden(w);
  for (const plan::ForbidRow& row : w.d.forbids) forbidden.check(row);
  return !has_errors(w.diagnostics);
}

}  // namespace planscope::build
