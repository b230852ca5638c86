#include "engine/graph/import.h"

#include <algorithm>
#include <cstring>
#include <future>
#include <set>

#include "engine/base/text.h"
#include "engine/graph/arguments.h"
#include "engine/graph/canonical/canonical.h"
#include "engine/graph/functional/dead_code.h"
#include "engine/graph/functional/purify.h"
#include "engine/graph/pt2/graph_reader.h"
#include "engine/graph/pt2/names.h"
#include "engine/graph/pt2/weights.h"
#include "engine/graph/value_names.h"

namespace planscope {
namespace {

constexpr std::size_t most_repeated_bytes = std::size_t{1} << 30;

std::string stem(const std::string& path) {
  std::string name = path.substr(path.rfind('/') + 1);
  return name.ends_with(".pt2") ? name.substr(0, name.size() - 4) : name;
}

Result<RawModel> read_file(const std::string& path) {
  Result<Archive> archive = open_archive(path);
  if (!archive.ok()) return archive.diagnostics;
  const std::string record = "models/" + archive->model + ".json";
  Result<std::string_view> json = archive->unchecked(record);
  if (!json.ok()) return json.diagnostics;
  struct Seen {
    std::optional<Diagnostic> damage;
    std::uint64_t digest = 0;
  };
  std::future<Seen> seen = std::async(std::launch::async, [&] { return Seen{archive->damage(record), digest(*json)}; });
  Result<RawModel> raw = read_program(*json, path);
  const Seen all = seen.get();
  const auto cut_off = [&] {
    Diagnostic d = error("the file was cut off while it was read", "another program writes to it", "try again");
    d.file = path;
    return d;
  };
  if (!archive->file.is_intact()) return cut_off();
  if (all.damage) return *all.damage;
  if (!raw.ok()) return raw.diagnostics;
  Model& model = raw->model;
  model.name = stem(path);
  model.path = path;
  model.digest = all.digest;
  for (Diagnostic& diagnostic : read_weights(*archive, model)) raw.diagnostics.push_back(std::move(diagnostic));
  if (!archive->file.is_intact()) return cut_off();
  for (Diagnostic& diagnostic : join_tied_weights(model)) raw.diagnostics.push_back(std::move(diagnostic));
  tidy_names(model);
  return raw;
}

Diagnostic about(const Model& model, const Value& value, Diagnostic diagnostic) {
  diagnostic.file = model.path;
  diagnostic.subject = value.name;
  return diagnostic;
}

// Copies `sizes[dim..]` of the strided tensor at `source` to `target`, row-major.
std::byte* copy_strided(const char* source, std::byte* target, const std::vector<std::int64_t>& sizes,
                        const std::vector<std::int64_t>& strides, std::size_t dim, std::int64_t width) {
  if (dim == sizes.size()) {
    std::memcpy(target, source, static_cast<std::size_t>(width));
    return target + width;
  }
  for (std::int64_t i = 0; i < sizes[dim]; ++i)
    target = copy_strided(source + i * strides[dim] * width, target, sizes, strides, dim + 1, width);
  return target;
}

// Pure and canonical, with the sub-graphs that stay.
Result<Model> finished(RawModel raw) {
  std::vector<Diagnostic> diagnostics;
  for (auto& [node, bodies] : raw.bodies)
    for (RawModel& body : bodies) {
      Result<Model> model = finished(std::move(body));
      diagnostics.insert(diagnostics.end(), model.diagnostics.begin(), model.diagnostics.end());
      if (!model.ok()) return diagnostics;
      raw.model.nodes[node].bodies.push_back(std::make_shared<const Model>(std::move(*model)));
    }
  Result<Model> model = purify(std::move(raw));
  model.diagnostics.insert(model.diagnostics.begin(), diagnostics.begin(), diagnostics.end());
  if (!model.value || model.has_errors()) return model;
  *model = canonicalize(remove_dead_nodes(std::move(*model)));
  name_values(*model);
  for (const auto& check : {check_shapes, check_arguments})
    for (Diagnostic& diagnostic : check(*model)) model.diagnostics.push_back(std::move(diagnostic));
  return model;
}

// What counts with a bound, or not as often as it will.
std::vector<Diagnostic> notes_on(const Model& model) {
  std::vector<Diagnostic> notes;
  const auto bounded = std::count_if(model.values.begin(), model.values.end(), [](const Value& v) {
    return v.kind == ValueKind::computed && !v.bounded.empty();
  });
  if (bounded > 0)
    notes.push_back(note(std::to_string(bounded) + " tensors have sizes that depend on data",
                         "they count with their upper bound, and nothing is split along them"));
  for (const Node& node : model.nodes) {
    if (node.target != "planscope::while_loop") continue;
    notes.push_back(note("how often the loop runs depends on data", "one round counts"));
    notes.back().subject = node.name();
  }
  return notes;
}

// Of parameters of the file, tied ones once, those that no operator reads on whose results the outputs depend.
void list_unused(Model& model, const std::vector<Value>& parameters) {
  std::set<std::string> read;
  for (const Node& node : model.nodes)
    for_each_tensor(node, [&](ValueId id) { read.insert(model.values[static_cast<std::size_t>(id)].name); });
  for (const Value& p : parameters) {
    if (read.contains(p.name)) continue;
    model.unused_parameters.push_back(p.name);
    model.unused_parameter_elements.push_back(element_count(p.sizes));
  }
}

std::vector<Value> parameters_of(const Model& model) {
  std::set<std::string> tied;
  for (const Value& value : model.values) tied.insert(value.aliases.begin(), value.aliases.end());
  std::vector<Value> out;
  for (const Value& value : model.values)
    if (value.kind == ValueKind::parameter && !tied.contains(value.name)) out.push_back(value);
  return out;
}

}  // namespace

Result<Model> import_model(const std::string& path) {
  Result<RawModel> raw = read_file(path);
  if (!raw.ok()) return raw.diagnostics;
  std::vector<Diagnostic> told = raw.diagnostics;
  const std::vector<Value> parameters = parameters_of(raw->model);
  Result<Model> model = finished(std::move(*raw));
  model.diagnostics.insert(model.diagnostics.begin(), told.begin(), told.end());
  if (model.value && !model.has_errors()) list_unused(*model, parameters);
  if (model.value)
    for (Diagnostic& diagnostic : notes_on(*model)) model.diagnostics.push_back(std::move(diagnostic));
  for (Diagnostic& diagnostic : model.diagnostics) diagnostic.file = path;
  if (model.has_errors()) model.value.reset();
  return model;
}

Result<std::vector<std::byte>> read_weight(const Model& model, ValueId id) {
  auto weight =
      std::find_if(model.weights.begin(), model.weights.end(), [&](const Weight& w) { return w.value == id; });
  if (weight == model.weights.end()) {
    Diagnostic diagnostic = error("value " + std::to_string(id) + " has no weights");
    diagnostic.file = model.path;
    return diagnostic;
  }
  const Value& value = model.values[static_cast<std::size_t>(id)];
  std::int64_t width = byte_size(value.dtype);
  auto bytes = static_cast<std::size_t>(element_count(value.sizes) * width);
  if (bytes == 0) return std::vector<std::byte>{};
  if (weight->bytes == 0)
    return about(model, value, error("the file has no weights", "it was exported without", "let the run make them up"));
  Result<MappedFile> file = MappedFile::open(model.path);
  if (!file.ok()) return file.diagnostics;
  std::string_view all = file->bytes();
  if (bytes > std::max<std::size_t>(all.size(), most_repeated_bytes))
    return about(model, value, error("its elements are too many", "the file repeats few bytes by strides of 0"));
  if (weight->offset > all.size() || weight->bytes > all.size() - weight->offset)
    return about(model, value, error("the file has become shorter", "its bytes are not there any more"));
  const char* source = all.data() + weight->offset + weight->storage_offset * width;
  std::vector<std::byte> result(bytes);
  std::vector<std::int64_t> contiguous(value.sizes.size(), 1);
  for (std::size_t i = contiguous.size(); i-- > 1;) contiguous[i - 1] = contiguous[i] * value.sizes[i];
  if (contiguous == weight->strides)
    std::memcpy(result.data(), source, bytes);
  else
    copy_strided(source, result.data(), value.sizes, weight->strides, 0, width);
  if (!file->is_intact())
    return about(model, value, error("the file has become shorter", "its bytes are not there any more"));
  return result;
}

}  // namespace planscope
