#include "engine/program/build/emit.h"

#include <algorithm>
#include <iterator>

namespace planscope::build {

bool emit(Work& w) { return Emitter(w).run(); }

bool Emitter::run() {
  pieces_.resize(w_.segments.size());
  result_slots_.assign(w_.vars.size(), -1);
  reductions_ = parameter_units(plan::Phase::grad);
  homes();
  fetch_segments();
  bound_passing();
  for (SegmentWork& s : w_.segments) forward(s);
  if (has_errors(w_.diagnostics)) return false;
  count_givers();
  for (auto it = w_.segments.rbegin(); it != w_.segments.rend(); ++it) backward(*it);
  update_segments();
  return !has_errors(w_.diagnostics);
}

Instruction& Emitter::push(Code code, std::vector<ProgramValueId> in, std::vector<ProgramValueId> out) {
  Instruction& i = w_.p.segments[static_cast<std::size_t>(current_)].instructions.emplace_back();
  i.code = code;
  i.in = std::move(in);
  i.out = std::move(out);
  return i;
}

std::string Emitter::segment_name(const SegmentWork& s, std::string_view phase) const {
  std::string unit = s.unit >= 0 ? w_.d.units[static_cast<std::size_t>(s.unit)].name : "";
  if (unit.empty()) {
    const Place& at = w_.p.places[static_cast<std::size_t>(s.place)];
    for (const auto& [axis, value] : at.fixed)
      unit += (unit.empty() ? "" : ",") + w_.p.axes[static_cast<std::size_t>(axis)].name + "=" + std::to_string(value);
    if (unit.empty()) unit = w_.p.grids[static_cast<std::size_t>(at.grid)].name;
  }
  return std::string(phase) + "(" + unit + ")";
}

SegmentId Emitter::new_segment(Phase phase, const SegmentWork& s) {
  Segment out;
  out.phase = phase;
  out.place = s.place;
  out.free_axes = s.set;
  out.name = segment_name(s, to_string(phase));
  w_.p.segments.push_back(std::move(out));
  return static_cast<SegmentId>(w_.p.segments.size()) - 1;
}

void Emitter::open_segment(SegmentId id) {
  const Segment& s = w_.p.segments[static_cast<std::size_t>(id)];
  current_ = id;
  set_ = s.free_axes;
  place_ = s.place;
  memo_.clear();
  replayed_.clear();
  refilled_.clear();
}

void Emitter::homes() {
  for (Var& v : w_.vars) {
    if (v.kind != VarKind::stored) continue;
    v.home_value = w_.new_value(v.tensor, Role::home, v.home, v.place, {});
    w_.p.values[static_cast<std::size_t>(v.home_value)].lag = v.lag;
    if (v.base == v.home) v.base_value = v.home_value;
  }
}

std::vector<PlaceId> Emitter::parameter_places() const {
  std::vector<PlaceId> out;
  for (const Var& v : w_.vars)
    if (v.kind == VarKind::stored && std::find(out.begin(), out.end(), v.place) == out.end()) out.push_back(v.place);
  std::sort(out.begin(), out.end());
  return out;
}

// Weights whose fetch is not split are gathered once a step.
void Emitter::fetch_segments() {
  for (const PlaceId place : parameter_places()) {
    SegmentWork s;
    s.place = place;
    bool begun = false;
    for (std::size_t v = 0; v < w_.vars.size(); ++v) {
      if (w_.vars[v].kind != VarKind::stored || w_.vars[v].place != place || w_.vars[v].base_value >= 0) continue;
      if (!begun) open_segment(new_segment(Phase::fetch, s));
      begun = true;
      w_.vars[v].base_value = convert(w_.vars[v].home_value, w_.vars[v].base);
    }
  }
}

ProgramValueId Emitter::load(VarId id, LayoutId layout) {
  const Var& v = w_.vars[static_cast<std::size_t>(id)];
  const ProgramValueId value = w_.new_value(v.tensor, Role::data, layout, place_, set_);
  push(Code::load, {}, {value});
  return value;
}

ProgramValueId Emitter::base_of(VarId id) const {
  const auto again = replayed_.find(id);
  return again != replayed_.end() ? again->second : w_.vars[static_cast<std::size_t>(id)].base_value;
}

// The value of a var in the layout that a reader of the current segment wants, converted once per segment.
ProgramValueId Emitter::value_for(VarId id, LayoutId layout, const std::string& module) {
  const Var& v = w_.vars[static_cast<std::size_t>(id)];
  const auto known = memo_.find({id, layout});
  const bool anew = v.fetch_split && known != memo_.end() && known->second.module != module;
  if (known != memo_.end() && !anew) return known->second.value;
  ProgramValueId value = -1;
  if (v.kind == VarKind::source) {
    const Layout partial = w_.p.layouts[static_cast<std::size_t>(layout)];
    value = load(id, w_.intern(without_keys(dual(partial))));
    value = convert(value, layout, &module);
  } else {
    ProgramValueId from = base_of(id);
    const auto hoisted = v.hoisted.find(outside_loops(layout, v));
    if (hoisted != v.hoisted.end() && !replayed_.count(id)) from = hoisted->second;
    if (is_keyed(w_.p.layouts[static_cast<std::size_t>(layout)])) {
      const Layout read = w_.p.layouts[static_cast<std::size_t>(layout)];
      for (const Split& s : read.splits)
        if (s.key == v.tensor) from = key_for(v.tensor, w_.intern(key_layout(read, s.dim)));  // selected by itself
    }
    if (v.growing >= 0 && !prefix_axes(w_.p.layouts[static_cast<std::size_t>(layout)]).empty()) from = v.growing;
    value = from < 0 ? -1 : convert(from, layout, &module);
  }
  memo_[{id, layout}] = {value, v.fetch_split ? module : std::string()};
  return value;
}

// A key as conversions in the current segment read it. The copy of the forward pass is kept for the backward one.
ProgramValueId Emitter::key_for(TensorId key, LayoutId layout) {
  VarId var = -1;
  for (const auto& [read, v] : w_.keys.at({key, place_}))
    if (var < 0 || read == layout) var = v;
  const auto [known, fresh] = w_.vars[static_cast<std::size_t>(var)].as_key.try_emplace({pass_, layout}, -1);
  if (fresh) known->second = value_for(var, layout, w_.g.tensor_name(key));
  return known->second;
}

// The statement that splits a reader or the writer of a tensor over a free axis.
int Emitter::splits_in_turn(TensorId t) const {
  const PTensor& tensor = w_.g.tensors[static_cast<std::size_t>(t)];
  std::vector<OpId> around = tensor.readers;
  if (tensor.producer >= 0) around.push_back(tensor.producer);
  for (const OpId o : around)
    for (int a = 0; a < static_cast<int>(w_.d.axes.size()); ++a)
      if (w_.d.axes[static_cast<std::size_t>(a)].free && w_.binding(o, a).statement >= 0)
        return w_.binding(o, a).statement;
  return -1;
}

ProgramValueId Emitter::convert(ProgramValueId from, LayoutId to, const std::string* reader, ProgramValueId refills) {
  if (w_.p.values[static_cast<std::size_t>(from)].layout == to) return from;
  const ProgramValue source = w_.p.values[static_cast<std::size_t>(from)];
  const std::vector<Move>* moves = conversion(w_, source.tensor, source.place, source.layout, to);
  if (!moves) {
    Diagnostic d = error("'" + w_.g.tensor_name(source.tensor) + "' is needed in a layout that it cannot be brought to",
                         "it is split or partial over an axis whose indices run one after the other, and is read for "
                         "all of them at once",
                         "split its reader over the same axis, or leave both whole");
    const char* what = source.role == Role::gradient ? "gradient of " : source.role == Role::home ? "fetch of " : "";
    d.subject = reader ? *reader : what + w_.g.tensor_name(source.tensor);
    if (const int statement = splits_in_turn(source.tensor); statement >= 0) {
      d.subject = w_.statement_text(statement);
      d.file = w_.d.plan.file;
      d.line = w_.d.plan.statements[static_cast<std::size_t>(statement)].line;
    }
    if (!has_errors(w_.diagnostics)) w_.diagnostics.push_back(d);
    return from;
  }
  ProgramValueId value = from;
  bool gathers = false;
  for (std::size_t k = 0; k < moves->size(); ++k) {
    const Move& m = (*moves)[k];
    const Layout next =
        apply(w_.p.layouts[static_cast<std::size_t>(w_.p.values[static_cast<std::size_t>(value)].layout)], m);
    const bool last = k + 1 == moves->size();
    const ProgramValueId out = w_.new_value(source.tensor, source.role == Role::home ? Role::data : source.role,
                                            w_.intern(next), source.place, set_, last ? refills : -1);
    std::vector<ProgramValueId> in = {value};
    if (m.key >= 0) {
      const Layout before = w_.p.layouts[static_cast<std::size_t>(w_.p.values[static_cast<std::size_t>(value)].layout)];
      in.push_back(key_for(m.key, w_.intern(key_layout(before, next, m))));
    }
    push(is_local(m.kind) ? Code::local : Code::issue, std::move(in), {out}).move = m;
    const auto prefix = [](const Digit& d) { return d.reach == Reach::prefix; };
    gathers = gathers || m.kind == MoveKind::all_gather || m.kind == MoveKind::rotate ||
              std::any_of(m.digits.begin(), m.digits.end(), prefix);
    value = out;
  }
  if (gathers && source.role != Role::gradient) gathered_[value] = true;
  return value;
}

// Adds this index of a var to what combines it; blocks of a softmax with the log-sum-exps that weigh them.
void Emitter::add_to_combined(VarId id) {
  for (const VarId combined : w_.vars[static_cast<std::size_t>(id)].combined) {
    if (w_.vars[static_cast<std::size_t>(combined)].joined) continue;
    std::vector<ProgramValueId> in, out;
    VarId from = id;
    for (VarId to = combined; to >= 0; to = w_.vars[static_cast<std::size_t>(to)].log_sums) {
      Var& c = w_.vars[static_cast<std::size_t>(to)];
      const Var& v = w_.vars[static_cast<std::size_t>(from)];
      if (c.written_value < 0) c.written_value = w_.new_value(c.tensor, Role::data, c.written, c.place, c.set);
      const auto part =
          std::find_if(c.parts.begin(), c.parts.end(), [&](const CombinedPart& p) { return p.from == from; });
      in.push_back(convert(v.written_value, part->ready));
      out.push_back(c.written_value);
      from = v.log_sums;
    }
    if (in.size() == 1)
      accumulate(in[0], out[0]);
    else
      push(Code::accumulate, in, out);
  }
}

// Readers that read up to their index read from what has been put together so far.
void Emitter::grow(VarId id) {
  Var& v = w_.vars[static_cast<std::size_t>(id)];
  if (!prefix_axes(w_.p.layouts[static_cast<std::size_t>(v.base)]).empty()) return;  // made so
  AxisSet over;
  for (const Read& r : v.reads) {
    const AxisSet axes = prefix_axes(w_.p.layouts[static_cast<std::size_t>(r.layout)]);
    if (std::includes(v.set.begin(), v.set.end(), axes.begin(), axes.end()))
      over.insert(over.end(), axes.begin(), axes.end());
  }
  std::sort(over.begin(), over.end());
  over.erase(std::unique(over.begin(), over.end()), over.end());
  if (over.empty()) return;
  const Layout ready = made_minor(w_.p.layouts[static_cast<std::size_t>(v.base)], over);
  const ProgramValueId term = convert(v.base_value, w_.intern(ready));
  AxisSet set;
  std::set_difference(v.set.begin(), v.set.end(), over.begin(), over.end(), std::back_inserter(set));
  v.growing = w_.new_value(v.tensor, Role::data, w_.intern(without_axes(ready, over)), v.place, std::move(set));
  accumulate(term, v.growing);
}

// `sum` += `term` over the free axes that `sum` lacks.
void Emitter::accumulate(ProgramValueId term, ProgramValueId sum) {
  const Layout from = w_.p.layouts[static_cast<std::size_t>(w_.p.values[static_cast<std::size_t>(term)].layout)];
  const Layout to = w_.p.layouts[static_cast<std::size_t>(w_.p.values[static_cast<std::size_t>(sum)].layout)];
  std::vector<ProgramValueId> in = {term};
  for (const Split& s : from.splits)
    if (s.part == kByKey && std::find(to.splits.begin(), to.splits.end(), s) == to.splits.end())
      in.push_back(key_for(s.key, w_.intern(key_layout(from, s.dim))));
  push(Code::accumulate, std::move(in), {sum});
}

// After a var is written: the reduction that its readers share, combination over free axes, sends, conversions for
// readers in loops inside.
void Emitter::finish_var(VarId id) {
  Var& v = w_.vars[static_cast<std::size_t>(id)];
  add_to_combined(id);
  v.base_value = convert(v.written_value, v.base);
  grow(id);
  for (const VarId r : v.received) {
    Var& to = w_.vars[static_cast<std::size_t>(r)];
    to.written_value = to.base_value = w_.new_value(to.tensor, Role::data, to.base, to.place, to.set);
    const ProgramValueId sent = value_for(id, to.sent, w_.g.tensor_name(v.tensor));
    w_.p.transfers.push_back({{sent}, {to.base_value}});
    push(Code::send, {sent}, {}).transfer = static_cast<int>(w_.p.transfers.size()) - 1;
  }
  hoist(id);
}

// What a reader's layout asks of a value outside of the loops over free axes that the value does not have. Blocks that
// rotate inside are at home outside, if that is where they are.
LayoutId Emitter::outside_loops(LayoutId layout, const Var& v) {
  const Layout& l = w_.p.layouts[static_cast<std::size_t>(layout)];
  AxisSet foreign;
  for (const AxisId a : axes_of(l))
    if (w_.is_free(a) && !std::binary_search(v.set.begin(), v.set.end(), a)) foreign.push_back(a);
  if (foreign.empty()) return layout;
  const Layout rows = without_keys(l);
  const Layout home = at_home(w_.p, rows, w_.p.layouts[static_cast<std::size_t>(v.base)], foreign, false);
  return w_.intern(without_axes(made_minor(home, foreign), foreign));
}

void Emitter::hoist(VarId id) {
  for (const Read& r : w_.vars[static_cast<std::size_t>(id)].reads) {
    const Instance& reader = w_.instances[static_cast<std::size_t>(r.instance)];
    if (reader.set == w_.vars[static_cast<std::size_t>(id)].set) continue;
    const LayoutId target = outside_loops(r.layout, w_.vars[static_cast<std::size_t>(id)]);
    if (target == w_.vars[static_cast<std::size_t>(id)].base) continue;
    if (is_keyed(w_.p.layouts[static_cast<std::size_t>(target)])) continue;  // by its reader, who has the key
    if (w_.vars[static_cast<std::size_t>(id)].hoisted.count(target)) continue;
    const ProgramValueId value = convert(w_.vars[static_cast<std::size_t>(id)].base_value, target);
    w_.vars[static_cast<std::size_t>(id)].hoisted[target] = value;
  }
}

}  // namespace planscope::build
