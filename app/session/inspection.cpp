#include "app/session/inspection.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "app/session/state.h"
#include "app/workbench/cost_shares.h"
#include "app/workbench/explain_text.h"
#include "app/workbench/operator_facts.h"
#include "engine/base/stop.h"
#include "engine/plan/parser.h"
#include "engine/plan/printer.h"
#include "planner/cost/device_kinds.h"
#include "planner/cost/hidden_blocks.h"
#include "planner/cost/operator_class.h"
#include "planner/cost/operator_memory.h"

namespace planscope::session {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

constexpr std::int64_t kMostTried = 96;

std::string words_of(const std::string& name, const Graph& g, const Factor& f) {
  if (f.key >= 0) return name + ": each device takes the rows whose " + g.tensor_name(f.key) + " lies in its block";
  switch (f.kind) {
    case FactorKind::free: return name + ": each device computes its part of the results";
    case FactorKind::sum: return name + ": each device computes a part of a sum, and the parts are added up";
    case FactorKind::merge: return name + ": each device computes a part of a log-sum-exp, and the parts are joined";
    case FactorKind::softmax: return name + ": each device computes an average over its block, and these are weighed";
    case FactorKind::frozen: return name + ": cannot be split" + (f.reason.empty() ? "" : " (" + f.reason + ")");
  }
  return name;
}

// What computes most; of equal ones, the first. -1: there are none.
OpId heaviest(const Graph& g, const Selected& s) {
  const auto found = std::max_element(s.operators.begin(), s.operators.end(), [&](OpId a, OpId b) {
    return g.ops[at(a)].flops < g.ops[at(b)].flops;
  });
  return found == s.operators.end() ? -1 : *found;
}

// What is known without a Program.
class Facts {
 public:
  Facts(const Picture& p, const Graph& g, Inspection& out, const Selected& s) : picture_(p), graph_(g), out_(out),
      selected_(s) {}

  void run() {
    out_.operators = !selected_.words.empty()            ? selected_.words
                     : !out_.selection.place.empty() ? out_.selection.place
                                                     : out_.selection.communicator;
    out_.parameters = static_cast<std::int64_t>(selected_.parameters.size());
    for (const int p : selected_.parameters)
      out_.parameter_elements += graph_.elements(graph_.parameters[at(p)].tensor);
    if (selected_.of_parameters()) return parameters();
    out_.count = static_cast<std::int64_t>(selected_.operators.size());
    if (selected_.operators.empty()) return;
    for (const OpId op : selected_.operators) out_.flops += graph_.ops[at(op)].flops;
    kinds();
    const OpId first = heaviest(graph_, selected_);
    out_.example = graph_.node(first).name();
    out_.source = graph_.node(first).source;
    out_.module_kind = graph_.node(first).module_type;
    factors(out_.alike ? first : -1);
  }

 private:
  // What computes most first; views compute nothing.
  void kinds() {
    struct Kind {
      std::string name;
      double flops = 0;
      int count = 0;
      bool view = true;
    };
    std::map<std::string, Kind> all;
    for (const OpId op : selected_.operators) {
      Kind& k = all[graph_.node(op).kind];
      k.name = graph_.node(op).kind;
      k.flops += graph_.ops[at(op)].flops;
      k.view = k.view && classify(graph_, op) == OperatorClass::view;
      ++k.count;
    }
    std::vector<Kind> sorted;
    for (const auto& [name, k] : all) sorted.push_back(k);
    std::stable_sort(sorted.begin(), sorted.end(), [](const Kind& a, const Kind& b) {
      return std::tuple(a.view, -a.flops, -a.count) < std::tuple(b.view, -b.flops, -b.count);
    });
    for (const Kind& k : sorted) out_.kinds.push_back(k.name + (sorted.size() > 1 ? " × " + std::to_string(k.count)
        : ""));
    out_.alike = sorted.size() == 1 || std::count_if(sorted.begin(), sorted.end(), [](const Kind& k) { return !k.view;
        }) == 1;
  }

