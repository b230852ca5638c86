#include "app/workbench/tried.h"

#include <algorithm>
#include <regex>
#include <cmath>
#include <tuple>

#include "planner/complete/complete.h"
#include "app/workbench/operator_facts.h"
#include "engine/base/format.h"
#include "engine/base/text.h"
#include "engine/plan/parser.h"
#include "engine/plan/printer.h"

namespace planscope {

namespace {

bool is_row(const plan::Statement& s) {
  return std::holds_alternative<plan::RequireStatement>(s.body) ||
         std::holds_alternative<plan::ForbidStatement>(s.body) || std::holds_alternative<plan::OrderStatement>(s.body);
}

int last_line(const plan::Plan& p) {
  int last = 0;
  for (const plan::Statement& s : p.statements) last = std::max(last, s.line);
  return last;
}

// Whether both declare the same thing: a plan has one of them.
bool declares_same(const plan::Statement& a, const plan::Statement& b) {
  if (a.body.index() != b.body.index()) return false;
  if (const auto* let = std::get_if<plan::LetStatement>(&a.body))
    return let->name == std::get<plan::LetStatement>(b.body).name;
  if (const auto* axis = std::get_if<plan::AxisStatement>(&a.body))
    return axis->name == std::get<plan::AxisStatement>(b.body).name;
  if (const auto* grid = std::get_if<plan::GridStatement>(&a.body)) {
    const auto& other = std::get<plan::GridStatement>(b.body);
    return grid->name == other.name && grid->index == other.index;
  }
  return std::holds_alternative<plan::DevicesStatement>(a.body) || std::holds_alternative<plan::ModelStatement>(a.body);
}

// With the statement as its last line, or instead of the last one that declares the same; what the planner wrote counts as
// written. It has a number that no other line has.
plan::Plan with_line(const plan::Plan& p, plan::Statement s) {
  plan::Plan out = p;
  for (plan::Statement& before : out.statements) before.automatic = false;
  s.line = last_line(p) + 1;
  const auto same = std::find_if(out.statements.rbegin(), out.statements.rend(),
                                 [&](const plan::Statement& before) { return declares_same(before, s); });
  if (same != out.statements.rend())
    *same = std::move(s);
  else
    out.statements.push_back(std::move(s));
  return out;
}

// The row at a line: of a template, if its lines are rows.
std::optional<StatementRef> row_at(const plan::Plan& written, const plan::Decisions& d, int line) {
  for (std::size_t k = 0; k < d.plan.statements.size(); ++k)
    if (d.plan.statements[k].line == line && is_row(d.plan.statements[k]))
      return written_line(written, d, static_cast<int>(k));
  return std::nullopt;
}

class Try {
 public:
  Try(const BasePlan& base, const plan::Statement& s) : base_(base), plan_(with_line(base.plan, s)) {
    out_.statement = plan::print_code(s);
  }
  Try(const BasePlan& base, int left_out) : base_(base), plan_(base.plan) {
    out_.statement = "without line " + std::to_string(left_out);
    std::erase_if(plan_.statements, [&](const plan::Statement& s) { return s.line == left_out; });
  }

  Tried run() {
    const Result<Decided> decided = decide(base_.graph, plan_, {}, &base_.cache);
    if (decided.ok() && !decided->decisions.complete) return completed(decided->sized->info);
    Result<Evaluation> judged = evaluate(base_.graph, plan_, base_.cluster, base_.cache, base_.judged.options);
    if (!judged.ok()) return refused(judged.diagnostics);
    take(std::move(*judged.value), judged.diagnostics);
    return std::move(out_);
  }

 private:
  int line() const { return last_line(base_.plan) + 1; }

