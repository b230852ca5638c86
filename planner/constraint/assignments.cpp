#include "planner/constraint/assignments.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <thread>

#include "engine/base/stop.h"
#include "engine/base/text.h"
#include "engine/plan/printer.h"

namespace planscope::constraint {
namespace {

constexpr std::size_t kBound = 64;  // assignments whose decisions are kept
// Work (solver/deadline.h), for each operator of the model: of a plan that is bound, and of one that is evaluated.
constexpr std::int64_t kBinding = 15, kEvaluating = 60;

std::size_t index(int i) { return static_cast<std::size_t>(i); }

int line_of(const plan::Decisions& d, int statement) {
  return statement < 0 ? 0 : d.plan.statements[index(statement)].line;
}

// None where it depends on sizes that are open.
std::set<int> devices_at(const plan::Decisions& d, const plan::MemoryRow& row) {
  const plan::PlaceInfo& place = d.places[index(row.place)];
  const std::vector<plan::GridAxis>& axes = d.grids[index(place.grid)].axes;
  const bool sized = std::all_of(axes.begin(), axes.end(), [](const plan::GridAxis& a) { return a.size > 0; });
  if (!sized && !place.fixed.empty()) return {};
  const std::vector<int> devices = plan::devices_of(d, place);
  return {devices.begin(), devices.end()};
}

// The statement `order ?`; 0: there is none.
int open_order(const plan::Decisions& d) { return line_of(d, d.open_order); }

std::vector<int> picks_without_order(const Assignment& a, std::vector<int> picks) {
  for (std::size_t i = 0; i < picks.size(); ++i)
    if (a.choices[i].kind == plan::OpenChoice::Kind::order) picks[i] = 0;
  return picks;
}

}  // namespace

bool holds(const Rows& rows, int line) { return std::binary_search(rows.begin(), rows.end(), line); }

namespace {

std::string key_of(const plan::Plan& plan) {
  std::string key;
  for (const plan::Statement& s : plan.statements)
    if (!std::holds_alternative<plan::EmptyStatement>(s.body)) key += plan::print_code(s) + "\n";
  return key;
}

}  // namespace

Evaluations::Evaluations(const Judge& judge)
    : judge_(judge), most_ahead_(std::max(1U, std::thread::hardware_concurrency()) - 1) {}

const Result<Evaluation>& Evaluations::of(const plan::Plan& plan) {
  return known_.at(key_of(plan), [&] { return judge_.evaluate(plan); });
}

bool Evaluations::begun(const plan::Plan& plan) const { return begun_.contains(key_of(plan)); }

bool Evaluations::occupied() {
  std::erase_if(ahead_, [](const std::future<void>& f) {
    return f.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  });
  return ahead_.size() >= most_ahead_;
}

void Evaluations::ahead(plan::Plan plan) {
  const std::string key = key_of(plan);
  begun_.insert(key);
  if (occupied() || known_.asked(key)) return;
  ahead_.push_back(std::async(std::launch::async, [this, p = std::move(plan), asked = StopScope::asked()] {
    const StopScope scope(asked);
    try {
      of(p);
    } catch (const Stopped&) {
    }
  }));
}

void Models::begin(const plan::InputSizes& sizes) {
  if (known_.contains(sizes)) return;
  known_[sizes] = std::async(std::launch::async, [this, sizes, asked = StopScope::asked()] {
    const StopScope scope(asked);
    return judge_.model(sizes);
  });
}

const Models::Model& Models::at(const plan::InputSizes& sizes) {
  std::shared_future<Model>& model = known_[sizes];
  if (!model.valid()) model = std::async(std::launch::deferred, [this, sizes] { return judge_.model(sizes); });
  return model.get();
}

const Peak* highest(const MemoryLimit& limit, const std::vector<Peak>& peaks) {
  const Peak* out = nullptr;
  for (const Peak& p : peaks)
    if (std::any_of(p.devices.begin(), p.devices.end(), [&](int device) { return limit.devices.contains(device); }))
      if (!out || p.bytes > out->bytes) out = &p;
  return out;
}

std::string where_text(const plan::Decisions& d, const std::vector<int>& devices) {
  const plan::GridInfo& grid = d.grids[0];
  if (devices.empty() || devices.size() >= grid.devices.size()) return {};
  std::vector<std::string> shared;
  std::int64_t behind = static_cast<std::int64_t>(grid.devices.size());  // devices of one coordinate
  for (const plan::GridAxis& axis : grid.axes) {
    if (axis.size <= 0 || behind % axis.size != 0) return {};
    behind /= axis.size;
    std::set<std::int64_t> coordinates;
    for (std::size_t i = 0; i < grid.devices.size(); ++i)
      if (std::find(devices.begin(), devices.end(), grid.devices[i]) != devices.end())
        coordinates.insert(static_cast<std::int64_t>(i) / behind % axis.size);
    if (axis.size > 1 && coordinates.size() == 1)
      shared.push_back(d.axes[index(axis.axis)].name + "=" + std::to_string(*coordinates.begin()));
  }
  if (!shared.empty()) return join(shared, ", ");
  const auto [low, high] = std::minmax_element(devices.begin(), devices.end());
  return "devices " + std::to_string(*low) + (*high - *low + 1 == static_cast<int>(devices.size()) ? "-" : " … ") +
         std::to_string(*high);
}

Assignments::Assignments(const Joined& joined, const Judge& judge, Models& models, Evaluations& evaluations)
    : joined_(joined),
      judge_(judge),
      models_(models),
      evaluations_(evaluations),
      rows_(rows_of(joined)),
      order_rows_(constraint::order_rows_of(joined)),
      leaves_order_(leaves_order(joined)),
      lean_(joined.bound) {}

void Assignments::settle(const plan::Decisions& open) {
  settled_ = Forbids::settled(open, rows_);
  std::erase_if(lean_.statements, [&](const plan::Statement& s) { return settled_.lines().contains(s.line); });
  hopeless_ = take_limits(open).hopeless;
}

// Memory rows, and those that no plan keeps: devices store more.
Assignments::Memory Assignments::take_limits(const plan::Decisions& d) {
  Memory out;
  std::optional<std::vector<Peak>> stored;
  for (const plan::MemoryRow& row : d.memory) {
    if (!row.limit_bytes) continue;
    if (!stored) stored = judge_.least_stored ? judge_.least_stored(d) : std::vector<Peak>{};
    const std::int64_t bytes = *row.limit_bytes - (row.strict ? 1 : 0);
    MemoryLimit& limit = out.limits.emplace_back(MemoryLimit{line_of(d, row.statement), devices_at(d, row), bytes, 0});
    limit.stored = stored_within(limit, *stored);
    const auto [known, first] = limit_bytes_.emplace(limit.line, limit.bytes);
    if (!first) known->second = std::min(known->second, limit.bytes);
    if (limit.stored > limit.bytes) out.hopeless.insert(limit.line);
  }
  return out;
}

std::optional<std::int64_t> Assignments::limit_bytes(int line) const {
  const auto known = limit_bytes_.find(line);
  return known == limit_bytes_.end() ? std::nullopt : std::optional(known->second);
}

Assignment& Assignments::at(const plan::OpenValues& values) {
  const auto [entry, fresh] = known_.try_emplace(values);
  Assignment& a = entry->second;
  if (!fresh) return a;
  a.values = values;
  bind(a);
  if (!a.decisions) return a;
  Memory memory = take_limits(*a.decisions);
  a.limits = std::move(memory.limits);
  a.hopeless = std::move(memory.hopeless);
  a.open = !a.decisions->variables.empty();
  if (!a.open) a.choices = fold_choices(*a.decisions, *a.model, a.settled ? &settled_ : nullptr, judge_.now);
  return a;
}

// Decisions of all rows but those that are found to be broken.
void Assignments::bind(Assignment& a) {
  const Result<plan::InputSizes> sizes = plan::model_sizes(lean_, judge_.inputs, a.values);
  const Models::Model& model = models_.at(sizes.value.value_or(plan::InputSizes{}));
  if (!model.value) {
    a.refused = reason(model.diagnostics);
    return;
  }
  a.model = model->get();
  count(kBinding, a);
  Result<plan::Decisions> bound = plan::bind(lean_, **model, a.values);
  const bool settled = bound.value && settled_.fits(*bound);
  if (!settled) bound = plan::bind(joined_.bound, **model, a.values);
  for (const Diagnostic& d : bound.diagnostics) {
    if (d.severity != Severity::error) continue;
    if (Broken broken = broken_by(d); !broken.empty())
      a.broken.insert(std::move(broken));
    else if (!a.refused)
      a.refused = reason({d});
  }
  if (a.refused || !bound.value) return;
  if (settled) {
    for (int line : settled_.broken(*bound, **model)) a.broken.insert({line});
    const std::set<int> follow = settled_.need_evaluation(*bound);
    for (int line : settled_.lines())
      if (!follow.contains(line)) a.decided.insert(line);
  }
  a.settled = settled;
  a.decisions = std::move(*bound);
  bound_.push_back(&a);
  if (bound_.size() > kBound) {
    bound_.front()->decisions.reset();
    bound_.pop_front();
  }
}

void Assignments::count(std::int64_t work, const Assignment& a) const {
  if (work_) work_->count(work * static_cast<std::int64_t>(a.model->operators.size()));
}

const plan::Decisions& Assignments::decisions(Assignment& a) {
  if (!a.decisions) bind(a);
  return *a.decisions;
}

// The line that an error names; kUntried: none.
int Assignments::reason(const std::vector<Diagnostic>& diagnostics) {
  for (const Diagnostic& d : diagnostics)
    if (d.severity == Severity::error && d.line > 0) return d.line;
  if (refusals_.empty()) refusals_ = located(joined_, diagnostics);
  return kUntried;
}

// The most of what devices store at least, where the row is for all of these devices.
std::int64_t Assignments::stored_within(const MemoryLimit& limit, const std::vector<Peak>& stored) {
  std::int64_t out = 0;
  for (const Peak& p : stored)
    if (p.bytes > out && std::includes(limit.devices.begin(), limit.devices.end(), p.devices.begin(), p.devices.end()))
      out = p.bytes;
  return out;
}

bool Assignments::counts(const Broken& broken, const Rows& rows) const {
  return std::all_of(broken.begin(), broken.end(), [&](int line) { return holds(rows, line) || !holds(rows_, line); });
}

std::vector<Broken> Assignments::that_count(const std::set<Broken>& broken, const Rows& rows) const {
  std::vector<Broken> out;
  for (const Broken& lines : broken)
    if (counts(lines, rows)) out.push_back(lines);
  return out;
}

// Nothing: the lines that it names are not what has to change.
Broken Assignments::broken_by(const Diagnostic& d) const {
  if (!d.lines.empty()) return d.lines;
  return holds(rows_, d.line) ? Broken{d.line} : Broken{};
}

// Rows that are held against what is carried out: `forbid` rows that are not known to be broken, and these order rows.
std::set<int> Assignments::carried_rows(const Assignment& a, const Looked& l, const Rows& orders) const {
  std::set<int> out(rows_.begin(), rows_.end());
  for (int line : order_rows_) out.erase(line);
  for (int line : a.decided) out.erase(line);
  for (const std::set<Broken>* known : {&a.broken, &l.broken})
    for (const Broken& lines : *known)
      for (int line : lines) out.erase(line);
  out.insert(orders.begin(), orders.end());
  return out;
}

Rows Assignments::order_rows_of(const Rows& rows) const {
  Rows out;
  std::set_intersection(rows.begin(), rows.end(), order_rows_.begin(), order_rows_.end(), std::back_inserter(out));
  return out;
}

// What is known of it before it is evaluated.
Looked Assignments::fresh(Assignment& a, const std::vector<int>& picks, const Rows& rows) const {
  Looked out;
  for (std::size_t i = 0; i < picks.size(); ++i)
    for (int line : a.choices[i].forbidden_by[index(picks[i])]) out.broken.insert({line});
  for (const Broken& lines : a.disorder[picks_without_order(a, picks)])
    if (counts(lines, rows)) out.broken.insert(lines);
  return out;
}

bool Assignments::breaks(const Looked& l, const Rows& rows) const {
  return std::any_of(l.broken.begin(), l.broken.end(), [&](const Broken& lines) { return counts(lines, rows); });
}

const Looked& Assignments::look(Assignment& a, const std::vector<int>& picks, const Rows& rows,
                                const std::optional<std::vector<int>>& next) {
  const Rows orders = order_rows_of(rows);
  const auto [entry, added] = a.looked.try_emplace({picks, orders});
  Looked& l = entry->second;
  if (added) l = fresh(a, picks, rows);
  while (!l.evaluation && !l.refused && !breaks(l, rows)) {
    const plan::Plan whole = this->whole(a, picks, orders, l);
    if (next && !evaluations_.begun(whole)) ahead(a, *next, rows);  // else another is at it, and next is for this one
    evaluate(a, picks, whole, orders, l);
  }
  return l;
}

bool Assignments::looked_at(const Assignment& a, const std::vector<int>& picks, const Rows& rows) const {
  return a.looked.contains({picks, order_rows_of(rows)});
}

void Assignments::for_each_evaluated(const Rows& rows, const Evaluated& each) {
  const Rows orders = order_rows_of(rows);
  for (auto& [values, a] : known_)
    for (const auto& [key, l] : a.looked)
      if (l.evaluation && key.second == orders) each(a, key.first, l);
}

bool Assignments::begun(Assignment& a, const std::vector<int>& picks, const Rows& rows) {
  const Rows orders = order_rows_of(rows);
  const auto known = a.looked.find({picks, orders});
  const Looked l = known != a.looked.end() ? known->second : fresh(a, picks, rows);
  return l.evaluation || l.refused || breaks(l, rows) || evaluations_.begun(whole(a, picks, orders, l));
}

bool Assignments::ahead(Assignment& a, const std::vector<int>& picks, const Rows& rows, bool begin) {
  const Rows orders = order_rows_of(rows);
  const auto known = a.looked.find({picks, orders});
  const Looked l = known != a.looked.end() ? known->second : fresh(a, picks, rows);
  if (l.refused || breaks(l, rows)) return false;
  if (begin && !l.evaluation) evaluations_.ahead(whole(a, picks, orders, l));
  return true;
}

// The row of memory that one order breaks: so does every order that keeps these rows, or others were not tried.
Broken Assignments::in_any_order(const MemoryLimit& limit, const std::vector<Peak>& least, const Rows& orders) {
  const Peak* peak = highest(limit, least);
  if (!peak || peak->bytes <= limit.bytes) return {kUntried, limit.line};
  Broken out = orders;
  out.insert(std::upper_bound(out.begin(), out.end(), limit.line), limit.line);
  return out;
}

plan::Plan Assignments::whole(Assignment& a, const std::vector<int>& picks, const Rows& orders, const Looked& l) {
  return completed(carried_out(joined_, carried_rows(a, l, orders)), decisions(a), *a.model, a.values, a.choices,
                   picks);
}

void Assignments::evaluate(Assignment& a, const std::vector<int>& picks, const plan::Plan& whole, const Rows& orders,
                           Looked& l) {
  count(kEvaluating, a);
  const Result<Evaluation>& e = evaluations_.of(whole);
  const bool one_of_several = leaves_order_ || orders != order_rows_;
  if (e.value && !e.has_errors()) {
    l.evaluation = *e;
    std::optional<std::vector<Peak>> least;
    for (const MemoryLimit& limit : a.limits) {
      const Peak* peak = highest(limit, e->peaks);
      if (!peak || peak->bytes <= limit.bytes) continue;
      if (one_of_several && !least) count(kEvaluating, a);
      if (one_of_several && !least) least = judge_.least_peaks ? judge_.least_peaks(whole) : std::vector<Peak>{};
      Broken lines = one_of_several ? in_any_order(limit, *least, orders) : Broken{limit.line};
      if (one_of_several && lines.front() != kUntried) a.disorder[picks_without_order(a, picks)].insert(lines);
      l.broken.insert(std::move(lines));
    }
    return;
  }
  const std::size_t before = l.broken.size();
  const int open = open_order(decisions(a));
  for (const Diagnostic& d : e.diagnostics) {
    if (d.severity != Severity::error) continue;
    Broken lines = broken_by(d);
    if (lines.empty()) continue;
    const bool of_its_answer = std::find(lines.begin(), lines.end(), open) != lines.end();
    if (of_its_answer && open > 0)
      lines.insert(lines.begin(), kUntried);
    else if (!d.lines.empty())
      a.disorder[picks_without_order(a, picks)].insert(lines);
    l.broken.insert(std::move(lines));
  }
  if (l.broken.size() == before) l.refused = reason(e.diagnostics);
}

}  // namespace planscope::constraint
