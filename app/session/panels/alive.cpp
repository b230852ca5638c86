// What takes the memory of a device when it is fullest within the selected time, with tensors and bytes.
#include <algorithm>
#include <map>

#include "app/session/commands.h"
#include "app/session/marked.h"
#include "app/session/panels/panels.h"
#include "engine/base/text.h"
#include "planner/simulate/alive.h"

namespace planscope::session {

namespace {

constexpr std::size_t kMostNamed = 24;  // operators that a command names

double us(Nanoseconds n) { return static_cast<double>(n) / 1000; }
Cell time_or_null(std::optional<Nanoseconds> t, const char* otherwise) {
  return t ? cell(us(*t), Unit::microseconds) : Cell{nullptr, otherwise, Tone::dim};
}

// Of the selected lanes the one that has the least room at its peak.
int fullest(const Evaluation& e, const std::vector<int>& classes) {
  return *std::min_element(classes.begin(), classes.end(), [&](int a, int b) {
    const auto room = [&](int c) {
      const ClassTimeline& t = e.simulation.classes[static_cast<std::size_t>(c)];
      return t.capacity.count - t.peak.bytes();
    };
    return room(a) < room(b);
  });
}

Fact kinds_fact(const Memory& m) {
  Json kinds = Json::array();
  std::vector<std::string> texts;
  for (int k = 0; k < kMemoryKinds; ++k) {
    const auto kind = static_cast<MemoryKind>(k);
    kinds.push_back({{"kind", to_string(kind)}, {"bytes", m[kind]}});
    if (m[kind] != 0) texts.push_back(std::string(to_string(kind)) + " " + cell(m[kind], Unit::bytes).text);
  }
  return {"kinds", "Of which", {std::move(kinds), join(texts, ", ")}};
}

// What of equal layers is called alike is one row, with its members below.
struct Group {
  std::string what;
  MemoryKind kind = MemoryKind::activations;
  std::int64_t bytes = 0;
  std::vector<std::pair<std::string, const AliveOwner*>> owners;
};

std::vector<Group> groups_of(const Evaluation& e, const AliveMoment& m) {
  std::map<std::pair<MemoryKind, std::string>, Group> all;
  for (const AliveOwner& o : m.owners) {
    std::string name = owner_name(*e.made.graph, e.made.program, o.of);
    if (o.of.kind == Owner::Kind::state) name = "optimizer state of " + name;
    Group& g = all[{o.kind, without_numbers(name)}];
    g.what = without_numbers(name);
    g.kind = o.kind;
    g.bytes += o.bytes;
    g.owners.emplace_back(std::move(name), &o);
  }
  std::vector<Group> out;
  for (auto& [key, g] : all) out.push_back(std::move(g));
  std::stable_sort(out.begin(), out.end(), [](const Group& a, const Group& b) { return a.bytes > b.bytes; });
  return out;
}

TableRow row_of(std::string id, const std::string& what, MemoryKind kind, std::size_t count, std::int64_t bytes,
                std::optional<Nanoseconds> from, std::optional<Nanoseconds> to) {
  TableRow row{.id = std::move(id)};
  row.cells = {cell(what), cell(nullptr), cell(to_string(kind)), cell(count, Unit::count),
               cell(bytes, Unit::bytes), time_or_null(from, "before the step"), time_or_null(to, "after the step")};
  return row;
}

// Tensors that are selected, and what selected operators have kept for their backward.
bool is_marked(const Marked& marked, const Program& p, const Owner& o) {
  if (o.kind == Owner::Kind::piece) {
    const auto& ops = p.pieces[static_cast<std::size_t>(o.id)].ops;
    return std::any_of(ops.begin(), ops.end(), [&](const PieceOp& op) { return marked.op(op.op); });
  }
  return o.kind != Owner::Kind::working_set && o.id >= 0 &&
         marked.tensor(p.values[static_cast<std::size_t>(o.id)].tensor);
}

// That selects the tensor, or what has kept it for its backward; empty: it has no one name.
std::string command_of(const Graph& g, const Program& p, const Owner& o) {
  if (o.kind == Owner::Kind::working_set || o.id < 0) return "";
  if (o.kind != Owner::Kind::piece)
    return print(Invocation{"select", {{"tensor", g.tensor_name(p.values[static_cast<std::size_t>(o.id)].tensor)}}});
  std::vector<std::string> operators;
  for (const PieceOp& op : p.pieces[static_cast<std::size_t>(o.id)].ops)
    if (const std::string name = g.node(op.op).name(); operators.empty() || operators.back() != name) operators.push_back(name);
  return operators.size() > kMostNamed ? "" : print(Invocation{"select", {{"operators", join(operators, ", ")}}});
}

void add_rows(const std::vector<Group>& groups, const Marked& marked, const Graph& graph, const Program& program, Panel& p) {
  for (std::size_t k = 0; k < groups.size(); ++k) {
    const Group& g = groups[k];
    const std::string id = std::to_string(k);
    const AliveOwner& first = *g.owners.front().second;
    std::optional<Nanoseconds> from = first.from, to = first.to;  // of all together: from the first to the last
    for (const auto& [name, o] : g.owners) {
      from = from && o->from ? std::optional(std::min(*from, *o->from)) : std::nullopt;
      to = to && o->to ? std::optional(std::max(*to, *o->to)) : std::nullopt;
    }
    const bool one = g.owners.size() == 1;
    const auto selected = [&](const auto& owner) { return is_marked(marked, program, owner.second->of); };
    const std::size_t at = p.rows.size();
    p.rows.push_back(row_of(id, one ? g.owners[0].first : g.what, g.kind, g.owners.size(), g.bytes, from, to));
    p.rows.back().selected = std::all_of(g.owners.begin(), g.owners.end(), selected);
    if (one) p.rows.back().command = command_of(graph, program, first.of);
    if (one) continue;
    for (std::size_t i = 0; i < g.owners.size(); ++i) {
      const AliveOwner& o = *g.owners[i].second;
      p.rows.push_back(row_of(id + "/" + std::to_string(i), g.owners[i].first, o.kind, 1, o.bytes, o.from, o.to));
      p.rows.back().parent = id;
      p.rows.back().cells[1] = cell(Json(at));
      p.rows.back().selected = selected(g.owners[i]);
      p.rows.back().command = command_of(graph, program, o.of);
    }
  }
}

}  // namespace

Panel alive_panel(const State& s) {
  Panel p{.id = "alive", .title = "Alive", .kind = PanelKind::tree};
  p.empty = "Shows what takes the memory of a device when it is fullest, or at the time that is selected in the timeline. Open a "
            "model and write a plan.";
  p.columns = {{"what", "What"}, {"parent", "Of", Unit::none, true}, {"kind", "Kind"}, {"count", "Count", Unit::count},
               {"bytes", "Bytes", Unit::bytes}, {"from_us", "From", Unit::microseconds}, {"to_us", "To", Unit::microseconds}};
  const Document* d = s.document();
  if (!d || !d->shown || !d->shown->evaluation) return p;
  say_whether_current(p, *d);
  const Evaluation& e = *d->shown->evaluation;
  if (e.simulation.classes.empty()) return p;
  const int c = fullest(e, selected_classes(s.time, e));
  const ClassTimeline& t = e.simulation.classes[static_cast<std::size_t>(c)];
  const std::shared_ptr<const Result<AliveMoment>> moment = d->shown->study->alive(c, selected_window(s.time, e.simulation));
  if (!moment->value) return p;
  const AliveMoment& m = **moment;
  const bool over = m.memory.bytes() > t.capacity.count;
  p.facts = {{"lane", "Lane", cell(e.made.program.classes[static_cast<std::size_t>(c)].name)},
             {"at_us", "At", cell(us(m.time), Unit::microseconds)},
             {"bytes", "In use", cell(m.memory.bytes(), Unit::bytes, over ? Tone::bad : Tone::plain)},
             {"memory_bytes", "Device memory", cell(t.capacity.count, Unit::bytes)},
             {"peak_bytes", "Peak of the step", cell(t.peak.bytes(), Unit::bytes)},
             kinds_fact(m.memory)};
  if (const std::string why = unknown_memory(*e.made.graph); !why.empty())
    p.facts.push_back({"at_least", "At least", cell(why, Unit::none, Tone::warning)});
  add_rows(groups_of(e, m), Marked(s), *e.made.graph, e.made.program, p);
  return p;
}

}  // namespace planscope::session
