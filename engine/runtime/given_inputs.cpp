#include "engine/runtime/given_inputs.h"

#include <torch/csrc/jit/serialization/pickle.h>

#include <cstddef>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>

#include "engine/base/text.h"
#include "engine/graph/example_inputs.h"
#include "engine/runtime/sample_values.h"

namespace planscope {

namespace {

struct Tensors {
  TensorList in_order;
  std::map<std::string, at::Tensor> by_name;  // of the dictionaries with text for keys
};

void collect(const c10::IValue& value, Tensors& out) {
  if (value.isTensor()) {
    out.in_order.push_back(value.toTensor());
  } else if (value.isTuple()) {
    for (const c10::IValue& element : value.toTupleRef().elements()) collect(element, out);
  } else if (value.isList()) {
    for (const c10::IValue& element : value.toListRef()) collect(element, out);
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) {
      if (entry.key().isString() && entry.value().isTensor())
        out.by_name[entry.key().toStringRef()] = entry.value().toTensor();
      collect(entry.value(), out);
    }
  }
}

Result<Tensors> parse(const std::string& bytes, const std::string& where) {
  try {
    Tensors out;
    collect(torch::jit::pickle_load({bytes.begin(), bytes.end()}), out);
    return out;
  } catch (const c10::Error& e) {
    const std::string text = e.what_without_backtrace();
    return error("the inputs in '" + where + "' cannot be read", text.substr(0, text.find('\n')),
                 "torch.save a tuple, a list or a dictionary of plain tensors");
  } catch (const std::exception& e) {
    return error("the inputs in '" + where + "' cannot be read", e.what(), "torch.save writes such a file");
  }
}

std::string text_of(at::IntArrayRef sizes) {
  std::vector<std::string> parts;
  for (const std::int64_t s : sizes) parts.push_back(std::to_string(s));
  return "[" + join(parts, ", ") + "]";
}

// Empty: it can be the input.
std::string misfit(const Graph& graph, TensorId id, const at::Tensor& t) {
  const Value& value = graph.model->values[static_cast<std::size_t>(id)];
  if (t.layout() != at::kStrided || t.is_quantized()) return "it is no plain tensor";
  if (t.scalar_type() != scalar_type(value.dtype))
    return "its type is " + std::string(to_string(dtype_of(t.scalar_type()))) + ", not " +
           std::string(to_string(value.dtype));
  if (t.sizes() != at::IntArrayRef(graph.sizes(id)))
    return "its sizes are " + text_of(t.sizes()) + ", not " + text_of(graph.sizes(id));
  const std::optional<std::int64_t> bound = index_bound(graph, id);
  if (bound && t.numel() > 0 && t.max().item<std::int64_t>() >= *bound)
    return "it has the index " + std::to_string(t.max().item<std::int64_t>()) + " into a dimension of " +
           std::to_string(*bound);
  return "";
}

// `ids int64 [8, 16], labels int64 [8, 16]`
std::string sizes_of_inputs(const Graph& graph) {
  std::vector<std::string> out;
  for (const ValueId id : graph.model->inputs) {
    const Value& value = graph.model->values[static_cast<std::size_t>(id)];
    out.push_back(value.name + " " + std::string(to_string(value.dtype)) + " " + text_of(graph.sizes(id)));
  }
  return join(out, ", ");
}

// In memory that does not count as the trial's own, as that of a model's file does not (counting_allocator.h).
at::Tensor uncounted(const at::Tensor& t) {
  auto bytes = std::make_shared<std::vector<std::byte>>(t.nbytes());
  std::memcpy(bytes->data(), t.const_data_ptr(), bytes->size());
  return at::from_blob(bytes->data(), t.sizes(), [bytes](void*) {}, t.options());
}

Result<GivenInputs> assign(const Graph& graph, const Tensors& read, const std::string& from, bool may_draw) {
  GivenInputs out;
  out.from = from;
  const std::vector<ValueId>& inputs = graph.model->inputs;
  bool named = !inputs.empty();
  for (const ValueId id : inputs) named = named && read.by_name.count(graph.model->values[static_cast<std::size_t>(id)].name) > 0;
  if (!named && read.in_order.size() != inputs.size()) {
    const std::string why = std::to_string(read.in_order.size()) + " tensors for " + std::to_string(inputs.size()) +
                            (inputs.size() == 1 ? " input" : " inputs");
    if (!may_draw)
      return error("the inputs of '" + from + "' are not the model's", "it has " + why,
                   "torch.save a tuple of " + sizes_of_inputs(graph) + ", or a dictionary by these names");
    out.from = "drawn";
    out.note = "the archive has " + why;
    return out;
  }
  std::vector<std::string> drawn;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string& name = graph.model->values[static_cast<std::size_t>(inputs[i])].name;
    const at::Tensor t = named ? read.by_name.at(name) : read.in_order[i];
    const std::string why = misfit(graph, inputs[i], t);
    if (!why.empty() && !may_draw)
      return error("'" + name + "' of '" + from + "' cannot be the model's input", why,
                   "the model takes " + sizes_of_inputs(graph) + " at the sizes of the plan");
    if (why.empty())
      out.whole[inputs[i]] = uncounted(t.detach().contiguous());
    else
      drawn.push_back("'" + name + "' is drawn: that of the archive cannot be it, " + why);
  }
  out.note = join(drawn, "; ");
  if (out.whole.empty() && !drawn.empty()) out.from = "drawn";
  return out;
}

}  // namespace

Result<GivenInputs> read_inputs(const Graph& graph, const std::string& how) {
  if (how == "drawn") return GivenInputs{"drawn", {}, ""};
  const bool archive = how.empty() || how == "archive";
  std::string bytes;
  if (archive) {
    Result<std::string> record = read_example_inputs(graph.model->path);
    if (!record.ok()) return record.diagnostics;
    if (record->empty() && how.empty()) return GivenInputs{"drawn", {}, "the archive has no example inputs"};
    if (record->empty())
      return error("the archive has no example inputs", graph.model->path, "--inputs drawn, or --inputs FILE");
    bytes = std::move(*record);
  } else {
    std::ifstream in(how, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in) return error("cannot read '" + how + "'", "", "name a file that torch.save wrote, 'archive' or 'drawn'");
    bytes = text.str();
  }
  const Result<Tensors> read = parse(bytes, archive ? graph.model->path : how);
  if (!read.ok() && how.empty()) return GivenInputs{"drawn", {}, read.diagnostics.front().what + ": " + read.diagnostics.front().why};
  if (!read.ok()) return read.diagnostics;
  return assign(graph, *read, archive ? "archive" : how, how.empty());
}

}  // namespace planscope
