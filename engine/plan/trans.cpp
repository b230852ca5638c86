#include "engine/plan/trans.h"

#include <algorithm>

#include "engine/base/text.h"
#include "engine/plan/printer.h"

namespace planscope::plan {

namespace {
// What a statement did to the operators of one element of its selection.
struct Tally {
  std::string text;
  bool wildcard = false;
  bool parameters = false;  // of update, grad or fetch
  int operators = 0, applied = 0, frozen = 0, units = 0;
  int lacking_example = -1, frozen_example = -1;
};

class TransBinder {
 public:
  TransBinder(Context& c, const TransStatement& s) : c_(c), s_(s) {}

  void run() {
    const bool axes = resolve_axes();
    auto units = units_by_phase(c_, s_.units);
    if (!units) return;
    operators_ = std::move((*units)[Phase::forward]);
    units->erase(Phase::forward);
    phases_ = std::move(*units);
    if (!axes) {  // say what is wrong with the selection too
      if (const auto cases = c_.cases({&operators_}); cases && cases->size() == 1) c_.select(operators_, (*cases)[0]);
      return;
    }
    if (!each_once() || !take_sizes()) return;
    if (s_.at && !take_turn(c_, s_, axes_, !phases_.empty())) return;
    if (!phases_.empty() && !split_parameters(c_, axes_)) return;
    find_variable();
    choices_of_factors_.emplace(s_.factor, domain_);
    c_.axes_of[c_.statement] = axes_;
    note_choices();
    const auto cases = c_.cases({&s_.units});
    if (!cases) return;
    for (const Bindings& b : *cases) {
      const bool quiet = !b.variables.empty();
      if (!operators_.groups.empty() && !apply_operators(b, quiet)) return;
      for (const auto& [phase, of_phase] : phases_)
        if (!apply_parameters(phase, of_phase, b, quiet)) return;
    }
    report();
  }

 private:
  bool resolve_axes() {
    for (const Choice& choice : s_.axes) {
      const std::string& word = choice.words[0];
      if (choice.words.size() > 1) {
        if (!add_choice(choice)) return false;
        continue;
      }
      if (word[0] == '?') {
        c_.defer();
        return false;
      }
      if (word == "*") {
        for (std::size_t a = 0; a < c_.decisions.axes.size(); ++a)
          if (!c_.decisions.axes[a].free) axes_.push_back(static_cast<int>(a));
        continue;
      }
      const auto named = c_.axes_named(word);
      if (!named) return false;
      axes_.insert(axes_.end(), named->begin(), named->end());
    }
    return true;
  }

  bool each_once() {
    for (std::size_t k = 0; k < axes_.size(); ++k)
      if (std::find(axes_.begin(), axes_.begin() + static_cast<std::ptrdiff_t>(k), axes_[k]) !=
          axes_.begin() + static_cast<std::ptrdiff_t>(k)) {
        c_.refuse("'" + axis_name(axes_[k]) + "' stands twice behind 'by'.");
        return false;
      }
    return true;
  }

  const std::string& axis_name(int a) const { return c_.decisions.axes[static_cast<std::size_t>(a)].name; }

  // `by a|b`, `by a|none`
  bool add_choice(const Choice& choice) {
    std::vector<int> one_of;
    bool none = false;
    for (const std::string& word : choice.words) {
      none = none || word == "none";
      if (word == "none") continue;
      const auto named = c_.axes_named(word);
      if (!named) return false;
      if (named->size() != 1) {
        c_.refuse("'" + word + "' stands for several axes; a choice is between single ones.");
        return false;
      }
      one_of.push_back((*named)[0]);
    }
    axes_.insert(axes_.end(), one_of.begin(), one_of.end());
    one_of_.insert(one_of_.end(), one_of.begin(), one_of.end());
    choices_.push_back({std::move(one_of), none});
    return true;
  }

