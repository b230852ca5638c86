#include "app/session/canvases/graph_colours.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <span>

#include "engine/base/format.h"
#include "engine/base/text.h"

namespace planscope::session {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// What category an operator is of; empty: of none.
using CategoryOf = std::function<std::string(OpId)>;

// `fixed`: categories that have the same colour and hatch in every picture, whether there are such operators or not.
void by_category(const GraphPicture& g, const CategoryOf& of, viz::GraphModel& m,
                 std::span<const char* const> fixed = {}) {
  const VisibleGraph& v = g.placed->get().visible;
  std::map<std::string, int> known;
  for (const char* name : fixed) {
    known.emplace(name, static_cast<int>(known.size()));
    m.category.push_back(m.intern(name));
  }
  std::vector<std::map<int, std::int64_t>> counts(v.nodes.size());
  for (OpId o = 0; o < static_cast<OpId>(v.node_of.size()); ++o) {
    const std::string name = of(o);
    if (name.empty()) continue;
    const auto [category, fresh] = known.try_emplace(name, static_cast<int>(known.size()));
    if (fresh) m.category.push_back(m.intern(name));
    for (int n = v.node_of[at(o)]; n >= 0; n = v.nodes[at(n)].parent) ++counts[at(n)][category->second];
  }
  m.colour = viz::ColourKind::categories;
  for (std::size_t n = 0; n < counts.size(); ++n) {
    std::int64_t all = 0;
    for (const auto& [c, count] : counts[n]) all += count;
    std::vector<std::pair<int, std::int64_t>> sorted(counts[n].begin(), counts[n].end());
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    for (const auto& [c, count] : sorted) {
      m.band.push_back(static_cast<std::int16_t>(c));
      m.band_share.push_back(static_cast<float>(static_cast<double>(count) / static_cast<double>(all)));
    }
    m.band_end[n] = static_cast<std::int32_t>(m.band.size());
  }
}

void by_level(const GraphPicture& g, viz::ColourKind kind, const std::function<double(const NodePicture&)>& of,
              bool is_time, viz::GraphModel& m) {
  double most = 0;
  for (const NodePicture& n : g.nodes)
    if (!n.expanded) most = std::max(most, of(n));
  for (std::size_t k = 0; k < g.nodes.size(); ++k)
    m.level[k] = most > 0 && !g.nodes[k].expanded ? static_cast<float>(of(g.nodes[k]) / most) : 0;
  m.colour = kind;
  m.most = is_time ? time_text(most) : bytes_text(most);
}

std::string axes_of(const PlanFigures& f, OpId o) {
  std::vector<std::string> axes;
  for (const int s : f.of[at(o)].splits)
    if (!f.splits[at(s)].factor.empty() && std::find(axes.begin(), axes.end(), f.splits[at(s)].axis) == axes.end())
      axes.push_back(f.splits[at(s)].axis);
  return axes.empty() ? "whole" : join(axes, " and ");
}

// How far the rule of an operator lets it be split.
std::string rule_of(const Graph& g, OpId o) {
  const Op& op = g.ops[at(o)];
  if (!op.known) return "no rule: whole";
  for (const Factor& f : op.factors)
    if (f.kind != FactorKind::frozen)
      for (const ClassId c : f.parts)
        if (g.classes[at(c)].size > 1) return f.key >= 0 ? "split by key" : "can be split";
  return "whole alone";
}

std::vector<std::string> splits_of(const PlanFigures& f, OpId o) {
  std::vector<std::string> out;
  for (const int s : f.of[at(o)].splits) out.push_back(f.splits[at(s)].text());
  std::sort(out.begin(), out.end());
  return out;
}

std::string place_of(const PlanFigures& f, OpId o) {
  const int p = f.of[at(o)].place;
  return p < 0 ? "does not run" : f.places[at(p)];
}

constexpr const char* differences[] = {"the same", "another place", "split otherwise", "kept otherwise", "parameters otherwise"};

// Of every parameter: how its values and its gradient are communicated, whatever they take.
std::vector<std::set<std::string>> ways_of_parameters(const Graph& g, const PlanFigures& f) {
  std::map<TensorId, int> parameter;
  for (int p = 0; p < static_cast<int>(g.parameters.size()); ++p) parameter.emplace(g.parameters[at(p)].tensor, p);
  std::vector<std::set<std::string>> out(g.parameters.size());
  for (const Communication& c : f.communications)
    if (const auto p = parameter.find(c.tensor); p != parameter.end())
      out[at(p->second)].insert(std::string(c.gradient ? "gradient " : "") + c.kind + " " + std::to_string(c.group));
  return out;
}

// What a plan does otherwise than another one with the operators of the same graph.
class Differences {
 public:
  Differences(const Graph& g, const PlanFigures& now, const PlanFigures& before)
      : now_(now), before_(before), parameters_(now.of.size(), false) {
    const auto ways = ways_of_parameters(g, now), ways_before = ways_of_parameters(g, before);
    for (std::size_t p = 0; p < now.parameters.size(); ++p) {
      const ParameterFigures &a = now.parameters[p], &b = before.parameters[p];
      const bool same = a.splits == b.splits && a.places == b.places && a.state == b.state && ways[p] == ways_before[p];
      if (!same && a.reader >= 0) parameters_[at(a.reader)] = true;
    }
  }

