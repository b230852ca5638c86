#include "engine/plan/selection.h"

#include <algorithm>
#include <set>

#include "engine/base/module_path.h"
#include "engine/base/text.h"

namespace planscope::plan {

namespace {
constexpr std::size_t max_combinations = 1000;

int number_of(std::string_view name) {
  if (name.empty() || name.size() > 9) return -1;
  int out = 0;
  for (const char c : name) {
    if (c < '0' || c > '9') return -1;
    out = out * 10 + (c - '0');
  }
  return out;
}

bool is_special(char c) { return c == '*' || c == '{' || c == '}' || c == ',' || c == '\\'; }

bool is_glob(std::string_view s) {
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (s[i] == '*') return true;
    if (s[i] == '\\') ++i;
  }
  return false;
}

// Without the backslashes.
std::string literal(std::string_view glob) {
  std::string out;
  for (std::size_t i = 0; i < glob.size(); ++i) {
    if (glob[i] == '\\' && i + 1 < glob.size()) ++i;
    out += glob[i];
  }
  return out;
}

std::vector<int> intersection(const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<int> out;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}
}  // namespace

bool glob_matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = pattern.npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (const std::size_t at = p + (p + 1 < pattern.size() && pattern[p] == '\\' ? 1 : 0);
               at < pattern.size() && pattern[at] == text[t]) {
      p = at + 1;
      ++t;
    } else if (star != pattern.npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::string literal_glob(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (is_special(c)) out += '\\';
    out += c;
  }
  return out;
}

std::string written_glob(std::string_view glob, bool any_word) {
  std::string out, run;
  const auto end_run = [&] {
    if (!run.empty()) out += any_word && is_script_word(run) ? run : written_component(run);
    run.clear();
  };
  for (std::size_t i = 0; i < glob.size(); ++i) {
    if (glob[i] == '\\' && i + 1 < glob.size()) {
      run += glob[++i];
    } else if (is_special(glob[i])) {
      end_run();
      out += glob[i];
    } else {
      run += glob[i];
    }
  }
  end_run();
  return out;
}

std::vector<std::string> expand_braces(const std::string& pattern) {
  std::vector<std::string> out{""};
  for (std::size_t i = 0; i < pattern.size();) {
    if (pattern[i] != '{') {
      const std::size_t n = pattern[i] == '\\' && i + 1 < pattern.size() ? 2 : 1;
      for (std::string& s : out) s += pattern.substr(i, n);
      i += n;
      continue;
    }
    std::vector<std::string> options{""};
    for (++i; i < pattern.size() && pattern[i] != '}';) {
      const std::size_t n = pattern[i] == '\\' && i + 1 < pattern.size() ? 2 : 1;
      if (pattern[i] == ',')
        options.emplace_back();
      else
        options.back() += pattern.substr(i, n);
      i += n;
    }
    ++i;
    std::vector<std::string> next;
    for (const std::string& head : out)
      for (const std::string& option : options)
        if (next.size() < max_combinations) next.push_back(head + option);
    out = std::move(next);
  }
  return out;
}

ModuleTree module_tree(const ModelInfo& model) {
  ModuleTree tree;
  tree.nodes.emplace_back().path = "*";
  tree.module_of.reserve(model.operators.size());
  std::unordered_map<std::string_view, int> known;
  for (int op = 0; op < static_cast<int>(model.operators.size()); ++op) {
    const std::string& path = model.operators[static_cast<std::size_t>(op)].module;
    auto [it, is_new] = known.try_emplace(path, 0);
    if (is_new && !path.empty()) {
      int at = 0;
      for (const std::string& written : split(path, '.')) {
        std::string part = plain_component(written);
        int child = -1;
        for (const int c : tree.nodes[static_cast<std::size_t>(at)].children)
          if (tree.nodes[static_cast<std::size_t>(c)].name == part) child = c;
        if (child < 0) {
          child = static_cast<int>(tree.nodes.size());
          const int number = number_of(part);
          tree.named[part].push_back(child);
          ModuleTree::Node node;
          node.path = at == 0       ? written
                      : number >= 0 ? tree.nodes[static_cast<std::size_t>(at)].path + "[" + part + "]"
                                    : tree.nodes[static_cast<std::size_t>(at)].path + "." + written;
          node.name = std::move(part);
          node.parent = at;
          node.number = number;
          tree.nodes.push_back(std::move(node));
          ModuleTree::Node& parent = tree.nodes[static_cast<std::size_t>(at)];
          parent.children.push_back(child);
          parent.members = std::max<std::int64_t>(parent.members, number + 1);
        }
        at = child;
      }
      it->second = at;
    }
    tree.module_of.push_back(it->second);
    for (int node = it->second; node >= 0; node = tree.nodes[static_cast<std::size_t>(node)].parent)
      tree.nodes[static_cast<std::size_t>(node)].operators.push_back(op);
  }
  return tree;
}

