// Chosen values as lines of the plan.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <stdexcept>

#include "engine/base/text.h"
#include "engine/plan/parser.h"
#include "engine/plan/printer.h"
#include "planner/constraint/choices.h"

namespace planscope::constraint {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// A path with numbers in it: names between, and the numbers.
struct Indexed {
  std::vector<std::string> names;  // names[0] [n0] names[1] [n1] …
  std::vector<std::int64_t> numbers;
};

// `model.layers.3.mlp` and `model.layers[3].mlp` alike.
Indexed take_apart(const std::string& path) {
  Indexed out;
  out.names.emplace_back();
  std::string text = path;
  for (char& c : text)
    if (c == '[') c = '.';
  std::erase(text, ']');
  for (const std::string& word : split(text, '.')) {
    const bool number = !word.empty() && word.size() < 10 && word.find_first_not_of("0123456789") == word.npos;
    if (number && !out.names.back().empty()) {
      out.numbers.push_back(std::stoll(word));
      out.names.emplace_back();
    } else {
      out.names.back() += (out.names.back().empty() ? "" : ".") + word;
    }
  }
  return out;
}

std::string put_together(const std::vector<std::string>& names, const std::vector<std::string>& indices) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!names[i].empty()) out += (out.empty() ? "" : ".") + names[i];
    if (i < indices.size()) out += "[" + indices[i] + "]";
  }
  return out;
}

using Tuples = std::set<std::vector<std::int64_t>>;

// Index tuples as boxes of ranges: one where they fill it, else one for each run or value of the first that varies.
void boxes(const Tuples& tuples, std::vector<std::vector<std::string>>& out) {
  const std::size_t n = tuples.begin()->size();
  std::vector<std::set<std::int64_t>> values(n);
  for (const auto& t : tuples)
    for (std::size_t i = 0; i < n; ++i) values[i].insert(t[i]);
  std::size_t volume = 1, first = n, varying = 0;
  bool ranges = true;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < n; ++i) {
    const std::int64_t low = *values[i].begin(), high = *values[i].rbegin();
    volume *= values[i].size();
    ranges = ranges && static_cast<std::size_t>(high - low) + 1 == values[i].size();
    texts.push_back(low == high ? std::to_string(low) : std::to_string(low) + ":" + std::to_string(high + 1));
    if (low == high) continue;
    ++varying;
    first = std::min(first, i);
  }
  if (ranges && volume == tuples.size()) {
    out.push_back(texts);
    return;
  }
  Tuples run;
  for (const auto& t : tuples) {
    const std::int64_t last = run.empty() ? t[first] : (*run.rbegin())[first];
    if (!run.empty() && t[first] != last && !(varying == 1 && t[first] == last + 1)) {
      boxes(run, out);
      run.clear();
    }
    run.insert(t);
  }
  boxes(run, out);
}

struct Line {
  int after = 0;  // line number
  std::string text;
  std::string name;  // of the open value, if it settles one
};

class Writer {
 public:
  Writer(const plan::Decisions& d, const plan::ModelInfo& m, const std::vector<Choice>& c, const std::vector<int>& p)
      : decisions_(d), model_(m), choices_(c), picks_(p) {}

  std::vector<Line> write() {
    std::map<int, std::vector<std::size_t>> by_statement;
    for (std::size_t i = 0; i < choices_.size(); ++i) by_statement[choices_[i].statement].push_back(i);
    for (const auto& [statement, list] : by_statement)
      if (!write_as_whole(statement, list)) write_apart(list);
    return std::move(lines_);
  }

 private:
  const std::string& word(std::size_t i) const { return choices_[i].words[at(picks_[i])]; }
  const plan::Statement& statement(int i) const { return decisions_.plan.statements[at(i)]; }
  void add(int of, const std::string& text) {
    if (!text.empty()) lines_.push_back({statement(of).line, text, {}});
  }