  // The word for what the plan has where the statement leaves a choice.
  std::string now(const OperatorFacts& facts, const plan::Decisions& d, const plan::OpenChoice& o) const {
    switch (o.kind) {
      case plan::OpenChoice::Kind::split: {
        const std::vector<plan::AxisInfo>& axes = base_.judged.made.decisions.axes;
        const std::string& name = d.axes[static_cast<std::size_t>(o.axis)].name;
        const auto axis = std::find_if(axes.begin(), axes.end(), [&](const auto& a) { return a.name == name; });
        if (axis == axes.end()) return {};
        const auto factor = facts.factor(o.phase, o.row, static_cast<int>(axis - axes.begin()));
        const bool forward = o.phase == plan::Phase::forward;
        const plan::Split& s = forward ? d.split(o.row, o.axis) : d.parameter_split(o.phase, o.row, o.axis);
        const plan::Alternatives& a = d.alternatives[static_cast<std::size_t>(s.alternatives)];
        const auto same = std::find(a.factors.begin(), a.factors.end(), factor);
        return same == a.factors.end() ? "" : a.words[static_cast<std::size_t>(same - a.factors.begin())];
      }
      case plan::OpenChoice::Kind::place:
        return facts.place(o.row);
      case plan::OpenChoice::Kind::algorithm: {
        const plan::AlgorithmUnit& u = d.algorithms[static_cast<std::size_t>(o.row)];
        const int op = d.units[static_cast<std::size_t>(u.unit)].operators.front();
        return facts.storage(base_.judged.made.decisions.operator_storage[static_cast<std::size_t>(op)]);
      }
      default:
        return {};
    }
  }

  Tried completed(const plan::ModelInfo& info) {
    CompletionSettings settings;
    settings.time_limit_s = base_.time_limit_s;
    settings.keep_automatic = true;
    settings.costs = base_.judged.options.costs;
    const OperatorFacts facts(base_.judged.made, info);
    settings.now = [&](const plan::Decisions& d, const plan::OpenChoice& o) { return now(facts, d, o); };
    Result<Completion> c = complete(base_.graph, plan_, {}, base_.cluster, settings, base_.stop);
    if (!c.value || c.has_errors()) return refused(c.diagnostics);
    out_.ended_early = c->status == CompletionStatus::unknown;
    if (!c->simulation) {
      out_.reason = c->status == CompletionStatus::impossible
                        ? "no value of what it leaves open is possible"
                        : "no value of what it leaves open was found: " + c->reason;
      for (const auto& conflict : c->conflicts)
        for (const constraint::ConflictLine& l : conflict.lines)
          if (l.line.line != line() && !out_.row) out_.row = StatementRef{l.line.line, l.line.file, l.line.text};
      if (out_.row) out_.verdict = EditVerdict::forbidden;
      return std::move(out_);
    }
    Result<Evaluation> judged = evaluate(base_.graph, c->plan, base_.cluster, base_.cache, base_.judged.options);
    if (!judged.ok()) return refused(judged.diagnostics);
    take(std::move(*judged.value), c.diagnostics);
    return std::move(out_);
  }

  Tried refused(const std::vector<Diagnostic>& diagnostics) {
    const auto is_error = [](const Diagnostic& d) { return d.severity == Severity::error; };
    const auto own = std::find_if(diagnostics.begin(), diagnostics.end(),
                                  [&](const Diagnostic& d) { return is_error(d) && d.line == line(); });
    const auto first = own != diagnostics.end() ? own : std::find_if(diagnostics.begin(), diagnostics.end(), is_error);
    if (first == diagnostics.end()) return std::move(out_);
    out_.reason = said_of(*first, line());
    if (own != diagnostics.end()) return std::move(out_);
    out_.row = row_at(base_.plan, base_.judged.made.decisions, first->line);
    if (out_.row) out_.verdict = EditVerdict::forbidden;
    return std::move(out_);
  }

