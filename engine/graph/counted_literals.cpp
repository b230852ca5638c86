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
  std::map<std::int64_t, Size> sizes;          // by the size in the file
  std::vector<std::vector<ClassId>> in_parts;  // dimensions of inputs that something divides into several parts

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
    if (dim.size() > 1) out.in_parts.push_back(dim);
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

// A dimension without a name is called by its size.
std::string export_with(const std::string& name, const std::string& size) {
  const bool named = name.find_first_not_of("0123456789 ×") != name.npos && name.find("×") == name.npos;
  return named ? "export the model with " + name + "=" + size : "export the model where it is " + size;
}

Diagnostic follows(const std::string& op, bool divides, std::int64_t file, std::int64_t current,
                   const std::string& name) {
  const std::string then = std::to_string(file), now = std::to_string(current);
  Diagnostic d =
      warning("it " + std::string(divides ? "divides" : "multiplies") + " by " + now +
                  " here, where the file has the number " + then,
              std::string(divides ? "what it divides is a sum" : "what it multiplies is a mean") + " over " + then +
                  " elements in the file (" + name + "), so the number is taken for theirs",
              "if the number is " + then + " whatever the size is, " + export_with(name, now));
  d.subject = op;
  return d;
}

// Collects warnings; those that say the same of several operators become one.
class Warnings {
 public:
  // A number that keeps the value of the file.
  void stays(const std::string& op, double literal, const std::string& as, const Changed::Size& size, std::int64_t file) {
    char number[32];
    std::snprintf(number, sizeof number, "%.6g", literal);
    add(op, "its number " + std::string(number) + " stays " + number,
        "it may be " + as + ", where " + std::to_string(file) + " is the size of " + size.name +
            " in the file; whether it is cannot be known",
        "if it is, " + export_with(size.name, std::to_string(size.current)));
  }
  // Which part of a dimension is meant: it is taken for one of several ways.
  void taken(const std::string& op, const std::string& here, const std::string& there, const std::string& name,
             std::int64_t current) {
    add(op, "it " + here + " here, where the file has " + there,
        "the file has numbers alone; whether they are made of the size of " + name + " cannot be known",
        "if another part is meant, " + export_with(name, std::to_string(current)));
  }

  void tell(std::vector<Diagnostic>& out) const {
    for (const Of& o : all_) {
      const std::string also = o.others == 0 ? "" : " (and in " + std::to_string(o.others) + (o.others == 1 ? " other operator)" : " other operators)");
      Diagnostic d = warning(o.what + also, o.why, o.hint);
      d.subject = o.op;
      out.push_back(std::move(d));
    }
  }

 private:
  struct Of {
    std::string op, what, why, hint;
    int others = 0;
  };
  void add(const std::string& op, const std::string& what, const std::string& why, const std::string& hint) {
    const auto found = std::find_if(all_.begin(), all_.end(), [&](const Of& o) { return o.what == what && o.why == why; });
    if (found != all_.end()) return void(++found->others);
    all_.push_back({op, what, why, hint, 0});
  }
  std::vector<Of> all_;
};

// A dimension of an operator's first operand that has another size than in the file.
struct ChangedDim {
  std::size_t dim = 0;
  std::int64_t file = 0, current = 0;
  std::string name;
};

std::optional<ChangedDim> changed_dim(const Graph& g, const Op& op, std::optional<std::int64_t> dim) {
  if (op.inputs.empty() || op.inputs[0].tensor < 0 || !dim || *dim < 0) return std::nullopt;
  const TensorId t = op.inputs[0].tensor;
  const auto at = static_cast<std::size_t>(*dim);
  if (at >= file_sizes(g, t).size()) return std::nullopt;
  ChangedDim out{at, file_sizes(g, t)[at], g.size(t, static_cast<int>(at)), name_of(g, g.tensors[static_cast<std::size_t>(t)].dims[at])};
  if (out.file == out.current) return std::nullopt;
  if (out.name.empty()) out.name = std::to_string(out.file);
  return out;
}

std::string of(std::int64_t size) { return " of " + std::to_string(size); }

