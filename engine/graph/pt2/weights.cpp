#include "engine/graph/pt2/weights.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "engine/graph/arguments.h"
#include "engine/graph/pt2/arguments.h"

namespace planscope {
namespace {

struct Table {
  JsonDocument document;
  std::string folder;
  std::map<std::string_view, Json> rows;
};

std::optional<Table> read_table(const Archive& archive, const std::string& folder,
                                std::vector<Diagnostic>& diagnostics) {
  std::string name = folder + archive.model + (folder == "data/weights/" ? "_weights" : "_constants") + "_config.json";
  if (!archive.find(name)) return std::nullopt;
  Result<std::string_view> text = archive.text(name);
  Result<JsonDocument> document = text.ok() ? JsonDocument::parse(*text) : Result<JsonDocument>(text.diagnostics);
  if (!document.ok()) {
    diagnostics.push_back(document.diagnostics.front());
    diagnostics.back().file = archive.path;
    return std::nullopt;
  }
  Table table{*document, folder, {}};
  for (auto [key, row] : table.document.root()["config"].members()) table.rows.emplace(key, row);
  return table;
}

std::optional<std::vector<std::int64_t>> read_extents(Json list) {
  std::vector<std::int64_t> result;
  for (Json element : list.elements()) {
    auto extent = hinted_integer(element, Scope{});
    if (!extent || *extent < 0) return std::nullopt;
    result.push_back(*extent);
  }
  return result;
}

// Elements from the start of the storage to the end of the tensor; nothing on overflow.
std::optional<std::uint64_t> span(const Weight& weight, const std::vector<std::int64_t>& sizes) {
  std::int64_t last = weight.storage_offset;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    std::int64_t step = 0;
    if (sizes[i] == 0) return 0;
    if (__builtin_mul_overflow(sizes[i] - 1, weight.strides[i], &step) || __builtin_add_overflow(last, step, &last))
      return std::nullopt;
  }
  return static_cast<std::uint64_t>(last) + 1;
}

// Empty: well.
std::string read_row(const Archive& archive, const Table& table, Json row, const Value& value, Weight& weight) {
  if (row["use_pickle"].boolean().value_or(false)) return "it is a tensor subclass or an object, stored as a pickle";
  Json meta = row["tensor_meta"];
  auto sizes = read_extents(meta["sizes"]), strides = read_extents(meta["strides"]);
  auto offset = hinted_integer(meta["storage_offset"], Scope{});
  if (!sizes || !strides || !offset || *offset < 0 || *sizes != value.sizes || strides->size() != sizes->size() ||
      read_dtype(meta["dtype"]) != value.dtype)
    return "its type, sizes or strides differ from those in the graph";
  const ZipEntry* payload = archive.find(table.folder + std::string(row["path_name"].text()));
  if (!payload) return "the archive has no record \"" + table.folder + std::string(row["path_name"].text()) + "\"";
  if (!payload->stored) return "its bytes are compressed or encrypted";
  weight = {weight.value, payload->offset, payload->bytes, std::move(*strides), *offset};
  auto elements = span(weight, value.sizes);
  auto width = static_cast<std::uint64_t>(byte_size(value.dtype));
  if (!elements || (payload->bytes > 0 && *elements > payload->bytes / width)) return "its bytes are too few";
  return {};
}

struct Uses {
  std::vector<bool> read;

