#include "planner/search/splits/statements.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "engine/base/text.h"
#include "planner/constraint/choices.h"
#include "planner/search/splits/bound.h"

namespace planscope::splits {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Operators that differ only in numbers of their path and get the same word on the same axis.
struct Line {
  std::string word;  // with `sizes balanced`
  std::string axis;
  bool balanced = false;
  bool parameters = false;  // some of them read parameters
  std::vector<std::string> paths;
  std::string suffix;  // `:linear#0`
  bool operator==(const Line&) const = default;
};

std::string text_of(const Line& l) {
  std::vector<std::string> units;
  for (const std::string& p : l.paths) units.push_back(p + l.suffix);
  return "trans " + join(units, ", ") + " " + l.word + " by " + l.axis + (l.balanced ? " sizes balanced" : "");
}

class Writer {
 public:
  Writer(const Space& s, const Network& n, const layouts::Choice& c, const plan::ModelInfo& info,
         const std::string& head, const std::function<bool()>& abandoned)
      : space_(s), g_(s.graph()), network_(n), choice_(c), info_(info), head_(head), abandoned_(abandoned) {
    set_targets();
  }

  Result<Written> run() {
    lines_ = all_lines();
    keep_.assign(lines_.size(), true);
    Result<plan::Decisions> decisions = decisions_of(info_, text());
    if (!decisions.ok()) return decisions.diagnostics;
    const Result<Written> all = check(*decisions);
    if (!all.ok() || !all->exact) return all;
    each_by_itself_ = std::move(*decisions.value);
    all_splits_ = each_by_itself_->operator_splits;
    std::vector<std::size_t> computed, reading;
    for (std::size_t i = 0; i < lines_.size(); ++i) (lines_[i].parameters ? reading : computed).push_back(i);
    drop(computed);
    drop(reading);
    each_by_itself_.reset();
    leave();
    shorten();
    for (std::size_t i = lines_.size(); i-- > 0;) drop({i});  // a shorter line may say what another one did
    leave();
    join_lines();
    if (abandoned_()) return error("the chosen splits were not written in time", "give it longer");
    return check();
  }

 private:
  // What every operator has to bind on every axis.
  void set_targets() {
    targets_.resize(g_.ops.size());
    for (OpId o = 0; o < static_cast<OpId>(g_.ops.size()); ++o)
      targets_[at(o)] =
          network_.node_of[at(o)] < 0 ? BoundAxes(at(space_.axes())) : bound_by(space_, o, network_.chosen(o, choice_));
  }

  std::vector<Line> all_lines() const {
    std::map<std::vector<std::string>, std::pair<std::size_t, std::vector<std::string>>> groups;
    std::vector<Line> out;
    for (OpId o = 0; o < static_cast<OpId>(g_.ops.size()); ++o) {
      if (network_.node_of[at(o)] < 0) continue;
      const Strategy& s = network_.chosen(o, choice_);
      const plan::OperatorInfo& op = info_.operators[at(o)];
      const std::string suffix =
          (op.call >= 0 ? "@" + std::to_string(op.call) : "") + ":" + op.kind + "#" + std::to_string(op.ordinal);
      for (int a = 0; a < space_.axes(); ++a) {
        const Option& x = s.options[at(a)];
        if (x.kind == Option::Kind::pass) continue;
        Line l{x.kind == Option::Kind::split ? x.word : "none",
               space_.program().axes[at(a)].name,
               x.balanced,
               reads_parameter(o),
               {},
               suffix};
        const auto [known, fresh] =
            groups.try_emplace({without_numbers(op.module), suffix, l.word, l.axis, l.balanced ? "balanced" : ""},
                               out.size(), std::vector<std::string>{});
        if (fresh) out.push_back(std::move(l));
        out[known->second.first].paths.push_back(op.module);
      }
    }
    const std::map<std::string, std::set<std::string>> all = modules();
    for (Line& l : out) l.paths = merged(l.paths, all);
    return out;
  }

  // Those that differ in numbers alone, by what they are without.
  std::map<std::string, std::set<std::string>> modules() const {
    std::map<std::string, std::set<std::string>> out;
    for (const plan::OperatorInfo& op : info_.operators) out[without_numbers(op.module)].insert(op.module);
    return out;
  }

  // `layers[0:2].mlp`; `layers[*].mlp` where that is all of them.
  static std::vector<std::string> merged(const std::vector<std::string>& paths,
                                         const std::map<std::string, std::set<std::string>>& all) {
    std::string every = without_numbers(paths[0]);
    const std::set<std::string> distinct(paths.begin(), paths.end());
    if (distinct.size() == 1 || distinct != all.at(every) || every.starts_with('*'))
      return constraint::merged_paths(paths);
    for (std::size_t i = every.find(".*"); i != std::string::npos; i = every.find(".*", i)) every.replace(i, 2, "[*]");
    return {every};
  }

