#include "planner/search/stages/trials.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/base/format.h"
#include "engine/base/stop.h"
#include "engine/base/text.h"
#include "engine/plan/parser.h"
#include "planner/evaluate/evaluate.h"
#include "planner/search/orders/program_case.h"
#include "planner/search/stages/judge.h"

namespace planscope::stages {
namespace {

// For the order of one point.
constexpr std::int64_t kOrderWork = 6'000'000;  // about a second
// Work (solver/deadline.h) of a plan that is made and simulated, for each operator of the model and each instruction of its program.
constexpr std::int64_t kOperatorWork = 40, kInstructionWork = 20;

bool counts(const constraint::Rows& rows, int row) { return std::binary_search(rows.begin(), rows.end(), row); }

}  // namespace

Breakdown breakdown(const Simulation& s) {
  const auto busiest = std::max_element(s.classes.begin(), s.classes.end(),
                                        [](const auto& a, const auto& b) { return a.compute < b.compute; });
  const auto us = [](Nanoseconds t) { return static_cast<double>(t) / 1000; };
  Breakdown out;
  if (busiest == s.classes.end()) return out;
  out.compute_us = us(busiest->compute);
  out.communication_us = us(busiest->idle.communication);
  out.pipeline_us = us(busiest->idle.sum() - busiest->idle.communication - busiest->idle.memory);
  out.traffic = busiest->traffic;
  std::stable_sort(out.traffic.begin(), out.traffic.end(),
                   [](const Traffic& a, const Traffic& b) { return a.time > b.time; });
  const auto most = std::max_element(busiest->traffic.begin(), busiest->traffic.end(),
                                     [](const auto& a, const auto& b) { return a.payload < b.payload; });
  if (most != busiest->traffic.end())
    out.largest = most->kind + " over " + std::to_string(most->group) + " devices, " +
                  bytes_text(static_cast<double>(most->payload.count));
  return out;
}

std::vector<int> counted(const std::set<int>& rows, const constraint::Rows& counting) {
  std::vector<int> out;
  for (int row : rows)
    if (counts(counting, row)) out.push_back(row);
  return out;
}

Excess excess_of(const Tried& t, const constraint::Rows& counting) {
  Excess out{std::max<std::int64_t>(0, t.excess), {}};
  for (const auto& [row, bytes] : t.row_excess)
    if (counts(counting, row) && bytes > out.bytes) out = {bytes, {row}};
  return out;
}

Trials::Trials(const Graph& graph, const Cluster& cluster, const ModelShape& shape, const Settings& settings,
               const Rules& rules, MaterializeCache& cache)
    : graph_(graph),
      cluster_(cluster),
      shape_(shape),
      settings_(settings),
      rules_(rules),
      cache_(cache),
      open_(graph, cluster, rules, settings, cache),
      late_(Deadline::to_give_up(settings.seconds, nullptr, settings.clock)) {}

const Tried& Trials::tried(const Configuration& c, const Asked& asked) {
  const std::string text = script(shape_, c, Chains::own);
  const constraint::Rows with = made_with(asked.rows);
  const auto kept_of = [&]() -> Kept& {
    const std::lock_guard finding(finding_);
    const auto [entry, fresh] = tried_.try_emplace({text, with});
    if (fresh) entry->second.tried.rows = with;
    return entry->second;
  };
  Kept& kept = kept_of();
  const std::lock_guard making(kept.making);
  try {
    const StopScope scope([&] { return late_.over() || (asked.may_give_up && asked.deadline->over()); });
    make(kept, c, text, asked);
  } catch (const Stopped&) {  // nothing is known of it
  }
  if (!asked.ahead) see(kept, asked);
  return kept.tried;
}

// From here on the search knows of it. What was made ahead of it alone is a matter of time: nothing goes by that.
void Trials::see(Kept& kept, const Asked& asked) {
  kept.seen = true;
  asked.deadline->count(std::exchange(kept.work, 0));
  for (auto& [line, row] : std::exchange(kept.learned, {})) broken_by_[std::move(line)].insert(row);
}

void Trials::make(Kept& kept, const Configuration& c, const std::string& text, const Asked& asked) {
  Tried& t = kept.tried;
  const constraint::Rows& with = t.rows;
  if (!t.candidate && !t.refused && t.broken.empty())  // nobody reads it yet
    for (const int row : broken_by_lines(c, rules_.all())) t.broken.insert(row);
  std::set<int> others;  // that are not asked for
  for (const int row : constraint::without(made_with(rules_.all()), with)) others.insert(row);
  const bool orders = !asked.any && c.order == Order::searched && c.chains.empty();
  if (orders) {
    const auto known = t.orders.find(memory(asked));
    if (known == t.orders.end() || (known->second.least_us > 0 && known->second.least_us < asked.best_us))
      t.candidate.reset();
  }
  while (!t.candidate && !t.refused && counted(t.broken, asked.rows).empty()) {
    kept.work += kOperatorWork * static_cast<std::int64_t>(graph_.ops.size());
    const Result<plan::Plan> plan = plan::parse_plan(text, "");
    if (!plan.ok()) {
      refuse(kept, c, text, plan.diagnostics);
      break;
    }
    std::set<int> left_out = others;
    left_out.insert(t.broken.begin(), t.broken.end());
    Result<plan::Plan> whole = rules_.joined(*plan, left_out);
    if (rules_.leave_open()) whole = open_.filled(*whole, *asked.deadline);
    if (!whole.ok()) {
      refuse(kept, c, text, whole.diagnostics);
      continue;
    }
    const Result<Evaluation> e = evaluate(graph_, *whole, cluster_, cache_, settings_.simulation);
    if (!e.ok()) {
      refuse(kept, c, text, e.diagnostics);
      continue;
    }
    const Simulation& simulated = e->simulation;
    for (const Segment& s : e->made.program.segments)
      kept.work += kInstructionWork * static_cast<std::int64_t>(s.instructions.size());
    t.refused = std::any_of(simulated.classes.begin(), simulated.classes.end(),
                            [&](const ClassTimeline& k) { return k.host_peak.count > cluster_.host.memory.count; });
    if (t.refused) break;
    take(t, e->made, simulated,
         {c, script(shape_, c) + rules_.text(*whole), simulated.step_us(), 0, {}, breakdown(simulated)});
    if (orders) t.orders[memory(asked)] = with_orders(c, e->made, simulated, asked);
  }
}

constraint::Rows Trials::made_with(const constraint::Rows& asked) const {
  return rules_.leave_open() ? asked : rules_.statements(asked);
}

// Lines of the plan may mean something else beside those of rows.
bool Trials::rows_decide() const { return rules_.leave_open() || !rules_.statements(rules_.all()).empty(); }

std::vector<Configuration> Trials::orders(const Tried& t, const Asked& asked) const {
  const auto known = t.orders.find(memory(asked));
  return known == t.orders.end() ? std::vector<Configuration>{} : known->second.plans;
}

std::int64_t Trials::memory(const Asked& asked) const {
  const auto row = rules_.memory_under(asked.rows);
  return row ? row->bytes : std::numeric_limits<std::int64_t>::max();
}

// The orders that a search finds for the tasks of a plan without one.
FoundOrders Trials::with_orders(const Configuration& c, const Materialized& made, const Simulation& simulated,
                                const Asked& asked) const {
  Cluster limited = cluster_;
  for (DeviceKind& kind : limited.kinds) kind.type.memory.count = std::min(kind.type.memory.count, memory(asked));
  const Result<orders::ProgramCase> found = orders::program_case(made, simulated, limited);
  if (!found.ok() || has_errors(schedule::check(found->problem))) return {};
  const auto least = schedule::makespan_bound(schedule::make_problem(found->problem));
  if (const double us = static_cast<double>(least) / 1000; us >= asked.best_us) return {{}, us};
  schedule::Settings settings{asked.deadline->seconds_left(), false, settings_.stop, kOrderWork};
  settings.clock = settings_.clock;
  const schedule::Answer answer = schedule::search(found->problem, settings);
  asked.deadline->count(answer.work);
  FoundOrders out;
  for (auto lines : {orders::order_lines(*found, answer), orders::whole_order_lines(*found, answer)})
    if (!lines.empty()) {
      out.plans.push_back(c);
      out.plans.back().chains = std::move(lines);
    }
  return out;
}

void Trials::take(Tried& t, const Materialized& m, const Simulation& simulated, Candidate candidate) const {
  const Configuration& c = candidate.configuration;
  t.stage_peaks.assign(static_cast<std::size_t>(c.pipe), 0);
  for (std::size_t i = 0; i < simulated.classes.size(); ++i) {
    const std::int64_t bytes = simulated.classes[i].peak.bytes();
    candidate.peak_bytes.push_back(bytes);
    const std::int64_t excess = bytes - simulated.classes[i].capacity.count;
    t.excess = std::max(t.excess, excess);
    const int place = devices(m.program, m.program.classes[i]).front() / static_cast<int>(c.devices() / c.pipe);
    std::int64_t& of_stage = t.stage_peaks[static_cast<std::size_t>(c.place(place))];
    of_stage = std::max(of_stage, bytes);
  }
  const std::vector<constraint::Peak> peaks =
      m.decisions.memory.empty() ? std::vector<constraint::Peak>{} : peaks_of(m.program, simulated);
  for (const plan::MemoryRow& row : m.decisions.memory) {
    const int line = m.decisions.plan.statements[static_cast<std::size_t>(row.statement)].line;
    std::int64_t& excess = t.row_excess[rules_.row_of(line)];
    excess = std::max(excess, constraint::excess_bytes(m.decisions, row, peaks));
  }
  t.candidate = std::move(candidate);
}

// Rows that it breaks are noted; without one it cannot be made at all.
void Trials::refuse(Kept& kept, const Configuration& c, const std::string& script, std::vector<Diagnostic> why) {
  Tried& t = kept.tried;
  const std::size_t before = t.broken.size();
  const std::vector<std::string> lines = split(script, '\n');
  for (Diagnostic& d : why) {
    const int row = rules_.row_of(d.line);
    if (row == 0) continue;
    const bool counted = d.severity == Severity::error && counts(rules_.all(), row);
    if (counted) t.broken.insert(row);
    // One line of the plan decides what the row forbids: wherever it stands, as no row decides anything.
    const auto own = [&](int line) { return line > 0 && rules_.row_of(line) == 0; };
    if (counted && d.lines.size() == 2 && own(d.lines[0]) && rules_.forbids_always(row) && !rows_decide())
      kept.learned.emplace_back(deciding(c, lines.at(static_cast<std::size_t>(d.lines[0]) - 1)), row);
    d.file = rules_.line(row).file;
    d.line = rules_.line(row).line;
  }
  t.refused = t.broken.size() == before;
  if (t.refusal.empty()) t.refusal = std::move(why);
}

std::pair<std::int64_t, std::string> Trials::deciding(const Configuration& c, std::string line) {
  return {line.starts_with("trans ") ? 0 : c.tensor, std::move(line)};
}

std::vector<int> Trials::broken_by_lines(const Configuration& c, const constraint::Rows& counting) const {
  if (broken_by_.empty()) return {};
  std::set<int> out;
  for (std::string& line : split(split_lines(shape_, c), '\n'))
    if (const auto known = broken_by_.find(deciding(c, std::move(line))); known != broken_by_.end())
      out.insert(known->second.begin(), known->second.end());
  return counted(out, counting);
}

const Candidate* Trials::keeping(const constraint::Rows& rows, std::int64_t devices) const {
  const Candidate* out = nullptr;
  for (const auto& [made, kept] : tried_) {
    const Tried& t = kept.tried;
    if (!kept.seen || !t.candidate || t.candidate->configuration.devices() != devices) continue;
    if (!counted(t.broken, rows).empty() || excess_of(t, rows).bytes > 0) continue;
    if (!rules_.broken_by(t.candidate->configuration, rows).empty()) continue;
    if (!constraint::without(made_with(rows), t.rows).empty()) continue;
    if (!out || t.candidate->step_us < out->step_us) out = &*t.candidate;
  }
  return out;
}

std::optional<std::int64_t> Trials::least_predicted(int limit, const constraint::Rows& rows,
                                                    std::int64_t smallest) const {
  std::optional<std::int64_t> out;
  for (const auto& [made, kept] : tried_) {
    const Tried& t = kept.tried;
    const bool breaks = std::any_of(t.broken.begin(), t.broken.end(), [&](int row) { return counts(rows, row); });
    if (!kept.seen || !t.candidate || breaks || !constraint::without(made_with(rows), t.rows).empty() ||
        !rules_.broken_by(t.candidate->configuration, rows).empty())
      continue;
    const auto& peaks = t.candidate->peak_bytes;
    const std::int64_t most =
        limit == constraint::kDeviceMemory ? smallest + t.excess : *std::max_element(peaks.begin(), peaks.end());
    out = std::min(out.value_or(most), most);
  }
  return out;
}

}  // namespace planscope::stages
