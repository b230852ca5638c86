// op-trans by another algorithm: keep, recompute, offload, keep_gathered, grad_split.
#include <algorithm>

#include "engine/plan/printer.h"
#include "engine/plan/trans.h"

namespace planscope::plan {

std::optional<Algorithm> algorithm_of(const std::string& word) {
  for (const Algorithm a :
       {Algorithm::keep, Algorithm::recompute, Algorithm::offload, Algorithm::keep_gathered, Algorithm::grad_split})
    if (to_string(a) == word) return a;
  return word == "none" ? std::optional(Algorithm::keep) : std::nullopt;
}

bool speaks_of_updates(const AlgorithmStatement& s) {
  return std::any_of(s.units.groups.begin(), s.units.groups.end(),
                     [](const Group& g) { return g.form == Group::Form::phase; });
}

void for_states(Context& c, const AlgorithmStatement& s,
                const std::function<void(Algorithm, const Group&, const std::vector<Match>&)>& visit) {
  const bool update = std::all_of(s.units.groups.begin(), s.units.groups.end(), [](const Group& g) {
    return g.form == Group::Form::phase && g.phase == Phase::update && g.index.empty();
  });
  const bool storage = std::all_of(s.algorithm.words.begin(), s.algorithm.words.end(), [](const std::string& w) {
    const auto a = algorithm_of(w);
    return a == Algorithm::offload || a == Algorithm::keep;
  });
  if (!update || !storage || !s.units.except.empty() || s.algorithm.words.size() != 1)
    return c.refuse("of tasks, 'update(X)' alone has a choice: offload or keep, what it keeps for its next run.");
  const Algorithm algorithm = *algorithm_of(s.algorithm.words[0]);
  for (const Group& g : s.units.groups) {
    const auto cases = c.cases({&g.units});
    if (!cases) return;
    for (const Bindings& b : *cases) {
      const auto matches = c.select(g.units, b, !b.variables.empty());
      if (!matches) return;
      visit(algorithm, g, *matches);
    }
  }
}

namespace {
void bind_update_storage(Context& c, const AlgorithmStatement& s) {
  for_states(c, s, [&](Algorithm algorithm, const Group& g, const std::vector<Match>& matches) {
    Unit all;
    all.name = print(g);
    for (const Match& m : matches)
      for (const Unit& u : m.units) all.operators.insert(all.operators.end(), u.operators.begin(), u.operators.end());
    std::sort(all.operators.begin(), all.operators.end());
    const int id = static_cast<int>(c.decisions.algorithms.size());
    c.decisions.algorithms.push_back({c.statement, c.unit_id(all), {algorithm}});
    for (const int p : c.parameters_of(matches)) {
      c.decisions.update_storage[static_cast<std::size_t>(p)] = id;
      c.rows[static_cast<std::size_t>(c.statement)].push_back(p);
    }
  });
}
}  // namespace

void bind_algorithm(Context& c, const AlgorithmStatement& s) {
  if (speaks_of_updates(s)) return bind_update_storage(c, s);
  for (const Group& g : s.units.groups) {
    if (!g.index.empty()) return c.refuse("'" + print(g) + "': an index names tasks; it stands in 'order'.");
  }
  std::vector<Algorithm> choice;
  for (const std::string& w : s.algorithm.words)
    if (const auto a = algorithm_of(w)) choice.push_back(*a);
  const auto marks = [](Algorithm a) { return a == Algorithm::keep_gathered || a == Algorithm::grad_split; };
  if (choice.size() > 1 && std::any_of(choice.begin(), choice.end(), marks))
    return c.unsupported("a choice with keep_gathered or grad_split");
  const auto cases = c.cases({&s.units});
  if (!cases) return;
  for (const Bindings& b : *cases) {
    const auto matches = c.select(s.units, b, !b.variables.empty());
    if (!matches) return;
    for (const Match& m : *matches)
      for (const Unit& matched : m.units) {
        Unit u = matched;
        if (u.wildcard)
          std::erase_if(u.operators,
                        [&](int op) { return c.model.operators[static_cast<std::size_t>(op)].parameter_free; });
        const int id = static_cast<int>(c.decisions.algorithms.size());
        c.decisions.algorithms.push_back({c.statement, c.unit_id(u), choice});
        auto& table = choice[0] == Algorithm::keep_gathered ? c.decisions.operator_gathered
                      : choice[0] == Algorithm::grad_split  ? c.decisions.operator_grad_split
                                                            : c.decisions.operator_storage;
        for (const int op : u.operators) {
          table[static_cast<std::size_t>(op)] = id;
          c.rows[static_cast<std::size_t>(c.statement)].push_back(op);
        }
      }
  }
}

}  // namespace planscope::plan
