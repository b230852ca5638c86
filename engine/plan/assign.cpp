#include "engine/plan/assign.h"

#include <algorithm>

#include "engine/plan/printer.h"

namespace planscope::plan {

namespace {
// Expressions of a place that may hold variables.
std::vector<Expression> place_expressions(const std::vector<Place>& places) {
  std::vector<Expression> out;
  for (const Place& p : places) {
    for (const AxisSub& a : p.axes) {
      out.insert(out.end(), a.sub.alternatives.begin(), a.sub.alternatives.end());
      for (const Index& i : a.sub.indices)
        for (const auto* e : {&i.begin, &i.end, &i.step})
          if (*e) out.push_back(**e);
    }
    if (p.form == Place::Form::name || p.form == Place::Form::open)
      out.insert(out.end(), p.subscript.begin(), p.subscript.end());
    for (const Index& i : p.devices)
      for (const auto* e : {&i.begin, &i.end, &i.step})
        if (*e) out.push_back(**e);
  }
  return out;
}

class Assigner {
 public:
  Assigner(Context& c, const AssignStatement& s) : c_(c), d_(c.decisions), s_(s) {}

  void run() {
    for (const Group& g : s_.units.groups)
      if (g.form == Group::Form::phase) return refuse_phase(g);
    const auto cases = c_.cases({&s_.units}, place_expressions(s_.places));
    if (!cases) return;
    for (const Bindings& b : *cases)
      if (!one_case(b)) return;
  }

 private:
  void refuse_phase(const Group& g) {
    const std::string task = print(g), units = print(g.units);
    const bool to_host =
        std::any_of(s_.places.begin(), s_.places.end(), [](const Place& p) { return p.form == Place::Form::host; });
    if (g.phase == Phase::update && to_host)
      return c_.refuse("'" + task + "' runs where the parameters are used, not in host memory. 'trans " + task +
                       " offload' keeps the state of the optimizer there from one update to the next.");
    c_.refuse("'" + task + "' has no place of its own: " +
              (of_parameters(g.phase) || g.phase == Phase::fetch
                   ? "it runs on every place that uses the parameters. 'trans " + task +
                         " dim0 by …' splits it over axes of these; 'assign " + units + " to …' moves all work."
                   : "it runs where the forward work of '" + units + "' does. Write 'assign " + units + " to …'."));
  }

  bool one_case(const Bindings& b) {
    const auto place = chosen_place(b);
    if (!place) return false;
    for (const Group& g : s_.units.groups) {
      const auto matches = c_.select(Units{{g}, s_.units.except}, b, !b.variables.empty());
      const auto indices = matches ? named_indices(c_, g, b) : std::nullopt;
      if (!indices) return false;
      PlaceInfo chosen = *place;
      if (!chosen.alternatives.empty()) chosen.index = *indices;
      const int id = c_.place_id(std::move(chosen));
      moved_.clear();
      for (const Match& m : *matches)
        for (const Unit& u : m.units)
          for (const int op : u.operators) {
            if (u.wildcard && c_.model.operators[static_cast<std::size_t>(op)].parameter_free) continue;
            set(op, *indices, id);
            c_.rows[static_cast<std::size_t>(c_.statement)].push_back(op);
          }
    }
    return true;
  }

  std::optional<PlaceInfo> chosen_place(const Bindings& b) {
    std::vector<PlaceInfo> options;
    for (const Place& p : s_.places) {
      auto place = c_.place(p, b);
      if (!place) return std::nullopt;
      options.push_back(std::move(*place));
    }
    if (options.size() == 1) return options[0];
    PlaceInfo place;
    place.statement = c_.statement;
    for (PlaceInfo& o : options) {
      if (o.alternatives.empty())
        place.alternatives.push_back(std::move(o));
      else
        place.alternatives.insert(place.alternatives.end(), o.alternatives.begin(), o.alternatives.end());
    }
    return place;
  }

  void set(int op, const std::vector<AxisIndices>& indices, int place) {
    const auto o = static_cast<std::size_t>(op);
    if (indices.empty()) {
      d_.operator_place[o] = place;
      d_.operator_indexed[o] = -1;
      return;
    }
    const auto [it, fresh] = moved_.try_emplace({d_.operator_indexed[o], d_.operator_place[o]}, -1);
    if (fresh) it->second = moved(o, indices, place);
    d_.operator_indexed[o] = it->second;
    const std::vector<int>& places = d_.indexed_places[static_cast<std::size_t>(it->second)].places;
    d_.operator_place[o] = *std::find_if(places.begin(), places.end(), [](int p) { return p >= 0; });
  }