  std::string of(OpId o) const {
    if (place_of(now_, o) != place_of(before_, o)) return differences[1];
    if (splits_of(now_, o) != splits_of(before_, o)) return differences[2];
    if (now_.of[at(o)].storage != before_.of[at(o)].storage) return differences[3];
    return differences[parameters_[at(o)] ? 4 : 0];
  }

 private:
  const PlanFigures &now_, &before_;
  std::vector<bool> parameters_;  // by operator: some of those that it is the first to read differ
};

// Null: they are of another graph.
const PlanFigures* comparable(const PlanFigures& before, const PlanFigures& now) {
  return before.of.size() == now.of.size() ? &before : nullptr;
}

// Of the plan that was kept last; null: it has none.
const PlanFigures* kept_figures(const Document& d, const PlanFigures& now) {
  return d.base && d.base->evaluation ? comparable(d.base->figures_by_operator->get(), now) : nullptr;
}

}  // namespace

const ComparedEntry* compared_plan(const Document& d) {
  if (!d.comparison || d.comparison->running) return nullptr;
  const std::vector<ComparedEntry>& all = d.comparison->entries;
  for (std::size_t k = d.comparison->of_draft() ? 1 : 0; k < all.size(); ++k)
    if (all[k].figures_by_operator) return &all[k];
  return nullptr;
}

std::vector<OpId> changed_operators(const State& s) {
  const Document& d = *s.document();
  if (!d.draft.edited() || !d.current()) return {};
  const PlanFigures& now = d.shown->figures_by_operator->get();
  const PlanFigures* before = kept_figures(d, now);
  if (!before) return {};
  const Differences changes(*d.shown->evaluation->made.graph, now, *before);
  std::vector<OpId> out;
  for (OpId o = 0; o < static_cast<OpId>(now.of.size()); ++o)
    if (changes.of(o) != differences[0]) out.push_back(o);
  return out;
}

void colour_graph(const State& s, const GraphPicture& g, viz::GraphModel& m) {
  m.colour_name = s.colour;
  const Document& d = *s.document();
  if (s.colour == "rule") return by_category(g, [&](OpId o) { return rule_of(d.model->graph, o); }, m);
  if (!g.evaluation) return;
  const PlanFigures& f = d.shown->figures_by_operator->get();
  const auto time = [](const NodePicture& n) { return n.time_us; };
  const auto memory = [](const NodePicture& n) { return n.kept_bytes; };
  const auto communication = [](const NodePicture& n) { return n.communication_us; };
  if (s.colour == "time") return by_level(g, viz::ColourKind::time, time, true, m);
  if (s.colour == "memory") return by_level(g, viz::ColourKind::memory, memory, false, m);
  if (s.colour == "communication") return by_level(g, viz::ColourKind::communication, communication, true, m);
  if (s.colour == "split") return by_category(g, [&](OpId o) { return axes_of(f, o); }, m);
  if (s.colour == "place") return by_category(g, [&](OpId o) { return place_of(f, o); }, m);
  const ComparedEntry* other = compared_plan(d);
  if (other) m.colour_name += " to " + other->name;
  const PlanFigures* before = other ? comparable(other->figures_by_operator->get(), f) : kept_figures(d, f);
  if (!before) return by_category(g, [](OpId) { return "no other plan is kept or compared with"; }, m);
  const Differences changes(*d.shown->evaluation->made.graph, f, *before);
  by_category(g, [&](OpId o) { return changes.of(o); }, m, differences);
}

}  // namespace planscope::session
