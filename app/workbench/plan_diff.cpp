#include "app/workbench/plan_diff.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "app/workbench/equal_layers.h"
#include "app/workbench/operator_facts.h"
#include "engine/base/text.h"
#include "engine/plan/printer.h"

namespace planscope {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

struct Decision {
  std::string does;
  std::optional<StatementRef> line;
};
using Decisions = std::map<std::string, Decision>;  // by what they are about

// One of the two plans.
class Side {
 public:
  Side(const ComparedPlan& p, const plan::ModelInfo& info)
      : plan_(p), d_(p.judged.made.decisions), facts_(p.judged.made, info), shares(cost_shares(p.judged, p.cluster)) {}

  Decisions of_operator(int op) const {
    Decisions out;
    for (int a = 0; a < static_cast<int>(d_.axes.size()); ++a)
      add(out, d_.axes[at(a)].name, facts_.does(plan::Phase::forward, op, a), d_.split(op, a).statement, "none");
    const int place = d_.operator_place[at(op)];
    add(out, "place", facts_.place(op), place < 0 ? -1 : d_.places[at(place)].statement, "");
    const int storage = d_.operator_storage[at(op)], apart = d_.operator_grad_split[at(op)];
    add(out, "backward", facts_.storage(storage), statement_of(storage), "keep");
    if (apart >= 0) add(out, "gradients", "grad_split", statement_of(apart), "");
    const plan::Lag& lag = d_.operator_lag[at(op)];
    add(out, "lag", std::to_string(lag.updates), lag.statement, "0");
    return out;
  }

  Decisions of_parameter(int p) const {
    Decisions out;
    for (const plan::Phase phase : {plan::Phase::fetch, plan::Phase::grad, plan::Phase::update})
      for (int a = 0; a < static_cast<int>(d_.axes.size()); ++a)
        add(out, std::string(plan::to_string(phase)) + " by " + d_.axes[at(a)].name, facts_.does(phase, p, a),
            facts_.split(phase, p, a).statement, "none");
    add(out, "state", facts_.storage(d_.update_storage[at(p)]), statement_of(d_.update_storage[at(p)]), "keep");
    return out;
  }

  // What the plan says of no operator.
  Decisions of_all() const {
    Decisions out;
    for (const auto& [name, size] : d_.input_sizes) out[name] = {std::to_string(size), line<plan::ModelStatement>()};
    for (const plan::AxisInfo& a : d_.axes)
      if (a.free) out["axis " + a.name] = {std::to_string(a.size), ref(a.statement)};
    for (const plan::GridInfo& g : d_.grids) {
      std::vector<std::string> axes = {std::to_string(g.devices.size())};
      for (const plan::GridAxis& a : g.axes) axes.push_back(d_.axes[at(a.axis)].name + "=" + std::to_string(a.size));
      if (g.statement >= 0 && declares(g.statement))
        out[g.name == "all" ? "devices" : g.name] = {join(axes, " "), ref(g.statement)};
    }
    std::set<std::string> orders;
    std::optional<StatementRef> first;
    for (const plan::OrderRow& r : d_.order) {
      const StatementRef at_line = written_line(plan_.plan, d_, r.statement);
      if (!first) first = at_line;
      orders.insert(at_line.text);
    }
    if (!orders.empty()) out["order"] = {join({orders.begin(), orders.end()}, "; "), first};
    return out;
  }

 private:
  std::optional<StatementRef> ref(int statement) const {
    if (statement < 0) return std::nullopt;
    return written_line(plan_.plan, d_, statement);
  }
  int statement_of(int unit) const { return unit < 0 ? -1 : d_.algorithms[at(unit)].statement; }
  bool declares(int statement) const {
    const plan::StatementBody& s = d_.plan.statements[at(statement)].body;
    return std::holds_alternative<plan::DevicesStatement>(s) || std::holds_alternative<plan::GridStatement>(s);
  }
  template <class T>
  std::optional<StatementRef> line() const {
    for (int k = static_cast<int>(d_.plan.statements.size()) - 1; k >= 0; --k)
      if (std::holds_alternative<T>(d_.plan.statements[at(k)].body)) return ref(k);
    return std::nullopt;
  }

  // What is as it is without a plan is left out where no line says it.
  void add(Decisions& to, const std::string& about, const std::string& does, int statement,
           const std::string& usual) const {
    if (statement < 0 && does == usual) return;
    to[about] = {does, ref(statement)};
  }

  const ComparedPlan& plan_;
  const plan::Decisions& d_;
  OperatorFacts facts_;

 public:
  CostShares shares;
};

std::string usual(const std::string& about) {
  if (about == "place" || about == "gradients") return "";
  return about == "backward" || about == "state" ? "keep" : about == "lag" ? "0" : "none";
}

std::vector<DecisionChange> changes(const Decisions& was, const Decisions& is, bool whole) {
  std::set<std::string> abouts;
  for (const Decisions* side : {&was, &is})
    for (const auto& [about, decision] : *side) abouts.insert(about);
  std::vector<DecisionChange> out;
  for (const std::string& about : abouts) {
    const auto a = was.find(about), b = is.find(about);
    DecisionChange c;
    c.about = about;
    c.was = a == was.end() ? (whole ? "" : usual(about)) : a->second.does;
    c.is = b == is.end() ? (whole ? "" : usual(about)) : b->second.does;
    if (a != was.end()) c.was_line = a->second.line;
    if (b != is.end()) c.is_line = b->second.line;
    if (c.was != c.is) out.push_back(std::move(c));
  }
  return out;
}

// Changes with equal keys are one. Places that one statement gives (`assign S[i] to pipe=i`) are one decision.
std::string key_of(const std::vector<DecisionChange>& decisions, bool parameters) {
  std::string out = parameters ? "p" : "o";
  for (const DecisionChange& c : decisions) {
    const auto side = [&](const std::string& value, const std::optional<StatementRef>& line) {
      const std::string at_line = line ? std::to_string(line->line) : "";
      return "\t" + at_line + (line && c.about == "place" ? "" : ":" + value);
    };
    out += "\n" + c.about + side(c.was, c.was_line) + side(c.is, c.is_line);
  }
  return out;
}

void add_value(std::string& values, const std::string& more) {
  const std::vector<std::string> known = split(values, ';');
  const auto is_it = [&](const std::string& v) { return v == more || v == " " + more; };
  if (std::none_of(known.begin(), known.end(), is_it)) values += (values.empty() ? "" : "; ") + more;
}

class Comparison {
 public:
  Comparison(const plan::ModelInfo& info, const ComparedPlan& was, const ComparedPlan& is)
      : info_(info), was_plan_(was), is_plan_(is), was_(was, info), is_(is, info) {}