namespace {
// Equal for equal factors.
std::string factors_key(const std::vector<FactorInfo>& factors) {
  std::string out;
  const auto number = [&](std::int64_t n) { out.append(reinterpret_cast<const char*>(&n), sizeof n); };
  const auto word = [&](const std::string& s) {
    number(static_cast<std::int64_t>(s.size()));
    out += s;
  };
  for (const FactorInfo& f : factors) {
    number(static_cast<std::int64_t>(f.names.size()));
    for (const std::string& name : f.names) word(name);
    number(f.size);
    number(static_cast<std::int64_t>(f.kind));
    word(f.reason);
    number(static_cast<std::int64_t>(f.parts.size()));
    for (const PartInfo& p : f.parts) {
      number(p.size);
      word(p.name);
      number(p.frozen ? 1 : 0);
    }
  }
  return out;
}
}  // namespace

ModelIndex model_index(const ModelInfo& model) {
  ModelIndex out{module_tree(model), {}};
  std::unordered_map<std::string, int> first;
  for (int op = 0; op < static_cast<int>(model.operators.size()); ++op)
    out.alike.push_back(
        first.try_emplace(factors_key(model.operators[static_cast<std::size_t>(op)].factors), op).first->second);
  return out;
}

bool ModuleTree::inside(int node, int ancestor) const {
  while (node > ancestor) node = nodes[static_cast<std::size_t>(node)].parent;  // children come after their parents
  return node == ancestor;
}

bool IndexValue::selects(std::int64_t i) const {
  if (one) return i == *one;
  if (!range) return true;
  const std::int64_t first = begin.value_or(0);
  return i >= first && (!end || i < *end) && (i - first) % step.value_or(1) == 0;
}

std::string only_so_many(const std::string& selection, const std::string& list, std::int64_t members) {
  return "'" + selection + "' names more than there are: " + list + " has " + std::to_string(members) +
         (members == 1 ? " (0)." : " (0 to " + std::to_string(members - 1) + ").");
}

void sort_units(std::vector<Unit>& units) {
  std::stable_sort(units.begin(), units.end(), [](const Unit& a, const Unit& b) {
    const int x = a.operators.empty() ? -1 : a.operators.front(), y = b.operators.empty() ? -1 : b.operators.front();
    return x < y;
  });
}

void drop_repeated(std::vector<Unit>& units) {
  std::vector<Unit> out;
  for (Unit& u : units) {
    bool known = false;
    for (auto it = out.rbegin(); it != out.rend() && !known && it->operators.front() == u.operators.front(); ++it)
      known = it->operators == u.operators;
    if (!known) out.push_back(std::move(u));
  }
  units = std::move(out);
}

namespace {
// One combination of braces at work.
class Matcher {
 public:
  Matcher(const ModuleTree& tree, const ModelInfo& model, const PathValue& path, const std::vector<std::string>& globs,
          const std::vector<Unit>* bases, bool suggest)
      : tree_(tree), model_(model), path_(path), globs_(globs), bases_(bases), suggest_(suggest) {}

  Match run() {
    Match out;
    out.text = path_.text;
    out.units = start();
    if (out.units.empty() && problem_.empty()) problem_ = "'" + path_.text + "' matches no operator.";
    if (problem_.empty()) narrow(out.units);
    out.problem = problem_;
    out.beyond = beyond_;
    if (!problem_.empty()) out.units.clear();
    return out;
  }

 private:
  struct Found {
    int node;
    int base;  // index into *bases_, or -1
  };

  const ModuleTree::Node& node(int i) const { return tree_.nodes[static_cast<std::size_t>(i)]; }

