// Which factors the words of a statement mean, of one operator or parameter.
#include <algorithm>

#include "engine/base/text.h"
#include "engine/plan/trans.h"

namespace planscope::plan {

int find_factor(const std::vector<FactorInfo>& factors, std::string_view name) {
  for (std::size_t i = 0; i < factors.size(); ++i)
    for (const std::string& n : factors[i].names)
      if (n == name) return static_cast<int>(i);
  return -1;
}

int find_part(const FactorInfo& f, std::string_view name) {
  for (std::size_t i = 0; i < f.parts.size(); ++i)
    if (f.parts[i].name == name) return static_cast<int>(i);
  for (std::size_t i = 0; i < f.parts.size(); ++i)
    if (!f.parts[i].frozen) return static_cast<int>(i);
  return 0;
}

std::string factor_names(const std::vector<FactorInfo>& factors, bool legal) {
  std::vector<std::string> out;
  for (const FactorInfo& f : factors)
    if (!f.names.empty() && !(legal && f.kind == FactorKind::frozen)) out.push_back(f.names[0]);
  return out.empty() ? "none" : join(out, ", ");
}

namespace {
// A name that means this factor and none before it; null: no statement can name it.
const std::string* own_name(const std::vector<FactorInfo>& factors, int i) {
  for (const std::string& n : factors[static_cast<std::size_t>(i)].names)
    if (find_factor(factors, n) == i) return &n;
  return nullptr;
}
}  // namespace

FactorChoice choose(const std::vector<FactorInfo>& factors, const Choice& choice,
                    const std::vector<std::string>& domain) {
  FactorChoice out;
  bool named = false;
  const auto add = [&](int factor, const std::string& word) {
    if (std::find(out.factors.begin(), out.factors.end(), factor) != out.factors.end()) return;
    out.factors.push_back(factor);
    out.words.push_back(word);
  };
  const auto add_word = [&](const std::string& word) {
    if (word == "none") return add(kNone, word);
    if (word == "*") {
      for (std::size_t i = 0; i < factors.size(); ++i) {
        if (factors[i].kind == FactorKind::frozen || factors[i].kind == FactorKind::softmax) continue;
        const std::string* own = own_name(factors, static_cast<int>(i));
        if (!own) continue;
        named = true;
        add(static_cast<int>(i), *own);
      }
      return;
    }
    const int i = find_factor(factors, word);
    if (i < 0) return;
    if (factors[static_cast<std::size_t>(i)].kind == FactorKind::frozen) {
      out.frozen = true;
      return;
    }
    named = true;
    add(i, word);
  };
  for (const std::string& word : choice.words) {
    if (word[0] != '?') {
      add_word(word);
    } else if (domain.empty()) {
      add_word("*");
    } else {
      for (const std::string& w : domain) add_word(w);
    }
  }
  out.lacking = out.factors.empty() && !out.frozen;
  out.frozen = out.frozen && !named && out.factors.empty();
  return out;
}

const FactorChoice& FactorChoices::of(const std::vector<FactorInfo>& factors) {
  const auto known = known_.find(&factors);
  return known == known_.end() ? known_.emplace(&factors, choose(factors, choice_, domain_)).first->second
                               : known->second;
}

}  // namespace planscope::plan
