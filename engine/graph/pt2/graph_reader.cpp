#include "engine/graph/pt2/graph_reader.h"

#include <map>

#include "engine/graph/arguments.h"
#include "engine/graph/pt2/node_reader.h"
#include "engine/graph/pt2/signature.h"

namespace planscope {
namespace {

constexpr std::int64_t known_major = 8;
constexpr std::int64_t largest_bound = std::int64_t{1} << 40;  // the file writes the largest number for none

// The largest values that symbols may have; of those that have a value in the example nobody asks.
SymbolBounds read_bounds(Json ranges) {
  SymbolBounds bounds;
  for (auto [symbol, range] : ranges.members())
    if (auto most = range["max_val"].integer(); most && *most >= 0 && *most <= largest_bound)
      bounds.emplace(symbol, *most);
  return bounds;
}

Result<RawModel> refuse(const std::string& file, Diagnostic diagnostic) {
  diagnostic.file = file;
  return diagnostic;
}

std::optional<Diagnostic> check_version(Json program) {
  auto major = program["schema_version"]["major"].integer();
  if (!major) return error("not an exported program", "it has no schema_version");
  if (*major == known_major) return std::nullopt;
  return error("schema version " + std::to_string(*major) + " is not known", "this program reads version 8",
               "export again with torch 2.9 or later");
}

std::string_view output_spec(Json program) {
  for (Json call : program["graph_module"]["module_call_graph"].elements())
    if (call["fqn"].text().empty()) return call["signature"]["out_spec"].text();
  return {};
}

}  // namespace

Result<RawModel> read_program(std::string_view json, const std::string& file) {
  Result<JsonDocument> document = JsonDocument::parse(json);
  if (!document.ok()) return refuse(file, document.diagnostics.front());
  Json program = document->root();
  if (auto problem = check_version(program)) return refuse(file, *problem);
  Json graph = program["graph_module"]["graph"];
  if (!graph.is_object()) return refuse(file, error("not an exported program", "it has no graph"));

  RawModel raw;
  raw.model.torch_version = program["torch_version"].text();
  SymbolBounds bounds = read_bounds(program["range_constraints"]);
  NodeReader reader(raw, bounds);
  Scope scope = make_scope(graph, bounds);
  bool complete = read_inputs(graph, program["graph_module"]["signature"], scope, reader) &&
                  reader.read_nodes(graph["nodes"], scope, Region{}) &&
                  read_outputs(program["graph_module"]["signature"], output_spec(program), scope, reader);
  for (Diagnostic& diagnostic : reader.diagnostics) diagnostic.file = file;
  Result<RawModel> result;
  if (complete) result.value = std::move(raw);
  result.diagnostics = std::move(reader.diagnostics);
  return result;
}

}  // namespace planscope
