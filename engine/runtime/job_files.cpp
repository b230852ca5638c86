#include "engine/runtime/job_files.h"

#include <fstream>
#include <sstream>

#include "engine/graph/import.h"
#include "engine/graph/own_rules.h"
#include "engine/program/program_json.h"

namespace planscope {

Result<Graph> read_graph(const std::string& path, const std::vector<std::pair<std::string, std::int64_t>>& sizes) {
  Result<Model> model = import_model(path);
  if (!model.ok()) return model.diagnostics;
  Result<Graph> graph = open_graph(std::make_shared<const Model>(std::move(*model)));
  if (!graph.ok() || sizes.empty()) return graph;
  return resize(*graph, sizes);
}

Result<Program> read_program(const std::string& path, const Graph& graph) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) return error("cannot read '" + path + "'");
  return program_from_json(text.str(), graph);
}

}  // namespace planscope
