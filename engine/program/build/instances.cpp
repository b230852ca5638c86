// Instances and vars: who computes what where, and who reads it in which layout. Operators that no parameter reaches are
// made on demand, once for every place and binding that a reader asks for; values of other places are received; values
// split or partial over free axes are combined for readers that are not bound to these.
#include <algorithm>

#include "engine/program/build/work.h"

namespace planscope::build {

namespace {

class Instances {
 public:
  explicit Instances(Work& w) : w_(w) {}

  bool run() {
    regular_.assign(w_.g.ops.size(), -1);
    for (OpId o = 0; o < static_cast<OpId>(w_.g.ops.size()); ++o)
      if (!w_.op(o).parameter_free) make_regular(o);
    for (std::size_t i = 0; i < count_regular_; ++i) connect(static_cast<InstanceId>(i));
    read_loss();
    combine();
    make_receives();
    parameters();
    for (std::size_t v = 0; v < w_.vars.size(); ++v) choose_base(static_cast<VarId>(v));
    for (Var& v : w_.vars) v.needed = needed(v);
    return !has_errors(w_.diagnostics);
  }

 private:
  // --- bindings of one operator over all axes, in order

  std::vector<Binding> compose(OpId o, PlaceId place) {
    std::vector<int> order = axis_order(o);
    std::vector<Binding> out;
    for (const int a : order) {
      const AxisBinding& b = w_.binding(o, a);
      const int statement = w_.statement(b.statement);
      for (const FactorBinding& f : b.factors)
        if (const auto digit = w_.digit_at(place, f.digit))
          out.push_back({*digit, f.factor, f.part, b.origin, statement});
      if (b.pass >= 0)
        for (const LogicalDigit& l : b.pass_digits)
          if (const auto digit = w_.digit_at(place, l)) out.push_back({*digit, -1, b.pass, Origin::pass, -1});
    }
    return out;
  }

  // Free axes are major; axes listed together in a statement keep their order.
  std::vector<int> axis_order(OpId o) {
    std::vector<int> order;
    const auto add = [&](int a) {
      if (std::find(order.begin(), order.end(), a) == order.end()) order.push_back(a);
    };
    for (int f = 0; f < static_cast<int>(w_.op(o).factors.size()); ++f)
      for (const int a : plan::split_axes(w_.d, o, f)) add(a);
    for (int a = 0; a < static_cast<int>(w_.d.axes.size()); ++a) add(a);
    std::stable_partition(order.begin(), order.end(),
                          [&](int a) { return w_.d.axes[static_cast<std::size_t>(a)].free; });
    return order;
  }

  // Followers keep the order of digits in which an operand was written.
  void inherit_order(const Op& op, PlaceId place, std::vector<Binding>& bindings) {
    for (const Operand& in : op.inputs) {
      const auto var = var_of_.find({in.tensor, place});
      if (var == var_of_.end()) continue;
      const Layout& l = w_.p.layouts[static_cast<std::size_t>(w_.vars[static_cast<std::size_t>(var->second)].written)];
      for (const Split& s : l.splits) {
        if (s.digits.size() < 2) continue;
        const PartRef r = in.map[static_cast<std::size_t>(s.dim)][static_cast<std::size_t>(s.part)];
        reorder(bindings, r, s.digits);
      }
    }
  }

  static void reorder(std::vector<Binding>& bindings, PartRef r, const std::vector<Digit>& digits) {
    std::vector<std::size_t> at;
    for (std::size_t i = 0; i < bindings.size(); ++i)
      if (bindings[i].factor == r.factor && bindings[i].part == r.part && r.factor >= 0) at.push_back(i);
    if (at.size() != digits.size()) return;
    std::vector<Binding> sorted;
    for (const Digit& d : digits)
      for (const std::size_t i : at)
        if (bindings[i].digit == d && bindings[i].origin != Origin::statement) sorted.push_back(bindings[i]);
    if (sorted.size() != at.size()) return;
    for (std::size_t k = 0; k < at.size(); ++k) bindings[at[k]] = sorted[k];
  }

