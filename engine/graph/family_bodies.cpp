// Operators that have sub-graphs (Node::bodies). What runs through all of their bodies, one element beside the other and
// wherever it stands in operands and results, is free: a batch through both branches of a `cond`, through the rounds of a loop.
// Everything else is whole.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "engine/graph/arguments.h"
#include "engine/graph/draft.h"

namespace planscope {

namespace {

// A dimension of an operand (result < 0) or of a result of the operator.
struct Place {
  int operand = -1, result = -1, dim = 0;
  auto operator<=>(const Place&) const = default;
};

// Where the operands and results of one body are those of the operator: its dimensions begin at `shift`.
struct Role {
  int operand = -1, result = -1;
  int shift = 0;
};

// Places that are cut together.
class Places {
 public:
  int at(const Place& place) {
    const auto [row, fresh] = index_.try_emplace(place, static_cast<int>(parent_.size()));
    if (fresh) parent_.push_back(row->second);
    return row->second;
  }
  int root(int p) {
    while (parent_[static_cast<std::size_t>(p)] != p) p = parent_[static_cast<std::size_t>(p)];
    return p;
  }
  void join(int a, int b) { parent_[static_cast<std::size_t>(root(a))] = root(b); }
  void refuse(int p) { refused_.insert(p); }

  std::vector<std::vector<Place>> groups() {
    std::map<int, std::vector<Place>> by_root;
    std::set<int> refused;
    for (const int p : refused_) refused.insert(root(p));
    for (const auto& [place, p] : index_)
      if (!refused.contains(root(p))) by_root[root(p)].push_back(place);
    std::vector<std::vector<Place>> out;
    for (auto& [r, places] : by_root) out.push_back(std::move(places));
    return out;
  }

 private:
  std::map<Place, int> index_;
  std::vector<int> parent_;
  std::set<int> refused_;
};

// Classes of a body that stand beside others in a dimension, or that some operator does not take one element beside the
// other and with the same arguments.
std::set<ClassId> mixed(const Graph& g) {
  std::set<ClassId> out;
  for (const PTensor& t : g.tensors)
    for (const auto& dim : t.dims)
      if (dim.size() > 1) out.insert(dim.begin(), dim.end());
  for (const Op& op : g.ops) {
    for (const Factor& f : op.factors)
      if (f.kind != FactorKind::free || f.key >= 0) out.insert(f.parts.begin(), f.parts.end());
    if (op.shard == ShardForm::same) continue;
    for (const Operand& o : op.outputs)
      for (const auto& dim : g.tensors[static_cast<std::size_t>(o.tensor)].dims) out.insert(dim.begin(), dim.end());
  }
  return out;
}

// `inputs[i]` says what the body's operand i is, `outputs[k]` what its result k is (each may be several).
void add_body(Places& places, const Graph& g, const std::vector<Role>& inputs,
              const std::vector<std::vector<Role>>& outputs) {
  const std::set<ClassId> bad = mixed(g);
  std::map<ClassId, int> known;
  const auto note = [&](TensorId t, const Role& role) {
    const auto& dims = g.tensors[static_cast<std::size_t>(t)].dims;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const int p = places.at({role.operand, role.result, static_cast<int>(d) + role.shift});
      if (dims[d].size() != 1 || bad.contains(dims[d].front())) {
        places.refuse(p);
        continue;
      }
      const auto [first, fresh] = known.emplace(dims[d].front(), p);
      if (!fresh) places.join(p, first->second);
    }
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) note(g.model->inputs[i], inputs[i]);
  for (std::size_t k = 0; k < outputs.size(); ++k)
    for (const Role& role : outputs[k]) note(g.model->outputs[k], role);
}

// The operands of a list argument as a body has them.
std::vector<Role> roles(const RuleContext& c, std::string_view argument, int shift) {
  std::vector<Role> out;
  for (std::size_t i = 0; i < c.draft.inputs.size(); ++i)
    if (c.node.arguments[static_cast<std::size_t>(c.draft.inputs.at(i).argument)].name == argument)
      out.push_back({static_cast<int>(i), -1, shift});
  return out;
}

std::vector<Role> joined(std::initializer_list<std::vector<Role>> lists) {
  std::vector<Role> out;
  for (const auto& list : lists) out.insert(out.end(), list.begin(), list.end());
  return out;
}

struct Bodies {
  std::vector<std::vector<Role>> inputs;                // of each body
  std::vector<std::vector<std::vector<Role>>> outputs;  // of each result of each body
};

Bodies bodies_of(const RuleContext& c) {
  const std::string& t = c.node.target;
  const int results = static_cast<int>(c.node.outputs.size());
  const auto carried = roles(c, "carried", 0), additional = roles(c, "additional", 0),
             elements = roles(c, "elements", 1);
  std::vector<std::vector<Role>> made;
  for (int k = 0; k < results; ++k) {
    const bool stays = k < static_cast<int>(carried.size()) || t == "planscope::cond";
    made.push_back({{-1, k, stays ? 0 : 1}});
    if (k < static_cast<int>(carried.size())) made.back().push_back(carried[static_cast<std::size_t>(k)]);
  }
  if (t == "planscope::cond") {
    const auto operands = roles(c, "operands", 0);
    return {{operands, operands}, {made, made}};
  }
  if (t == "planscope::while_loop") {
    const auto operands = joined({carried, additional});
    return {{operands, operands}, {{}, made}};
  }
  if (t == "planscope::scan") return {{joined({carried, elements, additional})}, {made}};
  if (t == "planscope::map") return {{joined({elements, additional})}, {made}};
  if (t == "planscope::associative_scan") return {{joined({elements, elements, additional})}, {made}};
  return {};
}

}  // namespace

