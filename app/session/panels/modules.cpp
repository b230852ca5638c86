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

void add(Panel& p, const std::vector<ModuleNode>& nodes, const std::string& parent) {
  for (const ModuleNode& n : nodes) {
    const std::string path = selector(n.path);
    TableRow row{.id = path, .parent = parent};
    row.cells = {cell(path), cell(parent.empty() ? Json() : Json(parent)), cell(n.name), cell(n.kind.empty() ? Json() : Json(n.kind)),
                 cell(n.count, Unit::count), cell(n.operators, Unit::count), cell(n.parameters, Unit::count)};
    row.command = "select operators=\"" + path + "\"";
    p.rows.push_back(std::move(row));
    add(p, n.children, path);
  }
}

}  // namespace

Panel modules_panel(const State& s) {
  Panel p{.id = "modules", .title = "Model", .kind = PanelKind::tree};
  p.empty = "Shows the modules of a model. Open one: a .pt2 file that torch.export has written.";
  p.columns = {{"path", "Path", Unit::none, true}, {"parent", "Parent", Unit::none, true}, {"name", "Module"}, {"kind", "Type"}, {"count", "Count", Unit::count},
               {"operators", "Operators", Unit::count}, {"parameters", "Parameters", Unit::count}};
  if (const Document* d = s.document()) add(p, *d->modules, "");
  return p;
}

}  // namespace planscope::session