  explicit Uses(const Model& model) : read(model.values.size(), false) {
    auto mark = [&](ValueId id) { read[static_cast<std::size_t>(id)] = true; };
    for (const Node& node : model.nodes) for_each_tensor(node, mark);
    for (ValueId id : model.outputs) mark(id);
    for (const Mutation& mutation : model.mutations) mark(mutation.value), mark(mutation.buffer);
  }
  bool operator[](ValueId id) const { return read[static_cast<std::size_t>(id)]; }
};

using Storage = std::tuple<std::uint64_t, std::int64_t, std::vector<std::int64_t>, std::vector<std::int64_t>, DType>;

// For each value the one that stands for it.
std::vector<ValueId> representatives(const Model& model, const Uses& uses) {
  std::vector<ValueId> result(model.values.size());
  for (std::size_t id = 0; id < result.size(); ++id) result[id] = static_cast<ValueId>(id);
  std::map<Storage, std::vector<ValueId>> stored;
  std::map<std::tuple<std::vector<std::int64_t>, DType>, std::vector<ValueId>> without_bytes;
  for (const Weight& weight : model.weights) {
    const Value& value = model.values[static_cast<std::size_t>(weight.value)];
    if (value.kind != ValueKind::parameter) continue;
    if (weight.bytes > 0)
      stored[{weight.offset, weight.storage_offset, weight.strides, value.sizes, value.dtype}].push_back(weight.value);
    else
      without_bytes[{value.sizes, value.dtype}].push_back(weight.value);
  }
  for (const auto& [storage, ids] : stored) {
    auto first = std::find_if(ids.begin(), ids.end(), [&](ValueId id) { return uses[id]; });
    for (ValueId id : ids) result[static_cast<std::size_t>(id)] = first == ids.end() ? ids.front() : *first;
  }
  for (const auto& [shape, ids] : without_bytes) {
    if (std::count_if(ids.begin(), ids.end(), [&](ValueId id) { return uses[id]; }) != 1) continue;
    ValueId read = *std::find_if(ids.begin(), ids.end(), [&](ValueId id) { return uses[id]; });
    for (ValueId id : ids) result[static_cast<std::size_t>(id)] = read;
  }
  return result;
}

// Parameters that are read under two names and lie in the same memory: one parameter where both are all of it in the same
// order, else two that are trained apart here.
std::vector<Diagnostic> shared_storage(const Model& model, const Uses& uses) {
  std::map<std::uint64_t, std::vector<const Weight*>> stored;
  for (const Weight& weight : model.weights)
    if (weight.bytes > 0 && uses[weight.value]) stored[weight.offset].push_back(&weight);
  std::vector<Diagnostic> out;
  const auto value = [&](const Weight* w) -> const Value& { return model.values[static_cast<std::size_t>(w->value)]; };
  for (const auto& [offset, weights] : stored)
    for (std::size_t b = 1; b < weights.size(); ++b)
      for (std::size_t a = 0; a < b; ++a) {
        const Weight &one = *weights[a], &other = *weights[b];
        if (value(&one).kind != ValueKind::parameter && value(&other).kind != ValueKind::parameter) continue;
        const auto first = span(one, value(&one).sizes), second = span(other, value(&other).sizes);
        if (!first || !second || static_cast<std::uint64_t>(one.storage_offset) >= *second ||
            static_cast<std::uint64_t>(other.storage_offset) >= *first)
          continue;
        const bool buffer = value(&one).kind != ValueKind::parameter || value(&other).kind != ValueKind::parameter;
        const bool same = one.storage_offset == other.storage_offset && one.strides == other.strides &&
                          value(&one).sizes == value(&other).sizes && value(&one).kind == value(&other).kind;
        Diagnostic d = same ? warning("it is in the memory of '" + value(&one).name + "': one parameter here",
                                      "its gradient is the sum of both, and it is updated once; in PyTorch they are two "
                                      "parameters, each with an update of its own")
                     : buffer ? warning("it is in the memory of '" + value(&one).name + "', and one of them is a buffer",
                                        "here the buffer keeps its value; in PyTorch it follows the parameter",
                                        "make it of the parameter in forward")
                            : warning("it is in the memory of '" + value(&one).name + "', in another shape or order",
                                      "here both are trained apart; in PyTorch a change of one changes the other",
                                      "make one of the other in forward, as with '.t()'");
        d.subject = value(&other).name;
        out.push_back(std::move(d));
        break;
      }
  return out;
}

}  // namespace

std::vector<Diagnostic> read_weights(const Archive& archive, Model& model) {
  std::vector<Diagnostic> diagnostics;
  std::vector<Table> tables;
  for (const char* folder : {"data/weights/", "data/constants/"})
    if (auto table = read_table(archive, folder, diagnostics)) tables.push_back(std::move(*table));
  for (std::size_t id = 0; id < model.values.size(); ++id) {
    const Value& value = model.values[id];
    if (value.kind == ValueKind::input || value.kind == ValueKind::computed) continue;
    Weight weight{static_cast<ValueId>(id), 0, 0, {}, 0};
    std::string why = "the archive has no entry for it";
    for (const Table& table : tables)
      if (auto row = table.rows.find(value.name); row != table.rows.end()) {
        why = read_row(archive, table, row->second, value, weight);
        break;
      }
    if (!why.empty()) {
      Diagnostic diagnostic = error("its weights cannot be found", why, "export the file again");
      diagnostic.file = archive.path;
      diagnostic.subject = value.name;
      diagnostics.push_back(std::move(diagnostic));
    }
    model.weights.push_back(std::move(weight));
  }
  return diagnostics;
}

std::vector<Diagnostic> join_tied_weights(Model& model) {
  Uses uses(model);
  std::vector<Diagnostic> diagnostics = shared_storage(model, uses);
  std::vector<ValueId> stands_for = representatives(model, uses);
  auto map = [&](ValueId id) { return id < 0 ? id : stands_for[static_cast<std::size_t>(id)]; };
  for (std::size_t id = 0; id < model.values.size(); ++id) {
    Value& value = model.values[id];
    ValueId other = stands_for[id];
    if (other != static_cast<ValueId>(id)) model.values[static_cast<std::size_t>(other)].aliases.push_back(value.name);
  }
  for (Value& value : model.values) std::sort(value.aliases.begin(), value.aliases.end());
  for (Node& node : model.nodes) map_tensors(node, map);
  for (ValueId& id : model.outputs) id = map(id);
  std::erase_if(model.weights, [&](const Weight& weight) { return map(weight.value) != weight.value; });
  return diagnostics;
}

}  // namespace planscope
