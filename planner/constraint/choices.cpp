#include "planner/constraint/choices.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "engine/base/text.h"
#include "planner/constraint/forbids.h"

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

// `order ?`: what list scheduling does, or a known schedule for what is cut; 1F1B with a micro-batch more under way, too, which
// hides what passes between stages where memory lets it.
std::vector<std::string> schedules(const plan::ModelInfo& model, const plan::Decisions& d) {
  std::vector<std::string> out{"use ready()"};
  const bool repeats =
      std::any_of(model.operators.begin(), model.operators.end(), [](const auto& op) { return op.call > 0; });
  const bool splits =
      std::any_of(d.operator_grad_split.begin(), d.operator_grad_split.end(), [](int a) { return a >= 0; });
  for (const plan::CutInfo& c : d.cuts) {
    if (c.units.size() < 2) continue;
    for (const char* name : {"1f1b", "gpipe"}) out.push_back(std::string("use ") + name + "(" + c.name + ")");
    out.push_back("order b(" + c.name + "[i])[m] < f(" + c.name + "[i])[m+1+|" + c.name + "|-i]");
    if (repeats) out.push_back("use table7(" + c.name + ")");
    if (!splits) continue;
    for (const char* name : {"zb_h1", "zb_h2"}) out.push_back(std::string("use ") + name + "(" + c.name + ")");
  }
  return out;
}

}  // namespace

std::vector<Choice> fold_choices(const plan::Decisions& d, const plan::ModelInfo& model, const Forbids* more,
                                 const Now& now) {
  using Lines = std::vector<std::vector<int>>;
  using Key = std::tuple<int, int, int, int, int, int, std::string, std::vector<std::string>, Lines>;
  const Forbids own = more ? Forbids(d, more->lines()) : Forbids(d);
  std::map<Key, std::size_t> known;
  std::vector<Choice> out;
  for (const plan::OpenChoice& o : plan::open_choices(d, model)) {
    if (o.kind == plan::OpenChoice::Kind::variable) continue;
    Choice c{o.kind, o.statement, o.phase, o.axis, o.place, {o.row}, o.choices, -1, {}};
    if (o.kind == plan::OpenChoice::Kind::order) c.words = schedules(model, d);
    if (c.words.empty()) c.words.push_back({});
    if (now)
      if (const auto word = std::find(c.words.begin(), c.words.end(), now(d, o)); word != c.words.end())
        c.now = static_cast<int>(word - c.words.begin());
    c.forbidden_by = own.of(d, c);
    if (more) more->add(d, c, c.forbidden_by);
    const Key key{o.statement,
                  static_cast<int>(o.kind),
                  static_cast<int>(o.phase),
                  o.axis,
                  o.place,
                  c.now,
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