  void make_regular(OpId o) {
    const Op& op = w_.op(o);
    Instance i;
    i.op = o;
    i.place = w_.op_place[static_cast<std::size_t>(o)];
    i.bindings = compose(o, i.place);
    inherit_order(op, i.place, i.bindings);
    i.set = free_axes_of(w_, i.bindings);
    i.unit = w_.op_unit[static_cast<std::size_t>(o)];
    i.recompute = stored(o, plan::Algorithm::recompute);
    i.offload = stored(o, plan::Algorithm::offload) >= 0;
    i.keep_gathered = w_.d.operator_gathered[static_cast<std::size_t>(o)] >= 0;
    i.grad_split = w_.d.operator_grad_split[static_cast<std::size_t>(o)] >= 0;
    i.passed = passed_digits(o, i.place);
    regular_[static_cast<std::size_t>(o)] = static_cast<InstanceId>(w_.instances.size());
    make_outputs(i, static_cast<InstanceId>(w_.instances.size()), true);
    w_.instances.push_back(std::move(i));
    count_regular_ = w_.instances.size();
  }

  // The unit of the operator whose storage is decided so; -1: it is not.
  int stored(OpId o, plan::Algorithm wanted) const {
    const int a = w_.d.operator_storage[static_cast<std::size_t>(o)];
    if (a < 0) return -1;
    const auto& alternatives = w_.d.algorithms[static_cast<std::size_t>(a)].alternatives;
    return alternatives.size() == 1 && alternatives[0] == wanted ? a : -1;
  }

  void make_outputs(Instance& i, InstanceId id, bool shared) {
    const Op& op = w_.op(i.op);
    for (const Operand& out : op.outputs) {
      Var v;
      v.tensor = out.tensor;
      v.place = i.place;
      v.written = w_.intern(operand_layout(w_, op, out, true, i.bindings));
      v.producer = id;
      v.set = i.set;
      v.gradient = w_.g.tensors[static_cast<std::size_t>(out.tensor)].gradient;
      const VarId var = static_cast<VarId>(w_.vars.size());
      if (shared) var_of_[{out.tensor, i.place}] = var;
      i.outputs.push_back(var);
      w_.vars.push_back(std::move(v));
    }
  }

  std::vector<Digit> passed_digits(OpId o, PlaceId place) {
    std::vector<Digit> passed;
    for (int a = 0; a < static_cast<int>(w_.d.axes.size()); ++a) {
      const AxisBinding& b = w_.binding(o, a);
      if (!b.backward_pass) continue;
      for (const LogicalDigit& l : b.pass_digits)
        if (const auto digit = w_.digit_at(place, l)) passed.push_back(*digit);
    }
    return passed;
  }

  // --- reads

  void connect(InstanceId id) {
    const OpId o = w_.instances[static_cast<std::size_t>(id)].op;
    const Op& op = w_.op(o);
    const std::vector<Digit> passed = w_.instances[static_cast<std::size_t>(id)].passed;
    for (std::size_t k = 0; k < op.inputs.size(); ++k) {
      const Operand& in = op.inputs[k];
      const Layout read = operand_layout(w_, op, in, false, w_.instances[static_cast<std::size_t>(id)].bindings);
      const VarId var = source(in.tensor, id, read);
      Read r{id, static_cast<int>(k), w_.intern(read), -1};
      if (op.backward && w_.g.tensors[static_cast<std::size_t>(in.tensor)].gradient)
        r.contribution = w_.intern(contribution_layout(
            w_, op, static_cast<int>(k), w_.instances[static_cast<std::size_t>(id)].bindings, read, passed));
      attach(id, var, r);
    }
  }

  void attach(InstanceId id, VarId var, const Read& r) {
    Instance& i = w_.instances[static_cast<std::size_t>(id)];
    i.inputs.push_back(var);
    i.input_layouts.push_back(r.layout);
    w_.vars[static_cast<std::size_t>(var)].reads.push_back(r);
  }

