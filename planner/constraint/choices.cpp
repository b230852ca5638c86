#include "planner/constraint/choices.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "engine/base/text.h"
#include "engine/plan/within.h"

namespace planscope::constraint {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

std::string factors_signature(const std::vector<plan::FactorInfo>& factors) {
  std::string out;
  for (const plan::FactorInfo& f : factors)
    out += (f.names.empty() ? "" : f.names[0]) + ":" + std::to_string(f.size) + ",";
  return out;
}

std::string signature(const plan::ModelInfo& model, const plan::Decisions& d, const plan::OpenChoice& o) {
  if (o.kind == plan::OpenChoice::Kind::algorithm) {
    const plan::UnitInfo& unit = d.units[at(d.algorithms[at(o.row)].unit)];
    return without_numbers(unit.name) + " " + std::to_string(unit.operators.size());
  }
  if (o.kind == plan::OpenChoice::Kind::order) return {};
  const bool parameter = o.kind == plan::OpenChoice::Kind::split && o.phase != plan::Phase::forward;
  const std::vector<int>* readers = parameter ? &model.parameters[at(o.row)].readers : nullptr;
  if (readers && readers->empty()) return without_numbers(model.parameters[at(o.row)].name);
  const plan::OperatorInfo& op = model.operators[at(readers ? readers->front() : o.row)];
  std::string out =
      without_numbers(op.module) + "@" + std::to_string(op.call) + ":" + op.kind + "#" + std::to_string(op.ordinal);
  return out + " " + factors_signature(op.factors);
}

// The `forbid` rows by what they speak of, so that a choice meets only those of its own operators.
class Forbids {
 public:
  explicit Forbids(const plan::Decisions& d) : d_(d) {
    if (d.forbids.empty()) return;
    splits_.resize(at(d.operator_count) * d.axes.size());
    places_.resize(at(d.operator_count));
    algorithms_.resize(at(d.operator_count));
    for (const plan::ForbidRow& row : d.forbids) {
      const int line = d.plan.statements[at(row.statement)].line;
      if (row.phase == plan::Phase::forward)
        for (const plan::ForbiddenSplit& f : row.splits) splits_[d.cell(f.row, f.axis)].push_back({f.factor, line});
      for (const plan::ForbiddenPlace& f : row.places) places_[at(f.row)].push_back({&f, line});
      for (const plan::ForbiddenAlgorithm& f : row.algorithms)
        for (int op : d.units[at(f.unit)].operators) algorithms_[at(op)].push_back({f.algorithm, line});
    }
  }

  // For each word of a choice of one row the lines that exclude it, ascending.
  std::vector<std::vector<int>> of(const Choice& c) const {
    std::vector<std::vector<int>> out(c.words.size());
    if (d_.forbids.empty()) return out;
    using Kind = plan::OpenChoice::Kind;
    if (c.kind == Kind::split && c.phase == plan::Phase::forward) splits(c, out);
    if (c.kind == Kind::algorithm) algorithms(c, out);
    if (c.kind == Kind::place) places(c, out);
    for (std::vector<int>& lines : out) {
      std::sort(lines.begin(), lines.end());
      lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
    }
    return out;
  }

 private:
  void splits(const Choice& c, std::vector<std::vector<int>>& out) const {
    const std::size_t cell = d_.cell(c.rows[0], c.axis);
    const plan::Alternatives& a = d_.alternatives[at(d_.operator_splits[cell].alternatives)];
    for (std::size_t w = 0; w < c.words.size(); ++w)
      for (std::size_t i = 0; i < a.words.size(); ++i)
        for (const auto& [factor, line] : splits_[cell])
          if (a.words[i] == c.words[w] && a.factors[i] == factor) out[w].push_back(line);
  }

  void algorithms(const Choice& c, std::vector<std::vector<int>>& out) const {
    for (int op : d_.units[at(d_.algorithms[at(c.rows[0])].unit)].operators)
      for (const auto& [algorithm, line] : algorithms_[at(op)])
        for (std::size_t w = 0; w < c.words.size(); ++w)
          if (to_string(algorithm) == c.words[w]) out[w].push_back(line);
  }

  void places(const Choice& c, std::vector<std::vector<int>>& out) const {
    const plan::PlaceInfo& open = d_.places[at(c.place)];
    for (const auto& [f, line] : places_[at(c.rows[0])])
      if (plan::overlap(open.index, f->index))
        for (std::size_t w = 0; w < c.words.size() && w < open.alternatives.size(); ++w)
          if (plan::within(d_, open.alternatives[w], d_.places[at(f->place)])) out[w].push_back(line);
  }

  const plan::Decisions& d_;
  std::vector<std::vector<std::pair<int, int>>> splits_;                            // by cell: factor and line
  std::vector<std::vector<std::pair<const plan::ForbiddenPlace*, int>>> places_;    // by operator
  std::vector<std::vector<std::pair<plan::Algorithm, int>>> algorithms_;            // by operator
};

// `order ?`: what list scheduling does, or a known schedule for what is cut.
std::vector<std::string> schedules(const plan::Decisions& d) {
  std::vector<std::string> out{"use ready()"};
  for (const plan::CutInfo& c : d.cuts)
    if (c.units.size() > 1)
      for (const char* name : {"1f1b", "gpipe"}) out.push_back(std::string("use ") + name + "(" + c.name + ")");
  return out;
}

}  // namespace

std::vector<Choice> fold_choices(const plan::Decisions& d, const plan::ModelInfo& model) {
  using Lines = std::vector<std::vector<int>>;
  using Key = std::tuple<int, int, int, int, int, std::string, std::vector<std::string>, Lines>;
  const Forbids forbids(d);
  std::map<Key, std::size_t> known;
  std::vector<Choice> out;
  for (const plan::OpenChoice& o : plan::open_choices(d, model)) {
    if (o.kind == plan::OpenChoice::Kind::variable) continue;
    Choice c{o.kind, o.statement, o.phase, o.axis, o.place, {o.row}, o.choices, {}};
    if (o.kind == plan::OpenChoice::Kind::order) c.words = schedules(d);
    if (c.words.empty()) c.words.push_back({});
    c.forbidden_by = forbids.of(c);
    const Key key{o.statement,
                  static_cast<int>(o.kind),
                  static_cast<int>(o.phase),
                  o.axis,
                  o.place,
                  signature(model, d, o),
                  o.choices,
                  c.forbidden_by};
    const auto [entry, fresh] = known.emplace(key, out.size());
    if (fresh)
      out.push_back(std::move(c));
    else
      out[entry->second].rows.push_back(o.row);
  }
  return out;
}

}  // namespace planscope::constraint
