// Around a parameter's update: what is left to reduce of its gradient once a step, the exchange between places that share
// it, the update, and the way of the optimizer's state from host memory and back. One segment for a place, or one for each
// unit whose tasks order rows name (`grad(L[3])`, `update(L[3])`, `load(update(L[3]))`).
#include <algorithm>

#include "engine/program/build/emit.h"

namespace planscope::build {

// By parameter: the unit of its task, the first that an order row names and that reads it.
std::map<TensorId, int> Emitter::parameter_units(plan::Phase phase) const {
  std::map<TensorId, int> out;
  for (const plan::OrderRow& row : w_.d.order)
    for (const plan::TaskFamily& family : row.chain) {
      if (family.phase != phase && family.of != phase) continue;
      for (const int unit : family.units) {
        const std::vector<int>& ops = w_.d.units[static_cast<std::size_t>(unit)].operators;
        for (const Parameter& p : w_.g.parameters)
          for (const OpId reader : w_.g.tensors[static_cast<std::size_t>(p.tensor)].readers)
            if (std::binary_search(ops.begin(), ops.end(), reader)) out.emplace(p.tensor, unit);
      }
    }
  return out;
}

bool Emitter::ordered(plan::Phase phase, plan::Phase of, int unit) const {
  for (const plan::OrderRow& row : w_.d.order)
    for (const plan::TaskFamily& family : row.chain)
      if (family.phase == phase && family.of == of &&
          std::find(family.units.begin(), family.units.end(), unit) != family.units.end())
        return true;
  return false;
}

// The trained parameters of a place by unit, in the order of the first parameter of each.
std::vector<Emitter::UnitParameters> Emitter::trained(PlaceId place, const std::map<TensorId, int>& units) const {
  std::map<TensorId, VarId> here;
  for (std::size_t v = 0; v < w_.vars.size(); ++v)
    if (w_.vars[v].kind == VarKind::stored && w_.vars[v].gradient && w_.vars[v].place == place)
      here[w_.vars[v].tensor] = static_cast<VarId>(v);
  std::vector<UnitParameters> out;
  for (const auto& [tensor, var] : here) {
    const auto found = units.find(tensor);
    const int unit = found == units.end() ? -1 : found->second;
    auto group = std::find_if(out.begin(), out.end(), [&](const UnitParameters& u) { return u.unit == unit; });
    if (group == out.end()) group = out.insert(out.end(), UnitParameters{unit, {}});
    group->vars.push_back(var);
  }
  return out;
}

void Emitter::open_task(Phase phase, plan::Phase of, PlaceId place, int unit) {
  SegmentWork s;
  s.place = place;
  s.unit = unit;
  const SegmentId id = new_segment(phase, s);
  if (of == plan::Phase::update) {
    Segment& made = w_.p.segments[static_cast<std::size_t>(id)];
    made.name = std::string(to_string(phase)) + "(" + segment_name(s, "update") + ")";
  }
  if (unit >= 0) w_.parameter_tasks[{unit, *plan::phase_of(to_string(phase)), of}].push_back(id);
  open_segment(id);
}

void Emitter::update_segments() {
  std::map<TensorId, std::vector<VarId>> holders;
  for (std::size_t v = 0; v < w_.vars.size(); ++v)
    if (w_.vars[v].kind == VarKind::stored && w_.vars[v].gradient)
      holders[w_.vars[v].tensor].push_back(static_cast<VarId>(v));
  const std::vector<PlaceId> places = parameter_places();
  const auto reductions = parameter_units(plan::Phase::grad), updates = parameter_units(plan::Phase::update);
  const std::vector<TensorId> away = offloaded();
  Exchange exchange;
  for (const PlaceId place : places)
    for (const UnitParameters& group : trained(place, reductions)) {
      open_task(Phase::grad, plan::Phase::forward, place, group.unit);
      for (const VarId v : group.vars) reduce(v, holders.at(w_.vars[static_cast<std::size_t>(v)].tensor), exchange);
    }
  for (const PlaceId place : places)
    for (const UnitParameters& group : trained(place, updates)) {
      const bool load = ordered(plan::Phase::load, plan::Phase::update, group.unit);
      const bool store = ordered(plan::Phase::store, plan::Phase::update, group.unit);
      std::map<VarId, ProgramValueId> states;
      for (const VarId v : group.vars) {
        const Var& var = w_.vars[static_cast<std::size_t>(v)];
        if (std::binary_search(away.begin(), away.end(), var.tensor))
          states[v] = w_.new_value(var.tensor, Role::state, var.home, place, {});
      }
      if (load && !states.empty()) {
        open_task(Phase::load, plan::Phase::update, place, group.unit);
        for (const auto& [v, state] : states) push(Code::restore, {}, {state});
      }
      open_task(Phase::update, plan::Phase::forward, place, group.unit);
      for (const VarId v : group.vars) {
        const auto state = states.find(v);
        const bool moves = state != states.end();
        const ProgramValueId gradient = collect(v, exchange);
        if (gradient < 0) continue;
        if (moves && !load) push(Code::restore, {}, {state->second});
        const ProgramValueId home = w_.vars[static_cast<std::size_t>(v)].home_value;
        push(Code::update, {home, gradient}, {home});
        if (!moves) continue;
        Instruction& i = w_.p.segments[static_cast<std::size_t>(current_)].instructions.back();
        i.in.push_back(state->second);
        if (!store) push(Code::offload, {state->second}, {});
      }
      if (store && !states.empty()) {
        open_task(Phase::store, plan::Phase::update, place, group.unit);
        for (const auto& [v, state] : states) push(Code::offload, {state}, {});
      }
    }
}

// Parameters whose optimizer state waits in host memory, sorted.
std::vector<TensorId> Emitter::offloaded() const {
  std::vector<TensorId> out;
  for (std::size_t k = 0; k < w_.g.parameters.size(); ++k)
    if (const int a = w_.d.update_storage[k];
        a >= 0 && w_.d.algorithms[static_cast<std::size_t>(a)].alternatives[0] == plan::Algorithm::offload)
      out.push_back(w_.g.parameters[k].tensor);
  std::sort(out.begin(), out.end());
  return out;
}

// The place's own part of the gradient, and its way to the other places that store the parameter.
void Emitter::reduce(VarId v, const std::vector<VarId>& holders, Exchange& exchange) {
  const Var& var = w_.vars[static_cast<std::size_t>(v)];
  const ProgramValueId own =
      var.gradient_value >= 0 ? var.gradient_value : sum(var.contributions, var.tensor, var.home);
  if (own < 0) return;
  exchange.own[v] = own;
  for (const VarId other : holders) {
    if (other == v) continue;
    const Var& to = w_.vars[static_cast<std::size_t>(other)];
    const CrossingPair homes{w_.p.layouts[static_cast<std::size_t>(var.home)],
                             w_.p.layouts[static_cast<std::size_t>(to.home)]};
    const CrossingPair pair = w_.crossing(var.tensor, var.place, {{homes.sent}}, to.place, {{homes.got}}, homes).pair;
    const ProgramValueId sent = convert(own, w_.intern(pair.sent));
    const ProgramValueId got = w_.new_value(to.tensor, Role::gradient, w_.intern(pair.got), to.place, {});
    w_.p.transfers.push_back({{sent}, {got}});
    const int transfer = static_cast<int>(w_.p.transfers.size()) - 1;
    push(Code::send, {sent}, {}).transfer = transfer;
    exchange.arriving[other].emplace_back(v, transfer);
  }
}

// The whole gradient, parts of all places added in one order wherever the parameter is stored.
ProgramValueId Emitter::collect(VarId v, const Exchange& exchange) {
  std::vector<std::pair<VarId, ProgramValueId>> parts;
  if (const auto own = exchange.own.find(v); own != exchange.own.end()) parts.push_back(*own);
  if (const auto arriving = exchange.arriving.find(v); arriving != exchange.arriving.end())
    for (const auto& [sender, transfer] : arriving->second) {
      const ProgramValueId g = w_.p.transfers[static_cast<std::size_t>(transfer)].to[0];
      push(Code::receive, {}, {g}).transfer = transfer;
      const LayoutId home = w_.vars[static_cast<std::size_t>(v)].home;
      parts.emplace_back(sender, convert(g, home));
    }
  if (parts.empty()) return -1;
  std::sort(parts.begin(), parts.end());
  if (parts.size() == 1) return parts[0].second;
  const Var& var = w_.vars[static_cast<std::size_t>(v)];
  std::vector<ProgramValueId> in;
  for (const auto& [sender, value] : parts) in.push_back(value);
  const ProgramValueId g = w_.new_value(var.tensor, Role::gradient, var.home, var.place, {});
  push(Code::add, in, {g});
  return g;
}

}  // namespace planscope::build
