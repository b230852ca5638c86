// Instances and vars: who computes what where, and who reads it in which layout. Operators that no parameter reaches are
// made on demand, once for every place and binding that a reader asks for; values of other places are received; values
// split or partial over free axes are combined for readers that are not bound to these (combinations.cpp). Where an
// axis is divided (its indices are at several places) an operator that is bound to it has an instance for each class of
// indices.
#include <algorithm>
#include <iterator>
#include <set>
#include <unordered_map>

#include "engine/program/build/work.h"

namespace planscope::build {

namespace {

class Instances {
 public:
  explicit Instances(Work& w) : w_(w), listed_(listed_together()), repeated_(repeated_axes(w)) {}

  bool run() {
    w_.instances.reserve(w_.g.ops.size() * 9 / 8);
    w_.vars.reserve(w_.g.tensors.size() * 9 / 8);
    for (OpId o = 0; o < static_cast<OpId>(w_.g.ops.size()); ++o)
      if (!w_.op(o).parameter_free) each_class(o, [&](const Classes& c) { make_regular(o, c); });
    for (std::size_t i = 0; i < layouts_of_.size(); ++i) connect(static_cast<InstanceId>(i));
    read_loss();
    write_buffers();
    combine_vars(w_);
    make_receives();
    list_keys();
    set_homes(w_);
    choose_bases(w_);
    return !has_errors(w_.diagnostics);
  }

 private:
  // --- classes of the divided axes to which an operator is bound

  bool divides(OpId o, std::size_t k) { return w_.binding(o, w_.divided[k].axis).bound(); }

  // All combinations of classes, -1 where it is not bound, or `fixed` where that is not -1.
  template <class F>
  void each_class(OpId o, F&& visit, const Classes& fixed = {}) {
    Classes c(w_.divided.size(), -1);
    const auto recurse = [&](auto&& self, std::size_t k) -> void {
      if (k == c.size()) return visit(c);
      const int wanted = fixed.empty() ? -1 : fixed[k];
      const int count = static_cast<int>(w_.divided[k].classes.size());
      const bool one = !divides(o, k) || wanted >= 0;
      for (int i = 0; i < (one ? 1 : count); ++i) {
        c[k] = !divides(o, k) ? -1 : wanted >= 0 ? wanted : i;
        self(self, k + 1);
      }
    };
    recurse(recurse, 0);
  }

  // --- bindings of one operator over all axes, in order

  std::vector<Binding> compose(OpId o, PlaceId place, const Classes& classes) {
    std::vector<int> order = axis_order(o);
    std::vector<Binding> out;
    for (const int a : order) {
      const AxisBinding& b = w_.binding(o, a);
      const int statement = w_.statement(b.statement);
      for (const FactorBinding& f : b.factors)
        if (const auto digit = w_.digit_at(place, f.digit, classes))
          out.push_back({*digit, f.factor, f.part, b.origin, statement});
      if (b.pass >= 0)
        for (const LogicalDigit& l : b.pass_digits)
          if (const auto digit = w_.digit_at(place, l, classes)) out.push_back({*digit, -1, b.pass, Origin::pass, -1});
    }
    // What is not there index by index has no index by which blocks could be turned.
    const AxisSet set = free_axes_of(w_, out);
    for (Binding& b : out)
      if (b.digit.by >= 0 && w_.is_free(b.digit.by) && !std::binary_search(set.begin(), set.end(), b.digit.by))
        b.digit = plain(b.digit);
    return out;
  }

