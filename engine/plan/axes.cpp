// Devices, grids, axes, places.
#include <algorithm>
#include <numeric>
#include <set>

#include "engine/base/text.h"
#include "engine/plan/context.h"
#include "engine/plan/printer.h"

namespace planscope::plan {

namespace {
struct AxisSize {
  std::string name;
  std::int64_t size = 0;
  std::optional<Expression> open;
};

// `4`, `?t` or `2|4`: the last is an open value of the axis' name.
std::optional<AxisSize> axis_size_of(Context& c, const std::string& name, const Sub& sub) {
  AxisSize out;
  out.name = name;
  if (!sub.indices.empty()) {
    c.refuse("'" + name + "=[…]' lists indices; an axis has a size.");
    return std::nullopt;
  }
  if (sub.alternatives.size() > 1) {
    out.open.emplace();
    out.open->kind = Expression::Kind::open;
    out.open->text = name;
    return out;
  }
  const auto size = c.resolve(sub.alternatives[0]);
  if (!size) return std::nullopt;
  if (mentions_open(*size)) {
    out.open = folded(*size);
    return out;
  }
  const auto n = c.size_within(sub.alternatives[0], name, max_axis);
  if (!n) return std::nullopt;
  out.size = *n;
  return out;
}

int declare_axis(Context& c, const std::string& name, bool free) {
  const int known = c.axis(name);
  if (known >= 0) {
    if (c.decisions.axes[static_cast<std::size_t>(known)].free == free && !free) return known;
    c.refuse("axis '" + name + "' is declared twice.");
    return -1;
  }
  if (name == kStepAxis) {
    c.refuse("'step' is the axis of training steps; it has no size.");
    return -1;
  }
  c.decisions.axes.push_back({name, free, 0, c.statement, std::nullopt});
  return static_cast<int>(c.decisions.axes.size()) - 1;
}

// Sets the axes of `grid` and checks that their product is the number of devices.
bool set_axes(Context& c, GridInfo& grid, const std::vector<AxisSub>& axes, std::optional<Expression> count,
              const std::string& declared) {
  Expression product = make_number(1);
  std::int64_t total = 1;
  std::vector<std::string> texts;
  bool open = false;
  for (const AxisSub& a : axes) {
    const auto size = axis_size_of(c, a.axis, a.sub);
    const int index = size ? declare_axis(c, a.axis, false) : -1;
    if (index < 0) return false;
    if (std::any_of(grid.axes.begin(), grid.axes.end(), [&](const GridAxis& g) { return g.axis == index; })) {
      c.refuse("axis '" + a.axis + "' is there twice.");
      return false;
    }
    grid.axes.push_back({index, size->size, size->open});
    texts.push_back(a.axis + "=" + (size->open ? print(*size->open) : std::to_string(size->size)));
    open = open || size->open;
    product =
        make_binary(Expression::Kind::multiply, std::move(product), size->open ? *size->open : make_number(size->size));
    if (!size->open) total = std::min<std::int64_t>(total * size->size, max_devices * 2);
  }
  if (axes.empty()) return true;
  if (open || mentions_open(*count)) {
    Condition row;
    row.relations.push_back(Condition::Relation::equal);
    row.terms = {folded(product), *count};
    add_condition_row(c, row);
    return true;
  }
  if (total == count->number) return true;
  const std::string many = total > max_devices ? "more than " + std::to_string(max_devices) : std::to_string(total);
  c.refuse(join(texts, " ") + " is " + many + " devices, " + std::to_string(count->number) + " " + declared + ".");
  grid.axes.clear();
  return false;
}
}  // namespace

void bind_devices(Context& c, const DevicesStatement& s) {
  GridInfo& all = c.decisions.grids[0];
  if (all.statement >= 0) {
    c.refuse("devices are declared already (line " +
             std::to_string(c.decisions.plan.statements[static_cast<std::size_t>(all.statement)].line) + ").");
    return;
  }
  const auto count = c.resolve(s.count);
  if (!count) return;
  all.statement = c.statement;
  all.devices.clear();
  if (mentions_open(*count)) {
    c.decisions.device_count = 0;
  } else {
    const auto n = c.size_within(s.count, "devices", max_devices);
    if (!n) return;
    c.decisions.device_count = *n;
    all.devices.resize(static_cast<std::size_t>(*n));
    std::iota(all.devices.begin(), all.devices.end(), 0);
  }
  const std::optional<Expression> total =
      c.decisions.device_count > 0 ? make_number(c.decisions.device_count) : folded(*count);
  set_axes(c, all, s.axes, total, "declared");
}

void bind_grid(Context& c, const GridStatement& s) {
  GridInfo grid;
  grid.name = s.name;
  grid.statement = c.statement;
  if (s.index) {
    const auto i = c.number(*s.index);
    if (!i) return;
    grid.name += "[" + std::to_string(*i) + "]";
  }
  if (c.grid(grid.name) >= 0) {
    c.refuse("grid " + grid.name + " is declared twice.");
    return;
  }
  const auto place = c.place(s.place);
  if (!place) return;
  if (place->open()) {
    c.unsupported("an open set of devices for a grid");
    return;
  }
  grid.devices = devices_of(c.decisions, *place);
  if (grid.devices.empty()) return c.defer();
  const std::int64_t n = static_cast<std::int64_t>(grid.devices.size());
  set_axes(c, grid, s.axes, make_number(n), "listed");
  c.decisions.grids.push_back(std::move(grid));
}

void bind_axis(Context& c, const AxisStatement& s) {
  const auto size = axis_size_of(c, s.name, s.size);
  const int index = size ? declare_axis(c, s.name, true) : -1;
  if (index < 0) return;
  c.decisions.axes[static_cast<std::size_t>(index)].size = size->size;
  c.decisions.axes[static_cast<std::size_t>(index)].open_size = size->open;
}

// --- places -----------------------------------------------------------------------------------------------------------

std::optional<std::vector<int>> Context::device_list(const std::vector<Index>& indices, const Bindings& b) {
  std::vector<int> out;
  std::set<std::int64_t> seen;
  const auto add = [&](std::int64_t d) {
    if (decisions.device_count > 0 && (d < 0 || d >= decisions.device_count)) {
      refuse("device " + std::to_string(d) + " does not exist: " + std::to_string(decisions.device_count) +
             " declared (0 to " + std::to_string(decisions.device_count - 1) + ").");
      return false;
    }
    if (!seen.insert(d).second) {
      refuse("device " + std::to_string(d) + " is there twice.");
      return false;
    }
    out.push_back(static_cast<int>(d));
    return true;
  };
  if (decisions.device_count == 0) {
    defer();
    return std::nullopt;
  }
  for (const Index& i : indices) {
    const auto v = index_value(i, b);
    if (!v) return std::nullopt;
    if (v->one) {
      if (!add(*v->one)) return std::nullopt;
      continue;
    }
    const std::int64_t end = v->end.value_or(decisions.device_count);
    if (end > decisions.device_count) return add(end - 1), std::nullopt;
    for (std::int64_t d = v->begin.value_or(0); d < end; d += v->step.value_or(1)) {
      if (!add(d)) return std::nullopt;
      if (v->step.value_or(1) > max_devices) break;
    }
  }
  if (!out.empty()) return out;
  refuse("no devices are listed.");
  return std::nullopt;
}

namespace {
// The grid that has all these axes: `all` if it does, else the only one.
int grid_with(Context& c, const std::vector<int>& axes) {
  std::vector<int> found;
  for (std::size_t g = 0; g < c.decisions.grids.size(); ++g) {
    const auto& have = c.decisions.grids[g].axes;
    const bool all = std::all_of(axes.begin(), axes.end(), [&](int a) {
      return std::any_of(have.begin(), have.end(), [&](const GridAxis& x) { return x.axis == a; });
    });
    if (all) found.push_back(static_cast<int>(g));
  }
  if (!found.empty() && (found[0] == 0 || found.size() == 1)) return found[0];
  std::vector<std::string> names;
  for (const int a : axes) names.push_back(c.decisions.axes[static_cast<std::size_t>(a)].name);
  c.refuse(found.empty() ? "no grid has the axes " + join(names, ", ") + "; the plan has " + c.grid_list() + "."
                         : "several grids have the axis " + join(names, ", ") + "; name the grid.");
  return -1;
}
}  // namespace

// `pipe=[0:2]` of a grid: a grid with the same axes, of which this one is shorter. Its index; negative: refused or deferred.
int Context::restricted_grid(int grid_id, const std::string& axis_name, const Sub& sub, const Bindings& b) {
  const GridInfo grid_info = decisions.grids[static_cast<std::size_t>(grid_id)];
  std::size_t k = 0;
  while (decisions.axes[static_cast<std::size_t>(grid_info.axes[k].axis)].name != axis_name) ++k;
  std::int64_t inner = 1, product = 1;
  for (std::size_t a = 0; a < grid_info.axes.size(); ++a) {
    product *= grid_info.axes[a].size;
    if (a > k) inner *= grid_info.axes[a].size;
  }
  if (product == 0) return defer(), -1;
  const std::int64_t size = grid_info.axes[k].size;
  std::vector<std::int64_t> chosen;
  for (const Index& index : sub.indices) {
    const auto v = index_value(index, b);
    if (!v) return -1;
    const std::int64_t begin = v->one.value_or(v->begin.value_or(0));
    const std::int64_t end = v->one ? *v->one + 1 : v->end.value_or(size);
    for (std::int64_t i = begin; i < end; i += v->step.value_or(1)) {
      const bool there = std::find(chosen.begin(), chosen.end(), i) != chosen.end();
      if (i < 0 || i >= size || there) {
        refuse(axis_name + "=" + std::to_string(i) +
               (there ? " is there twice."
                      : " does not exist: " + axis_name + " has " + std::to_string(size) + " (0 to " +
                            std::to_string(size - 1) + ")."));
        return -1;
      }
      chosen.push_back(i);
    }
  }
  if (chosen.empty()) return refuse("no index of " + axis_name + " is listed."), -1;
  std::vector<std::string> texts;
  for (const std::int64_t i : chosen) texts.push_back(std::to_string(i));
  const bool run = chosen.size() > 1 &&
                   chosen.back() - chosen.front() + 1 == static_cast<std::int64_t>(chosen.size()) &&
                   std::is_sorted(chosen.begin(), chosen.end());
  GridInfo part;
  part.name = grid_info.name + " " + axis_name + "=[" +
              (run ? texts.front() + ":" + std::to_string(chosen.back() + 1) : join(texts, ",")) + "]";
  if (const int known = grid(part.name); known >= 0) return known;
  part.axes = grid_info.axes;
  part.axes[k].size = static_cast<std::int64_t>(chosen.size());
  for (std::int64_t outer = 0; outer < product / inner / size; ++outer)
    for (const std::int64_t i : chosen)
      for (std::int64_t rest = 0; rest < inner; ++rest)
        part.devices.push_back(grid_info.devices[static_cast<std::size_t>((outer * size + i) * inner + rest)]);
  decisions.grids.push_back(std::move(part));
  return static_cast<int>(decisions.grids.size()) - 1;
}

// `?d`, `?D[i]`: what is given for it, else a variable.
std::optional<PlaceInfo> Context::open_place(const Place& p, const Bindings& b) {
  std::string name = p.name;
  if (!p.subscript.empty()) {
    const auto i = number(p.subscript[0], b);
    if (!i) return std::nullopt;
    families[p.name].insert(*i);
    name += "[" + std::to_string(*i) + "]";
  }
  const OpenValue* value = open_value(name);
  if (!value) {
    PlaceInfo out;
    out.statement = statement;
    out.variable = open_variable(name);
    return out;
  }
  Place given;
  if (const auto* device = std::get_if<std::int64_t>(value)) {
    given.form = Place::Form::devices;
    given.devices.push_back(Index{Index::Kind::one, make_number(*device), std::nullopt, std::nullopt});
  } else {
    given.form = Place::Form::name;
    given.name = std::get<std::string>(*value);
  }
  return place(given);
}

std::optional<PlaceInfo> Context::place_by_axes(const Place& p, const Bindings& b) {
  std::vector<int> axes;
  for (const AxisSub& a : p.axes) {
    const auto named = axes_named(a.axis);
    if (!named) return std::nullopt;
    if (named->size() != 1) {
      refuse("'" + a.axis + "' stands for several axes; fix each by its own name.");
      return std::nullopt;
    }
    if (decisions.axes[static_cast<std::size_t>((*named)[0])].free) {
      refuse("axis '" + a.axis + "' belongs to no grid; a place fixes axes of a grid.");
      return std::nullopt;
    }
    if (std::find(axes.begin(), axes.end(), (*named)[0]) != axes.end()) {
      refuse("'" + print(p) + "' fixes " + a.axis + " twice; one of several coordinates is '" + a.axis +
             "=0|1', all of them are '" + a.axis + "=[0,1]'.");
      return std::nullopt;
    }
    axes.push_back((*named)[0]);
  }
  const int g = grid_with(*this, axes);
  if (g < 0) return std::nullopt;
  int part = g;  // of the grid: where the lists and ranges of axes leave it
  for (const AxisSub& a : p.axes)
    if (!a.sub.indices.empty() && (part = restricted_grid(part, a.axis, a.sub, b)) < 0) return std::nullopt;
  const GridInfo grid = decisions.grids[static_cast<std::size_t>(part)];
  std::vector<PlaceInfo> options{PlaceInfo{}};
  options[0].statement = statement;
  options[0].grid = part;
  for (const GridAxis& ga : grid.axes) {
    const auto at = std::find(axes.begin(), axes.end(), ga.axis);
    if (at == axes.end()) continue;
    const AxisSub& written = p.axes[static_cast<std::size_t>(at - axes.begin())];
    if (!written.sub.indices.empty()) continue;
    if (ga.size == 0) {
      defer();
      return std::nullopt;
    }
    std::vector<PlaceInfo> next;
    for (const Expression& e : written.sub.alternatives) {
      const auto v = number(e, b);
      if (!v) return std::nullopt;
      if (*v < 0 || *v >= ga.size) {
        refuse(written.axis + "=" + std::to_string(*v) + " does not exist: " + written.axis + " has " +
               std::to_string(ga.size) + " (0 to " + std::to_string(ga.size - 1) + ").");
        return std::nullopt;
      }
      for (PlaceInfo option : options) {
        option.fixed.push_back({ga.axis, *v});
        next.push_back(std::move(option));
      }
    }
    options = std::move(next);
  }
  if (options.size() == 1) return options[0];
  PlaceInfo open;
  open.statement = statement;
  open.alternatives = std::move(options);
  return open;
}

std::optional<PlaceInfo> Context::place(const Place& p, const Bindings& b) {
  PlaceInfo out;
  out.statement = statement;
  std::string name = p.name;
  std::vector<int> devices;
  switch (p.form) {
    case Place::Form::axes:
      return place_by_axes(p, b);
    case Place::Form::host:
      refuse(
          "operators run on devices. 'trans X offload' keeps what backward needs in host memory, "
          "'trans update(X) offload' the state of the optimizer.");
      return std::nullopt;
    case Place::Form::open:
      return open_place(p, b);
    case Place::Form::name: {
      const auto let = lets.find(p.name);
      const bool value = let != lets.end() && let->second.kind == LetValue::Kind::number;
      const bool variable = std::find(b.variables.begin(), b.variables.end(), p.name) != b.variables.end();
      if (p.subscript.empty() && (value || variable)) {
        const auto n = number(make_name(p.name), b);
        if (!n) return std::nullopt;
        const auto one = device_list({Index{Index::Kind::one, make_number(*n), {}, {}}}, {});
        if (!one) return std::nullopt;
        devices = *one;
        name = std::to_string(*n);
        break;
      }
      if (!p.subscript.empty()) {
        const auto i = number(p.subscript[0], b);
        if (!i) return std::nullopt;
        name += "[" + std::to_string(*i) + "]";
      }
      out.grid = grid(name);
      if (out.grid >= 0) return out;
      std::vector<std::string> names;
      for (const GridInfo& g : decisions.grids) names.push_back(g.name);
      const std::string near = nearest(name, names);
      refuse("no grid '" + name + "'; the plan has " + grid_list() + "." +
             (near.empty() ? "" : " Did you mean '" + near + "'?"));
      return std::nullopt;
    }
    case Place::Form::devices: {
      const auto list = device_list(p.devices, b);
      if (!list) return std::nullopt;
      devices = *list;
      name = print(p);
      if (!b.variables.empty()) {  // variables have values here: name the devices
        std::vector<std::string> texts;
        for (const int d : devices) texts.push_back(std::to_string(d));
        name = join(texts, ",");
      }
      break;
    }
  }
  out.grid = grid(name);
  if (out.grid < 0) {
    out.grid = static_cast<int>(decisions.grids.size());
    GridInfo g;
    g.name = name;
    g.devices = std::move(devices);
    decisions.grids.push_back(std::move(g));
  }
  return out;
}

}  // namespace planscope::plan