  bool reads_parameter(OpId o) const {
    const std::vector<Operand>& in = g_.ops[at(o)].inputs;
    return std::any_of(in.begin(), in.end(),
                       [&](const Operand& x) { return g_.model->values[at(x.tensor)].kind == ValueKind::parameter; });
  }

  std::string text() const {
    std::string out = head_;
    for (std::size_t i = 0; i < lines_.size(); ++i)
      if (keep_[i]) out += text_of(lines_[i]) + "\n";
    return out;
  }

  Result<Written> check() const {
    const Result<plan::Decisions> decisions = decisions_of(info_, text());
    if (!decisions.ok()) return decisions.diagnostics;
    return check(*decisions);
  }

  Result<Written> check(const plan::Decisions& decisions) const {
    Written out;
    for (std::size_t i = 0; i < lines_.size(); ++i)
      if (keep_[i]) out.lines.push_back(text_of(lines_[i]));
    const Result<std::vector<BoundAxes>> bound = bound_by(space_, decisions);
    if (!bound.ok()) return bound.diagnostics;
    out.exact = *bound == targets_;
    for (OpId o = 0; o < static_cast<OpId>(g_.ops.size()) && !out.exact && out.different.empty(); ++o)
      if ((*bound)[at(o)] != targets_[at(o)]) out.different = g_.node(o).name();
    return out;
  }

  bool does() {
    if (abandoned_()) return false;
    const Result<Written> w = each_by_itself_ ? check(kept()) : check();
    return w.ok() && w->exact;
  }

  // As long as no line says anything of what another one says something of: what is left out decides nothing.
  const plan::Decisions& kept() {
    const std::size_t first = each_by_itself_->plan.statements.size() - lines_.size();
    each_by_itself_->operator_splits = all_splits_;
    for (plan::Split& s : each_by_itself_->operator_splits)
      if (s.statement >= static_cast<int>(first) && !keep_[at(s.statement) - first]) s = {};
    return *each_by_itself_;
  }

  // Leaves out as many of these as will do: all, else of each half.
  void drop(const std::vector<std::size_t>& some) {
    if (some.empty()) return;
    for (const std::size_t i : some) keep_[i] = false;
    if (does()) return;
    for (const std::size_t i : some) keep_[i] = true;
    if (some.size() == 1) return;
    const auto middle = some.begin() + static_cast<std::ptrdiff_t>(some.size() / 2);
    drop({some.begin(), middle});
    drop({middle, some.end()});
  }

  void leave() {
    std::vector<Line> left;
    for (std::size_t i = 0; i < lines_.size(); ++i)
      if (keep_[i]) left.push_back(lines_[i]);
    lines_ = std::move(left);
    keep_.assign(lines_.size(), true);
  }

  // `X:linear#0` as `X:linear` or `X`, if that is the same.
  void shorten() {
    for (Line& l : lines_) {
      const std::string full = l.suffix;
      const std::string kind = full.substr(0, full.find('#')), call = full.substr(0, full.find(':'));
      for (const std::string& shorter : {call, kind}) {
        if (std::any_of(l.paths.begin(), l.paths.end(), [](const std::string& p) { return p.empty(); }) &&
            shorter == call)
          continue;
        l.suffix = shorter;
        if (does()) break;
        l.suffix = full;
      }
    }
  }

  // Lines of one word are one line.
  void join_lines() {
    std::vector<Line> joined;
    for (const Line& l : lines_) {
      const auto same = std::find_if(joined.begin(), joined.end(), [&](const Line& j) {
        return j.word == l.word && j.axis == l.axis && j.balanced == l.balanced;
      });
      Line copy = l;
      for (std::string& p : copy.paths) p += l.suffix;
      copy.suffix.clear();
      if (same == joined.end())
        joined.push_back(std::move(copy));
      else
        for (std::string& p : copy.paths)
          if (std::find(same->paths.begin(), same->paths.end(), p) == same->paths.end())
            same->paths.push_back(std::move(p));
    }
    const std::vector<Line> apart = lines_;
    lines_ = std::move(joined);
    keep_.assign(lines_.size(), true);
    if (does()) return;
    lines_ = apart;
    keep_.assign(lines_.size(), true);
  }

  const Space& space_;
  const Graph& g_;
  const Network& network_;
  const layouts::Choice& choice_;
  const plan::ModelInfo& info_;
  const std::string& head_;
  const std::function<bool()>& abandoned_;
  std::vector<BoundAxes> targets_;
  std::vector<Line> lines_;
  std::vector<bool> keep_;
  std::optional<plan::Decisions> each_by_itself_;  // all lines, while each is of its own operators
  std::vector<plan::Split> all_splits_;            // … of them
};

}  // namespace

Result<Written> write(const Space& s, const Network& n, const layouts::Choice& c, const plan::ModelInfo& info,
                      const std::string& head, const std::function<bool()>& abandoned) {
  return Writer(s, n, c, info, head, abandoned).run();
}

}  // namespace planscope::splits