  void note_choices() {
    const auto& words = s_.factor.words;
    const bool no_factor = std::find(words.begin(), words.end(), "none") != words.end();
    for (const auto& [axes, no_axis] : choices_) {
      const bool none = no_factor || no_axis;
      if (!operators_.groups.empty()) c_.decisions.axis_choices.push_back({c_.statement, Phase::forward, axes, none});
      for (const auto& [phase, units] : phases_) c_.decisions.axis_choices.push_back({c_.statement, phase, axes, none});
    }
  }

  bool take_sizes() {
    if (s_.sizes.form == Sizes::Form::equal) return true;
    SplitSizes& sizes = c_.decisions.sizes[c_.statement];
    sizes.form = s_.sizes.form;
    if (sizes.form == Sizes::Form::balanced) return true;
    if (axes_.size() > 1) {
      c_.refuse("'sizes' lists the blocks of one axis; write a line for each axis.");
      return false;
    }
    if (!phases_.empty()) {
      c_.refuse(
          "what belongs to parameters is split into blocks as equal as possible; 'sizes' lists those of operators.");
      return false;
    }
    for (const Expression& e : s_.sizes.listed) {
      const auto n = c_.number(e);
      if (!n) return false;
      if (*n < 0 || *n > max_size) {
        c_.refuse("a block cannot have " + std::to_string(*n) + " elements (0 to " + std::to_string(max_size) + ").");
        return false;
      }
      sizes.listed.push_back(*n);
    }
    return true;
  }

  void find_variable() {
    for (const std::string& word : s_.factor.words)
      for (std::size_t i = 0; i < c_.decisions.variables.size(); ++i)
        if (word == "?" + c_.decisions.variables[i].name) {
          variable_ = static_cast<int>(i);
          domain_ = c_.decisions.variables[i].words;
        }
  }

  Tally& tally(const std::string& text, bool wildcard) {
    for (Tally& t : tallies_)
      if (t.text == text) return t;
    Tally t;
    t.text = text;
    t.wildcard = wildcard;
    tallies_.push_back(std::move(t));
    return tallies_.back();
  }

  // Writes the decision into a row of a table; false if the row has no such factor.
  bool decide(std::vector<Split>& table, int row, const std::vector<FactorInfo>& factors, Tally& t) {
    ++t.operators;
    const FactorChoice& choice = choices_of_factors_->of(factors);
    for (const int factor : choice.factors)
      if (!fits(factors, factor)) {
        unfit_ = {row, factors[static_cast<std::size_t>(factor)].kind};
        return false;
      }
    if (choice.factors.empty()) {
      t.frozen += choice.frozen ? 1 : 0;
      (choice.frozen ? t.frozen_example : t.lacking_example) = row;
      return false;
    }
    Split split;
    split.statement = c_.statement;
    split.factor = choice.factors[0];
    if (split.factor >= 0) split.part = find_part(factors[static_cast<std::size_t>(split.factor)], choice.words[0]);
    if (choice.factors.size() > 1 || variable_ >= 0) {
      split.factor = kOpen;
      split.alternatives = alternatives(choice);
    }
    Split one_of = split;
    if (!one_of_.empty() && split.factor != kNone) {
      FactorChoice with_none = choice;
      if (std::find(choice.factors.begin(), choice.factors.end(), kNone) == choice.factors.end()) {
        with_none.factors.push_back(kNone);
        with_none.words.emplace_back("none");
      }
      one_of.factor = kOpen;
      one_of.alternatives = alternatives(with_none);
    }
    for (std::size_t k = 0; k < axes_.size(); ++k) {
      const bool chosen = std::find(one_of_.begin(), one_of_.end(), axes_[k]) != one_of_.end();
      Split& cell = table[c_.decisions.cell(row, axes_[k])];
      cell = chosen ? one_of : split;
      cell.position = static_cast<int>(k);
    }
    ++t.applied;
    return true;
  }

