#include "app/session/open_kinds.h"

#include <algorithm>

namespace planscope::session {

std::vector<OpenKind> open_kinds(const Decided& open) {
  std::vector<std::pair<plan::OpenChoice, int>> kinds;
  for (plan::OpenChoice& c : plan::open_choices(open.decisions, open.sized->info)) {
    const auto alike = std::find_if(kinds.begin(), kinds.end(), [&](const auto& k) {
      return k.first.kind == c.kind && k.first.statement == c.statement && k.first.variable == c.variable &&
             k.first.choices == c.choices;
    });
    if (alike == kinds.end())
      kinds.emplace_back(std::move(c), 1);
    else
      ++alike->second;
  }
  std::vector<OpenKind> out;
  for (auto& [c, count] : kinds) {
    std::string text = c.variable >= 0 ? "?" + open.decisions.variables[static_cast<std::size_t>(c.variable)].name
                       : c.kind == plan::OpenChoice::Kind::order ? "the order"
                                                                 : "a choice";
    if (count > 1) text += " × " + std::to_string(count);
    out.push_back({std::move(c), std::move(text)});
  }
  return out;
}

}  // namespace planscope::session
