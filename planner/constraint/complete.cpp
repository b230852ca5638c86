#include "planner/constraint/complete.h"

#include <algorithm>
#include <set>

#include "engine/base/stop.h"
#include "planner/constraint/search.h"

namespace planscope::constraint {

std::string_view to_string(Outcome o) {
  return o == Outcome::complete ? "complete" : o == Outcome::impossible ? "impossible" : "unknown";
}

double Completion::gap() const {
  if (!plan || optimal || evaluation.step_us <= 0) return 0;
  return (evaluation.step_us - lower_bound_us) / evaluation.step_us;
}

std::int64_t excess_bytes(const plan::Decisions& d, const plan::MemoryRow& row, const std::vector<Peak>& peaks) {
  if (!row.limit_bytes) return 0;
  const std::vector<int> where = plan::devices_of(d, d.places[static_cast<std::size_t>(row.place)]);
  const std::set<int> devices(where.begin(), where.end());
  std::int64_t peak = 0;
  for (const Peak& p : peaks)
    if (std::any_of(p.devices.begin(), p.devices.end(), [&](int device) { return devices.contains(device); }))
      peak = std::max(peak, p.bytes);
  return std::max<std::int64_t>(0, peak - *row.limit_bytes + (row.strict ? 1 : 0));
}

namespace {

// A statement that is no row may be all that bounds an open value; without it a few assignments are tried.
constexpr int kWithoutStatement = 32;

// No plan on these devices is faster than the work of the model shared out among all of them.
double roofline_bound(const Judge& judge, const Joined& joined) {
  if (!judge.one_device_us) return 0;
  std::int64_t devices = judge.device_count;
  for (const plan::Statement& s : joined.plan.statements)
    if (const auto* d = std::get_if<plan::DevicesStatement>(&s.body))
      if (d->count.kind == plan::Expression::Kind::number && d->count.text.empty()) devices = d->count.number;
  return devices > 0 ? judge.one_device_us() / static_cast<double>(devices) : 0;
}

Optimum optimum_of(const Found& f, bool proven) {
  Optimum out{f.evaluation.step_us, 0, proven, proven ? f.evaluation.step_us : 0};
  for (const Peak& p : f.evaluation.peaks) out.peak_bytes = std::max(out.peak_bytes, p.bytes);
  return out;
}

// The plan as it stands, with the lines that a planner wrote before: where these complete it and it keeps all rows.
std::optional<Found> written_before(const Joined& joined, const Judge& judge, Models& models,
                                    Evaluations& evaluations) {
  const auto& all = joined.plan.statements;
  if (std::none_of(all.begin(), all.end(), [](const plan::Statement& s) { return s.automatic; })) return std::nullopt;
  Found out{joined.plan, plan::given_values(joined.plan), {}, 0, {}, {}};
  const Result<plan::InputSizes> sizes = plan::model_sizes(joined.plan, judge.inputs, out.values);
  if (!sizes.ok()) return std::nullopt;
  const Models::Model& model = models.at(*sizes);
  if (!model.ok()) return std::nullopt;
  const Result<plan::Decisions> bound = plan::bind(joined.plan, **model, out.values);
  if (!bound.ok() || !bound->complete) return std::nullopt;
  const Result<Evaluation>& judged = evaluations.of(joined.plan);
  if (!judged.ok()) return std::nullopt;
  out.evaluation = *judged;
  for (const plan::MemoryRow& row : bound->memory)
    if (excess_bytes(*bound, row, out.evaluation.peaks) > 0) return std::nullopt;
  return out;
}

// Why nothing keeps all rows, and what helps.
class Explanation {
 public:
  // `all`: what the search under all rows has come to.
  Explanation(const Joined& joined, RowSearch& search, const Judge& judge, Models& models, Evaluations& evaluations,
              const Deadline& deadline, const Limits& limits, const SearchResult& all)
      : proven_(all.exhausted),
        joined_(joined),
        search_(search),
        judge_(judge),
        models_(models),
        evaluations_(evaluations),
        deadline_(deadline),
        limits_(limits),
        sets_([this](const Rows& rows, const Deadline& d) { return ask(rows, d); },
              [this](const Rows& rows, bool begin, const Deadline& d) { return ahead(rows, begin, d); }) {
    Verdict known = verdict(search_.rows(), all);
    if (known.answer == Answer::no) sets_.learn_impossible(std::move(known.core));
  }