  // Blocks of a softmax are put together one after the other, those of a log-sum-exp among devices.
  bool fits(const std::vector<FactorInfo>& factors, int factor) const {
    const FactorKind kind = factor < 0 ? FactorKind::free : factors[static_cast<std::size_t>(factor)].kind;
    if (kind != FactorKind::softmax && kind != FactorKind::merge) return true;
    return std::all_of(axes_.begin(), axes_.end(), [&](int a) {
      return c_.decisions.axes[static_cast<std::size_t>(a)].free == (kind == FactorKind::softmax);
    });
  }

  int alternatives(const FactorChoice& choice) {
    Alternatives a{choice.factors, variable_, choice.words};
    auto& pool = c_.decisions.alternatives;
    for (std::size_t i = pool.size(); i-- > 0;)
      if (pool[i] == a) return static_cast<int>(i);
    pool.push_back(std::move(a));
    return static_cast<int>(pool.size()) - 1;
  }

  // A wildcard takes what computes with parameters.
  static bool passed_over(const Unit& u, const OperatorInfo& o) { return u.wildcard && o.parameter_free; }

  bool apply_operators(const Bindings& b, bool quiet) {
    const auto matches = c_.select(operators_, b, quiet);
    if (!matches) return false;
    for (const Match& m : *matches)
      for (const Unit& u : m.units) {
        Tally& t = tally(m.text, u.wildcard);
        ++t.units;
        for (const int op : u.operators) {
          const OperatorInfo& info = c_.model.operators[static_cast<std::size_t>(op)];
          if (passed_over(u, info)) continue;
          if (decide(c_.decisions.operator_splits, op, c_.factors(op), t))
            c_.rows[static_cast<std::size_t>(c_.statement)].push_back(op);
        }
      }
    return true;
  }

  bool apply_parameters(Phase phase, const Units& units, const Bindings& b, bool quiet) {
    const auto matches = c_.select(units, b, quiet);
    if (!matches) return false;
    bool wildcard = false;
    for (const Match& m : *matches)
      for (const Unit& u : m.units) wildcard = wildcard || u.wildcard;
    Tally& t = tally(std::string(to_string(phase)) + "(" + print(units) + ")", wildcard);
    t.parameters = true;
    for (const int p : c_.parameters_of(*matches))
      if (decide(c_.decisions.splits(phase), p, c_.model.parameters[static_cast<std::size_t>(p)].factors, t))
        c_.rows[static_cast<std::size_t>(c_.statement)].push_back(p);
    return true;
  }

  // --- messages

  std::string label(int op) const {
    const OperatorInfo& o = c_.model.operators[static_cast<std::size_t>(op)];
    const auto parts = split(o.module, '.');
    std::string last;
    for (const std::string& p : parts)
      if (!p.empty() && p.find_first_not_of("0123456789") != p.npos) last = p;
    return o.kind + (last.empty() ? "" : " (" + last + ")");
  }

  const FactorInfo* frozen_factor(int op) const {
    for (const std::string& word : s_.factor.words) {
      const auto& factors = c_.model.operators[static_cast<std::size_t>(op)].factors;
      const int i = find_factor(factors, word);
      if (i >= 0 && factors[static_cast<std::size_t>(i)].kind == FactorKind::frozen)
        return &factors[static_cast<std::size_t>(i)];
    }
    return nullptr;
  }

  std::string words() const {
    std::vector<std::string> out;
    for (const std::string& w : s_.factor.words) out.push_back("'" + w + "'");
    return join(out, " or ");
  }

  void report() {
    if (unfit_.first >= 0)
      return c_.refuse(
          label(unfit_.first) + ": " + words() +
          (unfit_.second == FactorKind::softmax
               ? " is a softmax over blocks that come one after the other; over devices it cannot be split. "
                 "Name a free axis, or leave it whole."
               : " is a log-sum-exp over blocks on several devices; over a free axis it cannot be split. "
                 "Name an axis of devices, or leave it whole."));
    for (const Tally& t : tallies_) {
      if (t.applied > 0) {
        note_frozen(t);
        continue;
      }
      if (t.operators == 0) continue;
      if (t.frozen_example >= 0 && !t.parameters) {
        refuse_frozen(t);
      } else {
        refuse_lacking(t);
      }
    }
  }

