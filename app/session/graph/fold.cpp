#include "app/session/graph/fold.h"

#include <algorithm>
#include <cctype>
#include <memory>
#include <set>
#include <unordered_map>

#include "app/session/graph/elements.h"
#include "app/session/graph/repeats.h"
#include "engine/base/text.h"

namespace planscope::session {

namespace {

constexpr std::size_t kLongList = 120;  // operators beside each other that are looked at for equal stretches
constexpr std::size_t kMostChildren = 80;
constexpr std::size_t kLongestUnit = 2048;
constexpr std::size_t kFewest = 8;  // operators that a stretch has at least

class Folder {
 public:
  explicit Folder(const Graph& g) : g_(g), root_(elements_of(g)) {
    for (OpId o = 0; o < static_cast<OpId>(g.ops.size()); ++o) ++of_kind_[g.node(o).kind];
    out_.group_of.assign(g.ops.size(), 0);
    out_.instance_of.assign(g.ops.size(), 0);
    Group root{.id = "model:", .label = g.model->name, .kind = root_->type, .selector = "*"};
    root.operators = static_cast<std::int64_t>(g.ops.size());
    out_.groups.push_back(std::move(root));
    fill(0, {root_.get()}, Path{}, 1);
    for (int k = 0; k < static_cast<int>(out_.groups.size()); ++k) {
      Group& group = out_.groups[static_cast<std::size_t>(k)];
      while (!out_.by_id.emplace(group.id, k).second) group.id += "'";
      for (std::size_t i = 0; i < group.ops.size(); ++i) {
        out_.group_of[static_cast<std::size_t>(group.ops[i])] = k;
        out_.instance_of[static_cast<std::size_t>(group.ops[i])] = static_cast<int>(i);
      }
    }
  }

  FoldedModel take() { return std::move(out_); }

 private:
  // --- groups

  // One place in a list of children, with the elements there of every equal list.
  using Place = std::vector<const Element*>;

  // How groups below are named. Calls stand behind the whole path in a selector, and beside the module in an id.
  struct Path {
    std::string id, modules;
    std::vector<std::string> calls = {""};
    std::vector<std::string> selectors() const {
      std::vector<std::string> out;
      for (const std::string& c : calls) out.push_back(modules + c);
      return out;
    }
  };

  static std::string joined(const std::string& path, const std::string& name) {
    return path + (path.empty() || name.starts_with("[") ? "" : ".") + name;
  }

  int add(int parent, Group g) {
    g.parent = parent;
    g.depth = group(parent).depth + 1;
    g.count *= g.repeats;
    const int k = static_cast<int>(out_.groups.size());
    out_.groups.push_back(std::move(g));
    group(parent).children.push_back(k);
    return k;
  }
  Group& group(int k) { return out_.groups[static_cast<std::size_t>(k)]; }

  void fill(int into, const Place& all, const Path& path, std::int64_t count) {
    std::vector<Place> places(all.front()->children.size());
    for (std::size_t k = 0; k < places.size(); ++k)
      for (const Element* e : all) places[k].push_back(e->children[k]);
    list(into, places, path, count);
  }

  // A list of children below a group: equal stretches of it are one group each; where there are still many,
  // consecutive ones are.
  void list(int into, const std::vector<Place>& places, const Path& path, std::int64_t count) {
    std::vector<int> signatures;
    for (const Place& p : places) signatures.push_back(p.front()->signature);
    std::vector<Repeat> items;
    for (const Repeat& r : find_repeats(signatures, kLongestUnit)) {
      const auto begin = places.begin() + static_cast<std::ptrdiff_t>(r.first);
      const bool modules = std::any_of(begin, begin + static_cast<std::ptrdiff_t>(r.length),
                                       [](const Place& p) { return p.front()->repeatable(); });
      if (!modules && (places.size() <= kLongList || r.length * r.times < kFewest)) continue;
      for (std::size_t at = items.empty() ? 0 : items.back().end(); at < r.first; ++at) items.push_back({at, 1, 1});
      items.push_back(r);
    }
    for (std::size_t at = items.empty() ? 0 : items.back().end(); at < places.size(); ++at) items.push_back({at, 1, 1});
    bundles(into, places, items, path, count);
  }