  std::vector<Unit> start() {
    if (path_.steps.empty()) return bases_ ? *bases_ : std::vector<Unit>{whole()};
    if (!bases_ && path_.steps.size() == 1 && globs_[0] == "*" && path_.steps[0].brackets.empty()) return {whole()};
    std::vector<Found> found = bases_ ? inside_bases() : anywhere();
    if (found.empty()) {
      fail(0, found);
      return {};
    }
    for (std::size_t i = 0; i < path_.steps.size(); ++i) {
      if (i > 0) {
        std::vector<Found> next;
        for (const Found& f : found)
          for (const int child : node(f.node).children)
            if (glob_matches(globs_[i], node(child).name)) next.push_back({child, f.base});
        if (next.empty()) {
          fail(i, found);
          return {};
        }
        found = std::move(next);
      }
      for (const auto& bracket : path_.steps[i].brackets) {
        std::vector<Found> next = members(found, bracket);
        note_beyond(found, bracket);
        if (next.empty()) {
          fail_members(i, found);
          return {};
        }
        found = std::move(next);
      }
    }
    return units(found);
  }

  Unit whole() const {
    Unit u;
    u.name = "*";
    u.module = 0;
    u.wildcard = path_.kind.empty();
    u.operators = node(0).operators;
    return u;
  }

  std::vector<Found> anywhere() const {
    std::vector<Found> out;
    if (!is_glob(globs_[0])) {
      const auto it = tree_.named.find(literal(globs_[0]));
      if (it != tree_.named.end())
        for (const int n : it->second) out.push_back({n, -1});
      return out;
    }
    for (int n = 1; n < static_cast<int>(tree_.nodes.size()); ++n)
      if (glob_matches(globs_[0], node(n).name)) out.push_back({n, -1});
    return out;
  }

  std::vector<Found> inside_bases() const {
    std::vector<Found> out;
    std::vector<Found> everywhere;
    bool listed = false;
    for (int b = 0; b < static_cast<int>(bases_->size()); ++b) {
      const Unit& base = (*bases_)[static_cast<std::size_t>(b)];
      if (base.module >= 0) {
        below(base.module, b, out);
        continue;
      }
      if (!listed) everywhere = anywhere();
      listed = true;
      for (const Found& f : everywhere) {
        const std::vector<int>& ops = node(f.node).operators;
        if (ops.empty() || base.operators.empty() || ops.back() < base.operators.front() ||
            ops.front() > base.operators.back())
          continue;
        const auto begin = std::lower_bound(base.operators.begin(), base.operators.end(), ops.front());
        for (auto it = begin; it != base.operators.end() && *it <= ops.back(); ++it) {
          if (!std::binary_search(ops.begin(), ops.end(), *it)) continue;
          out.push_back({f.node, b});
          break;
        }
      }
    }
    return out;
  }

  void below(int at, int base, std::vector<Found>& out) const {
    for (const int child : node(at).children) {
      if (glob_matches(globs_[0], node(child).name)) out.push_back({child, base});
      below(child, base, out);
    }
  }

  std::vector<Found> members(const std::vector<Found>& lists, const std::vector<IndexValue>& bracket) const {
    std::vector<Found> out;
    for (const Found& f : lists)
      for (const int child : node(f.node).children) {
        const int number = node(child).number;
        if (number < 0) continue;
        if (std::any_of(bracket.begin(), bracket.end(), [&](const IndexValue& i) { return i.selects(number); }))
          out.push_back({child, f.base});
      }
    return out;
  }

  void note_beyond(const std::vector<Found>& lists, const std::vector<IndexValue>& bracket) {
    const auto largest = std::max_element(lists.begin(), lists.end(), [&](const Found& a, const Found& b) {
      return node(a.node).members < node(b.node).members;
    });
    if (largest == lists.end()) return;
    const std::int64_t n = node(largest->node).members;
    for (const IndexValue& i : bracket)
      if (i.written_to && *i.written_to >= n) beyond_ = only_so_many(path_.text, node(largest->node).path, n);
  }