  void take(Evaluation now, const std::vector<Diagnostic>& diagnostics) {
    const Simulation &was = base_.judged.simulation, &is = now.simulation;
    out_.delta_us = is.step_us() - was.step_us();
    out_.delta_bytes = peak_bytes(is) - peak_bytes(was);
    out_.time = difference(step_parts(was), step_parts(is));
    out_.memory = memory_difference(was, is);
    traffic_differences(was, is);
    for (const Diagnostic& d : diagnostics)
      if (d.line == line()) out_.notes.push_back(d);
    const double share = out_.delta_us / was.step_us();
    out_.verdict = share > tie_share    ? EditVerdict::dearer
                   : share < -tie_share ? EditVerdict::cheaper
                                        : EditVerdict::tie;
    out_.reason = parts_text(out_);
    if (alike(was, is)) nothing_changes();
    hold_memory_rows(now);
    out_.judged = std::move(now);
  }

  static bool alike(Simulation a, Simulation b) {
    for (Simulation* s : {&a, &b})
      for (ClassTimeline& t : s->classes) t.alive.clear();
    return a == b;
  }

  // The line does not do anything at all: the tool's own remark says why, if there is one.
  void nothing_changes() {
    out_.reason = "nothing changes";
    if (out_.notes.empty()) return;
    out_.verdict = EditVerdict::unavailable;
    out_.reason = said_of(out_.notes.front(), line());
    out_.notes.erase(out_.notes.begin());
  }

  void hold_memory_rows(const Evaluation& now) {
    const std::vector<BrokenRow> before = broken_memory_rows(base_.judged.made, base_.judged.simulation);
    for (const BrokenRow& row : broken_memory_rows(now.made, now.simulation)) {
      const StatementRef at = written_line(plan_, now.made.decisions, row.statement);
      const bool known = std::any_of(before.begin(), before.end(), [&](const BrokenRow& b) {
        return written_line(base_.plan, base_.judged.made.decisions, b.statement) == at;
      });
      if (known) {
        out_.broken.push_back(at);
        continue;
      }
      if (out_.verdict == EditVerdict::forbidden) continue;
      out_.over_bytes = row.peak - row.limit;
      out_.reason = "the predicted peak is " + bytes_text(static_cast<double>(row.peak)) + ", " +
                    bytes_text(static_cast<double>(out_.over_bytes)) + " more than the row allows";
      out_.verdict = at.line == line() ? EditVerdict::unavailable : EditVerdict::forbidden;
      if (at.line != line()) out_.row = at;
    }
  }

  static StepParts difference(const StepParts& a, const StepParts& b) {
    return {b.compute - a.compute,     b.warm_up - a.warm_up, b.cool_down - a.cool_down,
            b.imbalance - a.imbalance, b.data - a.data,       b.communication - a.communication,
            b.memory - a.memory};
  }

  static Memory peak_of(const Simulation& s) {
    const auto most = std::max_element(s.classes.begin(), s.classes.end(),
                                       [](const auto& a, const auto& b) { return a.peak.bytes() < b.peak.bytes(); });
    return most == s.classes.end() ? Memory{} : most->peak;
  }
  static Memory memory_difference(const Simulation& was, const Simulation& is) {
    Memory out = peak_of(is), before = peak_of(was);
    for (std::size_t k = 0; k < out.kinds.size(); ++k) out.kinds[k] -= before.kinds[k];
    return out;
  }

  void traffic_differences(const Simulation& was, const Simulation& is) {
    std::map<std::pair<std::string, std::int64_t>, TrafficChange> changes;
    const auto add = [&](const Simulation& s, int sign) {
      for (const Traffic& t : s.traffic()) {
        TrafficChange& c = changes[{t.kind, t.group}];
        c.kind = t.kind;
        c.group = t.group;
        c.bytes += sign * t.payload.count;
        c.count += sign * t.count;
      }
    };
    add(was, -1);
    add(is, 1);
    for (auto& [key, c] : changes)
      if (c.bytes != 0 || c.count != 0) out_.traffic.push_back(std::move(c));
    std::stable_sort(out_.traffic.begin(), out_.traffic.end(),
                     [](const auto& a, const auto& b) { return std::abs(a.bytes) > std::abs(b.bytes); });
  }

