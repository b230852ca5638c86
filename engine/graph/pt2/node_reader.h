#pragma once
// Values and nodes of one graph of the file, appended to a RawModel.
#include <map>
#include <string>

#include "engine/graph/pt2/arguments.h"
#include "engine/graph/pt2/autocast.h"
#include "engine/graph/pt2/names.h"
#include "engine/graph/pt2/raw_model.h"

namespace planscope {

Scope make_scope(Json graph, const SymbolBounds&);

// The modes in which a node runs.
struct Region {
  bool no_grad = false;
  AutocastState autocast;
};

class NodeReader {
 public:
  // `bounds`: of the symbols of the whole file; operators whose results have as many elements as the data say add theirs.
  NodeReader(RawModel& raw, SymbolBounds& bounds, int depth = 0) : raw(raw), bounds_(bounds), depth_(depth) {}

  // False: the graph cannot be read; the diagnostics say why.
  bool read_nodes(Json nodes, Scope& scope, const Region&);

  // A new value with the sizes and type that the graph's metadata give; -1 (with an error) if there are none.
  ValueId add_value(std::string_view name, Scope& scope, ValueKind kind);

  bool fail(std::string what, std::string why, std::string hint = {});

  RawModel& raw;
  std::vector<Diagnostic> diagnostics;

 private:
  bool read_node(Json node, Scope& scope, const Region&);
  void warn_opaque(const Node& node, const std::string& why);
  void warn_without_result(const Node& node);
  void warn_inner_types(const Node& node);
  void warn_vmap(const Node& node);
  bool read_arguments(Json node, const Scope& scope, const Region&, Node& result, std::string& why);
  ValueId complex_number(Json value, bool wide, const Node& like);
  bool read_outputs(Json node, Scope& scope, Node& result);
  ValueId add_absent();
  void make_opaque(Json node, const Scope& scope, Node& result, const std::string& why);
  void note_bounds(Json node, const Scope& scope, const Node& result);
  const Schema* schema(const std::string& target);
  // sub_graphs.cpp
  static std::optional<std::size_t> inlined_graph(Json node, Region&);
  bool read_inlined(Json node, Scope& scope, const Region&, std::size_t graph_argument);
  bool read_bodies(Json node, const Scope& scope, const Region&, Node& result, std::string& why);
  bool read_body(Json graph, const Region&, RawModel& body, std::string& why);
  // region_casts.cpp
  void cast_operands(Json node, const Scope& scope, const Region&, Node& result);
  ValueId cast(ValueId operand, DType type, const Node& reader);

  std::map<std::string, std::optional<Schema>> schemas_;
  std::map<std::string_view, ModuleCall> modules_;
  std::map<std::string, std::pair<std::size_t, int>> opaque_;  // target and why -> diagnostic, how often
  std::vector<RawModel> bodies_;  // of the node that is read
  SymbolBounds& bounds_;
  int depth_;
};

}  // namespace planscope