  VarId source(TensorId t, InstanceId reader, const Layout& read) {
    const PlaceId place = w_.instances[static_cast<std::size_t>(reader)].place;
    const ValueKind k = w_.kind(t);
    if (k == ValueKind::parameter) return held(t, place, VarKind::parameter);
    if (k != ValueKind::computed) return held(t, place, VarKind::source);
    const OpId producer = w_.g.tensors[static_cast<std::size_t>(t)].producer;
    if (w_.op(producer).parameter_free) return demand(t, producer, reader, read);
    const auto here = var_of_.find({t, place});
    if (here != var_of_.end()) return here->second;
    return receive(t, producer, place);
  }

  VarId held(TensorId t, PlaceId place, VarKind kind) {
    const auto [it, fresh] = var_of_.emplace(std::make_pair(t, place), static_cast<VarId>(w_.vars.size()));
    if (fresh) {
      Var v;
      v.kind = kind;
      v.tensor = t;
      v.place = place;
      v.written = v.base = w_.intern(Layout{});
      v.gradient = w_.g.tensors[static_cast<std::size_t>(t)].gradient;
      w_.vars.push_back(std::move(v));
    }
    return it->second;
  }

  // An operator without parameters, computed so that its output is as near to `read` as its rule allows.
  VarId demand(TensorId t, OpId producer, InstanceId reader, const Layout& read) {
    const Op& op = w_.op(producer);
    const PlaceId place = w_.instances[static_cast<std::size_t>(reader)].place;
    const int output = w_.g.tensors[static_cast<std::size_t>(t)].output;
    Instance i;
    i.op = producer;
    i.place = place;
    i.unit = w_.instances[static_cast<std::size_t>(reader)].unit;
    for (const Split& s : read.splits) {
      const PartRef r = op.outputs[static_cast<std::size_t>(output)]
                            .map[static_cast<std::size_t>(s.dim)][static_cast<std::size_t>(s.part)];
      if (r.factor < 0 || op.factors[static_cast<std::size_t>(r.factor)].kind != FactorKind::free) continue;
      for (const Digit& d : s.digits) i.bindings.push_back({d, r.factor, r.part, Origin::demand, -1});
    }
    i.set = free_axes_of(w_, i.bindings);
    std::string key = std::to_string(producer) + "@" + std::to_string(place);
    for (const Binding& b : i.bindings)
      key += ";" + std::to_string(b.digit.axis) + "," + std::to_string(b.digit.size) + "," +
             std::to_string(b.digit.stride) + "," + std::to_string(b.factor) + "," + std::to_string(b.part);
    const auto known = demanded_.find(key);
    if (known != demanded_.end())
      return w_.instances[static_cast<std::size_t>(known->second)].outputs[static_cast<std::size_t>(output)];
    const InstanceId id = static_cast<InstanceId>(w_.instances.size());
    demanded_[key] = id;
    make_outputs(i, id, false);
    const std::vector<Binding> bindings = i.bindings;
    w_.instances.push_back(std::move(i));
    for (std::size_t k = 0; k < op.inputs.size(); ++k) {
      const Layout in = operand_layout(w_, op, op.inputs[k], false, bindings);
      const VarId var = source(op.inputs[k].tensor, id, in);
      attach(id, var, {id, static_cast<int>(k), w_.intern(in), -1});
    }
    return w_.instances[static_cast<std::size_t>(id)].outputs[static_cast<std::size_t>(output)];
  }

  VarId receive(TensorId t, OpId producer, PlaceId place) {
    const VarId from = var_of_.at({t, w_.op_place[static_cast<std::size_t>(producer)]});
    Var v = w_.vars[static_cast<std::size_t>(from)];
    v.kind = VarKind::received;
    v.place = place;
    v.from = from;
    v.producer = -1;
    v.reads.clear();
    v.received.clear();
    const VarId id = static_cast<VarId>(w_.vars.size());
    var_of_[{t, place}] = id;
    w_.vars.push_back(std::move(v));
    w_.vars[static_cast<std::size_t>(from)].received.push_back(id);
    return id;
  }