  // What several loose operators in a row are together: the parts of one operator that has been taken apart, or
  // what no parameter
  // reaches (masks, positions). Empty: nothing.
  std::string bundle_of(const Place& p) const {
    const OpId o = p.front()->op;
    if (o < 0) return {};
    if (g_.ops[static_cast<std::size_t>(o)].parameter_free) return "auxiliary";
    const Node& n = g_.node(o);
    const std::string name = n.target.substr(0, n.target.find('.'));
    return name.ends_with("::" + n.kind) || name == n.kind ? "" : n.kind;
  }

  // Operators that belong together as one group each.
  void bundles(int into, const std::vector<Place>& places, const std::vector<Repeat>& items, const Path& path,
               std::int64_t count) {
    std::vector<Item> out;
    for (std::size_t k = 0; k < items.size();) {
      const std::string name = items[k].times > 1 ? "" : bundle_of(places[items[k].first]);
      std::size_t end = k + 1;
      while (!name.empty() && end < items.size() && items[end].times == 1 &&
             bundle_of(places[items[end].first]) == name)
        ++end;
      out.push_back(
          {{items.begin() + static_cast<std::ptrdiff_t>(k), items.begin() + static_cast<std::ptrdiff_t>(end)}, name});
      k = end;
    }
    parts(into, places, out, path, count);
  }

  // A place, a repeat, or a bundle of places.
  struct Item {
    std::vector<Repeat> of;
    std::string bundle;
    std::size_t first() const { return of.front().first; }
    std::size_t end() const { return of.back().end(); }
  };

  static std::string range_text(std::size_t from, std::size_t end) {
    return "[" + std::to_string(from) + ":" + std::to_string(end) + "]";
  }

  void parts(int into, const std::vector<Place>& places, const std::vector<Item>& items, const Path& path,
             std::int64_t count) {
    if (items.size() <= kMostChildren) {
      for (const Item& i : items) {
        if (i.of.size() == 1) {
          item(into, places, i.of.front(), path, count);
          continue;
        }
        const int k = add(into, {.id = joined(path.id, i.bundle + range_text(i.first(), i.end())),
                                 .label = {},
                                 .kind = i.bundle,
                                 .selector = {},
                                 .count = count});
        std::vector<Item> singles;
        for (const Repeat& r : i.of) singles.push_back({{r}, ""});
        parts(k, places, singles, path, count);
        name_after_children(k);
        group(k).label = i.bundle;
      }
      return;
    }
    const std::size_t size = std::max(kMostChildren / 2, (items.size() + kMostChildren / 2 - 1) / (kMostChildren / 2));
    for (std::size_t from = 0; from < items.size(); from += size) {
      const std::vector<Item> some(items.begin() + static_cast<std::ptrdiff_t>(from),
                                   items.begin() + static_cast<std::ptrdiff_t>(std::min(items.size(), from + size)));
      const int k = add(into, {.id = joined(path.id, "part" + range_text(some.front().first(), some.back().end())),
                               .label = {},
                               .kind = "part",
                               .selector = {},
                               .count = count});
      parts(k, places, some, path, count);
      name_after_children(k);
    }
  }

  void item(int into, const std::vector<Place>& places, const Repeat& r, const Path& path, std::int64_t count) {
    std::vector<Place> unit(r.length);
    for (std::size_t q = 0; q < r.length; ++q)
      for (std::size_t outer = 0; outer < places.front().size(); ++outer)
        for (std::size_t t = 0; t < r.times; ++t) unit[q].push_back(places[r.first + t * r.length + q][outer]);
    const int times = static_cast<int>(r.times);
    if (r.length == 1) return child(into, unit.front(), path, count, times);
    const std::string id = joined(path.id, "repeat" + range_text(r.first, r.end()));
    const int k =
        add(into, {.id = id, .label = {}, .kind = "repeat", .selector = {}, .repeats = times, .count = count});
    list(k, unit, path, count * times);
    name_after_children(k);
  }

