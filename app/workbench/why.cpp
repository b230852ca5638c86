#include "app/workbench/why.h"

#include <algorithm>
#include <map>
#include <set>

#include "app/workbench/equal_layers.h"
#include "app/workbench/named.h"
#include "app/workbench/operator_facts.h"
#include "engine/base/text.h"
#include "engine/plan/parser.h"
#include "engine/plan/printer.h"
#include "engine/plan/trans.h"
#include "engine/plan/within.h"
#include "planner/cost/operator_class.h"

namespace planscope {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

Result<NamedRows> asked_rows(const BasePlan& base, const plan::ModelInfo& info, const std::string& text) {
  Result<NamedRows> named = named_rows(base.plan, info, text);
  if (!named.ok() || !named->tasks) return named;
  Diagnostic d = error("this is no selection of operators", "",
                       "name operators as a plan does, or update(…), grad(…) or fetch(…) of them");
  d.subject = text;
  return d;
}

// --- what the Program does

class Explainer {
 public:
  Explainer(const BasePlan& base, const plan::ModelInfo& info, const WhySettings& settings)
      : base_(base), info_(info), settings_(settings), d_(base.judged.made.decisions), facts_(base.judged.made, info) {}

  Why run(const NamedRows& asked) {
    phase_ = asked.phase;
    const std::vector<int> classes = asked.of_parameters() ? equal_layer_parameters(info_) : equal_layers(info_);
    std::map<std::pair<int, std::string>, std::vector<int>> alike;
    for (int row = 0; row < static_cast<int>(classes.size()); ++row)
      alike[{classes[at(row)], treatment(row)}].push_back(row);
    std::set<std::pair<int, std::string>> told;
    for (const int row : asked.rows) {
      const std::pair<int, std::string> key{classes[at(row)], treatment(row)};
      if (!told.insert(key).second) continue;
      std::vector<int> here;
      std::set_intersection(alike[key].begin(), alike[key].end(), asked.rows.begin(), asked.rows.end(),
                            std::back_inserter(here));
      out_.answers.push_back(answer(alike[key], here));
    }
    if (!asked.of_parameters()) most_work_first();
    return std::move(out_);
  }

 private:
  bool wanted(const std::string& about) const { return settings_.about.empty() || settings_.about == about; }

  const plan::Split& split(int row, int axis) const { return facts_.split(phase_, row, axis); }
  const std::vector<plan::FactorInfo>& factors(int row) const { return facts_.factors(phase_, row); }

  // What the plan does with an operator, whatever its place: equal texts are treated alike.
  std::string treatment(int row) const {
    std::string out;
    for (int a = 0; a < static_cast<int>(d_.axes.size()); ++a) {
      const plan::Split& s = split(row, a);
      out += std::to_string(s.statement) + ":" + std::to_string(s.factor) + ":" + does(row, a) + ",";
    }
    if (phase_ != plan::Phase::forward) return out;
    const int storage = d_.operator_storage[at(row)];
    return out + (storage < 0 ? "" : std::to_string(d_.algorithms[at(storage)].statement));
  }

  // What computes most is meant most. A view costs nothing: where others are asked about too, nothing is tried on it.
  void most_work_first() {
    const Graph& g = *base_.judged.made.graph;
    const auto flops = [&](const OperatorAnswer& a) { return g.ops[at(a.first)].flops; };
    std::stable_sort(out_.answers.begin(), out_.answers.end(),
                     [&](const auto& a, const auto& b) { return flops(a) > flops(b); });
    const auto is_view = [&](const OperatorAnswer& a) { return classify(g, a.first) == OperatorClass::view; };
    if (std::all_of(out_.answers.begin(), out_.answers.end(), is_view)) return;
    for (OperatorAnswer& a : out_.answers)
      for (ChoiceAnswer& c : a.choices)
        if (is_view(a)) c.alternatives.clear();
  }

  OperatorAnswer answer(const std::vector<int>& rows, const std::vector<int>& asked) {
    OperatorAnswer out;
    const bool parameters = phase_ != plan::Phase::forward;
    out.operators = parameters ? std::string(plan::to_string(phase_)) + "(" + readers_of(info_, rows) + ")"
                               : selection_of(info_, rows);
    selection_ = settings_.words.empty() ? out.operators : settings_.words;
    const Graph& g = *base_.judged.made.graph;
    out.example = parameters ? info_.parameters[at(asked[0])].name : g.node(asked[0]).name();
    out.first = asked[0];
    out.count = static_cast<std::int64_t>(rows.size());
    out.asked = static_cast<std::int64_t>(asked.size());
    for (int a = 0; a < static_cast<int>(d_.axes.size()); ++a)
      if (wanted(d_.axes[at(a)].name)) out.choices.push_back(on_axis(asked[0], a));
    if (!parameters && wanted("place")) place(rows, asked, out.choices);
    if (wanted(parameters ? "state" : "backward")) storage(asked[0], out.choices);
    if (!parameters && wanted("order")) order(asked[0], out.choices);
    return out;
  }

