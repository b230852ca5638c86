#include "engine/graph/counted_literals.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

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
  each_dim([&](ValueId input, int d, const std::vector<ClassId>& dim) {
    const std::int64_t size = file_sizes(g, input)[static_cast<std::size_t>(d)];
    const std::string name = name_of(g, dim);
    if (out.set(dim) != 0 && size > 1)
      out.sizes.emplace(size, Changed::Size{name.empty() ? std::to_string(size) : name, g.size(input, d), out.set(dim)});
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

// Collects numbers that keep the value of the file; equal ones become one warning.
class Staying {
 public:
  void add(const std::string& op, double literal, const std::string& as, const Changed::Size& size, std::int64_t file) {
    char number[32];
    std::snprintf(number, sizeof number, "%.6g", literal);
    const auto alike = [&](const Of& o) { return o.number == number && o.as == as && o.file == file; };
    const auto found = std::find_if(all_.begin(), all_.end(), alike);
    if (found != all_.end()) return void(++found->others);
    all_.push_back({op, number, as, size, file, 0});
  }

  void tell(std::vector<Diagnostic>& out) const {
    for (const Of& o : all_) {
      const std::string also = o.others == 0 ? "" : " (and in " + std::to_string(o.others) + (o.others == 1 ? " other operator)" : " other operators)");
      Diagnostic d = warning("its number " + o.number + " stays " + o.number + also,
                             "it may be " + o.as + ", where " + std::to_string(o.file) + " is the size of " + o.size.name +
                                 " in the file; whether it is cannot be known",
                             "if it is, export the model with " + o.size.name + "=" + std::to_string(o.size.current));
      d.subject = o.op;
      out.push_back(std::move(d));
    }
  }

 private:
  struct Of {
    std::string op, number, as;
    Changed::Size size;
    std::int64_t file = 0;
    int others = 0;
  };
  std::vector<Of> all_;
};

// A factory that makes as many elements as an input has in the file, and not more or fewer here: an index list that no longer
// names every row, as `arange(7, -1, -1)`.
std::optional<std::int64_t> length_of_its_own(const Graph& g, const Op& op, const Changed::Size& size, std::int64_t file) {
  if (!op.inputs.empty() || op.outputs.size() != 1 || file < 2 || size.current == file) return std::nullopt;
  const TensorId t = op.outputs[0].tensor;
  if (t < 0) return std::nullopt;
  for (std::size_t d = 0; d < file_sizes(g, t).size(); ++d)
    if (file_sizes(g, t)[d] == file && g.size(t, static_cast<int>(d)) == file) return file;
  return std::nullopt;
}

// The element next to the last one of such a dimension, counted from its beginning: `x[:, S - 1]`.
std::optional<std::int64_t> place_near_end(const Graph& g, const Op& op, const Node& n, const Changed& changed,
                                           const Changed::Size& size, std::int64_t file) {
  if (n.target != "aten::select.int" || op.inputs.size() != 1 || file < 3) return std::nullopt;
  const TensorId t = op.inputs[0].tensor;
  const auto dim = int_argument(n, "dim"), index = int_argument(n, "index");
  if (!dim || !index || *dim < 0 || static_cast<std::size_t>(*dim) >= file_sizes(g, t).size()) return std::nullopt;
  const auto at = static_cast<std::size_t>(*dim);
  if (file_sizes(g, t)[at] != file || (changed.set(g.tensors[static_cast<std::size_t>(t)].dims[at]) & size.of) == 0) return std::nullopt;
  const bool near = *index == file - 1 || (*index == file - 2 && file > 3);
  return near ? index : std::nullopt;
}

// How a number may have been made of a size: `1/8`, `8 - 1`; empty: in none of the usual ways.
std::string made_of(double number, std::int64_t size) {
  const double value = std::abs(number), n = static_cast<double>(size);
  if (value == 0 || value == 1 || size < 2) return "";
  const std::string s = std::to_string(size);
  const std::pair<double, std::string> ways[] = {
      {n, s},           {1 / n, "1/" + s},          {n - 1, s + " - 1"},          {1 / (n - 1), "1/(" + s + " - 1)"},
      {2 * n, "2 × " + s}, {std::floor(n / 2), s + " / 2"}, {std::sqrt(n), "√" + s}, {1 / std::sqrt(n), "1/√" + s},
      {std::log(n), "log " + s}};
  for (const auto& [way, text] : ways) {
    // Small numbers, and parts of that many, are numbers of their own more often than a size's: 2 is not √4.
    const double whole = way < 1 ? 1 / way : way;
    const bool small = whole < 4 && std::abs(whole - std::round(whole)) < 1e-9;
    const bool usual = !small || text == s || text == "1/" + s;
    if (usual && std::isfinite(way) && std::abs(value - way) <= 1e-6 * way) return (number < 0 ? "-" : "") + text;
  }
  return "";
}

// The numbers that an operator computes with: not those that name dimensions, places or ways to compute.
std::vector<double> numbers(const Node& n) {
  static const std::set<std::string_view> computed_with = {"other", "value", "fill_value", "min", "max", "self"};
  std::vector<double> out;
  for (const NamedArgument& a : n.arguments) {
    if (!computed_with.contains(a.name)) continue;
    if (const auto* d = std::get_if<double>(&a.value)) out.push_back(*d);
    if (const auto* i = std::get_if<std::int64_t>(&a.value)) out.push_back(static_cast<double>(*i));
  }
  return out;
}

}  // namespace

std::vector<Diagnostic> counted_literals(const Graph& g) {
  std::vector<Diagnostic> out;
  const Changed changed = changed_sizes(g);
  if (changed.classes.empty()) return out;
  Staying found;
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
      continue;
    }
    // What depends on a size, or is filled for it, may be computed with that size.
    Classes about = read;
    if (op.inputs.empty() && !op.outputs.empty()) about = changed.of(g, op.outputs[0].tensor);
    for (const auto& [file, size] : changed.sizes) {
      if (const std::optional<std::int64_t> own = length_of_its_own(g, op, size, file)) found.add(n.name(), *own, std::to_string(file), size, file);
      if (const std::optional<std::int64_t> place = place_near_end(g, op, n, changed, size, file))
        found.add(n.name(), *place, std::to_string(file) + " - " + std::to_string(file - *place), size, file);
    }
    if (about == 0) continue;
    for (const double number : numbers(n))
      for (const auto& [file, size] : changed.sizes)
        if (const std::string as = made_of(number, file); (about & size.of) == size.of && !as.empty()) {
          found.add(n.name(), number, as, size, file);
          break;
        }
  }
  found.tell(out);
  return out;
}

}  // namespace planscope