// A slice between places that are not counted from the end; the first element, and all but the first, are so at any size.
void tell_slice(const Graph& g, const Op& op, const Node& n, Warnings& out) {
  const auto c = changed_dim(g, op, int_argument(n, "dim"));
  const std::int64_t start = int_argument(n, "start").value_or(0), end = int_argument(n, "end").value_or(0);
  if (!c || n.like >= 0 || (start <= 1 && end == c->file) || end <= 1) return;
  const TensorId made = op.outputs[0].tensor;
  const std::int64_t length = file_sizes(g, made)[c->dim], now = g.size(made, static_cast<int>(c->dim));
  const std::int64_t begin = length > 0 && now != length && start % length == 0 ? start / length * now : start;
  const auto places = [](std::int64_t from, std::int64_t to) { return std::to_string(from) + " to " + std::to_string(to); };
  const std::int64_t step = std::max<std::int64_t>(1, int_argument(n, "step").value_or(1));
  out.taken(n.name(), "takes " + places(begin, begin + (now - 1) * step + 1) + of(c->current), places(start, end) + of(c->file), c->name, c->current);
}

// Pieces of equal sizes: as many of them as in the file, whose sizes follow. A chunk says so, a split says the size.
void tell_split(const Graph& g, const Op& op, const Node& n, Warnings& out) {
  const auto c = changed_dim(g, op, int_argument(n, "dim"));
  if (!c || op.outputs.size() < 2 || n.kind == "chunk" || n.kind == "tensor_split") return;
  const TensorId made = op.outputs[0].tensor;
  if (made < 0) return;
  const std::int64_t piece = file_sizes(g, made)[c->dim], now = g.size(made, static_cast<int>(c->dim));
  out.taken(n.name(), "makes pieces of " + std::to_string(now), "pieces of " + std::to_string(piece), c->name, c->current);
}

bool is_among(ClassId c, const std::vector<ClassId>& classes) {
  return std::find(classes.begin(), classes.end(), c) != classes.end();
}

// A view that makes several dimensions of what is one of an input.
void tell_view(const Graph& g, const Op& op, const Node& n, const Changed& changed, Warnings& out) {
  const TensorId t = op.inputs[0].tensor, made = op.outputs[0].tensor;
  const auto& operand = g.tensors[static_cast<std::size_t>(t)].dims;
  const auto& result = g.tensors[static_cast<std::size_t>(made)].dims;
  for (std::size_t d = 0; d < operand.size(); ++d) {
    const auto c = changed_dim(g, op, static_cast<std::int64_t>(d));
    if (!c) continue;
    for (const std::vector<ClassId>& whole : changed.in_parts) {
      if (!std::all_of(whole.begin(), whole.end(), [&](ClassId p) { return is_among(p, operand[d]); })) continue;
      std::string here, there;
      int dims = 0;
      for (std::size_t k = 0; k < result.size(); ++k) {
        const auto parts = std::count_if(whole.begin(), whole.end(), [&](ClassId p) { return is_among(p, result[k]); });
        if (parts == 0 || parts == static_cast<std::ptrdiff_t>(whole.size()) || file_sizes(g, made)[k] < 2) continue;
        here += (dims > 0 ? " × " : "") + std::to_string(g.size(made, static_cast<int>(k)));
        there += (dims > 0 ? " × " : "") + std::to_string(file_sizes(g, made)[k]);
        ++dims;
      }
      if (dims > 1) out.taken(n.name(), "makes " + here + of(c->current), there + of(c->file), c->name, c->current);
    }
  }
}

// What is added at the ends of a dimension; a few, as before a convolution, are so at any size.
void tell_pad(const Graph& g, const Op& op, const Node& n, Warnings& out) {
  constexpr std::int64_t few = 3;
  const auto* pad = ints_argument(n, "pad");
  if (!pad || op.inputs.empty() || op.inputs[0].tensor < 0) return;
  const std::size_t rank = file_sizes(g, op.inputs[0].tensor).size();
  for (std::size_t k = 0; k < pad->size() && k / 2 < rank; ++k)
    if (const auto c = changed_dim(g, op, static_cast<std::int64_t>(rank - 1 - k / 2)); c && std::abs((*pad)[k]) > few)
      out.taken(n.name(), "adds " + std::to_string((*pad)[k]) + " to " + std::to_string(c->current),
                std::to_string((*pad)[k]) + " to " + std::to_string(c->file), c->name, c->current);
}