bool apply_bodies(RuleContext& c) {
  if (c.node.bodies.empty() || c.node.random) return false;
  const Bodies roles_of = bodies_of(c);
  if (roles_of.inputs.size() != c.node.bodies.size()) return false;
  Places places;
  for (std::size_t b = 0; b < c.node.bodies.size(); ++b) {
    const Model& body = *c.node.bodies[b];
    const auto& outputs = roles_of.outputs[b];
    const bool says_when = outputs.empty();  // the condition of a loop is a number
    if (body.inputs.size() != roles_of.inputs[b].size() || (!says_when && body.outputs.size() != outputs.size()))
      return false;
    const Result<Graph> graph = make_graph(c.node.bodies[b]);
    if (!graph.value) return false;
    add_body(places, *graph, roles_of.inputs[b], outputs);
  }
  if (c.node.target == "planscope::map") {  // an element beside the other
    std::vector<int> first;
    for (const Role& r : roles(c, "elements", 1)) first.push_back(places.at({r.operand, -1, 0}));
    for (int k = 0; k < static_cast<int>(c.node.outputs.size()); ++k) first.push_back(places.at({-1, k, 0}));
    for (const int p : first) places.join(p, first.front());
  }
  std::map<Place, int> factor_at;
  for (const std::vector<Place>& group : places.groups()) {
    const auto given = std::find_if(group.begin(), group.end(), [](const Place& p) { return p.operand >= 0; });
    const auto made = std::count_if(group.begin(), group.end(), [](const Place& p) { return p.result >= 0; });
    std::set<std::pair<int, int>> tensors;
    for (const Place& p : group) tensors.insert({p.operand, p.result});
    if (tensors.size() != group.size()) continue;  // twice in one tensor: a diagonal
    if (given == group.end() || made != static_cast<std::ptrdiff_t>(c.node.outputs.size())) continue;
    const int f = c.factor("", FactorKind::free, c.parts_of(given->operand, given->dim));
    for (const Place& p : group) factor_at[p] = f;
  }
  const std::string reason = "its sub-graphs need it whole";
  for (int i = 0; i < static_cast<int>(c.draft.inputs.size()); ++i)
    for (int d = 0; d < static_cast<int>(c.draft.inputs[static_cast<std::size_t>(i)].dims.size()); ++d) {
      const auto known = factor_at.find({i, -1, d});
      const int f = known != factor_at.end() ? known->second : c.factor("", FactorKind::frozen, c.parts_of(i, d), reason);
      if (!c.tie(i, d, f)) return false;
    }
  c.begin_outputs();
  for (int o = 0; o < static_cast<int>(c.node.outputs.size()); ++o) {
    const AskedSizes sizes = c.output_sizes(o);
    for (int d = 0; d < static_cast<int>(sizes.size()); ++d) {
      const auto known = factor_at.find({-1, o, d});
      c.output_dim(o, known != factor_at.end()
                          ? known->second
                          : c.factor("", FactorKind::frozen, c.fresh(sizes[static_cast<std::size_t>(d)]), reason));
    }
  }
  for (std::size_t i = 0; i < c.draft.inputs.size(); ++i) c.draft.saves.push_back(static_cast<int>(i));
  c.draft.rule = c.node.target.substr(std::string("planscope::").size());
  return true;
}

}  // namespace planscope
