#include "app/session/completion.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <optional>
#include <regex>
#include <set>

#include "engine/base/text.h"
#include "engine/plan/parser.h"
#include "engine/plan/template.h"

namespace planscope::session {

namespace {

constexpr std::size_t kMost = 200, kLongest = 4'000;  // items, and bytes of a line that is looked at

bool is_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '[' || c == ']' || c == '*' ||
         c == '?';
}

struct Place {
  std::string before, word;  // of the line: what is in front of the word, and the word up to the cursor
  std::size_t from = 0;
};

Place place_of(const std::string& text, std::size_t cursor) {
  cursor = std::min(cursor, text.size());
  const std::size_t end = cursor == 0 ? std::string::npos : text.rfind('\n', cursor - 1);
  const std::size_t start = end == std::string::npos ? 0 : end + 1;
  Place p;
  p.from = cursor;
  while (p.from > start && is_of_word(text[p.from - 1])) --p.from;
  p.word = text.substr(p.from, cursor - p.from);
  p.before = text.substr(start, p.from - start);
  return p;
}

std::set<std::string> matches(const std::string& text, const std::regex& pattern) {
  std::set<std::string> out;
  for (std::sregex_iterator i(text.begin(), text.end(), pattern), end; i != end; ++i) out.insert((*i)[1]);
  return out;
}

// Axes with their sizes: `name=size` on lines that declare devices and grids, behind `as`, or free axes.
std::map<std::string, std::string> axes(const std::string& text, bool with_free) {
  static const std::regex declares("^\\s*(devices|grid|axis)\\b"), axis("([A-Za-z_]\\w*)\\s*=\\s*(\\d*)");
  std::map<std::string, std::string> out;
  for (const std::string& line : split(text, '\n')) {
    std::smatch begin;
    if (!std::regex_search(line, begin, declares)) continue;
    const bool free = begin[1] == "axis";
    const std::size_t as = free ? static_cast<std::size_t>(begin.length()) : line.find(" as ");
    if (as == std::string::npos || (free && !with_free)) continue;
    const std::string declared = line.substr(as);
    for (std::sregex_iterator i(declared.begin(), declared.end(), axis), end; i != end; ++i) out[(*i)[1]] = (*i)[2];
  }
  return out;
}

class Collector {
 public:
  explicit Collector(const Place& place) : place_(place) { out_.from = place.from; }

  void add(const std::string& text, const std::string& about) {
    if (is_word(text) || !fits(text) || !seen_.insert(text).second) return;
    out_.items.push_back({text, about});
  }

  // As add(), for paths: also where one of its names begins so.
  void add_path(const std::string& path, const std::string& about) {
    if (is_word(path) || seen_.contains(path)) return;
    if (fits(path) || (!place_.word.empty() && path.find("." + place_.word) != std::string::npos)) {
      seen_.insert(path);
      out_.items.push_back({path, about});
    }
  }

  Completion take() {
    if (out_.items.size() > kMost) out_.items.resize(kMost);
    return std::move(out_);
  }

 private:
  bool is_word(const std::string& text) {
    out_.whole = out_.whole || text == place_.word;
    return text == place_.word;
  }

  bool fits(const std::string& text) const { return text.compare(0, place_.word.size(), place_.word) == 0; }