  void read_loss() {
    const TensorId loss = w_.g.model->loss;
    if (loss < 0) return;
    const OpId producer = w_.g.tensors[static_cast<std::size_t>(loss)].producer;
    if (producer < 0 || regular_[static_cast<std::size_t>(producer)] < 0) return;
    const PlaceId place = w_.op_place[static_cast<std::size_t>(producer)];
    const VarId var = var_of_.at({loss, place});
    Instance i;
    i.kind = InstanceKind::output;
    i.op = static_cast<OpId>(w_.g.ops.size());
    i.var = var;
    i.place = place;
    const InstanceId id = static_cast<InstanceId>(w_.instances.size());
    w_.instances.push_back(i);
    attach(id, var, {id, 0, w_.intern(Layout{}), -1});
  }

  // --- combination over free axes: a reader that is not bound to an axis over which a value is split or partial reads
  // the sum, or the blocks put together, of all its indices

  void combine() {
    for (std::size_t v = 0; v < w_.vars.size(); ++v) {  // grows: what is left over other axes is combined again
      if (w_.vars[v].kind == VarKind::parameter || w_.vars[v].kind == VarKind::source) continue;
      for (AxisSet over = next_combination(static_cast<VarId>(v)); !over.empty();
           over = next_combination(static_cast<VarId>(v)))
        make_combined(static_cast<VarId>(v), over);
    }
  }

  // Free axes of the value that a reader's layout lacks; of all readers the fewest.
  AxisSet next_combination(VarId id) const {
    const Var& v = w_.vars[static_cast<std::size_t>(id)];
    AxisSet best;
    const auto consider = [&](const AxisSet& lacking) {
      if (!lacking.empty() && (best.empty() || lacking.size() < best.size())) best = lacking;
    };
    for (const Read& r : v.reads) consider(lacking(v, r));
    if (best.empty() && !v.received.empty()) consider(free_partials(v));
    return best;
  }

  AxisSet lacking(const Var& v, const Read& r) const {
    const AxisSet has = axes_of(w_.p.layouts[static_cast<std::size_t>(v.written)]);
    const AxisSet read = axes_of(w_.p.layouts[static_cast<std::size_t>(r.layout)]);
    AxisSet out;
    for (const AxisId a : has)
      if (w_.is_free(a) && !std::binary_search(read.begin(), read.end(), a)) out.push_back(a);
    return out;
  }

  AxisSet free_partials(const Var& v) const {
    AxisSet out;
    for (const Partial& p : w_.p.layouts[static_cast<std::size_t>(v.written)].partials)
      if (w_.is_free(p.digit.axis) && (out.empty() || out.back() != p.digit.axis)) out.push_back(p.digit.axis);
    return out;
  }

  void make_combined(VarId v, const AxisSet& over) {
    const VarId id = static_cast<VarId>(w_.vars.size());
    const InstanceId instance = static_cast<InstanceId>(w_.instances.size());
    Var c = w_.vars[static_cast<std::size_t>(v)];
    c.kind = VarKind::combined;
    c.from = v;
    c.written = w_.intern(without_axes(made_minor(w_.p.layouts[static_cast<std::size_t>(c.written)], over), over));
    c.combines = over;
    c.producer = instance;
    c.combined.clear();
    for (const AxisId a : over) std::erase(c.set, a);
    Var& from = w_.vars[static_cast<std::size_t>(v)];
    from.combined.push_back(id);
    const auto moves = [&](const Read& r) {
      const AxisSet l = lacking(from, r);
      return std::includes(l.begin(), l.end(), over.begin(), over.end());
    };
    std::erase_if(c.reads, [&](const Read& r) { return !moves(r); });
    std::erase_if(from.reads, moves);
    const AxisSet partial = free_partials(from);
    if (std::includes(over.begin(), over.end(), partial.begin(), partial.end()) && !partial.empty())
      from.received.clear();
    else
      c.received.clear();
    Instance i;
    i.kind = InstanceKind::combine;
    i.op = w_.g.tensors[static_cast<std::size_t>(from.tensor)].producer;
    i.var = id;
    i.place = from.place;
    i.set = c.set;
    for (const VarId r : c.received) w_.vars[static_cast<std::size_t>(r)].from = id;
    for (const Read& r : c.reads) {
      Instance& reader = w_.instances[static_cast<std::size_t>(r.instance)];
      reader.inputs[static_cast<std::size_t>(r.operand)] = id;
    }
    w_.instances.push_back(i);
    w_.vars.push_back(std::move(c));
  }

