#include "app/workbench/equal_layers.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/base/text.h"
#include "planner/constraint/choices.h"

namespace planscope {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

std::string factors_text(const std::vector<plan::FactorInfo>& factors) {
  std::string out;
  for (const plan::FactorInfo& f : factors)
    out += " " + (f.names.empty() ? "" : f.names[0]) + ":" + std::to_string(f.size);
  return out;
}

std::string suffix_of(const plan::OperatorInfo& op) {
  return (op.call >= 0 ? "@" + std::to_string(op.call) : "") + ":" + op.kind + "#" + std::to_string(op.ordinal);
}

// Up to the layer, whatever its sizes are.
std::string name_of(const plan::OperatorInfo& op) { return without_numbers(op.module) + suffix_of(op); }

std::vector<int> numbered(const std::vector<std::string>& keys) {
  std::map<std::string, int> known;
  std::vector<int> out;
  for (const std::string& k : keys) out.push_back(known.emplace(k, static_cast<int>(known.size())).first->second);
  return out;
}

// `layers.*.mlp` as people write it: `layers[*].mlp`.
std::string in_brackets(std::string path) {
  for (std::size_t i = path.find(".*"); i != path.npos; i = path.find(".*", i + 3)) path.replace(i, 2, "[*]");
  return path;
}

// What is needed behind the module: nothing where it has one operator, `:add#1` where it has two of the kind.
std::string shortest_suffix(const plan::ModelInfo& info, const plan::OperatorInfo& op) {
  int in_module = 0, of_kind = 0;
  bool deeper = false;
  for (const plan::OperatorInfo& other : info.operators) {
    const bool here = other.module == op.module && other.call == op.call;
    in_module += here;
    of_kind += here && other.kind == op.kind;
    deeper = deeper || op.module.empty() || other.module.starts_with(op.module + ".");
  }
  const std::string call = op.call >= 0 ? "@" + std::to_string(op.call) : "";
  if (in_module == 1 && !deeper) return call;
  return of_kind == 1 ? call + ":" + op.kind : suffix_of(op);
}

}  // namespace

std::vector<int> equal_layers(const plan::ModelInfo& info) {
  std::vector<std::string> keys;
  keys.reserve(info.operators.size());
  for (const plan::OperatorInfo& op : info.operators) keys.push_back(name_of(op) + factors_text(op.factors));
  return numbered(keys);
}

std::vector<int> equal_layer_parameters(const plan::ModelInfo& info) {
  std::vector<std::string> keys;
  keys.reserve(info.parameters.size());
  for (const plan::ParameterInfo& p : info.parameters)
    keys.push_back(without_numbers(p.name) + factors_text(p.factors));
  return numbered(keys);
}

std::string selection_of(const plan::ModelInfo& info, const std::vector<int>& operators) {
  std::map<std::string, std::vector<int>> by_name;
  for (const int o : operators) by_name[name_of(info.operators[at(o)])].push_back(o);
  std::vector<std::string> out;
  for (const auto& [name, of_it] : by_name) {
    const plan::OperatorInfo& first = info.operators[at(of_it[0])];
    const std::string suffix = shortest_suffix(info, first);
    const auto all = std::count_if(info.operators.begin(), info.operators.end(),
                                   [&](const plan::OperatorInfo& op) { return name_of(op) == name; });
    if (all == static_cast<std::ptrdiff_t>(of_it.size())) {
      out.push_back(in_brackets(without_numbers(first.module)) + suffix);
      continue;
    }
    std::vector<std::string> modules;
    for (const int o : of_it) modules.push_back(info.operators[at(o)].module);
    for (const std::string& path : constraint::merged_paths(modules)) out.push_back(path + suffix);
  }
  return join(out, ", ");
}

std::string readers_of(const plan::ModelInfo& info, const std::vector<int>& parameters) {
  std::set<int> readers;
  for (const int p : parameters)
    if (!info.parameters[at(p)].readers.empty()) readers.insert(info.parameters[at(p)].readers.front());
  return selection_of(info, {readers.begin(), readers.end()});
}

}  // namespace planscope