  // Axes of the operator's own statements come first, free ones before all others; axes listed together in a statement keep
  // their order, there and for what follows.
  std::vector<int> axis_order(OpId o) const {
    std::vector<int> order;
    const auto add = [&](int a) {
      if (std::find(order.begin(), order.end(), a) == order.end()) order.push_back(a);
    };
    const int factors = static_cast<int>(w_.op(o).factors.size());
    for (int f = 0; f < factors; ++f)
      for (const int a : plan::split_axes(w_.d, o, f)) add(a);
    for (int a = 0; a < static_cast<int>(w_.d.axes.size()); ++a) add(a);
    const auto free = [&](int a) { return w_.d.axes[static_cast<std::size_t>(a)].free; };
    std::stable_partition(order.begin(), order.end(), free);
    for (const auto& [outer, inner] : listed_) {
      const auto from = std::find(order.begin(), order.end(), inner), to = std::find(from, order.end(), outer);
      if (free(inner) && to != order.end()) std::rotate(from, from + 1, to + 1);
    }
    for (int f = 0; f < factors; ++f) {
      const std::vector<int> own = plan::split_axes(w_.d, o, f);
      auto next = own.begin();
      for (int& a : order)
        if (std::find(own.begin(), own.end(), a) != own.end()) a = *next++;
    }
    return order;
  }

  // Pairs of axes that statements list together, outer and inner, and never the other way round.
  std::set<std::pair<int, int>> listed_together() const {
    std::set<std::pair<int, int>> out;
    const int n = static_cast<int>(w_.d.axes.size());
    for (OpId o = 0; o < static_cast<OpId>(w_.g.ops.size()); ++o)
      for (int a = 0; a < n; ++a)
        for (int b = 0; b < n; ++b) {
          const plan::Split &first = w_.d.split(o, a), &second = w_.d.split(o, b);
          if (first.statement >= 0 && first.statement == second.statement && first.factor == second.factor &&
              first.position < second.position)
            out.emplace(a, b);
        }
    std::erase_if(out, [all = out](const auto& pair) { return all.contains({pair.second, pair.first}); });
    return out;
  }

  // Followers keep the order of digits in which an operand was written.
  void inherit_order(const Op& op, PlaceId place, const Classes& classes, std::vector<Binding>& bindings) {
    if (!splits_a_part_twice(bindings)) return;
    for (const Operand& in : op.inputs) {
      const OpId producer = w_.g.tensors[static_cast<std::size_t>(in.tensor)].producer;
      Classes written = classes;
      for (std::size_t k = 0; k < written.size(); ++k)
        if (producer < 0 || !divides(producer, k)) written[k] = -1;
      const auto var = var_of_.find({in.tensor, place, written});
      if (var == var_of_.end()) continue;
      const Layout& l = w_.p.layouts[static_cast<std::size_t>(w_.vars[static_cast<std::size_t>(var->second)].written)];
      for (const Split& s : l.splits) {
        if (s.digits.size() < 2) continue;
        if (s.part == kByKey) {
          for (int f = 0; f < static_cast<int>(op.factors.size()); ++f)
            if (op.factors[static_cast<std::size_t>(f)].key == s.key) reorder(bindings, {f, 0}, s.digits);
          continue;
        }
        const PartRef r = in.map[static_cast<std::size_t>(s.dim)][static_cast<std::size_t>(s.part)];
        reorder(bindings, r, s.digits);
      }
    }
  }