  // Of update(…) and its like: their dimensions.
  void parameters() {
    out_.count = out_.parameters;
    if (selected_.parameters.empty()) return;
    const plan::ModelInfo& info = picture_.sized->info;
    out_.example = info.parameters[at(selected_.parameters[0])].name;
    const plan::Decisions* d = decisions();
    std::map<std::string, std::size_t> known;
    for (const int p : selected_.parameters)
      for (int f = 0; f < static_cast<int>(info.parameters[at(p)].factors.size()); ++f) {
        const plan::FactorInfo& factor = info.parameters[at(p)].factors[at(f)];
        InspectedFactor& to = add(known, factor.names[0], factor.size, std::string(to_string(FactorKind::free)), "");
        for (int a = 0; d && a < static_cast<int>(d->axes.size()); ++a)
          if (d->parameter_split(selected_.phase, p, a).factor == f) take(to.split, d->axes[at(a)].name);
      }
  }

  InspectedFactor& add(std::map<std::string, std::size_t>& known, const std::string& name, std::int64_t size,
      const std::string& kind,
                       const std::string& reason) {
    const auto [it, fresh] = known.emplace(name, out_.factors.size());
    if (fresh) out_.factors.push_back({name, size, kind, reason, {}});
    InspectedFactor& to = out_.factors[it->second];
    if (to.size != size) to.size = 0;
    if (to.kind != kind) to.kind.clear();
    return to;
  }

  static void take(std::vector<std::string>& axes, const std::string& name) {
    if (std::find(axes.begin(), axes.end(), name) == axes.end()) axes.push_back(name);
  }

  const plan::Decisions* decisions() const {
    return picture_.evaluation ? &picture_.evaluation->made.decisions : picture_.open ? &picture_.open->decisions
        : nullptr;
  }

  // Of each name that one of the operators answers to; `of_one` >= 0: they are of one kind, and its rule holds for all.
  void factors(OpId of_one) {
    std::map<std::string, std::size_t> known;
    for (const OpId op : selected_.operators) {
      look_at_stop();
      if (out_.alike && graph_.node(op).kind != graph_.node(of_one).kind) continue;  // a view
      const Op& o = graph_.ops[at(op)];
      for (int f = 0; f < static_cast<int>(o.factors.size()); ++f) {
        const Factor& factor = o.factors[at(f)];
        const std::vector<std::string> names = factor_names(graph_, op, f);
        if (names.empty()) continue;
        std::int64_t size = 1;
        for (const ClassId c : factor.parts) size *= graph_.classes[at(c)].size;
        split(op, f, add(known, names[0], size, std::string(to_string(factor.kind)), factor.reason).split);
      }
    }
    if (of_one < 0) return;
    const Op& o = graph_.ops[at(of_one)];
    out_.rule = describe(graph_, of_one);
    for (int f = 0; f < static_cast<int>(o.factors.size()); ++f)
      if (const auto names = factor_names(graph_, of_one, f); !names.empty())
        out_.rule_words.push_back(words_of(names[0], graph_, o.factors[at(f)]));
    if (!o.known) out_.rule_words.push_back("no rule is known for " + graph_.node(of_one).target +
        ": every device computes all of it");
  }

  // As the Program has it, else as statements say.
  void split(OpId op, int factor, std::vector<std::string>& axes) {
    const plan::Decisions* d = decisions();
    if (!d) return;
    if (picture_.evaluation && !facts_) facts_.emplace(picture_.evaluation->made, picture_.sized->info);
    for (int a = 0; a < static_cast<int>(d->axes.size()); ++a) {
      const std::string& name = d->axes[at(a)].name;
      bool here = !facts_ && d->split(op, a).factor == factor;
      if (facts_)
        for (const Binding* b : facts_->bindings(op, name)) here = here || b->factor == factor;
      if (here) take(axes, name);
    }
  }

  const Picture& picture_;
  const Graph& graph_;
  Inspection& out_;
  const Selected& selected_;
  std::optional<OperatorFacts> facts_;
};

// What they cost, and what waits for backward.
class Costs {
 public:
  Costs(const Picture& p, Inspection& out, const Selected& s)
      : picture_(p), e_(*p.evaluation), program_(e_.made.program), graph_(*e_.made.graph), out_(out), selected_(s),
        example_(heaviest(graph_, s)) {}

