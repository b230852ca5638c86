#include "planner/constraint/forbids.h"

#include <algorithm>
#include <numeric>

#include "engine/plan/printer.h"
#include "engine/plan/within.h"

namespace planscope::constraint {
namespace {

constexpr plan::Phase kPhases[] = {plan::Phase::forward, plan::Phase::fetch, plan::Phase::grad, plan::Phase::update};

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Whether a row means the same for every value of what is open.
bool settles(const plan::Decisions& d, int statement) {
  const plan::Statement& s = d.plan.statements[at(statement)];
  const auto* forbid = std::get_if<plan::ForbidStatement>(&s.body);
  return forbid && std::holds_alternative<plan::TransStatement>(forbid->primitive) && s.where.empty() && s.use == 0 &&
         plan::print_code(s).find('?') == std::string::npos &&
         std::find(d.deferred.begin(), d.deferred.end(), statement) == d.deferred.end();
}

}  // namespace

Forbids::Forbids(const plan::Decisions& d, const std::set<int>& but) {
  if (d.forbids.empty()) return;
  prepare(d);
  for (const plan::ForbidRow& row : d.forbids)
    if (!but.contains(d.plan.statements[at(row.statement)].line)) take(d, row);
  sort();
}

Forbids Forbids::settled(const plan::Decisions& open, const Rows& rows) {
  Forbids out;
  out.prepare(open);
  for (int s = 0; s < static_cast<int>(open.plan.statements.size()); ++s)
    if (const int line = open.plan.statements[at(s)].line;
        settles(open, s) && std::binary_search(rows.begin(), rows.end(), line))
      out.lines_.insert(line);
  for (const plan::ForbidRow& row : open.forbids)
    if (out.lines_.contains(open.plan.statements[at(row.statement)].line)) out.take(open, row);
  out.sort();
  return out;
}

void Forbids::prepare(const plan::Decisions& d) {
  for (const plan::AxisInfo& a : d.axes) axes_.push_back(a.name);
  for (const plan::Phase phase : kPhases) splits_[phase].count = d.splits(phase).size();
  places_.resize(at(d.operator_count));
  algorithms_.resize(at(d.operator_count));
}

void Forbids::take(const plan::Decisions& d, const plan::ForbidRow& row) {
  const int line = d.plan.statements[at(row.statement)].line;
  for (const plan::ForbiddenSplit& f : row.splits)
    splits_[f.phase].rows.push_back({d.cell(f.row, f.axis), f.factor, line});
  for (const plan::ForbiddenPlace& f : row.places) places_[at(f.row)].push_back({f, line});
  for (const plan::ForbiddenAlgorithm& f : row.algorithms)
    for (int op : d.units[at(f.unit)].operators) algorithms_[at(op)].push_back({f.algorithm, line});
}

// By counting: rows over many operators have as many entries as cells, or more.
void Forbids::sort() {
  for (auto& [phase, cells] : splits_) {
    std::vector<std::size_t> next(cells.count + 1, 0);  // by cell: where its next row goes
    for (const Row& r : cells.rows) ++next[r.cell + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    std::vector<Row> sorted(cells.rows.size());
    for (const Row& r : cells.rows) sorted[next[r.cell]++] = r;
    cells.rows = std::move(sorted);
  }
}

bool Forbids::fits(const plan::Decisions& d) const {
  return std::equal(axes_.begin(), axes_.end(), d.axes.begin(), d.axes.end(),
                    [](const std::string& name, const plan::AxisInfo& a) { return name == a.name; }) &&
         std::all_of(splits_.begin(), splits_.end(),
                     [&](const auto& table) { return table.second.count == d.splits(table.first).size(); });
}

std::vector<std::vector<int>> Forbids::of(const plan::Decisions& d, const Choice& c) const {
  std::vector<std::vector<int>> out(c.words.size());
  add(d, c, out);
  return out;
}

void Forbids::add(const plan::Decisions& d, const Choice& c, std::vector<std::vector<int>>& out) const {
  using Kind = plan::OpenChoice::Kind;
  if (axes_.empty()) return;
  if (c.kind == Kind::split) splits(d, c, out);
  if (c.kind == Kind::algorithm) algorithms(d, c, out);
  if (c.kind == Kind::place) places(d, c, out);
  for (std::vector<int>& lines : out) {
    std::sort(lines.begin(), lines.end());
    lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  }
}

void Forbids::splits(const plan::Decisions& d, const Choice& c, std::vector<std::vector<int>>& out) const {
  const std::size_t cell = d.cell(c.rows[0], c.axis);
  const plan::Alternatives& a = d.alternatives[at(d.splits(c.phase)[cell].alternatives)];
  const std::vector<Row>& all = splits_.at(c.phase).rows;
  const auto first =
      std::lower_bound(all.begin(), all.end(), cell, [](const Row& r, std::size_t value) { return r.cell < value; });
  for (auto r = first; r != all.end() && r->cell == cell; ++r)
    for (std::size_t w = 0; w < c.words.size(); ++w)
      for (std::size_t i = 0; i < a.words.size(); ++i)
        if (a.factors[i] == r->factor && a.words[i] == c.words[w]) out[w].push_back(r->line);
}

void Forbids::algorithms(const plan::Decisions& d, const Choice& c, std::vector<std::vector<int>>& out) const {
  for (int op : d.units[at(d.algorithms[at(c.rows[0])].unit)].operators)
    for (const auto& [algorithm, line] : algorithms_[at(op)])
      for (std::size_t w = 0; w < c.words.size(); ++w)
        if (to_string(algorithm) == c.words[w]) out[w].push_back(line);
}

void Forbids::places(const plan::Decisions& d, const Choice& c, std::vector<std::vector<int>>& out) const {
  const plan::PlaceInfo& open = d.places[at(c.place)];
  for (const auto& [f, line] : places_[at(c.rows[0])])
    if (plan::overlap(open.index, f.index))
      for (std::size_t w = 0; w < c.words.size() && w < open.alternatives.size(); ++w)
        if (plan::within(d, open.alternatives[w], d.places[at(f.place)])) out[w].push_back(line);
}

// As binding does: an axis that an operator's place lacks splits nothing.
std::set<int> Forbids::broken(const plan::Decisions& d, const plan::ModelInfo& model) const {
  std::set<int> out;
  for (const auto& [phase, cells] : splits_)
    for (const Row& r : cells.rows) {
      const plan::Split& s = d.splits(phase)[r.cell];
      if (s.statement < 0 || s.factor != r.factor || s.factor == plan::kOpen || !plan::is_final(d, s.statement))
        continue;
      const auto row = static_cast<int>(r.cell / axes_.size()), axis = static_cast<int>(r.cell % axes_.size());
      if (plan::has_axis(d, model, phase, row, axis)) out.insert(r.line);
    }
  return out;
}

// What a statement says of an operator is so; how a parameter is split follows from what reads it, too.
std::set<int> Forbids::need_evaluation(const plan::Decisions& d) const {
  std::vector<bool> used(axes_.size(), false);  // axes that some statement splits something by
  for (const plan::Phase phase : kPhases)
    for (std::size_t cell = 0; cell < d.splits(phase).size(); ++cell)
      if (d.splits(phase)[cell].factor != plan::kNone) used[cell % axes_.size()] = true;
  std::vector<bool> needed(lines_.empty() ? 0 : at(*lines_.rbegin()) + 1, false);
  for (const auto& [phase, cells] : splits_)
    for (const Row& r : cells.rows) {
      if (phase == plan::Phase::forward && d.operator_splits[r.cell].statement >= 0) continue;
      if (used[r.cell % axes_.size()] || r.factor == plan::kNone) needed[at(r.line)] = true;
    }
  std::set<int> out;
  for (const int line : lines_)
    if (needed[at(line)]) out.insert(line);
  return out;
}

}  // namespace planscope::constraint
