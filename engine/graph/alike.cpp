#include "engine/graph/alike.h"

#include <string_view>
#include <type_traits>
#include <unordered_map>

#include "engine/base/numbers_hash.h"

namespace planscope {

namespace {

class Describer {
 public:
  Describer(const Graph& g, bool whatever_key) : g_(g), whatever_key_(whatever_key) {}

  const std::vector<std::int64_t>& operator()(const Op& op) {
    numbers_.clear();
    const Node& node = g_.model->nodes[static_cast<std::size_t>(op.node)];
    add(number(node.target), number(op.rule), node.no_grad, node.random, op.parameter_free, op.backward, op.shard,
        op.log_sums, op.flops, op.inputs.size(), op.outputs.size(), op.factors.size(), op.linear.size(),
        op.saves.size());
    for (const NamedArgument& a : node.arguments) argument(a);
    for (const auto& body : node.bodies) add(reinterpret_cast<std::intptr_t>(body.get()));
    for (const Operand& o : op.inputs) operand(o);
    for (const Operand& o : op.outputs) operand(o);
    for (const Factor& f : op.factors) {
      add(number(f.name), f.kind, whatever_key_ && f.key >= 0 ? 0 : f.key, f.rows, f.until, f.parts.size());
      for (const ClassId c : f.parts) part(c);
    }
    for (const std::vector<int>& set : op.linear) list(set);
    for (const int i : op.saves) add(i);
    return numbers_;
  }

 private:
  template <class... T>
  void add(T... values) {
    (numbers_.push_back(static_cast<std::int64_t>(values)), ...);
  }
  template <class List>
  void list(const List& values) {
    add(values.size());
    for (const auto v : values) add(v);
  }
  int number(std::string_view text) { return names_.try_emplace(text, static_cast<int>(names_.size())).first->second; }

  void argument(const NamedArgument& a) {
    add(number(a.name), a.value.index());
    std::visit(
        [&](const auto& value) {
          using T = std::decay_t<decltype(value)>;
          if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::int64_t> || std::is_same_v<T, DType>)
            add(value);
          else if constexpr (std::is_same_v<T, std::string>)
            add(number(value));
          else if constexpr (std::is_same_v<T, MemoryFormat>)
            add(value.code);
          else if constexpr (std::is_same_v<T, Tensor>)
            add(value.id >= 0);
          else if constexpr (std::is_same_v<T, std::vector<std::int64_t>> || std::is_same_v<T, std::vector<bool>>)
            list(value);
          else if constexpr (std::is_same_v<T, std::vector<Tensor>> || std::is_same_v<T, std::vector<double>>)
            add(value.size());
        },
        a.value);
  }

  void part(ClassId c) {
    const PartClass& k = g_.classes[static_cast<std::size_t>(c)];
    add(k.size, k.frozen);
  }

  void operand(const Operand& o) {
    const PTensor& t = g_.tensors[static_cast<std::size_t>(o.tensor)];
    const Value& value = g_.model->values[static_cast<std::size_t>(o.tensor)];
    add(value.dtype, value.kind, t.gradient, o.argument, o.element, o.added, t.dims.size());
    for (const std::vector<ClassId>& dim : t.dims) {
      add(dim.size());
      for (const ClassId c : dim) part(c);
    }
    for (const std::vector<PartRef>& dim : o.map) {
      add(dim.size());
      for (const PartRef& r : dim) add(r.factor, r.part);
    }
  }

  const Graph& g_;
  const bool whatever_key_;
  std::vector<std::int64_t> numbers_;
  std::unordered_map<std::string_view, int> names_;
};

}  // namespace

std::vector<int> alike_operators(const Graph& g, bool whatever_key) {
  std::unordered_map<std::vector<std::int64_t>, int, NumbersHash> known;
  Describer describe(g, whatever_key);
  std::vector<int> alike;
  alike.reserve(g.ops.size());
  for (const Op& op : g.ops) {
    const std::vector<std::int64_t>& numbers = describe(op);
    const auto found = known.find(numbers);
    alike.push_back(found != known.end() ? found->second
                                         : known.emplace(numbers, static_cast<int>(known.size())).first->second);
  }
  return alike;
}

}  // namespace planscope