  void write(Completion& c) {
    RowEffects effects;
    effects.best = [this](const Rows& rows, const Deadline& d) { return best(rows, d); };
    effects.need = [this](int row, const Rows& others, const Deadline& d) { return need(row, others, d); };
    effects.limits_memory = [this](int row) { return search_.limit_bytes(row).has_value(); };
    effects.line = [this](int row) { return joined_.at(row); };
    const Deadline more = deadline_.within_work(limits_.relaxing_work);
    const std::int64_t work = limits_.relaxing_work / 5 * 4;  // what rows leave of it is for statements
    const Deadline half = deadline_.within_work(work / 2);
    ExplainedConflicts found =
        explain_conflicts(search_.rows(), sets_, effects, {deadline_, half, half}, deadline_.within_work(work));
    for (ConflictLines& conflict : found.all) add_statements(conflict, more);
    c.conflicts = std::move(found.all);
    c.all_conflicts = found.complete;
  }

 private:
  Verdict ask(const Rows& rows, const Deadline& deadline) {
    return verdict(rows, search_.run(rows, {.any = true}, deadline));
  }

  Verdict verdict(const Rows& rows, const SearchResult& r) {
    if (r.best) return {Answer::yes, {}};
    if (!r.none || (proven_ && std::binary_search(r.core.begin(), r.core.end(), kUntried))) return {};
    return none(rows, r.core);
  }

  Verdict ahead(const Rows& rows, bool begin, const Deadline& deadline) {
    const SeenAhead seen = search_.ahead(rows, begin, deadline);
    if (seen.core) return none(rows, *seen.core);
    return {seen.any ? Answer::yes : Answer::unknown, {}};
  }

  Verdict none(const Rows& rows, const Rows& core) {
    Verdict out{Answer::no, {}};
    Rows statements;
    for (int line : core) (std::binary_search(rows.begin(), rows.end(), line) ? out.core : statements).push_back(line);
    statements_[out.core] = std::move(statements);
    return out;
  }

  std::optional<Optimum> best(const Rows& rows, const Deadline& deadline) {
    const SearchResult r = search_.run(rows, {}, deadline);
    return r.best ? std::optional(optimum_of(*r.best, r.exhausted && !r.partial)) : std::nullopt;
  }

  std::optional<MemoryNeed> need(int row, const Rows& others, const Deadline& deadline) {
    const SearchResult r = search_.run(others, {.any = false, .memory_line = row}, deadline);
    if (!r.best || r.best->bytes == 0) return std::nullopt;
    return MemoryNeed{*search_.limit_bytes(row), r.best->bytes, r.best->where, r.exhausted && !r.partial};
  }

  // Statements that a conflict of rows rests on: those without which there is a plan, or that say the opposite of a row.
  void add_statements(ConflictLines& out, const Deadline& more) {
    const std::size_t rows = out.lines.size();
    for (int line : statements_[out.rows])
      if (can_drop(joined_, line)) add_statement(out, line, true, more);
    if (out.lines.size() > rows) return;
    for (const Broken& lines : search_.contradictions()) {
      const auto new_here = [&](int line) { return !std::binary_search(out.rows.begin(), out.rows.end(), line); };
      if (!search_.counts(lines, out.rows) || std::none_of(lines.begin(), lines.end(), new_here)) continue;
      for (int line : lines)
        if (new_here(line)) add_statement(out, line, false, more);
      return;
    }
  }

  // `needed`: only if the rows of the conflict can be kept without it.
  void add_statement(ConflictLines& out, int line, bool needed, const Deadline& more) {
    Limits some = limits_;
    some.assignments = std::min(some.assignments, kWithoutStatement);
    const Joined fewer = without(joined_, line);
    RowSearch search(fewer, judge_, models_, evaluations_, some);
    SearchResult own;
    own.exhausted = !search.errors().empty();
    if (!own.exhausted) own = search.run(out.rows, {.any = true}, more);
    if (needed && !own.best) return;
    ConflictLine added{joined_.at(line), {}, {}};
    const SearchResult all = own.best ? search.run(search.rows(), {.any = true}, more) : std::move(own);
    if (all.best) added.without.optimum = optimum_of(*all.best, false);
    added.without.possible = all.best ? Answer::yes : all.exhausted ? Answer::no : Answer::unknown;
    const auto behind = std::find_if(out.lines.begin(), out.lines.end(), [&](const ConflictLine& l) {
      return l.line.file == joined_.at(line).file && l.line.line > joined_.at(line).line;
    });
    out.lines.insert(behind, std::move(added));
  }

