#pragma once
// Values and nodes of one graph of the file, appended to a RawModel.
#include <map>
#include <string>

#include "engine/graph/pt2/arguments.h"
#include "engine/graph/pt2/names.h"
#include "engine/graph/pt2/raw_model.h"

namespace planscope {

Scope make_scope(Json graph);

class NodeReader {
 public:
  explicit NodeReader(RawModel& raw) : raw(raw) {}

  // False: the graph cannot be read; the diagnostics say why.
  bool read_nodes(Json nodes, Scope& scope, bool no_grad);

  // A new value with the sizes and type that the graph's metadata give; -1 (with an error) if there are none.
  ValueId add_value(std::string_view name, Scope& scope, ValueKind kind);

  bool fail(std::string what, std::string why, std::string hint = {});

  RawModel& raw;
  std::vector<Diagnostic> diagnostics;

 private:
  bool read_node(Json node, Scope& scope, bool no_grad);
  void warn_opaque(const Node& node, const std::string& why);
  bool read_inlined(Json node, Scope& scope, bool no_grad, std::size_t graph_argument);
  bool read_arguments(Json node, const Scope& scope, Node& result, std::string& why);
  bool read_outputs(Json node, Scope& scope, Node& result);
  void make_opaque(Json node, const Scope& scope, Node& result, const std::string& why);
  const Schema* schema(const std::string& target);

  std::map<std::string, std::optional<Schema>> schemas_;
  std::map<std::string_view, ModuleCall> modules_;
  std::map<std::string, std::pair<std::size_t, int>> opaque_;  // target and why -> diagnostic, how often
  int depth_ = 0;
};

}  // namespace planscope