  DecidedBy by_line(int statement) const {
    DecidedBy by;
    by.line = written_line(base_.plan, d_, statement);
    const plan::Statement& s = d_.plan.statements[at(statement)];
    by.automatic = s.automatic;
    if (!s.from.empty()) by.template_line = plan::print_code(s);
    return by;
  }

  static void may_be(ChoiceAnswer& c, const std::string& statement) {
    Tried t;
    t.statement = statement;
    c.alternatives.push_back(std::move(t));
  }

  // --- an axis

  std::string does(int row, int axis) const { return facts_.does(phase_, row, axis); }

  ChoiceAnswer on_axis(int row, int axis) const {
    const plan::AxisInfo& info = d_.axes[at(axis)];
    ChoiceAnswer c;
    c.about = info.name;
    c.does = does(row, axis);
    const bool forward = phase_ == plan::Phase::forward;
    if (forward && info_.operators[at(row)].parameter_free) {
      c.by.follows = "no parameter reaches it: computed where and as it is read";
      return c;
    }
    if (forward && facts_.indices(row, info.name, info.free) < 2) {
      c.by = too_few(row, axis);
      return c;
    }
    if (const int statement = split(row, axis).statement; statement >= 0)
      c.by = by_line(statement);
    else
      follows(row, axis, c.by);
    for (int f = 0; f < static_cast<int>(factors(row).size()); ++f) {
      const std::string name = facts_.factor_name(phase_, row, f);
      if (name.empty() || name == c.does || factors(row)[at(f)].size < 2) continue;
      may_be(c, "trans " + selection_ + " " + name + " by " + info.name);
    }
    if (c.does != "none") may_be(c, "trans " + selection_ + " none by " + info.name);
    return c;
  }

  // An axis of one index, by the line that says so if the planner wrote it; or one that the place lacks.
  DecidedBy too_few(int row, int axis) const {
    const plan::AxisInfo& info = d_.axes[at(axis)];
    DecidedBy by;
    by.follows = facts_.place(row) + " has no axis " + info.name;
    if (facts_.indices(row, info.name, info.free) == 0) return by;
    by.follows = "the axis has one index";
    for (const plan::Statement& s : base_.plan.statements) {
      const auto given = s.automatic ? plan::given_value(base_.plan, s) : std::nullopt;
      if (!given || !sizes(given->first, info.name)) continue;
      by.line = StatementRef{s.line, base_.plan.file, plan::print_code(s)};
      by.automatic = true;
    }
    return by;
  }

  // Whether an open value is the size of an axis: `tensor=?t`, or `tensor=1|2` itself.
  bool sizes(const std::string& value, const std::string& axis) const {
    if (value == axis) return true;
    const auto of_value = [&](const plan::AxisSub& a) {
      return a.axis == axis && a.sub.alternatives.size() == 1 &&
             a.sub.alternatives[0].kind == plan::Expression::Kind::open && a.sub.alternatives[0].text == value;
    };
    for (const plan::Statement& s : base_.plan.statements) {
      if (const auto* d = std::get_if<plan::DevicesStatement>(&s.body))
        if (std::any_of(d->axes.begin(), d->axes.end(), of_value)) return true;
      if (const auto* g = std::get_if<plan::GridStatement>(&s.body))
        if (std::any_of(g->axes.begin(), g->axes.end(), of_value)) return true;
      if (const auto* a = std::get_if<plan::AxisStatement>(&s.body); a && of_value({a->name, a->size})) return true;
    }
    return false;
  }

  void follows(int row, int axis, DecidedBy& by) const {
    if (phase_ != plan::Phase::forward) {
      by.follows = "no statement: as the use of the parameter needs it";
      return;
    }
    const auto bindings = facts_.bindings(row, d_.axes[at(axis)].name);
    const Origin origin = bindings.empty() ? Origin::follow : bindings[0]->origin;
    switch (origin) {
      case Origin::pass:
        by.follows = "its operand is partial, and passes";
        return;
      case Origin::sweep:
        by.follows = "its readers want its result so";
        return;
      default:
        by.follows = "the fewest bytes move";
    }
    by.compared = followed(*base_.judged.made.graph, d_, base_.cluster, row, axis);
    if (by.compared.empty()) by.follows = "nothing to split by";
  }

  // --- places, what waits for backward, order