  // Units of the modules found, outermost ones only, cut down to their base.
  std::vector<Unit> units(const std::vector<Found>& found) const {
    std::vector<std::pair<int, int>> matched;
    for (const Found& f : found) matched.push_back({f.node, f.base});
    std::sort(matched.begin(), matched.end());
    matched.erase(std::unique(matched.begin(), matched.end()), matched.end());
    const auto index = [&](int n, int base) {  // in `matched`; its size: it is not there
      const auto at = std::lower_bound(matched.begin(), matched.end(), std::pair(n, base));
      return at != matched.end() && *at == std::pair(n, base) ? static_cast<std::size_t>(at - matched.begin())
                                                              : matched.size();
    };
    std::vector<bool> done(matched.size(), false);
    std::vector<Unit> out;
    for (const Found& f : found) {
      bool covered = false;
      for (int n = node(f.node).parent; n > 0 && !covered; n = node(n).parent)
        covered = index(n, f.base) < matched.size();
      const std::size_t self = index(f.node, f.base);
      if (covered || done[self]) continue;
      done[self] = true;
      Unit u;
      u.name = node(f.node).path;
      u.module = f.node;
      u.operators = node(f.node).operators;
      if (f.base >= 0) {
        const Unit& base = (*bases_)[static_cast<std::size_t>(f.base)];
        if (base.module < 0 || base.operators.size() != node(base.module).operators.size()) {
          u.operators = intersection(u.operators, base.operators);
          if (u.operators.size() != node(f.node).operators.size()) u.module = -1;
        }
      }
      if (!u.operators.empty()) out.push_back(std::move(u));
    }
    sort_units(out);
    return out;
  }

  // @call, :kind, #ordinal
  void narrow(std::vector<Unit>& units) {
    if (path_.call) keep(units, [&](const OperatorInfo& o) { return std::max(o.call, 0) == *path_.call; });
    if (units.empty()) problem_ = "'" + path_.text + "' matches no operator: there is no such call.";
    if (!path_.kind.empty() && !units.empty()) keep_kinds(units);
    if (path_.ordinal && !units.empty()) {
      keep(units, [&](const OperatorInfo& o) { return o.ordinal == *path_.ordinal; });
      if (units.empty()) problem_ = "'" + path_.text + "' matches no operator: there is no such ordinal.";
    }
    if (path_.call || !path_.kind.empty() || path_.ordinal)
      for (Unit& u : units) u.wildcard = false;
  }

  template <class Keep>
  void keep(std::vector<Unit>& units, Keep&& wanted) const {
    for (Unit& u : units)
      std::erase_if(u.operators, [&](int op) { return !wanted(model_.operators[static_cast<std::size_t>(op)]); });
    std::erase_if(units, [](const Unit& u) { return u.operators.empty(); });
  }

  void keep_kinds(std::vector<Unit>& units) {
    const std::vector<std::string> kinds = expand_braces(path_.kind);
    std::set<std::string> present;
    for (Unit& u : units) {
      std::vector<int> kept;
      for (const std::string& kind : kinds) {
        std::vector<int> own, deep;
        for (const int op : u.operators) {
          if (!glob_matches(kind, model_.operators[static_cast<std::size_t>(op)].kind)) continue;
          (tree_.module_of[static_cast<std::size_t>(op)] == u.module ? own : deep).push_back(op);
        }
        const std::vector<int>& taken = own.empty() ? deep : own;
        kept.insert(kept.end(), taken.begin(), taken.end());
      }
      if (kept.empty())
        for (const int op : u.operators) present.insert(model_.operators[static_cast<std::size_t>(op)].kind);
      std::sort(kept.begin(), kept.end());
      kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
      u.operators = std::move(kept);
      u.name += ":" + path_.kind;
      u.module = -1;
    }
    std::erase_if(units, [](const Unit& u) { return u.operators.empty(); });
    if (!units.empty()) return;
    const std::vector<std::string> there(present.begin(), present.end());
    const std::string near = nearest(kinds[0], there);
    problem_ = "'" + path_.text + "' matches no operator." + (near.empty() ? "" : " Did you mean ':" + near + "'?");
  }

  // --- messages

  std::string text_with(std::size_t step, const std::string& name) const {
    std::string out;
    const std::vector<std::string> parts = split_path(path_.text);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (i) out += ".";
      const std::size_t tail = std::min(parts[i].find_first_of("[@:#"), parts[i].size());
      out += i == offset() + step ? name + parts[i].substr(tail) : parts[i];
    }
    return out;
  }