void tell_part(const Graph& g, const Op& op, const Node& n, const Changed& changed, Warnings& out) {
  if (op.inputs.empty() || op.outputs.empty() || op.inputs[0].tensor < 0 || op.outputs[0].tensor < 0) return;
  if (n.target == "aten::slice.Tensor") tell_slice(g, op, n, out);
  if (n.target == "aten::split_with_sizes") tell_split(g, op, n, out);
  if (n.target == "aten::view") tell_view(g, op, n, changed, out);
  if (n.target == "aten::pad" || n.target == "aten::constant_pad_nd") tell_pad(g, op, n, out);
}

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
      {std::log(n), "log " + s}, {2 * n - 1, "2 × " + s + " - 1"}, {n * n, s + "²"}, {n * (n - 1), s + " × (" + s + " - 1)"},
      {std::floor(n / 4), s + " / 4"}};
  for (const auto& [way, text] : ways) {
    // Small numbers, and parts of that many, are numbers of their own more often than a size's: 2 is not √4.
    const double whole = way < 1 ? 1 / way : way;
    const bool small = whole < 3 && std::abs(whole - std::round(whole)) < 1e-9;
    const bool usual = !small || text == s || text == "1/" + s;
    if (usual && std::isfinite(way) && std::abs(value - way) <= 1e-6 * way) return (number < 0 ? "-" : "") + text;
  }
  return "";
}

// The numbers that an operator computes with: not those that name dimensions, places or ways to compute.
std::vector<double> numbers(const Node& n) {
  static const std::set<std::string_view> computed_with = {"other",  "value", "fill_value",  "min", "max", "self", "diagonal",
                                                           "k", "shifts", "output_size", "row", "col", "start"};
  std::vector<double> out;
  for (const NamedArgument& a : n.arguments) {
    if (!computed_with.contains(a.name) || (a.name == "start" && !n.target.starts_with("aten::arange"))) continue;
    if (const auto* d = std::get_if<double>(&a.value)) out.push_back(*d);
    if (const auto* i = std::get_if<std::int64_t>(&a.value)) out.push_back(static_cast<double>(*i));
    if (const auto* list = std::get_if<std::vector<std::int64_t>>(&a.value)) out.insert(out.end(), list->begin(), list->end());
  }
  return out;
}

}  // namespace

std::vector<Diagnostic> counted_literals(const Graph& g) {
  std::vector<Diagnostic> out;
  const Changed changed = changed_sizes(g);
  if (changed.classes.empty()) return out;
  Warnings found;
  std::vector<Classes> reached(g.tensors.size(), 0);  // classes that a value depends on
  for (TensorId t = 0; t < static_cast<TensorId>(g.tensors.size()); ++t)
    reached[static_cast<std::size_t>(t)] = changed.of(g, t);
  std::vector<bool> of_numbers(g.tensors.size(), false);  // made of no input and no parameter
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
    tell_part(g, op, n, changed, found);
    // What depends on something that has changed, or on numbers alone, may be computed with any of the sizes.
    const bool numbers_alone = std::all_of(op.inputs.begin(), op.inputs.end(), [&](const Operand& o) {
      return o.tensor >= 0 && of_numbers[static_cast<std::size_t>(o.tensor)];
    });
    for (const Operand& o : op.outputs)
      if (o.tensor >= 0) of_numbers[static_cast<std::size_t>(o.tensor)] = numbers_alone;
    for (const auto& [file, size] : changed.sizes) {
      if (const std::optional<std::int64_t> own = length_of_its_own(g, op, size, file)) found.stays(n.name(), *own, std::to_string(file), size, file);
      if (const std::optional<std::int64_t> place = place_near_end(g, op, n, changed, size, file))
        found.stays(n.name(), *place, std::to_string(file) + " - " + std::to_string(file - *place), size, file);
    }
    if (read == 0 && !numbers_alone) continue;
    for (const double number : numbers(n))
      for (const auto& [file, size] : changed.sizes) {
        // A number that is made of a size of something else than what is read is rare, but for that size itself.
        const std::string as = made_of(number, file), whole = std::to_string(file);
        const bool near = numbers_alone || (read & size.of) == size.of;
        if (as.empty() || (!near && as != whole && as != "1/" + whole)) continue;
        found.stays(n.name(), number, as, size, file);
        break;
      }
  }
  found.tell(out);
  return out;
}

}  // namespace planscope