  // All choices of a statement that the user wrote himself agree: its own words, one of them.
  bool write_as_whole(int id, const std::vector<std::size_t>& list) {
    plan::Statement s = statement(id);
    if (!s.from.empty()) return false;
    for (std::size_t i : list)
      if (word(i) != word(list.front())) return false;
    if (choices_[list.front()].kind == plan::OpenChoice::Kind::order) {
      add(id, word(list.front()));
      return true;
    }
    auto* t = std::get_if<plan::TransStatement>(&s.body);
    if (t && std::any_of(t->axes.begin(), t->axes.end(), [](const plan::Choice& c) { return c.words.size() > 1; }))
      return false;
    if (t)
      t->factor.words = {word(list.front())};
    else if (auto* a = std::get_if<plan::AlgorithmStatement>(&s.body))
      a->algorithm.words = {word(list.front())};
    else
      return false;
    s.comment.clear();
    add(id, plan::print_code(s));
    return true;
  }

  void write_apart(const std::vector<std::size_t>& list) {
    for (std::size_t i : list) {
      const Choice& c = choices_[i];
      for (const std::string& group : groups(c)) add(c.statement, line(c, group, word(i)));
    }
  }

  std::vector<std::string> groups(const Choice& c) const {
    std::vector<std::string> modules;
    if (c.kind == plan::OpenChoice::Kind::algorithm) {
      for (int r : c.rows) modules.push_back(decisions_.units[at(decisions_.algorithms[at(r)].unit)].name);
      return merged_paths(modules);
    }
    const bool parameters = c.kind == plan::OpenChoice::Kind::split && c.phase != plan::Phase::forward;
    std::string suffix;
    for (int r : c.rows) {
      const std::vector<int>* readers = parameters ? &model_.parameters[at(r)].readers : nullptr;
      if (readers && readers->empty()) continue;
      const plan::OperatorInfo& op = model_.operators[at(readers ? readers->front() : r)];
      modules.push_back(op.module);
      suffix = (op.call >= 0 ? "@" + std::to_string(op.call) : "") + ":" + op.kind + "#" + std::to_string(op.ordinal);
    }
    std::vector<std::string> out = merged_paths(modules);
    for (std::string& g : out) {
      g += suffix;
      if (parameters) g = std::string(to_string(c.phase)) + "(" + g + ")";
    }
    return out;
  }

  // `[mb=3]`, `[mb=0:4]`: where a choice of places holds; an index of a statement is one number or a range.
  std::string indices(const Choice& c) const {
    std::vector<std::string> out;
    for (const auto& [axis, at] : decisions_.places[static_cast<std::size_t>(c.place)].index) {  // a progression
      std::string text = std::to_string(at.front());
      if (at.size() > 1) {
        const std::int64_t step = at[1] - at[0];
        text += ":" + std::to_string(at.back() + 1) + (step > 1 ? ":" + std::to_string(step) : "");
      }
      out.push_back(decisions_.axes[static_cast<std::size_t>(axis)].name + "=" + text);
    }
    return out.empty() ? "" : "[" + join(out, ", ") + "]";
  }

  std::string line(const Choice& c, const std::string& group, const std::string& chosen) const {
    if (c.kind == plan::OpenChoice::Kind::order) return chosen;
    if (c.kind == plan::OpenChoice::Kind::algorithm) return "trans " + group + " " + chosen;
    if (c.kind == plan::OpenChoice::Kind::place) return "assign " + group + indices(c) + " to " + chosen;
    std::string text = "trans " + group + " " + chosen + " by " + decisions_.axes[at(c.axis)].name;
    if (const auto* t = std::get_if<plan::TransStatement>(&statement(c.statement).body); t && chosen != "none") {
      if (t->at) text += " at " + plan::print(*t->at);
      if (t->sizes.form == plan::Sizes::Form::balanced) text += " sizes balanced";
      if (t->sizes.form == plan::Sizes::Form::listed) {
        std::vector<std::string> sizes;
        for (const plan::Expression& e : t->sizes.listed) sizes.push_back(plan::print(e));
        text += " sizes " + join(sizes, ",");
      }
    }
    return text;
  }

  const plan::Decisions& decisions_;
  const plan::ModelInfo& model_;
  const std::vector<Choice>& choices_;
  const std::vector<int>& picks_;
  std::vector<Line> lines_;
};

std::string base_of(const std::string& variable) { return variable.substr(0, variable.find('[')); }

