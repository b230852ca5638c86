#include "engine/graph/marks.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "engine/base/text.h"
#include "engine/graph/bodies.h"
#include "engine/graph/element_types.h"

namespace planscope {

namespace {

std::vector<std::string> guessed_names(const Value& v) {
  switch (v.sizes.size()) {
    case 1:
      return {"batch"};
    case 2:
      return {"batch", "seq"};
    case 3:
      return {"batch", "seq", "features"};
    case 4:
      return {"batch", "channels", "height", "width"};
    case 5:
      return {"batch", "channels", "frames", "height", "width"};
    default:
      return {};
  }
}

void name_inputs(Graph& g) {
  for (const ValueId v : g.model->inputs) {
    const std::vector<std::string> names = guessed_names(g.model->values[static_cast<std::size_t>(v)]);
    const auto& dims = g.tensors[static_cast<std::size_t>(v)].dims;
    for (std::size_t d = 0; d < dims.size() && d < names.size(); ++d) {
      if (dims[d].empty()) continue;
      PartClass& c = g.classes[static_cast<std::size_t>(dims[d].front())];
      if (!c.name.empty()) continue;
      c.name = names[d];
      c.from_input = true;
    }
  }
}

bool is_linear(const Graph& g, const Op& op) {
  const std::string& t = g.node(static_cast<OpId>(&op - g.ops.data())).target;
  return t == "aten::linear" || t == "aten::addmm" || t == "planscope::grouped_mm" || t == "aten::_grouped_mm" ||
         t == "transformers::grouped_mm_fallback";
}

// -1: all of it is frozen.
ClassId first_free_part(const Graph& g, const Factor& f) {
  for (const ClassId c : f.parts)
    if (!g.classes[static_cast<std::size_t>(c)].frozen) return c;
  return -1;
}

// The width between two products: written by one, contracted by another, named by nothing else.
void name_ffn(Graph& g) {
  std::set<ClassId> contracted;
  for (const Op& op : g.ops)
    if (is_linear(g, op))
      for (const Factor& f : op.factors)
        if (f.name == "in" && !f.parts.empty()) contracted.insert(f.parts.front());
  for (const Op& op : g.ops)
    if (is_linear(g, op))
      for (const Factor& f : op.factors)
        if (const ClassId id = first_free_part(g, f); f.name == "out" && contracted.count(id)) {
          PartClass& c = g.classes[static_cast<std::size_t>(id)];
          if (c.name.empty()) c.name = "ffn";
        }
}

void mark_frozen(Graph& g) {
  for (const Op& op : g.ops) {
    if (op.parameter_free || op.rule == "opaque") continue;  // what is whole anyway says nothing of its neighbours
    for (const Factor& f : op.factors)
      if (f.kind == FactorKind::frozen || f.kind == FactorKind::softmax)
        for (const ClassId c : f.parts) g.classes[static_cast<std::size_t>(c)].frozen = true;
  }
}

void name_factors(Graph& g) {
  for (Op& op : g.ops) {
    char letter = 'a';
    for (Factor& f : op.factors) {
      if (!f.name.empty()) continue;
      for (const ClassId c : f.parts)
        if (f.name.empty()) f.name = g.classes[static_cast<std::size_t>(c)].name;
      if (f.name.empty()) f.name = std::string(1, letter++);
    }
  }
}

// Operators made from one operator of the file share its mark: the mask and the count of a loss belong to the loss.
void share_marks(Graph& g) {
  using Key = std::tuple<std::string_view, int, std::string_view>;
  const auto key_of = [](const Node& n) { return Key{n.module, n.call, n.kind}; };
  std::map<Key, std::vector<OpId>> groups;
  for (OpId o = 0; o < static_cast<OpId>(g.ops.size()); ++o)
    if (g.node(o).target.starts_with("planscope::")) groups.try_emplace(key_of(g.node(o)));
  if (groups.empty()) return;
  for (OpId o = 0; o < static_cast<OpId>(g.ops.size()); ++o)
    if (const auto group = groups.find(key_of(g.node(o))); group != groups.end()) group->second.push_back(o);
  for (const auto& [key, ops] : groups) {
    const bool any =
        std::any_of(ops.begin(), ops.end(), [&](OpId o) { return !g.ops[static_cast<std::size_t>(o)].parameter_free; });
    if (any)
      for (const OpId o : ops) g.ops[static_cast<std::size_t>(o)].parameter_free = false;
  }
}

// An operator that is linear in a set of operands reads these for the gradients of the others alone.
bool read_backward(const Graph& g, const Op& op, int input) {
  for (const std::vector<int>& set : op.linear) {
    if (std::find(set.begin(), set.end(), input) == set.end()) continue;
    for (int other = 0; other < static_cast<int>(op.inputs.size()); ++other) {
      const Operand& operand = op.inputs[static_cast<std::size_t>(other)];
      const bool in_set = std::find(set.begin(), set.end(), other) != set.end();
      if (!in_set && !operand.added && g.tensors[static_cast<std::size_t>(operand.tensor)].gradient) return true;
    }
    return false;
  }
  return true;
}

// Backward reads no element of these operands, but LibTorch's kernels ask them for their sizes.
bool kept_for_its_sizes(std::string_view rule) {
  return rule == "gather" || rule == "pad" || rule.find("avg_pool") != std::string_view::npos ||
         rule.starts_with("reflection_pad") || rule.starts_with("replication_pad") || rule.starts_with("fft_rfft") ||
         rule.starts_with("fft_ihfft");
}

void keep_what_backward_reads(Graph& g) {
  for (Op& op : g.ops) {
    if (kept_for_its_sizes(op.rule)) continue;
    std::erase_if(op.saves, [&](int s) { return s >= 0 && !read_backward(g, op, s); });
  }
}

}  // namespace

void name_classes(Graph& g, const std::vector<std::pair<ClassId, std::string>>& declared) {
  name_inputs(g);
  for (const auto& [c, name] : declared) {
    std::string& own = g.classes[static_cast<std::size_t>(c)].name;
    if (own.empty()) own = name;
  }
}

void mark(Graph& g) {
  const Model& m = *g.model;
  std::vector<bool> reached(m.values.size(), false), needs(m.values.size(), false), wanted(m.values.size(), false);
  for (std::size_t v = 0; v < m.values.size(); ++v) {
    reached[v] = m.values[v].kind == ValueKind::parameter;
    needs[v] = reached[v] && m.values[v].requires_grad && carries_gradient(m.values[v].dtype);
  }
  for (OpId o = 0; o < static_cast<OpId>(g.ops.size()); ++o) {
    Op& op = g.ops[static_cast<std::size_t>(o)];
    const Node& n = g.node(o);
    bool any = n.random, need = false;
    for (const Operand& in : op.inputs) {
      any = any || reached[static_cast<std::size_t>(in.tensor)];
      need = need || needs[static_cast<std::size_t>(in.tensor)];
    }
    need = need && !n.no_grad && n.target != "aten::detach";
    op.parameter_free = !any;
    for (const Operand& out : op.outputs) {
      const std::size_t v = static_cast<std::size_t>(out.tensor);
      reached[v] = any;
      needs[v] = need && carries_gradient(m.values[v].dtype);
    }
  }
  if (m.loss >= 0) wanted[static_cast<std::size_t>(m.loss)] = true;
  for (OpId o = static_cast<OpId>(g.ops.size()) - 1; o >= 0; --o) {
    Op& op = g.ops[static_cast<std::size_t>(o)];
    const auto live = [&](const Operand& x) {
      return needs[static_cast<std::size_t>(x.tensor)] && wanted[static_cast<std::size_t>(x.tensor)];
    };
    op.backward = std::any_of(op.outputs.begin(), op.outputs.end(), live);
    if (op.backward)
      for (const Operand& in : op.inputs) wanted[static_cast<std::size_t>(in.tensor)] = true;
  }
  for (std::size_t v = 0; v < g.tensors.size(); ++v) g.tensors[v].gradient = needs[v] && wanted[v];
  keep_what_backward_reads(g);
  share_marks(g);
  mark_frozen(g);
  name_ffn(g);
  name_factors(g);
}

void digest_graph(Graph& g) {
  std::uint64_t h = digest("planscope graph 1", g.model->digest);
  for (const Op& op : g.ops) h = digest(op.rule, h);
  for (const PartClass& c : g.classes) h = digest(c.name + ":" + std::to_string(c.size), h);
  g.digest = h;
}

std::vector<std::string> factor_names(const Graph& g, OpId id, int factor) {
  const Op& op = g.ops[static_cast<std::size_t>(id)];
  const Factor& f = op.factors[static_cast<std::size_t>(factor)];
  std::vector<std::string> out = {f.name};
  for (const ClassId c : f.parts) {
    const std::string& name = g.classes[static_cast<std::size_t>(c)].name;
    if (name.empty() || std::find(out.begin(), out.end(), name) != out.end()) continue;
    bool earlier = false;
    for (int k = 0; k < static_cast<int>(op.factors.size()); ++k) {
      if (k == factor) continue;
      const Factor& other = op.factors[static_cast<std::size_t>(k)];
      if (other.name == name) earlier = true;
      if (k < factor)
        for (const ClassId oc : other.parts) earlier = earlier || g.classes[static_cast<std::size_t>(oc)].name == name;
    }
    if (!earlier) out.push_back(name);
  }
  return out;
}

std::string describe(const Graph& g, OpId id) {
  const Op& op = g.ops[static_cast<std::size_t>(id)];
  const auto operand = [&](const Operand& o) {
    std::vector<std::string> dims;
    for (const auto& map : o.map) {
      std::vector<std::string> parts;
      for (const PartRef& r : map)
        parts.push_back(r.factor < 0 ? "1"
                                     : op.factors[static_cast<std::size_t>(r.factor)].name +
                                           (op.factors[static_cast<std::size_t>(r.factor)].parts.size() > 1
                                                ? "." + std::to_string(r.part)
                                                : ""));
      dims.push_back(parts.empty() ? "1" : parts.size() == 1 ? parts[0] : "(" + join(parts, " ") + ")");
    }
    return (o.added ? "+" : "") + join(dims, " ");
  };
  std::vector<std::string> in, out, factors;
  for (const Operand& o : op.inputs) in.push_back(operand(o));
  for (const Operand& o : op.outputs) out.push_back(operand(o));
  for (std::size_t f = 0; f < op.factors.size(); ++f) {
    std::vector<std::string> sizes;
    for (const ClassId c : op.factors[f].parts) {
      const PartClass& k = g.classes[static_cast<std::size_t>(c)];
      sizes.push_back(k.name.empty() || k.name == op.factors[f].name ? std::to_string(k.size)
                                                                     : k.name + ":" + std::to_string(k.size));
    }
    if (!sizes.empty())
      factors.push_back(std::string(to_string(op.factors[f].kind)) + " " + op.factors[f].name + "=" + join(sizes, "x") +
                        (op.factors[f].key < 0 ? "" : " by key"));
  }
  return join(in, ", ") + " -> " + join(out, ", ") + "  {" + join(factors, ", ") + "}";
}

}  // namespace planscope