  // The places of an operator, with those at `indices` replaced.
  int moved(std::size_t o, const std::vector<AxisIndices>& indices, int place) {
    IndexedPlaces x{{}, {d_.operator_place[o]}};
    if (d_.operator_indexed[o] >= 0) x = d_.indexed_places[static_cast<std::size_t>(d_.operator_indexed[o])];
    for (const AxisIndices& i : indices) x = with_axis(x, i.axis);
    put(x, indices, place);
    const auto known = std::find(d_.indexed_places.begin(), d_.indexed_places.end(), x) - d_.indexed_places.begin();
    if (known == static_cast<std::ptrdiff_t>(d_.indexed_places.size())) d_.indexed_places.push_back(std::move(x));
    return static_cast<int>(known);
  }

  // Calls visit(position in places, index along every axis).
  template <class F>
  void each(const IndexedPlaces& x, F&& visit) const {
    std::vector<std::int64_t> at(x.axes.size(), 0);
    for (std::size_t i = 0; i < x.places.size(); ++i) {
      auto rest = static_cast<std::int64_t>(i);
      for (std::size_t k = x.axes.size(); k-- > 0;) {
        const std::int64_t size = d_.axes[static_cast<std::size_t>(x.axes[k])].size;
        at[k] = rest % size;
        rest /= size;
      }
      visit(i, at);
    }
  }

  // The same places, by one more axis.
  IndexedPlaces with_axis(const IndexedPlaces& x, int axis) const {
    const auto before = std::lower_bound(x.axes.begin(), x.axes.end(), axis) - x.axes.begin();
    const auto k = static_cast<std::size_t>(before);
    if (k < x.axes.size() && x.axes[k] == axis) return x;
    IndexedPlaces out = x;
    out.axes.insert(out.axes.begin() + before, axis);
    out.places.assign(x.places.size() * static_cast<std::size_t>(d_.axes[static_cast<std::size_t>(axis)].size), -1);
    each(out, [&](std::size_t i, const std::vector<std::int64_t>& at) {
      std::size_t from = 0;
      for (std::size_t a = 0; a < out.axes.size(); ++a)
        if (a != k)
          from = from * static_cast<std::size_t>(d_.axes[static_cast<std::size_t>(out.axes[a])].size) +
                 static_cast<std::size_t>(at[a]);
      out.places[i] = x.places[from];
    });
    return out;
  }

  void put(IndexedPlaces& x, const std::vector<AxisIndices>& indices, int place) const {
    each(x, [&](std::size_t i, const std::vector<std::int64_t>& at) {
      const bool named = std::all_of(indices.begin(), indices.end(), [&](const AxisIndices& n) {
        const auto k = std::find(x.axes.begin(), x.axes.end(), n.axis) - x.axes.begin();
        return std::binary_search(n.indices.begin(), n.indices.end(), at[static_cast<std::size_t>(k)]);
      });
      if (named) x.places[i] = place;
    });
  }

  Context& c_;
  Decisions& d_;
  const AssignStatement& s_;
  std::map<std::pair<int, int>, int> moved_;  // (indexed, place) of operators before -> indexed after, in one case
};
}  // namespace

std::optional<std::vector<AxisIndices>> named_indices(Context& c, const Group& g, const Bindings& b) {
  std::vector<AxisIndices> out;
  std::size_t next = 0;
  for (const TaskIndex& t : g.index) {
    const auto axis = c.index_axis(g, t, next);
    const auto wanted = axis ? c.index_value(t.index, b) : std::nullopt;
    if (!wanted) return std::nullopt;
    const AxisInfo& info = c.decisions.axes[static_cast<std::size_t>(*axis)];
    if (info.size == 0) {  // open
      c.defer();
      return std::nullopt;
    }
    AxisIndices x{*axis, {}};
    for (std::int64_t i = 0; i < info.size; ++i)
      if (wanted->selects(i)) x.indices.push_back(i);
    if (x.indices.empty()) {
      c.refuse("'" + print(g) + "' is out of range: " + info.name + " has " + std::to_string(info.size) +
               (info.size == 1 ? " index." : " indices."));
      return std::nullopt;
    }
    if (static_cast<std::int64_t>(x.indices.size()) < info.size) out.push_back(std::move(x));
  }
  std::sort(out.begin(), out.end(), [](const auto& x, const auto& y) { return x.axis < y.axis; });
  return out;
}

void bind_assign(Context& c, const AssignStatement& s) { Assigner(c, s).run(); }

}  // namespace planscope::plan