  const Place& place_;
  Completion out_;
  std::set<std::string> seen_;
};

void add_words(Collector& c, const std::vector<plan::Word>& words) {
  for (const plan::Word& w : words) c.add(std::string(w.text), std::string(w.about));
}

void add_templates(Collector& c, const std::string& text) {
  static const std::regex own("template\\s+([A-Za-z_]\\w*)");
  for (const std::string& name : matches(text, own)) c.add(name + "(", "a template of this plan");
  for (const plan::BuiltInTemplate& t : plan::built_in_templates())
    c.add(t.name + "(", "(" + join(t.parameters, ", ") + ")  " + t.about);
}

// What is left to be given to the template that is used, where so much of its arguments stands there: `X, t)`.
void add_parameters(Collector& c, const std::string& text, const std::string& name, const std::string& arguments) {
  const std::regex own("template\\s+" + name + "\\s*\\(([^)\\n]*)\\)");
  std::vector<std::string> parameters;
  for (const plan::BuiltInTemplate& t : plan::built_in_templates())
    if (t.name == name) parameters = t.parameters;
  for (const std::string& written : matches(text, own)) {
    parameters = split(written, ',');
    for (std::string& p : parameters) p.erase(0, p.find_first_not_of(' '));
  }
  const auto given = std::count(arguments.begin(), arguments.end(), ',');
  if (given >= static_cast<std::ptrdiff_t>(parameters.size())) return;
  const std::vector<std::string> left(parameters.begin() + given, parameters.end());
  c.add(join(left, ", ") + ")", "what " + name + "(" + join(parameters, ", ") + ") takes, to be replaced");
}

// As the plan language writes it: `model.layers[*].mlp`.
std::string selector(const std::string& path) {
  std::string out;
  for (const std::string& part : split(path, '.')) {
    const bool index = part == "*" || (!part.empty() && part.find_first_not_of("0123456789") == std::string::npos);
    out += index ? "[" + part + "]" : (out.empty() ? "" : ".") + part;
  }
  return out;
}

void add_modules(Collector& c, const std::vector<ModuleNode>& nodes) {
  for (const ModuleNode& n : nodes) {
    const std::string many = n.count > 1 ? " × " + std::to_string(n.count) : "";
    c.add_path(selector(n.path), (n.kind.empty() ? "module" : n.kind) + many);
    if (n.count > 1) c.add_path(selector(n.path) + "[*]", "each of the " + std::to_string(n.count));
    add_modules(c, n.children);
  }
}

// The rest of a module path below `base`, without regard to indices; no value: the path is not below it.
std::optional<std::string> behind(const std::string& base, const std::string& path) {
  static const std::regex index("\\[[^\\]]*\\]");
  const std::string all = std::regex_replace(base, index, "") + ".";
  std::string plain;
  for (std::size_t k = 0; k < path.size(); ++k) {
    if (path[k] == '[') k = std::min(path.find(']', k), path.size());
    if (k < path.size() && path[k] != ']') plain += path[k];
    if (plain.size() == all.size()) return plain == all ? std::optional(path.substr(k + 1)) : std::nullopt;
  }
  return std::nullopt;
}

// The modules in what a `let` of the plan names: `L.mlp`, where the word that is being written begins with `L.` or `L[0].`.
void add_members(Collector& c, const std::string& text, const std::string& word, const std::vector<ModuleNode>& nodes) {
  static const std::regex name("([A-Za-z_]\\w*)(\\[[^\\]]*\\])?\\.");
  std::smatch begin;
  if (!std::regex_search(word, begin, name, std::regex_constants::match_continuous)) return;
  std::string base = begin[1];
  constexpr int most = 8;  // lets of lets
  for (int k = 0; k < most; ++k) {
    static const std::regex index("\\[[^\\]]*\\]"), one("[A-Za-z_]\\w*");
    const std::string plain = std::regex_replace(base, index, "");
    if (!std::regex_match(plain, one)) break;
    std::smatch of;
    const std::regex let("(?:^|\\n)\\s*let\\s+" + plain + "\\s*=\\s*(?:cut\\s+)?([A-Za-z_][\\w.\\[\\]*:]*)");
    if (!std::regex_search(text, of, let)) break;
    base = of[1];
  }
  if (base == begin[1]) return;
  const std::function<void(const std::vector<ModuleNode>&)> add = [&](const std::vector<ModuleNode>& all) {
    for (const ModuleNode& n : all) {
      if (const std::optional<std::string> rest = behind(base, selector(n.path)); rest && !rest->empty())
        c.add(begin.str() + *rest, n.kind.empty() ? "module" : n.kind);
      add(n.children);
    }
  };
  add(nodes);
}

void add_axes(Collector& c, const std::string& text) {
  for (const auto& [name, size] : axes(text, true)) c.add(name, "axis");
}

// What `assign SELECTION to` takes: coordinates of grids, and whole grids.
void add_places(Collector& c, const std::string& text, const std::string& before) {
  static const std::regex grid("(?:^|\\n)\\s*grid\\s+([A-Za-z_]\\w*(?:\\[\\d+\\])?)"), index("\\[([A-Za-z_]\\w*)\\]"),
      coordinate("([A-Za-z_]\\w*)\\s*=\\s*$");
  constexpr int most = 16;
  const std::map<std::string, std::string> all = axes(text, false);
  const std::set<std::string> variables = matches(before, index);
  std::smatch of;
  if (std::regex_search(before, of, coordinate)) {
    const auto axis = all.find(of[1]);
    if (axis == all.end()) return;
    for (const std::string& v : variables) c.add(v, "the number of what is placed");
    const int size = axis->second.size() > 6 || axis->second.empty() ? most : std::stoi(axis->second);
    for (int k = 0; k < std::min(size, most); ++k) c.add(std::to_string(k), "coordinate of " + axis->first);
    return;
  }
  const std::string at = variables.empty() ? "0" : *variables.begin();
  for (const auto& [name, size] : all) c.add(name + "=" + at, "part of the grid, of " + (size.empty() ? "?" : size));
  c.add("all", "the grid of all devices");
  for (const std::string& name : matches(text, grid)) c.add(name, "grid");
}

void add_names(Collector& c, const std::string& text) {
  static const std::regex let("(?:^|\\n)\\s*let\\s+([A-Za-z_]\\w*)");
  for (const std::string& name : matches(text, let)) c.add(name, "let, of this plan");
}

void add_factors(Collector& c, const Graph& graph) {
  std::set<std::string> names;
  for (const Op& op : graph.ops)
    for (const Factor& f : op.factors)
      if (f.kind != FactorKind::frozen && !f.name.empty()) names.insert(f.name);
  for (const std::string& name : names) c.add(name, "factor");
}

Completion found(const Document& d, const std::string& text, std::size_t cursor) {
  static const std::regex use("\\buse\\s+$"), arguments("\\buse\\s+(\\w+)\\s*\\(([^)]*)$"), behind_by("\\b(by|into)\\b[^#]*$"),
      to("^\\s*(auto\\s+)?assign\\b.*\\sto\\s+(?!.*\\bwhere\\b).*$"),
      trans("^\\s*trans\\s+\\S+.*\\s$"), first("^\\s*(auto\\s+)?$");
  const Place p = place_of(text, cursor);
  Collector c(p);
  if (p.before.find('#') != std::string::npos || p.before.size() > kLongest) return c.take();
  if (std::regex_search(p.before, first)) {
    add_words(c, plan::statement_words());
  } else if (std::regex_search(p.before, use)) {
    add_templates(c, text);
  } else if (std::regex_search(p.before, to)) {
    add_places(c, text, p.before);
  } else if (std::regex_search(p.before, behind_by)) {
    add_axes(c, text);
    add_names(c, text);
  } else {
    if (std::smatch given; std::regex_search(p.before, given, arguments)) add_parameters(c, text, given[1], given[2]);
    if (std::regex_search(p.before, trans)) {
      add_factors(c, d.model->graph);
      c.add("by", "the axes that split the factor");
      add_words(c, plan::algorithm_words());
    }
    add_names(c, text);
    add_axes(c, text);
    add_members(c, text, p.word, *d.modules);
    add_modules(c, *d.modules);
  }
  return c.take();
}

}  // namespace

Completion complete(const Document& d, const std::string& text, std::size_t cursor) {
  Completion out = found(d, text, cursor);
  out.text = text;
  out.cursor = cursor;
  return out;
}

}  // namespace planscope::session