  void child(int into, const Place& all, const Path& path, std::int64_t count, int repeats) {
    const Element& first = *all.front();
    if (first.op >= 0) return leaf(into, all, path, count, repeats);
    const std::string name = first.list + numbers_of(all);
    Path inside{joined(path.id, name), joined(path.modules, name), calls_of(all)};
    if (inside.calls.front() != "")
      inside.id += inside.calls.front() + (inside.calls.size() > 1 ? "…" + inside.calls.back().substr(1) : "");
    const bool dotted = !path.id.empty() && inside.id[path.id.size()] == '.';
    const std::string label = inside.id.substr(path.id.size() + dotted);
    Group g{.id = inside.id,
            .label = label.ends_with("[*]") ? label.substr(0, label.size() - 3) : label,
            .kind = first.type,
            .selector = join(inside.selectors(), ", "),
            .repeats = repeats,
            .count = count};
    g.operators = operators(first) * static_cast<std::int64_t>(all.size());
    if (first.children.size() == 1 && first.children.front()->op >= 0) {
      for (const Element* e : all) g.ops.push_back(e->children.front()->op);
      if (g.kind.empty()) g.kind = g_.node(g.ops.front()).kind;
      add(into, std::move(g));
      return;
    }
    const int k = add(into, std::move(g));
    fill(k, all, inside, count * repeats);
    if (inside.calls.front() != "" && !first.one_call) group(k).selector = children_selector(k);
  }

  void leaf(int into, const Place& all, const Path& path, std::int64_t count, int repeats) {
    const Node& n = g_.node(all.front()->op);
    std::vector<int> ordinals;
    Group g{.id = {}, .label = n.kind, .kind = n.kind, .selector = {}, .repeats = repeats, .count = count};
    for (const Element* e : all) {
      ordinals.push_back(g_.node(e->op).ordinal);
      g.ops.push_back(e->op);
    }
    std::sort(ordinals.begin(), ordinals.end());
    ordinals.erase(std::unique(ordinals.begin(), ordinals.end()), ordinals.end());
    std::vector<std::string> names;
    for (const std::string& s : path.selectors())
      for (const int o : ordinals) names.push_back(s + ":" + n.kind + "#" + std::to_string(o));
    const bool every = names.size() > 1 && of_kind_[n.kind] == all.size();
    g.selector = every ? ":" + n.kind : join(names, ", ");
    g.id = path.id + ":" + n.kind + "#" + std::to_string(ordinals.front()) +
           (ordinals.size() > 1 ? "…" + std::to_string(ordinals.back()) : "");
    g.operators = static_cast<std::int64_t>(all.size());
    add(into, std::move(g));
  }

  static std::int64_t operators(const Element& e) {
    std::int64_t n = e.op >= 0;
    for (const Element* c : e.children) n += operators(*c);
    return n;
  }

  static std::string index_text(int k) { return "[" + std::to_string(k) + "]"; }

  // The calls of the equal ones, where they are not all.
  static std::vector<std::string> calls_of(const Place& all) {
    std::set<int> calls;
    for (const Element* e : all) calls.insert(e->call);
    if (*calls.begin() < 0 || static_cast<int>(calls.size()) == all.front()->calls) return {""};
    std::vector<std::string> out;
    for (const int c : calls) out.push_back("@" + std::to_string(c));
    return out;
  }

  // The numbers of the equal ones in their list.
  static std::string numbers_of(const Place& all) {
    const Element& first = *all.front();
    if (first.number < 0) return {};
    std::set<int> numbers;
    for (const Element* e : all) numbers.insert(e->number);
    if (numbers.size() == 1) return index_text(*numbers.begin());
    if (numbers.size() == first.siblings) return "[*]";
    const int from = *numbers.begin(), step = *std::next(numbers.begin()) - from;
    std::string listed;
    bool even = true;
    for (int at = from; const int k : numbers) {
      even = even && k == at;
      at += step;
      listed += (listed.empty() ? "" : ",") + std::to_string(k);
    }
    if (!even) return "[" + listed + "]";
    return "[" + std::to_string(from) + ":" + std::to_string(*numbers.rbegin() + 1) +
           (step > 1 ? ":" + std::to_string(step) : "") + "]";
  }