  PlanDifference run() {
    const Simulation &was = was_plan_.judged.simulation, &is = is_plan_.judged.simulation;
    out_.delta_us = is.step_us() - was.step_us();
    out_.delta_bytes = peak_bytes(is) - peak_bytes(was);
    whole_plan();
    operators();
    parameters();
    for (auto& [key, c] : groups_) {
      name(c.change, c.rows);
      c.change.rows = std::move(c.rows);
      std::sort(c.change.rows.begin(), c.change.rows.end());
      out_.changes.push_back(std::move(c.change));
    }
    std::stable_sort(out_.changes.begin(), out_.changes.end(), [](const PlanChange& a, const PlanChange& b) {
      if (a.operators.empty() != b.operators.empty()) return a.operators.empty();
      return std::abs(a.delta.us()) > std::abs(b.delta.us());
    });
    rest(step_parts(was), step_parts(is));
    return std::move(out_);
  }

 private:
  struct Group {
    PlanChange change;
    std::vector<int> rows;
  };

  void whole_plan() {
    for (DecisionChange& c : changes(was_.of_all(), is_.of_all(), true)) {
      PlanChange change;
      change.decisions.push_back(std::move(c));
      out_.changes.push_back(std::move(change));
    }
  }

  Group* group(const std::vector<DecisionChange>& decisions, bool parameters, int row) {
    if (decisions.empty()) return nullptr;
    Group& g = groups_[key_of(decisions, parameters)];
    if (g.rows.empty()) g.change.decisions = decisions;
    for (std::size_t k = 0; k < decisions.size(); ++k) {
      add_value(g.change.decisions[k].was, decisions[k].was);
      add_value(g.change.decisions[k].is, decisions[k].is);
    }
    g.change.parameters = parameters;
    g.rows.push_back(row);
    return &g;
  }

  static Share minus(Share a, const Share& b) {
    a -= b;
    return a;
  }

  void operators() {
    of_operator_.assign(info_.operators.size(), nullptr);
    for (int op = 0; op < static_cast<int>(info_.operators.size()); ++op) {
      const Share delta = minus(is_.shares.operators[at(op)], was_.shares.operators[at(op)]);
      Group* g = group(changes(was_.of_operator(op), is_.of_operator(op), false), false, op);
      of_operator_[at(op)] = g;
      (g ? g->change.delta : out_.rest.operators) += delta;
    }
  }

  void parameters() {
    for (int p = 0; p < static_cast<int>(info_.parameters.size()); ++p) {
      const Share delta = minus(is_.shares.parameters[at(p)], was_.shares.parameters[at(p)]);
      Group* g = group(changes(was_.of_parameter(p), is_.of_parameter(p), false), true, p);
      if (!g && !info_.parameters[at(p)].readers.empty()) g = of_operator_[at(info_.parameters[at(p)].readers[0])];
      (g ? g->change.delta : out_.rest.operators) += delta;
    }
    out_.rest.operators += minus(is_.shares.rest, was_.shares.rest);
  }

  void name(PlanChange& c, const std::vector<int>& rows) const {
    c.count = static_cast<std::int64_t>(rows.size());
    std::vector<std::string> out;
    if (c.parameters) {
      for (const int p : rows) out.push_back(without_numbers(info_.parameters[at(p)].name));
    } else {
      const std::vector<int> classes = equal_layers(info_);
      std::map<int, std::vector<int>> by_class;
      for (const int op : rows) by_class[classes[at(op)]].push_back(op);
      for (const auto& [number, ops] : by_class) out.push_back(selection_of(info_, ops));
    }
    for (std::string& s : out)
      if (std::find(c.operators.begin(), c.operators.end(), s) == c.operators.end())
        c.operators.push_back(std::move(s));
  }

  void rest(const StepParts& was, const StepParts& is) {
    const auto hidden = [](const StepParts& parts, const Share& all) {
      return parts.communication + parts.memory - all.communication_us - all.host_us;
    };
    const auto idle = [](const StepParts& p) { return p.warm_up + p.cool_down + p.imbalance + p.data; };
    out_.rest.idle_us = idle(is) - idle(was);
    out_.rest.overlap_us = hidden(is, is_.shares.sum()) - hidden(was, was_.shares.sum());
  }

  const plan::ModelInfo& info_;
  const ComparedPlan &was_plan_, &is_plan_;
  Side was_, is_;
  std::map<std::string, Group> groups_;
  std::vector<Group*> of_operator_;
  PlanDifference out_;
};

}  // namespace

PlanDifference difference(const Graph& graph, const ComparedPlan& base, const ComparedPlan& other) {
  const plan::ModelInfo info = model_info(graph);
  return Comparison(info, base, other).run();
}

}  // namespace planscope
