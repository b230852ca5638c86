#include "engine/graph/draft.h"

#include <algorithm>
#include <utility>

#include "engine/base/text.h"
#include "engine/graph/element_types.h"

namespace planscope {

namespace {
bool same_list(PartTable& parts, const std::vector<int>& a, const std::vector<int>& b) {
  return parts.leaves(a) == parts.leaves(b);
}
}  // namespace

void RuleContext::add_inputs() {
  for (std::size_t a = 0; a < node.arguments.size(); ++a) {
    const auto add = [&](Tensor t, int element) {
      if (t.id < 0) return;
      const AskedSizes own = sizes(t.id);
      if (auto& known = dims[static_cast<std::size_t>(t.id)]; known.size() != own.size()) {  // no node has made it
        known.clear();
        for (const std::int64_t size : own) known.push_back(fresh(size));
      }
      DraftOperand operand;
      operand.tensor = t.id;
      operand.argument = static_cast<int>(a);
      operand.element = element;
      operand.dims.resize(sizes(t.id).size());
      draft.inputs.push_back(std::move(operand));
    };
    const Argument& value = node.arguments[a].value;
    if (const Tensor* t = std::get_if<Tensor>(&value)) add(*t, -1);
    if (const auto* list = std::get_if<std::vector<Tensor>>(&value))
      for (std::size_t e = 0; e < list->size(); ++e) add((*list)[e], static_cast<int>(e));
  }
}

int RuleContext::input(std::string_view argument, int element) const {
  for (std::size_t i = 0; i < draft.inputs.size(); ++i) {
    const DraftOperand& o = draft.inputs[i];
    if (node.arguments[static_cast<std::size_t>(o.argument)].name == argument &&
        (o.element < 0 || o.element == element))
      return static_cast<int>(i);
  }
  return -1;
}

AskedSizes RuleContext::sizes(ValueId v) const {
  if (v < 0 || static_cast<std::size_t>(v) >= model.values.size()) throw RuleMisfit{};
  return AskedSizes(model.values[static_cast<std::size_t>(v)].sizes);
}

AskedSizes RuleContext::output_sizes(int i) const {
  if (i < 0 || static_cast<std::size_t>(i) >= node.outputs.size()) throw RuleMisfit{};
  return sizes(node.outputs[static_cast<std::size_t>(i)]);
}

bool RuleContext::linear_cast() const {
  if (node.outputs.empty() || node.outputs[0] < 0) return false;
  const DType from = model.values[static_cast<std::size_t>(draft.inputs[0].tensor)].dtype;
  const DType to = model.values[static_cast<std::size_t>(node.outputs[0])].dtype;
  return carries_gradient(from) && carries_gradient(to) && byte_size(real_type(to)) >= byte_size(real_type(from));
}

void RuleContext::any(std::string_view names) {
  for (std::string& name : split(names, ' ')) stated.insert(std::move(name));
}

const Argument* RuleContext::argument(std::string_view name) const {
  stated.emplace(name);
  for (const NamedArgument& a : node.arguments)
    if (a.name == name) return &a.value;
  return nullptr;
}

std::int64_t RuleContext::integer(std::string_view name, std::int64_t otherwise) const {
  const Argument* a = argument(name);
  const std::int64_t* v = a ? std::get_if<std::int64_t>(a) : nullptr;
  return v ? *v : otherwise;
}

bool RuleContext::boolean(std::string_view name, bool otherwise) const {
  const Argument* a = argument(name);
  const bool* v = a ? std::get_if<bool>(a) : nullptr;
  return v ? *v : otherwise;
}

double RuleContext::number(std::string_view name, double otherwise) const {
  const Argument* a = argument(name);
  if (!a) return otherwise;
  if (const double* v = std::get_if<double>(a)) return *v;
  if (const std::int64_t* v = std::get_if<std::int64_t>(a)) return static_cast<double>(*v);
  if (const bool* v = std::get_if<bool>(a)) return *v ? 1 : 0;
  return otherwise;
}

std::vector<std::int64_t> RuleContext::integers(std::string_view name) const {
  const Argument* a = argument(name);
  if (!a) return {};
  if (const auto* v = std::get_if<std::vector<std::int64_t>>(a)) return *v;
  if (const std::int64_t* v = std::get_if<std::int64_t>(a)) return {*v};
  return {};
}

std::vector<int>& RuleContext::parts_of(int input, int dim) {
  auto& of_value = dims[static_cast<std::size_t>(draft.inputs[static_cast<std::size_t>(input)].tensor)];
  if (static_cast<std::size_t>(dim) >= of_value.size()) throw RuleMisfit{};
  return of_value[static_cast<std::size_t>(dim)];
}

std::vector<int> RuleContext::fresh(std::int64_t size) {
  if (size == 1) return {};
  return {parts.make(size)};
}

int RuleContext::factor(std::string name, FactorKind kind, std::vector<int> nodes, std::string reason) {
  draft.factors.push_back({std::move(name), kind, std::move(nodes), std::move(reason)});
  return static_cast<int>(draft.factors.size()) - 1;
}

static std::vector<DraftRef> whole(const DraftFactor& f, int factor) {
  std::vector<DraftRef> refs;
  for (std::size_t k = 0; k < f.nodes.size(); ++k) refs.push_back({factor, static_cast<int>(k)});
  return refs;
}

std::int64_t RuleContext::total(const std::vector<int>& nodes) const {
  std::int64_t n = 1;
  for (const int node : nodes) n *= parts.size(node);
  return n;
}

bool RuleContext::agree(const std::vector<int>& a, const std::vector<int>& b) {
  if (total(a) != total(b)) return false;
  parts.unify(a, b);
  return true;
}

bool RuleContext::tie(int i, int dim, int factor) {
  const std::vector<int>& own = parts_of(i, dim);
  const DraftFactor& f = draft.factors[static_cast<std::size_t>(factor)];
  if (!agree(f.nodes, own)) return false;
  if (total(f.nodes) == 1 && !same_list(parts, f.nodes, own)) {  // they differ in parts of size 1: read whole
    untied(i, dim);
    return true;
  }
  draft.inputs[static_cast<std::size_t>(i)].dims[static_cast<std::size_t>(dim)] = whole(f, factor);
  return true;
}

// A 1 that stands for a batch is one part; other ones have none.
static bool is_literal_one(PartTable& parts, const std::vector<int>& nodes) {
  return std::all_of(nodes.begin(), nodes.end(), [&](int n) { return parts.size(n) == 1 && parts.loose(n); });
}

std::vector<int> RuleContext::broadcast_parts(const std::vector<std::pair<int, int>>& dims_of_inputs) {
  std::vector<int> best;
  for (const auto& [i, dim] : dims_of_inputs) {
    const std::vector<int>& own = parts_of(i, dim);
    if (is_literal_one(parts, best) || (total(best) == 1 && total(own) != 1)) best = own;
  }
  return best;
}

bool RuleContext::tie_or_broadcast(int i, int dim, int factor) {
  const std::vector<int>& own = parts_of(i, dim);
  const std::vector<int>& nodes = draft.factors[static_cast<std::size_t>(factor)].nodes;
  if (total(own) != 1 || (total(nodes) == 1 && (!is_literal_one(parts, own) || is_literal_one(parts, nodes))))
    return tie(i, dim, factor);
  untied(i, dim);
  return true;
}

void RuleContext::relate(const std::vector<int>& out, const std::vector<std::vector<int>>& terms, std::int64_t constant,
                         std::int64_t times, std::int64_t per) {
  if (out.size() != 1) return;
  SizeRelation r;
  r.out = out.front();
  r.constant = constant;
  r.times = times;
  r.per = per;
  for (const auto& t : terms) {
    if (t.size() > 1) return;
    if (t.empty())
      r.constant += times;  // its size is 1
    else
      r.terms.push_back(t.front());
  }
  draft.relations.push_back(r);
}

void RuleContext::untied(int i, int dim) {
  std::vector<DraftRef> refs;
  for (const int n : parts_of(i, dim)) refs.push_back({-1, n});
  draft.inputs[static_cast<std::size_t>(i)].dims[static_cast<std::size_t>(dim)] = std::move(refs);
}

void RuleContext::begin_outputs() {
  draft.outputs.clear();
  for (std::size_t o = 0; o < node.outputs.size(); ++o) {
    DraftOperand operand;
    operand.tensor = node.outputs[o];
    operand.argument = static_cast<int>(o);
    draft.outputs.push_back(std::move(operand));
  }
}

void RuleContext::output_dim(int o, int factor) {
  draft.outputs[static_cast<std::size_t>(o)].dims.push_back(
      whole(draft.factors[static_cast<std::size_t>(factor)], factor));
}

void RuleContext::finish_outputs() {
  for (const DraftOperand& o : draft.outputs) {
    std::vector<std::vector<int>> lists;
    for (const auto& refs : o.dims) {
      std::vector<int> list;
      for (const DraftRef& r : refs)
        list.push_back(r.factor < 0
                           ? r.node
                           : draft.factors[static_cast<std::size_t>(r.factor)].nodes[static_cast<std::size_t>(r.node)]);
      lists.push_back(std::move(list));
    }
    dims[static_cast<std::size_t>(o.tensor)] = std::move(lists);
  }
}

void RuleContext::name(const std::vector<int>& nodes, std::string name) {
  if (!nodes.empty()) draft.names.emplace_back(nodes.front(), std::move(name));
}

bool RuleContext::outputs_fit() const {
  if (draft.outputs.size() != node.outputs.size()) return false;
  for (const ValueId v : node.outputs) {
    const AskedSizes expected = sizes(v);
    const auto& made = dims[static_cast<std::size_t>(v)];
    if (made.size() != expected.size()) return false;
    for (std::size_t d = 0; d < made.size(); ++d) {
      std::int64_t size = 1;
      for (const int part : made[d]) size *= parts.size(part);
      if (size != expected[d]) return false;
    }
  }
  return true;
}

void RuleContext::opaque(const std::string& reason) {
  Draft clean;
  clean.rule = "opaque";
  draft = std::move(clean);
  add_inputs();
  for (std::size_t i = 0; i < draft.inputs.size(); ++i)
    for (std::size_t d = 0; d < draft.inputs[i].dims.size(); ++d) {
      const int f = factor("", FactorKind::frozen, parts_of(static_cast<int>(i), static_cast<int>(d)), reason);
      tie(static_cast<int>(i), static_cast<int>(d), f);
    }
  begin_outputs();
  for (std::size_t o = 0; o < node.outputs.size(); ++o)
    for (const std::int64_t size : output_sizes(static_cast<int>(o)))
      output_dim(static_cast<int>(o), factor("", FactorKind::frozen, fresh(size), reason));
  for (std::size_t i = 0; i < draft.inputs.size(); ++i) draft.saves.push_back(static_cast<int>(i));
}

void apply_rule(RuleContext& c) {
  using Family = bool (*)(RuleContext&);
  static constexpr Family families[] = {
      apply_own_rule,       apply_text_rule, apply_elementwise,  apply_shape_family, apply_reduction_family,
      apply_factory_family, apply_attention, apply_index_family, apply_convolution,  apply_windows,
      apply_recurrent,      apply_einsum,    apply_transform,    apply_bodies};
  std::string why = "no rule for " + c.node.target;
  for (const Family family : families) {
    c.draft = Draft{};
    c.stated.clear();
    c.add_inputs();
    try {
      const bool fits = family(c);
      if (const auto value = fits ? unstated_value(c.node, c.stated) : std::exchange(c.unfit, std::nullopt)) {
        why = "the rule of " + c.node.target + " is not written for " + *value;
        c.own_rule = -1;
        continue;
      }
      if (!fits) continue;
      c.finish_outputs();
      if (!c.outputs_fit()) continue;
      const int inputs = static_cast<int>(c.draft.inputs.size()), outputs = static_cast<int>(c.draft.outputs.size());
      std::erase_if(c.draft.saves, [&](int s) { return s >= inputs || -1 - s >= outputs; });
      return;
    } catch (const RuleMisfit&) {
    }
  }
  c.opaque(why);
  c.draft.known = false;
  c.draft.why = why;
  c.finish_outputs();
}

}  // namespace planscope