  const bool proven_;  // that nothing keeps all rows rests on nothing that was not tried
  const Joined& joined_;
  RowSearch& search_;
  const Judge& judge_;
  Models& models_;
  Evaluations& evaluations_;
  const Deadline& deadline_;
  const Limits& limits_;
  RowSets sets_;
  std::map<Rows, Rows> statements_;  // by the rows of a core: the other lines of it
};

// Until the search ends or is ended.
class Completing {
 public:
  Completing(const plan::Plan& plan, const std::vector<plan::Plan>& rows, const Judge& judge, const Limits& limits)
      : plan_(plan),
        rows_(rows),
        judge_(judge),
        limits_(limits),
        deadline_(Deadline(limits.seconds, limits.stop, limits.clock).within_work(limits.work)),
        joined_(join_lines(plan, rows)),
        models_(judge),
        evaluations_(judge) {}

  Result<Completion> run() {
    const Deadline end = Deadline::to_give_up(limits_.seconds, limits_.stop);
    try {
      const StopScope scope([&] { return end.over(); });
      search();
    } catch (const Stopped&) {
      if (!out_.has_errors()) left();
    }
    c_.work = deadline_.work_done();
    if (!out_.has_errors()) out_.value = std::move(c_);
    return std::move(out_);
  }

 private:
  // Before there was anything to tell, or while it was being explained.
  void left() {
    if (c_.plan || c_.outcome == Outcome::impossible) return;
    c_.outcome = Outcome::unknown;
    c_.reason = deadline_.stopped() ? "stopped" : "the time limit";
    const StopScope to_its_end({});  // the plan that was complete before is looked at once
    take_written();
  }

  void search() {
    RowSearch search(joined_, judge_, models_, evaluations_, limits_);
    if (!search.errors().empty()) {
      out_.diagnostics = search.errors();
      return;
    }
    const SearchResult r = search.run(search.rows(), {}, deadline_);
    c_.reason = r.reason;
    c_.assignments = search.assignments();
    c_.evaluations = evaluations_.count();
    if (r.best) return take(*r.best, r);
    for (Diagnostic d : r.refusals) {
      d.severity = Severity::note;
      out_.diagnostics.push_back(std::move(d));
    }
    if (r.exhausted) c_.outcome = Outcome::impossible;
    if (!r.none) take_written();
    if (r.none && limits_.explain)
      Explanation(joined_, search, judge_, models_, evaluations_, deadline_, limits_, r).write(c_);
    c_.assignments = search.assignments();
    c_.evaluations = evaluations_.count();
  }

  void take(const Found& found, const SearchResult& r) {
    c_.outcome = r.ended ? Outcome::unknown : Outcome::complete;
    c_.plan = unjoined(joined_, found.plan, plan_.file);
    c_.values = found.values;
    c_.evaluation = found.evaluation;
    c_.optimal = r.exhausted && !r.partial;
    c_.lower_bound_us = roofline_bound(judge_, joined_);
    c_.optimal = c_.optimal || c_.evaluation.step_us <= c_.lower_bound_us;
    if (c_.optimal) c_.lower_bound_us = c_.evaluation.step_us;
  }

  void take_written() {
    const Joined written = join_lines(plan_, rows_, true);
    const std::optional<Found> known = written_before(written, judge_, models_, evaluations_);
    if (!known) return;
    c_.plan = unjoined(written, known->plan, plan_.file);
    c_.values = known->values;
    c_.evaluation = known->evaluation;
    c_.lower_bound_us = roofline_bound(judge_, joined_);
  }

  const plan::Plan& plan_;
  const std::vector<plan::Plan>& rows_;
  const Judge& judge_;
  const Limits& limits_;
  const Deadline deadline_;
  const Joined joined_;
  Models models_;
  Evaluations evaluations_;
  Completion c_;
  Result<Completion> out_;
};

}  // namespace

Result<Completion> complete(const plan::Plan& plan, const std::vector<plan::Plan>& rows, const Judge& judge,
                            const Limits& limits) {
  return Completing(plan, rows, judge, limits).run();
}

}  // namespace planscope::constraint
