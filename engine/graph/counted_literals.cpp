#include "engine/graph/counted_literals.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>

#include "engine/base/text.h"
#include "engine/graph/arguments.h"

namespace planscope {

namespace {

using Classes = std::uint64_t;  // a set of the classes in `Changed::classes`

// Classes of input dimensions that have another size than in the file.
struct Changed {
  std::vector<ClassId> classes;
  struct Size {
    std::string name;  // `batch`, `batch × seq`
    std::int64_t current = 0;
    Classes of = 0;
  };
  std::map<std::int64_t, Size> sizes;  // by the size in the file

  Classes set(const std::vector<ClassId>& of) const {
    Classes out = 0;
    for (std::size_t k = 0; k < classes.size(); ++k)
      if (std::find(of.begin(), of.end(), classes[k]) != of.end()) out |= Classes{1} << k;
    return out;
  }
  Classes of(const Graph& g, TensorId t) const {
    Classes out = 0;
    for (const auto& dim : g.tensors[static_cast<std::size_t>(t)].dims) out |= set(dim);
    return out;
  }
};

const std::vector<std::int64_t>& file_sizes(const Graph& g, TensorId t) {
  return g.model->values[static_cast<std::size_t>(t)].sizes;
}

std::string name_of(const Graph& g, const std::vector<ClassId>& dim) {
  for (const ClassId c : dim)
    if (const PartClass& k = g.classes[static_cast<std::size_t>(c)]; !k.name.empty()) return k.name;
  return "";
}

Changed changed_sizes(const Graph& g) {
  constexpr std::size_t most = 64;
  Changed out;
  const auto each_dim = [&](const auto& see) {
    for (const ValueId input : g.model->inputs) {
      const auto& dims = g.tensors[static_cast<std::size_t>(input)].dims;
      for (int d = 0; d < static_cast<int>(dims.size()); ++d) see(input, d, dims[static_cast<std::size_t>(d)]);
    }
  };
  each_dim([&](ValueId input, int d, const std::vector<ClassId>& dim) {
    if (g.size(input, d) == file_sizes(g, input)[static_cast<std::size_t>(d)]) return;
    for (const ClassId c : dim)
      if (out.classes.size() < most && std::find(out.classes.begin(), out.classes.end(), c) == out.classes.end())
        out.classes.push_back(c);
  });
  // Of the leading dimensions together too: the number of tokens is batch × seq.
  Changed::Size leading;
  std::int64_t product = 1;
  each_dim([&](ValueId input, int d, const std::vector<ClassId>& dim) {
    if (d == 0) product = 1, leading = {"", 1, 0};
    const std::int64_t size = file_sizes(g, input)[static_cast<std::size_t>(d)];
    if (size == 0 || product > (std::int64_t{1} << 40) / size) return;
    product *= size;
    const std::string name = name_of(g, dim);
    leading = {leading.name + (d > 0 ? " × " : "") + (name.empty() ? std::to_string(size) : name),
               leading.current * g.size(input, d), leading.of | out.set(dim)};
    if (leading.of != 0 && product > 1) out.sizes.emplace(product, leading);
  });
  return out;
}

Diagnostic follows(const std::string& op, bool divides, std::int64_t file, std::int64_t current,
                   const std::string& name) {
  const std::string then = std::to_string(file), now = std::to_string(current);
  Diagnostic d =
      warning("it " + std::string(divides ? "divides" : "multiplies") + " by " + now +
                  " here, where the file has the number " + then,
              std::string(divides ? "what it divides is a sum" : "what it multiplies is a mean") + " over " + then +
                  " elements in the file (" + name + "), so the number is taken for theirs",
              "if the number is " + then + " whatever the size is, export the model with " + name + "=" + now);
  d.subject = op;
  return d;
}

Diagnostic stays(const std::string& op, double literal, std::int64_t number, const Changed::Size& size) {
  const std::string then = (literal < 1 ? "1/" : "") + std::to_string(number);
  Diagnostic d = warning("its number " + then + " stays " + then,
                         std::to_string(number) + " is the size of " + size.name +
                             " in the file, and what it scales has been reduced over that; "
                             "whether it counts its elements cannot be known",
                         "if it does, export the model with " + size.name + "=" + std::to_string(size.current));
  d.subject = op;
  return d;
}

// The whole number by which it multiplies or divides; 0: none.
std::int64_t scaled_by(const Node& n) {
  const bool divides = n.target == "aten::div.Scalar", multiplies = n.target == "aten::mul.Scalar";
  const auto number = number_argument(n, "other");
  if ((!divides && !multiplies) || !number || !(*number > 0 && *number < 1e15)) return 0;
  const double whole = std::round(*number < 1 ? 1 / *number : *number);
  const double ratio = *number < 1 ? *number * whole : *number / whole;
  return std::abs(ratio - 1) < 1e-12 ? static_cast<std::int64_t>(whole) : 0;
}

}  // namespace

std::vector<Diagnostic> counted_literals(const Graph& g) {
  std::vector<Diagnostic> out;
  const Changed changed = changed_sizes(g);
  if (changed.classes.empty()) return out;
  std::vector<Classes> reached(g.tensors.size(), 0);  // classes that a value depends on
  for (TensorId t = 0; t < static_cast<TensorId>(g.tensors.size()); ++t)
    reached[static_cast<std::size_t>(t)] = changed.of(g, t);
  for (OpId id = 0; id < static_cast<OpId>(g.ops.size()); ++id) {
    const Op& op = g.ops[static_cast<std::size_t>(id)];
    const Node& n = g.node(id);
    Classes read = 0;
    for (const Operand& o : op.inputs)
      if (o.tensor >= 0) read |= reached[static_cast<std::size_t>(o.tensor)];
    for (const Operand& o : op.outputs)
      if (o.tensor >= 0) reached[static_cast<std::size_t>(o.tensor)] |= read;
    const bool divides = n.target == "statistics::divide_by_count";
    if (divides || n.target == "statistics::multiply_by_count") {
      const auto* dims = ints_argument(n, "dim");
      const std::int64_t file = int_argument(n, "count").value_or(1);
      if (!dims || n.like < 0 || g.tensors[static_cast<std::size_t>(n.like)].dims.empty()) continue;
      std::int64_t current = 1;
      std::vector<std::string> names;
      for (const std::int64_t d : *dims) {
        const std::string name =
            name_of(g, g.tensors[static_cast<std::size_t>(n.like)].dims[static_cast<std::size_t>(d)]);
        current *= g.size(n.like, static_cast<int>(d));
        names.push_back(name.empty() ? std::to_string(file_sizes(g, n.like)[static_cast<std::size_t>(d)]) : name);
      }
      if (current != file) out.push_back(follows(n.name(), divides, file, current, join(names, " × ")));
    } else if (const std::int64_t number = scaled_by(n); number > 1 && !op.inputs.empty()) {
      const TensorId operand = op.inputs[0].tensor;
      const auto size = changed.sizes.find(number);
      if (size == changed.sizes.end()) continue;
      const Classes reduced = reached[static_cast<std::size_t>(operand)] & ~changed.of(g, operand);
      if ((reduced & size->second.of) == size->second.of)
        out.push_back(stays(n.name(), number_argument(n, "other").value_or(1), number, size->second));
    }
  }
  return out;
}

}  // namespace planscope