  const BasePlan& base_;
  plan::Plan plan_;
  Tried out_;
};

std::string signed_text(double us) { return (us < 0 ? "-" : "+") + time_text(std::abs(us)); }

}  // namespace

std::string_view to_string(EditVerdict v) {
  static constexpr std::string_view words[] = {"forbidden", "unavailable", "dearer", "tie", "cheaper"};
  return words[static_cast<std::size_t>(v)];
}

namespace {

// The numbers of `line 8`, `lines 8 and 9`, `line 8, 9 or 10`, where they begin in the text.
std::vector<std::pair<std::size_t, std::size_t>> line_numbers(const std::string& text) {
  std::vector<std::pair<std::size_t, std::size_t>> out;
  static const std::regex list("\\blines? (\\d+)((, | and | or )\\d+)*");
  static const std::regex number("\\d+");
  for (std::sregex_iterator l(text.begin(), text.end(), list), end; l != end; ++l) {
    const std::string all = l->str();
    for (std::sregex_iterator n(all.begin(), all.end(), number); n != end; ++n)
      out.emplace_back(static_cast<std::size_t>(l->position() + n->position()), static_cast<std::size_t>(n->length()));
  }
  return out;
}

}  // namespace

std::string said_of(const Diagnostic& d, int line) {
  std::string out = d.what;
  for (const std::string* more : {&d.why, &d.hint})
    if (!more->empty()) out += "; " + *more;
  const std::vector<std::pair<std::size_t, std::size_t>> numbers = line_numbers(out);
  for (auto n = numbers.rbegin(); n != numbers.rend(); ++n) {
    auto [at, size] = *n;
    if (out.compare(at, size, std::to_string(line)) != 0) continue;
    const std::string word = "line ";
    if (at >= word.size() && out.compare(at - word.size(), word.size(), word) == 0) at -= word.size(), size += word.size();
    out.replace(at, size, "this statement");
  }
  return out;
}

Tried try_statement(const BasePlan& base, const plan::Statement& s) { return Try(base, s).run(); }

Tried try_text(const BasePlan& base, const std::string& statement) {
  const Result<plan::Statement> parsed = plan::parse_statement(statement);
  if (parsed.ok()) return try_statement(base, *parsed);
  Tried out;
  out.statement = statement;
  out.reason = said_of(parsed.diagnostics.front(), 1);
  return out;
}

Tried try_without(const BasePlan& base, int line) { return Try(base, line).run(); }

bool cheaper(const Tried& a, const Tried& b) {
  const auto rank = [](const Tried& t) {
    return t.verdict == EditVerdict::unavailable ? 2 : t.verdict == EditVerdict::forbidden ? 1 : 0;
  };
  return std::tuple(rank(a), a.delta_us) < std::tuple(rank(b), b.delta_us);
}

std::string parts_text(const Tried& t) {
  std::vector<std::pair<std::string, double>> parts = {{"compute", t.time.compute},
                                                       {"waiting for communication", t.time.communication},
                                                       {"warm-up", t.time.warm_up},
                                                       {"cool-down", t.time.cool_down},
                                                       {"imbalance", t.time.imbalance},
                                                       {"waiting for data", t.time.data},
                                                       {"waiting for host memory", t.time.memory}};
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return std::abs(a.second) > std::abs(b.second); });
  std::vector<std::string> out;
  for (const auto& [name, us] : parts) {
    if (std::abs(us) < 0.1 * std::abs(parts[0].second) || std::abs(us) < 0.0005) continue;
    std::string text = name + " " + signed_text(us);
    if (name == "waiting for communication" && !t.traffic.empty()) {
      const TrafficChange& most = t.traffic.front();
      const auto bytes = static_cast<double>(std::abs(most.bytes));
      text += " (" + most.kind + " of " + std::to_string(most.group) + " " + (most.bytes < 0 ? "-" : "+") +
              (most.bytes != 0 ? bytes_text(bytes) : std::to_string(most.count) + " messages") + ")";
    }
    out.push_back(std::move(text));
  }
  return join(out, ", ");
}

}  // namespace planscope
