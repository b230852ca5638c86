#include <map>
#include <optional>
#include <set>

#include "app/session/marked.h"
#include "app/session/panels/panels.h"
#include "app/workbench/module_tree.h"
#include "engine/base/text.h"

namespace planscope::session {

namespace {

// `model.layers.*.mlp` as the plan language writes it: `model.layers[*].mlp`.
std::string selector(const std::string& path) {
  std::string out;
  for (const std::string& part : split(path, '.')) {
    const bool index = part == "*" || part.find_first_not_of("0123456789") == std::string::npos;
    out += index ? "[" + part + "]" : (out.empty() ? "" : ".") + part;
  }
  return out;
}

using Words = std::vector<std::string>;

// Whether a module lies in the module of a path, in which `*` stands for a number.
bool within(const Words& module, const Words& path) {
  if (module.size() < path.size()) return false;
  for (std::size_t k = 0; k < path.size(); ++k)
    if (path[k] != "*" && path[k] != module[k]) return false;
  return true;
}

// Where the operators of every module run, in program order.
class Places {
 public:
  explicit Places(const Evaluation& e) {
    const Program& program = e.made.program;
    for (const Segment& s : program.segments)
      for (const Instruction& i : s.instructions) {
        if (i.code != Code::compute || i.piece < 0) continue;
        for (const PieceOp& op : program.pieces[static_cast<std::size_t>(i.piece)].ops) {
          const std::string name = e.made.graph->node(op.op).name();
          of_[name.substr(0, name.find(':'))].insert(s.place);
        }
      }
    for (const Place& p : program.places) names_.push_back(describe(program, p));
    for (const auto& [module, places] : of_) modules_.emplace_back(split(module, '.'), &places);
  }

  std::string of(const std::string& path) const {
    const Words words = split(path, '.');
    std::set<PlaceId> places;
    for (const auto& [module, its] : modules_)
      if (within(module, words)) places.insert(its->begin(), its->end());
    Words names;
    for (const PlaceId p : places) names.push_back(names_[static_cast<std::size_t>(p)]);
    if (names.size() > 4) return names.front() + " … " + names.back();
    return join(names, ", ");
  }

 private:
  std::map<std::string, std::set<PlaceId>> of_;  // by module
  std::vector<std::string> names_;
  std::vector<std::pair<Words, const std::set<PlaceId>*>> modules_;
};

// How many operators every module has, and how many of them are selected. As in the graph, a module is selected
// where it holds some; one with others in it, where it holds no others.
class SelectedIn {
 public:
  SelectedIn(const Graph& g, const Marked& marked) {
    if (marked.operators().empty()) return;
    std::map<std::string, std::pair<std::int64_t, std::int64_t>> counts;
    for (OpId o = 0; o < static_cast<OpId>(g.ops.size()); ++o) {
      const std::string name = g.node(o).name();
      auto& [all, selected] = counts[name.substr(0, name.find(':'))];
      ++all;
      selected += marked.op(o);
    }
    for (const auto& [module, count] : counts) modules_.emplace_back(split(module, '.'), count);
  }

  bool of(const ModuleNode& n) const {
    const Words words = modules_.empty() ? Words{} : split(n.path, '.');
    std::int64_t all = 0, selected = 0;
    for (const auto& [module, count] : modules_)
      if (within(module, words)) all += count.first, selected += count.second;
    return selected > 0 && (n.children.empty() || selected == all);
  }

 private:
  std::vector<std::pair<Words, std::pair<std::int64_t, std::int64_t>>> modules_;
};

void add(Panel& p, const std::vector<ModuleNode>& nodes, const std::string& parent, const Places* places,
         const SelectedIn& selected) {
  for (const ModuleNode& n : nodes) {
    const std::string path = selector(n.path);
    TableRow row{.id = path, .parent = parent};
    row.cells = {cell(path),
                 cell(parent.empty() ? Json() : Json(parent)),
                 cell(n.name),
                 cell(n.kind.empty() ? Json() : Json(n.kind)),
                 cell(n.count, Unit::count),
                 cell(n.operators, Unit::count),
                 cell(n.parameters, Unit::count),
                 cell(places ? Json(places->of(n.path)) : Json())};
    row.command = "select operators=\"" + path + "\"";
    row.selected = selected.of(n);
    p.rows.push_back(std::move(row));
    add(p, n.children, path, places, selected);
  }
}

}  // namespace

Panel modules_panel(const State& s) {
  Panel p{.id = "modules", .title = "Model", .kind = PanelKind::tree};
  p.empty = "Shows the modules of a model. Open one: a .pt2 file that torch.export has written.";
  p.columns = {{"path", "Path", Unit::none, true},
               {"parent", "Parent", Unit::none, true},
               {"name", "Module"},
               {"kind", "Type"},
               {"count", "Count", Unit::count},
               {"operators", "Operators", Unit::count},
               {"parameters", "Parameters", Unit::count},
               {"place", "Place"}};
  const Document* d = s.document();
  if (!d) return p;
  std::optional<Places> places;
  if (d->shown && d->shown->evaluation) {
    places.emplace(*d->shown->evaluation);
    say_whether_current(p, *d);  // where modules run
  }
  add(p, *d->modules, "", places ? &*places : nullptr, SelectedIn(d->model->graph, Marked(s)));
  return p;
}

}  // namespace planscope::session