// `d` of `?d` and of `?d[…]`.
std::set<std::string> variables_in(const plan::Statement& s) {
  std::set<std::string> out;
  const std::string text = plan::print_code(s);
  for (std::size_t i = text.find('?'); i != text.npos; i = text.find('?', i + 1)) {
    std::size_t end = i + 1;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_')) ++end;
    out.insert(text.substr(i + 1, end - i - 1));
  }
  return out;
}

// Axes whose size is to be chosen.
std::set<std::string> open_axes_in(const plan::Statement& s) {
  std::set<std::string> out;
  const auto note = [&](const plan::AxisSub& a) {
    if (a.sub.alternatives.size() > 1) out.insert(a.axis);
  };
  if (const auto* d = std::get_if<plan::DevicesStatement>(&s.body))
    std::for_each(d->axes.begin(), d->axes.end(), note);
  else if (const auto* g = std::get_if<plan::GridStatement>(&s.body))
    std::for_each(g->axes.begin(), g->axes.end(), note);
  else if (const auto* a = std::get_if<plan::AxisStatement>(&s.body))
    note({a->name, a->size});
  return out;
}

std::string value_text(const std::string& subject, const plan::OpenValue& value) {
  const auto* word = std::get_if<std::string>(&value);
  if (!word) return "require " + subject + " = " + std::to_string(std::get<std::int64_t>(value));
  const bool member = word->ends_with("]");  // `G[0]`, a grid
  return "require " + subject + (member ? " = " + *word : " in {" + *word + "}");
}

// `?d = 2`, `|mb| = 4`, `?dim in {out}`: a row behind the first statement that has the hole, behind all for a hole that only
// a template has.
std::vector<Line> value_lines(const plan::Plan& plan, const plan::OpenValues& values) {
  std::vector<Line> out;
  std::map<std::string, std::set<std::string>> of_base;
  for (const auto& [name, value] : values) of_base[base_of(name)].insert(name);
  std::set<std::string> known;
  for (const plan::Statement& s : plan.statements) {
    std::map<std::string, std::string> subjects;  // by name, as a row speaks of it
    for (const std::string& axis : open_axes_in(s))
      if (values.contains(axis)) subjects[axis] = "|" + axis + "|";
    for (const std::string& base : variables_in(s))
      if (const auto found = of_base.find(base); found != of_base.end())
        for (const std::string& name : found->second) subjects[name] = "?" + name;
    for (const auto& [name, subject] : subjects)
      if (known.insert(name).second) out.push_back({s.line, value_text(subject, values.at(name)), name});
  }
  for (const auto& [name, value] : values)
    if (!known.contains(name) && !plan.statements.empty())
      out.push_back({plan.statements.back().line, value_text("?" + name, value), name});
  return out;
}

}  // namespace

std::vector<std::string> merged_paths(const std::vector<std::string>& modules) {
  std::map<std::vector<std::string>, std::set<std::vector<std::int64_t>>> by_names;
  for (const std::string& m : modules) {
    Indexed i = take_apart(m);
    by_names[std::move(i.names)].insert(std::move(i.numbers));
  }
  std::vector<std::string> out;
  for (const auto& [names, tuples] : by_names) {
    std::vector<std::vector<std::string>> indices;
    boxes(tuples, indices);
    for (const auto& i : indices) out.push_back(put_together(names, i));
  }
  return out;
}

plan::Plan completed(const plan::Plan& plan, const plan::Decisions& decisions, const plan::ModelInfo& model,
                     const plan::OpenValues& values, const std::vector<Choice>& choices,
                     const std::vector<int>& picks) {
  std::map<int, std::vector<std::string>> lines;  // by the line that they stand behind
  for (const Line& l : value_lines(plan, values)) lines[l.after].push_back(l.text);
  for (const Line& l : Writer(decisions, model, choices, picks).write()) lines[l.after].push_back(l.text);
  plan::Plan out;
  out.file = plan.file;
  for (const plan::Statement& s : plan.statements) {
    out.statements.push_back(s);
    const auto behind = lines.find(s.line);
    if (behind == lines.end()) continue;
    for (const std::string& text : behind->second) {
      Result<plan::Statement> made = plan::parse_statement("auto " + text);
      if (!made.value) throw std::logic_error("a line of the planner does not parse: " + text);
      made->line = s.line;  // whose answer it is
      out.statements.push_back(std::move(*made));
    }
  }
  return out;
}

}  // namespace planscope::constraint
