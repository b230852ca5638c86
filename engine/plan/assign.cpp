#include "engine/plan/assign.h"

#include "engine/plan/printer.h"

namespace planscope::plan {

namespace {
// Expressions of a place that may hold variables.
std::vector<Expression> place_expressions(const std::vector<Place>& places) {
  std::vector<Expression> out;
  for (const Place& p : places) {
    for (const AxisSub& a : p.axes) out.insert(out.end(), a.sub.alternatives.begin(), a.sub.alternatives.end());
    if (p.form == Place::Form::name) out.insert(out.end(), p.subscript.begin(), p.subscript.end());
    for (const Index& i : p.devices)
      for (const auto* e : {&i.begin, &i.end, &i.step})
        if (*e) out.push_back(**e);
  }
  return out;
}

bool supported(Context& c, const Group& g) {
  if (g.form == Group::Form::phase) {
    c.unsupported("'assign " + print(g) + "': the place of a phase");
    return false;
  }
  if (!g.index.empty()) {
    c.unsupported("'assign " + print(g) + "': a place by index");
    return false;
  }
  return true;
}
}  // namespace

void bind_assign(Context& c, const AssignStatement& s) {
  for (const Group& g : s.units.groups)
    if (!supported(c, g)) return;
  const auto cases = c.cases({&s.units}, place_expressions(s.places));
  if (!cases) return;
  for (const Bindings& b : *cases) {
    const auto matches = c.select(s.units, b, !b.variables.empty());
    if (!matches) return;
    std::vector<PlaceInfo> options;
    for (const Place& p : s.places) {
      auto place = c.place(p, b);
      if (!place) return;
      options.push_back(std::move(*place));
    }
    PlaceInfo place = options[0];
    if (options.size() > 1) {
      place = PlaceInfo{};
      place.statement = c.statement;
      for (PlaceInfo& o : options) {
        if (o.alternatives.empty())
          place.alternatives.push_back(std::move(o));
        else
          place.alternatives.insert(place.alternatives.end(), o.alternatives.begin(), o.alternatives.end());
      }
    }
    const int id = c.place_id(std::move(place));
    for (const Match& m : *matches)
      for (const Unit& u : m.units)
        for (const int op : u.operators) {
          if (u.wildcard && c.model.operators[static_cast<std::size_t>(op)].parameter_free) continue;
          c.decisions.operator_place[static_cast<std::size_t>(op)] = id;
          c.rows[static_cast<std::size_t>(c.statement)].push_back(op);
        }
  }
}

}  // namespace planscope::plan
