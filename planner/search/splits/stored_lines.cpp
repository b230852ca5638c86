// What layers and parameters chose, as lines.
#include <algorithm>
#include <map>

#include "engine/base/text.h"
#include "planner/constraint/choices.h"
#include "planner/search/splits/statements.h"

namespace planscope::splits {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// `trans model.layers[0:12], model.layers[14:16] recompute`: layers of one word are one line.
void add_layers(const Network& n, const Storage& storage, const layouts::Choice& c, std::vector<std::string>& out) {
  std::map<StorageWord, std::vector<std::string>> by_word;
  for (std::size_t i = 0; i < storage.layers().size(); ++i) {
    if (n.node_of_layer[i] < 0) continue;
    const StorageWord& word = storage.layers()[i].words[at(c[at(n.node_of_layer[i])])];
    if (word.mode != StorageMode::keep) by_word[word].push_back(storage.layers()[i].path);
  }
  for (const auto& [word, layers] : by_word) {
    std::vector<std::string> units;
    for (const std::string& path : constraint::merged_paths(layers))
      for (const std::string& below : word.below) units.push_back(path + below);
    out.push_back("trans " + join(units, ", ") + (word.mode == StorageMode::offload ? " offload" : " recompute"));
  }
}

}  // namespace

std::vector<std::string> stored_lines(const Space& space, const Network& n, const Storage& storage,
                                      const layouts::Choice& c, const plan::ModelInfo& info, const Weights& weights) {
  std::vector<std::string> out;
  add_layers(n, storage, c, out);
  if (weights.zero.empty()) return out;
  std::vector<std::string> axes;
  for (const int a : weights.zero) axes.push_back(space.program().axes[at(a)].name);
  // By level the modules whose parameters are split so far; all of them: `*`.
  std::vector<std::vector<std::string>> modules(4);
  bool all = true;
  for (const ParameterNode& p : n.parameters) {
    const int level = p.zero[at(c[at(p.node)])];
    for (int l = 1; l <= level; ++l)
      for (const OpId o : p.readers) modules[at(l)].push_back(info.operators[at(o)].module);
    const bool could = std::any_of(p.zero.begin(), p.zero.end(), [](int z) { return z > 0; });
    all = all && (!could || level > 0);
  }
  const char* const phase[] = {"", "update", "grad", "fetch"};
  for (int l = 1; l <= 3; ++l) {
    std::vector<std::string>& named = modules[at(l)];
    std::sort(named.begin(), named.end());
    named.erase(std::unique(named.begin(), named.end()), named.end());
    if (named.empty()) continue;
    const bool same = l > 1 && named == modules[1];
    std::vector<std::string> units = constraint::merged_paths(named);
    for (std::string& u : units) u = phase[l] + ("(" + u + ")");
    if (all && (l == 1 || same)) units = {std::string(phase[l]) + "(*)"};
    out.push_back("trans " + join(units, ", ") + " dim0 by " + join(axes, ", "));
  }
  return out;
}

}  // namespace planscope::splits