  void make_receives() {
    for (std::size_t v = 0; v < w_.vars.size(); ++v) {
      if (w_.vars[v].kind != VarKind::received) continue;
      Var& var = w_.vars[v];
      var.set = w_.vars[static_cast<std::size_t>(var.from)].set;
      Instance i;
      i.kind = InstanceKind::receive;
      i.var = static_cast<VarId>(v);
      i.place = var.place;
      i.set = var.set;
      i.op = static_cast<OpId>(w_.g.ops.size());
      for (const Read& r : var.reads) {
        const Instance& reader = w_.instances[static_cast<std::size_t>(r.instance)];
        if (reader.op < i.op) {
          i.op = reader.op;
          i.unit = reader.set == i.set ? reader.unit : -1;
        }
      }
      var.producer = static_cast<InstanceId>(w_.instances.size());
      w_.instances.push_back(i);
    }
  }

  // --- parameters: as used, as stored, as accumulated

  void parameters() {
    std::map<TensorId, int> index;
    for (std::size_t k = 0; k < w_.g.parameters.size(); ++k) index[w_.g.parameters[k].tensor] = static_cast<int>(k);
    for (Var& v : w_.vars) {
      if (v.kind != VarKind::parameter) continue;
      const Layout use = common_use(v);
      const int parameter = index.at(v.tensor);
      bool split_fetch = false, split_grad = false, unused = false;
      const Layout home = extended(v, use, parameter, plan::Phase::update, unused);
      const Layout grad = extended(v, use, parameter, plan::Phase::grad, split_grad);
      extended(v, use, parameter, plan::Phase::fetch, split_fetch);
      v.home = w_.intern(home);
      v.fetch_split = split_fetch && home != use;
      v.base = v.fetch_split ? v.home : w_.intern(use);
      v.written = v.base;
      v.grad_layout = split_grad ? w_.intern(grad) : -1;
    }
  }

  // The splits that all uses share.
  Layout common_use(const Var& v) const {
    Layout use;
    bool first = true;
    for (const Read& r : v.reads) {
      Layout l = without_free_splits(w_, w_.p.layouts[static_cast<std::size_t>(r.layout)]);
      l.partials.clear();
      if (first)
        use = l;
      else
        std::erase_if(use.splits,
                      [&](const Split& s) { return std::find(l.splits.begin(), l.splits.end(), s) == l.splits.end(); });
      first = false;
    }
    return use;
  }

  // `use` with the axes of a statement on update, grad or fetch added on the minor side.
  Layout extended(const Var& v, Layout l, int parameter, plan::Phase phase, bool& any) {
    const auto& dims = w_.g.tensors[static_cast<std::size_t>(v.tensor)].dims;
    for (int dim = 0; dim < static_cast<int>(dims.size()); ++dim)
      for (const int a : plan::parameter_split_axes(w_.d, phase, parameter, dim)) {
        const auto digit = w_.digit_at(v.place, LogicalDigit{a, 0, 1});
        if (!digit || used(l, *digit)) continue;
        any = true;
        add_minor(l, dim, dims[static_cast<std::size_t>(dim)], *digit);
      }
    return l;
  }

  static bool used(const Layout& l, const Digit& d) {
    for (const Split& s : l.splits)
      for (const Digit& x : s.digits)
        if (x.axis == d.axis) return true;
    return false;
  }

  // On the outermost part that the axis divides, else on the largest.
  void add_minor(Layout& l, int dim, const std::vector<ClassId>& parts, const Digit& digit) const {
    int best = -1;
    std::int64_t largest = 0;
    for (int p = 0; p < static_cast<int>(parts.size()); ++p) {
      std::int64_t left = w_.g.classes[static_cast<std::size_t>(parts[static_cast<std::size_t>(p)])].size;
      for (const Split& s : l.splits)
        if (s.dim == dim && s.part == p)
          for (const Digit& d : s.digits) left /= d.size;
      if (left % digit.size == 0) {
        best = p;
        break;
      }
      if (left > largest) {
        largest = left;
        best = p;
      }
    }
    if (best < 0) return;
    for (Split& s : l.splits)
      if (s.dim == dim && s.part == best) {
        s.digits.push_back(digit);
        return;
      }
    l.splits.push_back({dim, best, {digit}});
    std::sort(l.splits.begin(), l.splits.end());
  }