  void note_frozen(const Tally& t) {
    if (t.wildcard || t.frozen == 0 || t.parameters) return;
    const FactorInfo* f = frozen_factor(t.frozen_example);
    c_.remark(Severity::note, words() + " is frozen in " + std::to_string(t.frozen) + " of " +
                                  std::to_string(t.operators) + " operators of '" + t.text + "' (" +
                                  c_.model.operators[static_cast<std::size_t>(t.frozen_example)].kind +
                                  (f && !f->reason.empty() ? ": " + f->reason : "") +
                                  "); the line has no effect on them.");
  }

  void refuse_frozen(const Tally& t) {
    const OperatorInfo& o = c_.model.operators[static_cast<std::size_t>(t.frozen_example)];
    const FactorInfo* f = frozen_factor(t.frozen_example);
    c_.refuse(o.kind + ": " + words() + " is frozen" + (f && !f->reason.empty() ? " (" + f->reason + ")" : "") +
              ". Legal: " + factor_names(o.factors, true) + ".");
  }

  void refuse_inner(const Tally& t) {
    constexpr std::size_t most = 6;
    const Inside in = inside(t);
    std::vector<std::pair<int, std::string>> order;
    for (const auto& [name, n] : in.kinds) order.push_back({-n, name});
    std::sort(order.begin(), order.end());
    std::vector<std::string> kinds, factors = all_names(t);
    for (const auto& [n, name] : order)
      if (kinds.size() < most) kinds.push_back(std::to_string(-n) + " " + name);
    if (order.size() > most) kinds.push_back("others");
    if (factors.size() > most) factors.resize(most);
    const std::string first = in.modules.empty() || in.modules[0] == t.text
                                  ? ""
                                  : " (" + in.modules[0] + (in.modules.size() > 1 ? " and more" : "") + ")";
    c_.refuse(
        "no operator of '" + t.text + "'" + first +
        " has an inner dimension: one that a product with weights gives and a "
        "later product sums over, as attention heads or the hidden dimension of a feed-forward. Its operators are " +
        join(kinds, ", ") + ", with the factors " + join(factors, ", ") +
        ". Select modules that hold both products, or name a factor: 'trans MODULE out by AXIS'.");
  }

  void refuse_lacking(const Tally& t) {
    if (t.parameters) {
      const auto& factors =
          c_.model.parameters[static_cast<std::size_t>(std::max(t.lacking_example, t.frozen_example))].factors;
      return c_.refuse("no parameter of " + t.text + " has a dimension " + words() + "; " +
                       c_.model.parameters[static_cast<std::size_t>(std::max(t.lacking_example, 0))].name + " has " +
                       factor_names(factors, false) + ".");
    }
    if (s_.factor.words == std::vector<std::string>{"inner"}) return refuse_inner(t);
    if (t.operators == t.units && t.operators > 0 && !t.wildcard)
      return c_.refuse(label(t.lacking_example) + " has no factor " + words() + "; it has " +
                       factor_names(c_.model.operators[static_cast<std::size_t>(t.lacking_example)].factors, false) +
                       ".");
    std::vector<std::string> names = all_names(t);
    const std::string near = nearest(s_.factor.words[0], names);
    if (names.size() > 8) names.resize(8);
    c_.refuse("no operator of '" + t.text + "' has a factor " + words() + "; they have " + join(names, ", ") + "." +
              (near.empty() ? "" : " Did you mean '" + near + "'?"));
  }