  void run() {
    for (const Segment& s : program_.segments)
      for (const Instruction& i : s.instructions)
        if (i.code == Code::compute) piece(i.piece, s.place);
    if (runs_ > 0) {
      const Run& run = out_.alike ? one_ : all_;
      const std::string whose = runs_ == 1 ? "" : out_.alike ? " of one" : " of all, once";
      out_.cost.push_back({"forward" + whose, run.forward_us, std::string(to_string(run.forward_from))});
      if (run.backward_us > 0) out_.cost.push_back({"backward" + whose, run.backward_us,
          std::string(to_string(run.backward_from))});
      out_.saved_bytes = saved_;
    }
    in_a_step();
    classes();
  }

 private:
  struct Run {
    double forward_us = 0, backward_us = 0;
    FigureSource forward_from = FigureSource::measured, backward_from = FigureSource::measured;
    void add(const Run& o) {
      forward_us += o.forward_us, backward_us += o.backward_us;
      forward_from = std::max(forward_from, o.forward_from), backward_from = std::max(backward_from, o.backward_from);
    }
  };

  void piece(PieceId id, PlaceId place) {
    const Piece& p = program_.pieces[at(id)];
    std::vector<Bytes> slots;
    std::set<int> kept;
    for (const PieceOp& o : p.ops) {
      if (!std::binary_search(selected_.operators.begin(), selected_.operators.end(), o.op) ||
          !done_.insert(o.op).second) continue;
      look_at_stop();
      if (slots.empty()) slots = slot_bytes(graph_, program_, p);
      ++runs_;
      const double seen = seen_share(graph_, program_, o);
      const CostModel& costs = e_.options.costs;
      const std::vector<int> kinds = kinds_at(*picture_.cluster, program_, place);
      const Figure forward = slowest(*picture_.cluster, kinds, [&](const DeviceType& d) {
        return forward_time(graph_, program_, p, o, slots, d, costs, seen);
      });
      Run run{forward.time.count, 0, forward.source, FigureSource::measured};
      const bool gradient = p.gradient && graph_.ops[at(o.op)].backward;
      const Figure backward = slowest(*picture_.cluster, kinds, [&](const DeviceType& d) {
        return backward_time(graph_, program_, p, o, slots, d, costs, seen);
      });
      if (gradient) run.backward_us = backward.time.count, run.backward_from = backward.source;
      all_.add(run);
      if (o.op == example_) one_ = run;
      if (!gradient || !stays(o.op)) continue;
      saved_ += static_cast<std::int64_t>(kept_aside(graph_, o).count);
      for (const int slot : saved_slots(graph_, o))
        if (computed(p.slots[at(slot)].tensor) &&
            kept.insert(slot).second) saved_ += static_cast<std::int64_t>(slots[at(slot)].count);
    }
  }

  // Parameters, inputs and constants are there anyway.
  bool computed(TensorId t) const { return graph_.model->values[at(t)].kind == ValueKind::computed; }

  // Neither computed again nor in host memory.
  bool stays(OpId op) const {
    const plan::Decisions& d = e_.made.decisions;
    const int a = d.operator_storage[at(op)];
    return a < 0 || d.algorithms[at(a)].alternatives[0] == plan::Algorithm::keep;
  }

  void in_a_step() {
    const CostShares shares = cost_shares_where_run(e_, *picture_.cluster);
    Share sum;
    for (const OpId op : selected_.operators) sum += shares.operators[at(op)];
    for (const int p : selected_.parameters) sum += shares.parameters[at(p)];
    // Times of operators may be measured; those of links follow from their latency and bandwidth, wherever these are from.
    const std::string origin(to_string(picture_.figure.origin)), link(to_string(FigureSource::modelled));
    out_.cost.push_back({"compute in a step", sum.compute_us, origin});
    if (sum.communication_us > 0) out_.cost.push_back({"communication in a step", sum.communication_us, link});
    if (sum.host_us > 0) out_.cost.push_back({"host copies in a step", sum.host_us, link});
  }