  // --- the layout in which a value stays after the reduction that its readers share

  void choose_base(VarId id) {
    Var& v = w_.vars[static_cast<std::size_t>(id)];
    if (v.base >= 0 && v.kind != VarKind::received) return;
    if (v.kind == VarKind::received) {
      choose_base(v.from);
      v.base = v.written =
          w_.intern(translated(w_.p.layouts[static_cast<std::size_t>(w_.vars[static_cast<std::size_t>(v.from)].base)],
                               w_.vars[static_cast<std::size_t>(v.from)].place, v.place));
      return;
    }
    const Layout written = w_.p.layouts[static_cast<std::size_t>(v.written)];
    v.base = v.written;
    if (written.partials.empty() || (v.reads.empty() && v.received.empty())) return;
    std::vector<LayoutId> targets;
    Layout whole = written;
    whole.partials.clear();
    const auto add = [&](LayoutId l) {
      if (std::find(targets.begin(), targets.end(), l) == targets.end()) targets.push_back(l);
    };
    for (const Read& r : v.reads) {
      const Layout& l = w_.p.layouts[static_cast<std::size_t>(r.layout)];
      if (r.layout == v.written) return;  // it passes
      if (l.partials.empty()) add(r.layout);
    }
    const std::vector<LayoutId> readers = targets;
    add(w_.intern(whole));
    double best = 0;
    LayoutId chosen = -1;
    for (const LayoutId t : targets) {
      double cost = conversion_cost(w_, v.tensor, v.place, v.written, t);
      for (const LayoutId r : readers) cost += conversion_cost(w_, v.tensor, v.place, t, r);
      if (chosen < 0 || cost < best) {
        chosen = t;
        best = cost;
      }
    }
    v.base = chosen;
  }

  LayoutId needed(const Var& v) {
    if (v.kind == VarKind::parameter) return v.home;
    Layout l = dual(w_.p.layouts[static_cast<std::size_t>(v.kind == VarKind::received ? v.base : v.written)]);
    if (v.kind == VarKind::computed)
      for (const Digit& d : w_.instances[static_cast<std::size_t>(v.producer)].passed)
        l.partials.push_back({d, PartialKind::sum});
    std::sort(l.partials.begin(), l.partials.end());
    return w_.intern(l);
  }

  // The same layout in the axes of another place: axes of equal name and size; others are whole.
  Layout translated(const Layout& l, PlaceId from, PlaceId to) const {
    if (from == to) return l;
    const GridId grid = w_.p.places[static_cast<std::size_t>(to)].grid;
    Layout out;
    for (const Split& s : l.splits) {
      Split t{s.dim, s.part, {}};
      for (const Digit& d : s.digits) {
        if (w_.is_free(d.axis)) {
          t.digits.push_back(d);
          continue;
        }
        const Axis& axis = w_.p.axes[static_cast<std::size_t>(d.axis)];
        AxisId found = -1;
        for (const AxisId a : w_.p.grids[static_cast<std::size_t>(grid)].axes)
          if (w_.p.axes[static_cast<std::size_t>(a)].name == axis.name &&
              w_.p.axes[static_cast<std::size_t>(a)].size == axis.size)
            found = a;
        for (const auto& [a, value] : w_.p.places[static_cast<std::size_t>(to)].fixed)
          if (a == found) found = -1;
        if (found < 0) break;
        t.digits.push_back({found, d.size, d.stride});
      }
      if (!t.digits.empty()) out.splits.push_back(std::move(t));
    }
    return out;
  }

  Work& w_;
  std::vector<InstanceId> regular_;
  std::size_t count_regular_ = 0;
  std::map<std::pair<TensorId, PlaceId>, VarId> var_of_;
  std::map<std::string, InstanceId> demanded_;
};

}  // namespace

bool make_instances(Work& w) { return Instances(w).run(); }

}  // namespace planscope::build