  static bool splits_a_part_twice(const std::vector<Binding>& bindings) {
    for (std::size_t i = 0; i < bindings.size(); ++i)
      for (std::size_t k = 0; k < i; ++k)
        if (bindings[i].factor == bindings[k].factor && bindings[i].part == bindings[k].part) return true;
    return false;
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

  // The layouts of an operator's operands: the same for all that are alike (Graph::alike) and bound alike.
  struct OperandLayouts {
    std::vector<LayoutId> outputs, inputs;
    std::vector<LayoutId> contributions;  // of the inputs; -1: no gradient
  };
  // What an operator binds at a place, over all axes: the same for all of a kind (kinds.cpp) that bind the same on each.
  struct Composed {
    std::vector<Binding> bindings;
    AxisSet set;
    std::vector<Digit> passed;
    bool splits_a_part_twice = false;  // then the order of digits is that of an operand
    OperandLayouts layouts;            // if not
  };

  const Composed& composed(OpId o, PlaceId place, const Classes& classes) {
    const std::vector<int>& repeated = repeated_[static_cast<std::size_t>(o)];
    key_.assign({w_.kinds[static_cast<std::size_t>(o)], place});
    key_.insert(key_.end(), classes.begin(), classes.end());
    for (int a = 0; a < static_cast<int>(w_.d.axes.size()); ++a) key_.push_back(w_.binding_id(o, a));
    key_.insert(key_.end(), repeated.begin(), repeated.end());
    if (const auto known = composed_.find(key_); known != composed_.end()) return known->second;
    Composed c;
    c.bindings = compose(o, place, classes);
    c.set = free_axes_of(w_, c.bindings);
    c.passed = passed_digits(o, place);
    for (const int a : repeated)
      if (const auto digit = w_.digit_at(place, {a})) {
        c.set.push_back(digit->axis);
        c.passed.push_back(*digit);
      }
    std::sort(c.set.begin(), c.set.end());
    c.splits_a_part_twice = splits_a_part_twice(c.bindings);
    if (!c.splits_a_part_twice) c.layouts = operand_layouts(o, c.bindings, c.passed);
    return composed_.emplace(key_, std::move(c)).first->second;
  }

  void make_regular(OpId o, const Classes& classes) {
    const InstanceId id = static_cast<InstanceId>(w_.instances.size());
    Instance& i = w_.instances.emplace_back();
    i.op = o;
    i.place = w_.place_of(o, classes);
    const Composed& c = composed(o, i.place, classes);
    i.classes = classes;
    i.bindings = c.bindings;
    i.set = c.set;
    i.passed = c.passed;
    const OperandLayouts* layouts = &c.layouts;
    if (c.splits_a_part_twice) {
      inherit_order(w_.op(o), i.place, classes, i.bindings);
      layouts = &operand_layouts(o, i.bindings, i.passed);
    }
    i.unit = w_.op_unit[static_cast<std::size_t>(o)];
    i.recompute = stored(o, plan::Algorithm::recompute);
    i.offload = stored(o, plan::Algorithm::offload) >= 0;
    i.keep_gathered = w_.d.operator_gathered[static_cast<std::size_t>(o)] >= 0;
    i.grad_split = w_.d.operator_grad_split[static_cast<std::size_t>(o)] >= 0;
    make_outputs(i, id, *layouts, true);
    layouts_of_.push_back(layouts);
  }

  // The unit of the operator whose storage is decided so; -1: it is not.
  int stored(OpId o, plan::Algorithm wanted) const {
    const int a = w_.d.operator_storage[static_cast<std::size_t>(o)];
    if (a < 0) return -1;
    const auto& alternatives = w_.d.algorithms[static_cast<std::size_t>(a)].alternatives;
    return alternatives.size() == 1 && alternatives[0] == wanted ? a : -1;
  }

  using Numbers = std::vector<std::int64_t>;

  static void add(Numbers& n, const Digit& d) {
    n.insert(n.end(), {d.axis, d.size, d.stride, d.by, d.step, d.turn, d.start, d.cross,
                       static_cast<std::int64_t>(d.reach), static_cast<std::int64_t>(d.sizes.size())});
    n.insert(n.end(), d.sizes.begin(), d.sizes.end());
  }

  static void add(Numbers& n, const std::vector<Binding>& bindings) {
    n.push_back(static_cast<std::int64_t>(bindings.size()));
    for (const Binding& b : bindings) {
      n.insert(n.end(), {b.factor, b.part});
      add(n, b.digit);
    }
  }

  const OperandLayouts& operand_layouts(OpId o, const std::vector<Binding>& bindings,
                                        const std::vector<Digit>& passed) {
    Numbers key{w_.g.alike[static_cast<std::size_t>(o)]};
    add(key, bindings);
    for (const Digit& d : passed) add(key, d);
    const auto [known, fresh] = layouts_.try_emplace(std::move(key));
    if (!fresh) return known->second;
    const Op& op = w_.op(o);
    OperandLayouts& made = known->second;
    for (const Operand& out : op.outputs) made.outputs.push_back(w_.intern(operand_layout(op, out, true, bindings)));
    for (std::size_t k = 0; k < op.inputs.size(); ++k) {
      const Layout read = operand_layout(op, op.inputs[k], false, bindings);
      const bool gradient = op.backward && w_.g.tensors[static_cast<std::size_t>(op.inputs[k].tensor)].gradient;
      made.inputs.push_back(w_.intern(read));
      made.contributions.push_back(
          gradient ? w_.intern(contribution_layout(op, static_cast<int>(k), bindings, read, passed)) : -1);
    }
    return made;
  }

  void make_outputs(Instance& i, InstanceId id, const OperandLayouts& layouts, bool shared) {
    const Op& op = w_.op(i.op);
    const VarId first = static_cast<VarId>(w_.vars.size());
    for (std::size_t o = 0; o < op.outputs.size(); ++o) {
      const Operand& out = op.outputs[o];
      const VarId var = static_cast<VarId>(w_.vars.size());
      Var& v = w_.vars.emplace_back();
      v.tensor = out.tensor;
      v.place = i.place;
      v.written = layouts.outputs[o];
      v.producer = id;
      v.set = i.set;
      v.gradient = w_.g.tensors[static_cast<std::size_t>(out.tensor)].gradient;
      if (shared) var_of_[{out.tensor, i.place, i.classes}] = var;
      const int sums = op.log_sums;
      const auto& partials = w_.p.layouts[static_cast<std::size_t>(v.written)].partials;
      if (sums >= 0 && var != first + sums && std::any_of(partials.begin(), partials.end(), is_softmax))
        v.log_sums = first + sums;
      i.outputs.push_back(var);
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
    const OperandLayouts& layouts = *layouts_of_[static_cast<std::size_t>(id)];
    for (std::size_t k = 0; k < w_.op(o).inputs.size(); ++k) {
      const VarId var = source(w_.op(o).inputs[k].tensor, id, layouts.inputs[k]);
      attach(id, var, {id, static_cast<int>(k), layouts.inputs[k], layouts.contributions[k]});
      attach_keys(id, layouts.inputs[k]);
      attach_keys(id, w_.vars[static_cast<std::size_t>(var)].written);
    }
  }

  // What tells the rows of a layout apart is read where they are converted.
  void attach_keys(InstanceId id, LayoutId layout) {
    if (!is_keyed(w_.p.layouts[static_cast<std::size_t>(layout)])) return;
    const Layout l = w_.p.layouts[static_cast<std::size_t>(layout)];
    for (const Split& s : l.splits) {
      if (s.part != kByKey) continue;
      const LayoutId whole = w_.intern(key_layout(l, s.dim));
      const std::pair<VarId, LayoutId> key{source(s.key, id, whole), whole};
      Instance& i = w_.instances[static_cast<std::size_t>(id)];
      if (std::find(i.keys.begin(), i.keys.end(), key) != i.keys.end()) continue;
      i.keys.push_back(key);
      w_.vars[static_cast<std::size_t>(key.first)].reads.push_back({id, -1, whole, -1});
    }
  }

  void attach(InstanceId id, VarId var, const Read& r) {
    Instance& i = w_.instances[static_cast<std::size_t>(id)];
    i.inputs.push_back(var);
    i.input_layouts.push_back(r.layout);
    w_.vars[static_cast<std::size_t>(var)].reads.push_back(r);
  }

  VarId source(TensorId t, InstanceId reader, LayoutId read) {
    const PlaceId place = w_.instances[static_cast<std::size_t>(reader)].place;
    const ValueKind k = w_.kind(t);
    if (k == ValueKind::input || is_changed_by_steps(*w_.g.model, t)) return held(t, place, VarKind::source);
    if (k != ValueKind::computed) return held(t, place, VarKind::stored);
    const OpId producer = w_.g.tensors[static_cast<std::size_t>(t)].producer;
    if (w_.op(producer).parameter_free) return demand(t, producer, reader, read);
    return written(t, producer, place, classes_read(producer, reader, read));
  }

  // The class that a reader wants of every axis by which the producer has classes; -1: all together.
  Classes classes_read(OpId producer, InstanceId reader, LayoutId read) {
    Classes out(w_.divided.size(), -1);
    if (out.empty()) return out;
    const AxisSet axes = axes_of(w_.p.layouts[static_cast<std::size_t>(read)]);
    const Classes& own = w_.instances[static_cast<std::size_t>(reader)].classes;
    for (std::size_t k = 0; k < out.size(); ++k)
      if (divides(producer, k) && !own.empty() && own[k] >= 0 &&
          std::binary_search(axes.begin(), axes.end(), w_.divided[k].classes[static_cast<std::size_t>(own[k])]))
        out[k] = own[k];
    return out;
  }

  // A computed tensor at a place: written there, received, or put together from several classes.
  VarId written(TensorId t, OpId producer, PlaceId place, const Classes& classes) {
    const auto here = var_of_.find({t, place, classes});
    if (here != var_of_.end()) return here->second;
    for (std::size_t k = 0; k < classes.size(); ++k)
      if (classes[k] < 0 && divides(producer, k)) return joined(t, producer, place, classes);
    return receive(t, producer, place, classes);
  }

  VarId held(TensorId t, PlaceId place, VarKind kind) {
    const auto [it, fresh] =
        var_of_.emplace(VarKey{t, place, Classes(w_.divided.size(), -1)}, static_cast<VarId>(w_.vars.size()));
    if (fresh) {
      Var& v = w_.vars.emplace_back();
      v.kind = kind;
      v.tensor = t;
      v.place = place;
      v.written = v.base = w_.intern(Layout{});
      v.gradient = w_.g.tensors[static_cast<std::size_t>(t)].gradient;
    }
    return it->second;
  }

  // An operator without parameters, computed so that its output is as near to `read` as its rule allows.
  VarId demand(TensorId t, OpId producer, InstanceId reader, LayoutId read) {
    const Op& op = w_.op(producer);
    const PlaceId place = w_.instances[static_cast<std::size_t>(reader)].place;
    const int output = w_.g.tensors[static_cast<std::size_t>(t)].output;
    Instance i;
    i.op = producer;
    i.place = place;
    i.unit = w_.instances[static_cast<std::size_t>(reader)].unit;
    for (const Split& s : w_.p.layouts[static_cast<std::size_t>(read)].splits) {
      if (s.part == kByKey) continue;
      const PartRef r = op.outputs[static_cast<std::size_t>(output)]
                            .map[static_cast<std::size_t>(s.dim)][static_cast<std::size_t>(s.part)];
      if (r.factor < 0 || op.factors[static_cast<std::size_t>(r.factor)].kind != FactorKind::free) continue;
      for (const Digit& d : s.digits) i.bindings.push_back({d, r.factor, r.part, Origin::demand, -1});
    }
    i.set = free_axes_of(w_, i.bindings);
    Numbers key{producer, place};
    add(key, i.bindings);
    const InstanceId id = static_cast<InstanceId>(w_.instances.size());
    const auto [known, fresh] = demanded_.emplace(std::move(key), id);
    if (!fresh) return w_.instances[static_cast<std::size_t>(known->second)].outputs[static_cast<std::size_t>(output)];
    const OperandLayouts& layouts = operand_layouts(producer, i.bindings, i.passed);
    make_outputs(i, id, layouts, false);
    w_.instances.push_back(std::move(i));
    for (std::size_t k = 0; k < op.inputs.size(); ++k) {
      const VarId var = source(op.inputs[k].tensor, id, layouts.inputs[k]);
      attach(id, var, {id, static_cast<int>(k), layouts.inputs[k], -1});
    }
    return w_.instances[static_cast<std::size_t>(id)].outputs[static_cast<std::size_t>(output)];
  }

  VarId receive(TensorId t, OpId producer, PlaceId place, const Classes& classes) {
    const VarId from = var_of_.at({t, w_.place_of(producer, classes), classes});
    Var v = w_.vars[static_cast<std::size_t>(from)];
    v.kind = VarKind::received;
    v.written = as_received(w_, w_.vars[static_cast<std::size_t>(from)], place);
    v.place = place;
    v.from = from;
    v.producer = -1;
    v.reads.clear();
    v.received.clear();
    v.combined.clear();
    v.parts.clear();
    v.log_sums = -1;
    const VarId id = static_cast<VarId>(w_.vars.size());
    var_of_[{t, place, classes}] = id;
    w_.vars.push_back(std::move(v));
    w_.vars[static_cast<std::size_t>(from)].received.push_back(id);
    return id;
  }

  // All classes of an axis together: every index is brought to the place and added there.
  VarId joined(TensorId t, OpId producer, PlaceId place, const Classes& classes) {
    std::vector<VarId> from;
    each_class(producer, [&](const Classes& c) { from.push_back(written(t, producer, place, c)); }, classes);
    std::vector<Layout> brought;
    std::vector<AxisSet> over;
    const auto of = [&](VarId v) -> const Var& { return w_.vars[static_cast<std::size_t>(v)]; };
    const bool moved = std::any_of(from.begin(), from.end(), [&](VarId v) { return of(v).kind == VarKind::received; });
    for (const VarId v : from) {
      const Var& sender = of(v).kind == VarKind::received ? of(of(v).from) : of(v);
      const Layout& written = w_.p.layouts[static_cast<std::size_t>(sender.written)];
      over.push_back(class_axes(sender.set, classes));
      if (const AxisSet softmax = softmax_axes(w_, sender); std::any_of(softmax.begin(), softmax.end(), [&](AxisId a) {
            return std::binary_search(over.back().begin(), over.back().end(), a);
          }))
        refuse_places(producer);
      brought.push_back(made_minor(
          translated(w_.p, moved ? without_grid_partials(w_, written) : written, sender.place, place), over.back()));
    }
    Layout common = without_axes(brought[0], over[0]);
    for (std::size_t k = 1; k < from.size(); ++k)
      if (without_axes(brought[k], over[k]) != common) common = Layout{};
    std::vector<CombinedPart> parts;
    for (std::size_t k = 0; k < from.size(); ++k)
      parts.push_back(
          {from[k],
           w_.intern(without_axes(brought[k], over[k]) == common ? brought[k] : only_axes(brought[k], over[k]))});
    const VarId id = make_combined(w_, std::move(parts), over[0], w_.intern(common), place, classes);
    var_of_[{t, place, classes}] = id;
    return id;
  }

  // A running softmax joins all blocks on the same devices.
  void refuse_places(OpId o) {
    Diagnostic d = error("the blocks of " + w_.g.node(o).name() + " are computed in several places",
                         "a running softmax joins them one after the other where they are computed",
                         "place its operator without an index of that axis");
    for (int a = 0; a < static_cast<int>(w_.d.axes.size()); ++a)
      if (const plan::Split& s = w_.d.split(o, a);
          s.factor >= 0 && w_.op(o).factors[static_cast<std::size_t>(s.factor)].kind == FactorKind::softmax) {
        d.file = w_.d.plan.file;
        d.line = w_.d.plan.statements[static_cast<std::size_t>(s.statement)].line;
      }
    if (!has_errors(w_.diagnostics)) w_.diagnostics.push_back(std::move(d));
  }

  // Of a set of axes, those of the classes that are put together.
  AxisSet class_axes(const AxisSet& set, const Classes& kept) const {
    AxisSet out;
    for (std::size_t k = 0; k < w_.divided.size(); ++k)
      for (const AxisId a : w_.divided[k].classes)
        if (kept[k] < 0 && std::binary_search(set.begin(), set.end(), a)) out.push_back(a);
    std::sort(out.begin(), out.end());
    return out;
  }

  void read_loss() {
    const TensorId loss = w_.g.model->loss;
    if (loss < 0) return;
    const OpId producer = w_.g.tensors[static_cast<std::size_t>(loss)].producer;
    if (producer < 0 || w_.op(producer).parameter_free) return;
    const PlaceId place = w_.op_place[static_cast<std::size_t>(producer)];
    const VarId var = written(loss, producer, place, Classes(w_.divided.size(), -1));
    Instance i;
    i.kind = InstanceKind::output;
    i.op = static_cast<OpId>(w_.g.ops.size());
    i.var = var;
    i.place = place;
    const InstanceId id = static_cast<InstanceId>(w_.instances.size());
    w_.instances.push_back(i);
    attach(id, var, {id, 0, w_.intern(Layout{}), -1});
  }

  // Whether it is a buffer that steps change.
  // What a buffer is after the step goes wherever it is read.
  void write_buffers() {
    for (const Mutation& m : w_.g.model->mutations) {
      std::vector<PlaceId> places;
      for (const Var& v : w_.vars)
        if (v.kind == VarKind::source && v.tensor == m.buffer &&
            std::find(places.begin(), places.end(), v.place) == places.end())
          places.push_back(v.place);
      for (const PlaceId place : places) {
        Instance i;
        i.kind = InstanceKind::write;
        i.op = static_cast<OpId>(w_.g.ops.size());
        i.place = place;
        const InstanceId id = static_cast<InstanceId>(w_.instances.size());
        w_.instances.push_back(i);
        const LayoutId whole = w_.intern(Layout{});
        const VarId var = source(m.value, id, whole);
        w_.instances[static_cast<std::size_t>(id)].var = var;
        w_.instances[static_cast<std::size_t>(id)].set = w_.vars[static_cast<std::size_t>(var)].set;
        attach(id, var, {id, 0, whole, -1});
      }
    }
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
      for (const VarId c : var.combined) i.op = std::min(i.op, first_reader(w_.vars[static_cast<std::size_t>(c)]));
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

  void list_keys() {
    for (const Instance& i : w_.instances)
      for (const auto& [var, layout] : i.keys) {
        auto& of = w_.keys[{w_.vars[static_cast<std::size_t>(var)].tensor, i.place}];
        if (std::find(of.begin(), of.end(), std::pair(layout, var)) == of.end()) of.emplace_back(layout, var);
      }
  }

  OpId first_reader(const Var& v) const {
    OpId first = static_cast<OpId>(w_.g.ops.size());
    for (const Read& r : v.reads) first = std::min(first, w_.instances[static_cast<std::size_t>(r.instance)].op);
    return first;
  }

  using VarKey = std::tuple<TensorId, PlaceId, Classes>;
  struct VarKeyHash {
    std::size_t operator()(const VarKey& key) const {
      std::uint64_t h =
          static_cast<std::uint64_t>(std::get<0>(key)) << 20 ^ static_cast<std::uint64_t>(std::get<1>(key));
      for (const int c : std::get<2>(key)) h = h * 0x9E3779B97F4A7C15ULL + static_cast<std::uint64_t>(c + 1);
      return static_cast<std::size_t>(h);
    }
  };

  Work& w_;
  const std::set<std::pair<int, int>> listed_;
  const std::vector<std::vector<int>> repeated_;   // by operator
  std::vector<const OperandLayouts*> layouts_of_;  // by instance, of those that are not made on demand
  std::unordered_map<VarKey, VarId, VarKeyHash> var_of_;
  std::unordered_map<Numbers, Composed, NumbersHash> composed_;
  Numbers key_;
  std::unordered_map<Numbers, InstanceId, NumbersHash> demanded_;
  std::unordered_map<Numbers, OperandLayouts, NumbersHash> layouts_;
};

}  // namespace

bool make_instances(Work& w) { return Instances(w).run(); }

}  // namespace planscope::build