  std::string children_selector(int k) {
    std::vector<std::string> selectors;
    for (const int c : group(k).children) selectors.push_back(group(c).selector);
    return join(selectors, ", ");
  }

  void name_after_children(int k) {
    Group& g = group(k);
    for (const int c : g.children) g.operators += group(c).operators;
    g.selector = children_selector(k);
    const std::string &from = group(g.children.front()).label, &to = group(g.children.back()).label;
    g.label = from == to ? from : from + " … " + to;
  }

  const Graph& g_;
  std::unique_ptr<const Element> root_;
  std::unordered_map<std::string, std::size_t> of_kind_;  // operators of the model
  FoldedModel out_;
};

}  // namespace

FoldedModel fold_model(const Graph& g) { return Folder(g).take(); }

std::optional<int> FoldedModel::find(std::string_view id) const {
  const auto found = by_id.find(std::string(id));
  if (found == by_id.end() || found->second == 0) return std::nullopt;
  return found->second;
}

std::vector<std::string> first_expanded(const FoldedModel& f, std::size_t boxes) {
  std::vector<char> holds_repeats(f.groups.size(), 0);
  for (std::size_t k = f.groups.size(); k-- > 1;) {
    const Group& g = f.groups[k];
    const bool much = 20 * g.operators >= f.groups[0].operators;
    if ((g.repeats > 1 && much) || holds_repeats[k]) holds_repeats[static_cast<std::size_t>(g.parent)] = 1;
  }
  std::vector<int> shown = f.groups.empty() ? std::vector<int>{} : f.groups[0].children;
  std::vector<std::string> out;
  const auto open = [&](std::size_t at) {
    const Group& g = f.groups[static_cast<std::size_t>(shown[at])];
    out.push_back(g.id);
    shown.erase(shown.begin() + static_cast<std::ptrdiff_t>(at));
    shown.insert(shown.end(), g.children.begin(), g.children.end());
  };
  for (std::size_t at = 0; at < shown.size();) {
    const auto k = static_cast<std::size_t>(shown[at]);
    const Group& g = f.groups[k];
    const bool fits = shown.size() - 1 + g.children.size() <= boxes;
    if (g.repeats == 1 && !g.children.empty() && fits && (holds_repeats[k] || shown.size() == 1))
      open(at);
    else
      ++at;
  }
  constexpr std::size_t few = 6;
  while (shown.size() < few) {
    const auto size = [&](int k) {
      const Group& g = f.groups[static_cast<std::size_t>(k)];
      return g.children.empty() || g.repeats > 1 ? 0 : g.operators;
    };
    const auto most = std::max_element(shown.begin(), shown.end(), [&](int a, int b) { return size(a) < size(b); });
    if (most == shown.end() || size(*most) == 0) break;
    if (shown.size() - 1 + f.groups[static_cast<std::size_t>(*most)].children.size() > boxes) break;
    open(static_cast<std::size_t>(most - shown.begin()));
  }
  return out;
}

bool is_found(const Group& g, std::string_view text) {
  const auto has = [&](const std::string& in) {
    const auto equal = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
    return std::search(in.begin(), in.end(), text.begin(), text.end(), equal) != in.end();
  };
  return has(g.label) || has(g.kind);
}

int repeat_of(const FoldedModel& f, OpId op, int around) {
  int instance = f.instance_of[static_cast<std::size_t>(op)];
  for (int k = f.group_of[static_cast<std::size_t>(op)]; k > 0; k = f.groups[static_cast<std::size_t>(k)].parent) {
    const int repeats = f.groups[static_cast<std::size_t>(k)].repeats;
    if (k == around) return instance % repeats;
    instance /= repeats;
  }
  return 0;
}

}  // namespace planscope::session