  // Modules and kinds of the operators of an element, the most frequent kinds first.
  struct Inside {
    std::vector<std::string> modules;  // in program order
    std::map<std::string, int> kinds;
  };
  Inside inside(const Tally& t) const {
    Inside out;
    const auto matches = c_.select(operators_, {}, true);
    for (std::size_t i = 0; matches && i < matches->size(); ++i)
      for (const Unit& u : (*matches)[i].units)
        if ((*matches)[i].text == t.text)
          for (const int op : u.operators) {
            const OperatorInfo& o = c_.model.operators[static_cast<std::size_t>(op)];
            ++out.kinds[o.kind];
            const std::string& module = o.module.empty() ? o.kind : o.module;
            if (out.modules.empty() || out.modules.back() != module) out.modules.push_back(module);
          }
    return out;
  }

  // First names of all factors of the operators of an element, most frequent first.
  std::vector<std::string> all_names(const Tally& t) const {
    std::map<std::string, int> count;
    const auto matches = c_.select(operators_, {}, true);
    for (std::size_t i = 0; matches && i < matches->size(); ++i)
      for (const Unit& u : (*matches)[i].units)
        if ((*matches)[i].text == t.text)
          for (const int op : u.operators) {
            const OperatorInfo& o = c_.model.operators[static_cast<std::size_t>(op)];
            if (passed_over(u, o)) continue;
            for (const FactorInfo& f : o.factors)
              if (!f.names.empty()) ++count[f.names[0]];
          }
    std::vector<std::pair<int, std::string>> order;
    for (const auto& [name, n] : count) order.push_back({-n, name});
    std::sort(order.begin(), order.end());
    std::vector<std::string> out;
    for (const auto& [n, name] : order) out.push_back(name);
    return out.empty() ? std::vector<std::string>{"none"} : out;
  }

  Context& c_;
  const TransStatement& s_;
  Units operators_;
  std::map<Phase, Units> phases_;
  std::vector<int> axes_;
  std::vector<int> one_of_;                                 // those that stand in a choice
  std::vector<std::pair<std::vector<int>, bool>> choices_;  // of axes, or none of them
  std::vector<std::string> domain_;
  std::optional<FactorChoices> choices_of_factors_;
  int variable_ = -1;
  std::pair<int, FactorKind> unfit_ = {-1, FactorKind::free};  // an operator, a factor that the axes do not fit
  std::vector<Tally> tallies_;
};

}  // namespace

std::optional<std::map<Phase, Units>> units_by_phase(Context& c, const Units& all) {
  std::map<Phase, Units> out;
  const auto place = [&](const Group& g, bool except) {
    if (!g.index.empty()) {
      c.refuse("'" + print(g) + "': an index names tasks; it stands in 'order'.");
      return false;
    }
    if (g.form != Group::Form::phase) {
      (except ? out[Phase::forward].except : out[Phase::forward].groups).push_back(g);
      return true;
    }
    if (g.phase != Phase::fetch && g.phase != Phase::grad && g.phase != Phase::update) {
      c.unsupported("'trans " + print(g) + "': splitting a phase other than fetch, grad and update");
      return false;
    }
    Units& units = out[g.phase];
    auto& into = except ? units.except : units.groups;
    into.insert(into.end(), g.units.groups.begin(), g.units.groups.end());
    units.except.insert(units.except.end(), g.units.except.begin(), g.units.except.end());
    return true;
  };
  for (const Group& g : all.groups)
    if (!place(g, false)) return std::nullopt;
  for (const Group& g : all.except)
    if (!place(g, true)) return std::nullopt;
  return out;
}

bool split_parameters(Context& c, const std::vector<int>& axes) {
  for (const int a : axes)
    if (const AxisInfo& axis = c.decisions.axes[static_cast<std::size_t>(a)]; axis.free) {
      c.refuse("'" + axis.name +
               "' is a free axis: all of its indices share what belongs to a parameter. update, grad and fetch are "
               "split over axes of devices.");
      return false;
    }
  return true;
}

void bind_trans(Context& c, const TransStatement& s) { TransBinder(c, s).run(); }

}  // namespace planscope::plan