  // Components of the text; dots inside brackets do not count.
  static std::vector<std::string> split_path(const std::string& text) {
    std::vector<std::string> out{""};
    int open = 0;
    for (const char c : text) {
      if (c == '[' || c == '(') ++open;
      if (c == ']' || c == ')') --open;
      if (c == '.' && open == 0)
        out.emplace_back();
      else
        out.back() += c;
    }
    return out;
  }

  std::size_t offset() const { return bases_ ? 1 : 0; }  // the let's name stands in front

  void fail(std::size_t step, const std::vector<Found>& before) {
    problem_ = "'" + path_.text + "' matches no module.";
    if (!suggest_ || split_path(path_.text).size() != path_.steps.size() + offset()) return;
    std::set<std::string> names;
    if (step == 0 && !bases_)
      for (const auto& [name, nodes] : tree_.named) names.insert(name);
    else if (step == 0)
      names_inside(bases_->front(), names);
    else
      for (const Found& f : before)
        for (const int child : node(f.node).children) names.insert(node(child).name);
    const std::string near = nearest(literal(globs_[step]), {names.begin(), names.end()});
    if (!near.empty()) {
      std::vector<std::string> globs = globs_;
      globs[step] = literal_glob(near);
      PathValue path = path_;
      path.text = text_with(step, written_component(near));
      const Match m = Matcher(tree_, model_, path, globs, bases_, false).run();
      if (m.problem.empty()) {
        const std::size_t n = m.units.size();
        problem_ += " Did you mean '" + path.text + "' (" + std::to_string(n) + (n == 1 ? " unit)?" : " units)?");
        return;
      }
    }
    const bool from_root = step == 0 && !bases_;
    if (step == 0 && bases_) return;
    if (from_root) names.clear();
    if (from_root)
      for (const int child : node(0).children) names.insert(node(child).name);
    std::erase_if(names, [](const std::string& n) { return number_of(n) >= 0; });
    if (names.empty() || names.size() > 12) return;
    std::vector<std::string> written;
    for (const std::string& name : names) written.push_back(written_component(name));
    problem_ += " " + (from_root ? "The model" : node(before.front().node).path) + " has " + join(written, ", ") + ".";
  }

  void names_inside(const Unit& base, std::set<std::string>& out) const {
    if (base.module < 0) {
      for (const auto& [name, nodes] : tree_.named) out.insert(name);
      return;
    }
    for (const int child : node(base.module).children) {
      out.insert(node(child).name);
      Unit inner;
      inner.module = child;
      names_inside(inner, out);
    }
  }

  void fail_members(std::size_t, const std::vector<Found>& lists) {
    const int list = lists.front().node;
    problem_ = "'" + path_.text + "' matches no module: " + node(list).path + " has " +
               (node(list).members == 0 ? "no numbered members." : std::to_string(node(list).members) + ".");
  }

  const ModuleTree& tree_;
  const ModelInfo& model_;
  const PathValue& path_;
  const std::vector<std::string>& globs_;
  const std::vector<Unit>* bases_;
  bool suggest_;
  std::string problem_, beyond_;
};
}  // namespace

std::vector<Match> match_path(const ModuleTree& tree, const ModelInfo& model, const PathValue& path,
                              const std::vector<Unit>* bases, bool suggest) {
  std::vector<std::vector<std::string>> combinations{{}};
  for (const PathValue::Step& step : path.steps) {
    std::vector<std::vector<std::string>> next;
    for (const auto& head : combinations)
      for (const std::string& glob : expand_braces(step.glob)) {
        if (next.size() >= max_combinations) break;
        next.push_back(head);
        next.back().push_back(glob);
      }
    combinations = std::move(next);
  }
  std::vector<Match> out;
  for (const auto& globs : combinations) {
    PathValue one = path;
    if (combinations.size() > 1) {  // the text of this combination
      std::size_t from = 0;
      for (std::size_t i = 0; i < globs.size(); ++i) {
        const std::string every = written_glob(path.steps[i].glob), each = written_glob(globs[i]);
        const std::size_t at = one.text.find(every, from);
        if (at == one.text.npos) break;
        one.text.replace(at, every.size(), each);
        from = at + each.size();
      }
    }
    out.push_back(Matcher(tree, model, one, globs, bases, suggest).run());
  }
  return out;
}

}  // namespace planscope::plan
