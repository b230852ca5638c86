#include "app/workbench/module_tree.h"

#include <algorithm>
#include <map>
#include <memory>

#include "engine/base/text.h"

namespace planscope {

namespace {

struct Module {
  std::string name, path, type;
  std::int64_t operators = 0, parameters = 0;
  double flops = 0;
  std::vector<std::string> kinds;  // of its own operators, each once
  std::vector<std::unique_ptr<Module>> children;

  Module& child(const std::string& part) {
    for (const auto& c : children)
      if (c->name == part) return *c;
    children.push_back(std::make_unique<Module>());
    children.back()->name = part;
    children.back()->path = path.empty() ? part : path + "." + part;
    return *children.back();
  }
};

// From the root to the module, root included.
std::vector<Module*> walk(Module& root, const std::string& path) {
  std::vector<Module*> out = {&root};
  if (path.empty()) return out;
  for (const std::string& part : split(path, '.')) out.push_back(&out.back()->child(part));
  return out;
}

bool same(const Module& a, const Module& b) {
  if (a.operators != b.operators || a.parameters != b.parameters || a.flops != b.flops || a.kinds != b.kinds ||
      a.children.size() != b.children.size())
    return false;
  for (std::size_t k = 0; k < a.children.size(); ++k)
    if (a.children[k]->name != b.children[k]->name || !same(*a.children[k], *b.children[k])) return false;
  return true;
}

bool is_number(const std::string& s) { return !s.empty() && s.find_first_not_of("0123456789") == std::string::npos; }

std::string grouped(std::int64_t n) {
  std::string out = std::to_string(n);
  for (int at = static_cast<int>(out.size()) - 3; at > 0; at -= 3) out.insert(static_cast<std::size_t>(at), ",");
  return out;
}

void star(Module& m, const std::string& from, const std::string& to) {
  m.path = to + m.path.substr(from.size());
  for (const auto& c : m.children) star(*c, from, to);
}

ModuleNode node_of(Module& m) {
  ModuleNode out;
  out.name = m.name;
  out.path = m.path;
  out.kind = m.type;
  out.operators = m.operators;
  out.parameters = m.parameters;
  out.facts = {{"operators", grouped(m.operators)}, {"parameters", grouped(m.parameters)}};
  if (!m.type.empty()) out.facts.push_back({"type", m.type});
  if (!m.kinds.empty()) out.facts.push_back({"own operators", join(m.kinds, ", ")});
  auto& children = m.children;
  const bool numbered = children.size() > 1 &&
                        std::all_of(children.begin(), children.end(), [](const auto& c) { return is_number(c->name); });
  if (numbered &&
      std::all_of(children.begin(), children.end(), [&](const auto& c) { return same(*c, *children.front()); })) {
    out.note = "× " + std::to_string(children.size()) + ", all equal";
    out.count = static_cast<std::int64_t>(children.size());
    Module& one = *children.front();
    star(one, one.path, m.path + ".*");
    for (const auto& c : one.children) out.children.push_back(node_of(*c));
    return out;
  }
  out.note = children.empty() ? join(m.kinds, ", ") : numbered ? "× " + std::to_string(children.size()) : "";
  for (const auto& c : children) out.children.push_back(node_of(*c));
  return out;
}

}  // namespace

std::vector<ModuleNode> module_tree(const Graph& graph) {
  Module root;
  std::map<TensorId, std::string> owner;
  for (OpId o = 0; o < static_cast<OpId>(graph.ops.size()); ++o) {
    const Node& n = graph.node(o);
    const std::vector<Module*> path = walk(root, n.module);
    for (Module* m : path) {
      ++m->operators;
      m->flops += graph.ops[static_cast<std::size_t>(o)].flops;
    }
    path.back()->type = n.module_type;
    auto& kinds = path.back()->kinds;
    if (std::find(kinds.begin(), kinds.end(), n.kind) == kinds.end()) kinds.push_back(n.kind);
  }
  for (const Parameter& p : graph.parameters) {
    const std::string& name = graph.tensor_name(p.tensor);
    const std::size_t dot = name.rfind('.');
    for (Module* m : walk(root, dot == std::string::npos ? "" : name.substr(0, dot)))
      m->parameters += graph.elements(p.tensor);
  }
  std::vector<ModuleNode> out;
  for (const auto& c : root.children) out.push_back(node_of(*c));
  return out;
}

}  // namespace planscope