  void classes() {
    for (const int c : selected_.classes) {
      const ClassTimeline& t = e_.simulation.classes[at(c)];
      std::set<OpId> here;
      std::set<SegmentId> segments;
      for (const Loop& loop : program_.classes[at(c)].loops)
        for (const SlotStep& slot : loop.body) segments.insert(slot.segment);
      for (const SegmentId s : segments)
        for (const Instruction& i : program_.segments[at(s)].instructions)
          if (i.code == Code::compute)
            for (const PieceOp& o : program_.pieces[at(i.piece)].ops)
              if (std::binary_search(selected_.operators.begin(), selected_.operators.end(), o.op)) here.insert(o.op);
      out_.classes.push_back({program_.classes[at(c)].name, t.devices, static_cast<std::int64_t>(here.size()),
                              static_cast<double>(t.compute) / 1000, t.peak.bytes(), t.capacity.count});
    }
  }

  const Picture& picture_;
  const Evaluation& e_;
  const Program& program_;
  const Graph& graph_;
  Inspection& out_;
  const Selected& selected_;
  std::set<OpId> done_;
  int runs_ = 0;
  const OpId example_;
  Run one_, all_;  // of the example; of all
  std::int64_t saved_ = 0;
};

// Who decided, and what else could be.
std::vector<std::string> ask(const BasePlan& base, Inspection& out, const Selected& s) {
  if (s.words.empty()) return {};
  const Result<Why> w = questions(base, s.words, {.words = s.words});
  if (!w.ok()) {
    if (!w.diagnostics.empty()) out.problem = w.diagnostics[0].what;
    return {};
  }
  std::vector<std::string> statements;
  std::set<std::string> known;
  int last = 0;
  for (const OperatorAnswer& a : w->answers)
    for (const ChoiceAnswer& c : a.choices) {
      InspectedDecision now{c.about, c.does, decided_text(base, a, c), c.by.line, a.asked};
      const auto same = std::find_if(out.decisions.begin(), out.decisions.end(),
                                     [&](const InspectedDecision& d) { return d.about == c.about && d.text == now.text;
                                         });
      if (same == out.decisions.end())
        out.decisions.push_back(std::move(now));
      else
        same->operators += now.operators;
      if (c.by.line && c.about != "order" && c.by.line->line > last) {
        out.decided_by = c.by.line;
        last = c.by.line->line;
      }
      for (const Tried& t : c.alternatives)
        if (known.insert(t.statement).second) statements.push_back(t.statement);
    }
  return statements;
}

}  // namespace

void inspect(const std::shared_ptr<const Picture>& picture, const Graph& model, Inspection out, const Selected& s,
             MaterializeCache& cache, const std::atomic<bool>& stop,
                 const std::function<void(const Inspection&)>& say) {
  const auto end = [&] {
    out.running = false;
    say(out);
  };
  out.problem = s.problem;
  if (!s.problem.empty() || !picture->sized) return end();
  Facts(*picture, picture->sized->graph, out, s).run();
  if (!picture->evaluation) {
    out.problem = "the plan leaves arguments open: costs and alternatives are known when it is complete";
    return end();
  }
  Costs(*picture, out, s).run();
  const BasePlan base{model, picture->plan, *picture->cluster, cache, *picture->evaluation, 60, stop};
  std::vector<std::string> statements;
  if (s.statement == 0) statements = ask(base, out, s);
  for (const plan::Statement& o : picture->plan.statements)
    if (o.line == s.statement && !std::holds_alternative<plan::EmptyStatement>(o.body)) {
      out.decided_by = StatementRef{o.line, picture->plan.file, plan::print_code(o)};
      out.to_try = 1;
    }
  out.not_tried = std::max<std::int64_t>(0, std::ssize(statements) - kMostTried);
  statements.resize(statements.size() - static_cast<std::size_t>(out.not_tried));
  if (!statements.empty()) out.to_try = static_cast<std::int64_t>(statements.size());
  if (out.to_try > 0) say(out);
  if (s.statement > 0 && out.to_try > 0) {
    out.without = try_without(base, s.statement);
    out.without->judged.reset();
  }
  for (const std::string& text : statements) {
    if (stop) throw Stopped();
    Tried t = try_text(base, text);
    t.judged.reset();
    out.alternatives.insert(std::upper_bound(out.alternatives.begin(), out.alternatives.end(), t, cheaper),
        std::move(t));
    say(out);
  }
  end();
}

}  // namespace planscope::session