  void place(const std::vector<int>& rows, const std::vector<int>& asked, std::vector<ChoiceAnswer>& out) const {
    std::set<std::string> all;
    for (const int p : d_.operator_place)
      if (p >= 0 && !d_.places[at(p)].open()) all.insert(plan::place_text(d_, d_.places[at(p)]));
    if (all.empty()) return;
    std::vector<std::string> here;
    for (const int row : asked)
      if (std::find(here.begin(), here.end(), facts_.place(row)) == here.end()) here.push_back(facts_.place(row));
    ChoiceAnswer c;
    c.about = "place";
    c.does = join(here, "; ");
    const int p = d_.operator_place[at(asked[0])];
    if (p >= 0)
      c.by = by_line(d_.places[at(p)].statement);
    else
      c.by.follows = "with what first uses it, else with what last produced it";
    std::vector<int> there;
    for (const int row : rows)
      if (facts_.place(row) == here[0]) there.push_back(row);
    const std::string selection = settings_.words.empty() ? selection_of(info_, there) : settings_.words;
    for (const std::string& other : all)
      if (here.size() == 1 && other != here[0] && d_.operator_indexed[at(asked[0])] < 0)
        may_be(c, "assign " + selection + " to " + other);
    out.push_back(std::move(c));
  }

  void storage(int row, std::vector<ChoiceAnswer>& out) const {
    const bool update = phase_ == plan::Phase::update;
    if (!update && (phase_ != plan::Phase::forward || !info_.operators[at(row)].has_backward)) return;
    const int a = update ? d_.update_storage[at(row)] : d_.operator_storage[at(row)];
    ChoiceAnswer c;
    c.about = update ? "state" : "backward";
    c.does = facts_.storage(a);
    if (a >= 0)
      c.by = by_line(d_.algorithms[at(a)].statement);
    else
      c.by.follows = "no statement: kept";
    for (const char* word : {"keep", "recompute", "offload"})
      if (word != c.does && !(update && std::string_view(word) == "recompute"))
        may_be(c, "trans " + selection_ + " " + word);
    out.push_back(std::move(c));
  }

  void order(int row, std::vector<ChoiceAnswer>& out) const {
    std::vector<StatementRef> told;
    for (const plan::OrderRow& r : d_.order) {
      const auto names = [&](int unit) {
        const std::vector<int>& ops = d_.units[at(unit)].operators;
        return std::binary_search(ops.begin(), ops.end(), row);
      };
      const bool speaks = std::any_of(r.chain.begin(), r.chain.end(), [&](const plan::TaskFamily& f) {
        return std::any_of(f.units.begin(), f.units.end(), names);
      });
      ChoiceAnswer c;
      c.about = "order";
      c.by = by_line(r.statement);
      if (!speaks || std::find(told.begin(), told.end(), *c.by.line) != told.end()) continue;
      told.push_back(*c.by.line);
      out.push_back(std::move(c));
    }
  }

  const BasePlan& base_;
  const plan::ModelInfo& info_;
  const WhySettings& settings_;
  const plan::Decisions& d_;
  OperatorFacts facts_;
  plan::Phase phase_ = plan::Phase::forward;
  std::string selection_;
  Why out_;
};

// Tries what else there is.
class Trial {
 public:
  Trial(const BasePlan& base, const WhySettings& settings) : base_(base), settings_(settings) {}

  void run(Why& w) {
    for (OperatorAnswer& a : w.answers)
      for (ChoiceAnswer& c : a.choices) try_all(w, c);
  }

 private:
  void try_all(Why& w, ChoiceAnswer& c) {
    std::vector<Tried> tried;
    for (const Tried& t : c.alternatives) {
      if (tried_ >= settings_.most || base_.stop) {
        ++w.left_out;
        continue;
      }
      ++tried_;
      Tried one = try_text(base_, t.statement);
      one.judged.reset();
      tried.push_back(std::move(one));
    }
    std::stable_sort(tried.begin(), tried.end(), cheaper);
    c.alternatives = std::move(tried);
  }

  const BasePlan& base_;
  const WhySettings& settings_;
  std::int64_t tried_ = 0;
};

}  // namespace

Result<Why> questions(const BasePlan& base, const std::string& operators, const WhySettings& settings) {
  const Result<Decided> decided = decide(base.graph, base.plan, {}, &base.cache);
  if (!decided.ok()) return decided.diagnostics;
  const plan::ModelInfo& info = decided->sized->info;
  const Result<NamedRows> asked = asked_rows(base, info, operators);
  if (!asked.ok()) return asked.diagnostics;
  const std::vector<plan::AxisInfo>& axes = decided->decisions.axes;
  std::vector<std::string> choices;
  for (const plan::AxisInfo& a : axes) choices.push_back(a.name);
  for (const char* other : {"place", "backward", "state", "order"}) choices.emplace_back(other);
  if (!settings.about.empty() && std::find(choices.begin(), choices.end(), settings.about) == choices.end())
    return error("'" + settings.about + "' is no axis of the plan", "", "write one of " + join(choices, ", "));
  return Explainer(base, info, settings).run(*asked);
}

Result<Why> why(const BasePlan& base, const std::string& operators, const WhySettings& settings) {
  Result<Why> out = questions(base, operators, settings);
  if (out.ok()) Trial(base, settings).run(*out);
  return out;
}

}  // namespace planscope
