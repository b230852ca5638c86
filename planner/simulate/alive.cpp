#include "planner/simulate/alive.h"

#include <algorithm>
#include <map>

#include "engine/base/text.h"

namespace planscope {
namespace {

bool is_number(const std::string& s) { return !s.empty() && s.find_first_not_of("0123456789") == s.npos; }

// Of an operator in no module, its own name.
std::string module_of(const Graph& graph, OpId op) {
  const std::string name = graph.node(op).name();
  const std::size_t colon = name.find(':');
  return colon == 0 ? name.substr(1) : name.substr(0, colon);
}

// The innermost module that holds all operators of a piece; the first and the last one where that is all of the model.
std::string name_of(const Graph& graph, const Piece& piece) {
  if (piece.ops.empty()) return {};
  const std::string first = module_of(graph, piece.ops.front().op), last = module_of(graph, piece.ops.back().op);
  std::vector<std::string> common = split(first, '.');
  for (const PieceOp& o : piece.ops) {
    const std::vector<std::string> here = split(module_of(graph, o.op), '.');
    const auto [end, other] = std::mismatch(common.begin(), common.end(), here.begin(), here.end());
    common.erase(end, common.end());
  }
  const bool inside = first == last || std::any_of(common.begin(), common.end(), is_number);
  return inside ? join(common, ".") : first + " … " + last;
}

}  // namespace

std::string owner_name(const Graph& graph, const Program& program, const Owner& of) {
  const auto tensor = [&] {
    const ProgramValue& v = program.values[static_cast<std::size_t>(of.id)];
    const std::string name = graph.model->values[static_cast<std::size_t>(v.tensor)].name;
    return v.role == Role::gradient ? "gradient of " + name : name;
  };
  switch (of.kind) {
    case Owner::Kind::value:
    case Owner::Kind::state:
      return tensor();
    case Owner::Kind::message:
      return "message with " + tensor();
    case Owner::Kind::piece:
      return "saved for backward by " + name_of(graph, program.pieces[static_cast<std::size_t>(of.id)]);
    case Owner::Kind::working_set:
      break;
  }
  return "at work";
}

bool memory_is_known(const Graph& graph) { return unknown_memory(graph).empty(); }

bool has_sizes_of_data(const Graph& graph) {
  const std::vector<Value>& all = graph.model->values;
  return std::any_of(all.begin(), all.end(), [](const Value& v) { return !v.bounded.empty(); });
}

std::string memory_word(const Graph& graph) {
  const bool known = memory_is_known(graph);
  return has_sizes_of_data(graph) ? (known ? "up to " : "about ") : known ? "" : "at least ";
}

std::string unknown_memory(const Graph& graph) {
  for (const Op& op : graph.ops) {
    const Node& node = graph.model->nodes[static_cast<std::size_t>(op.node)];
    if (op.known && node.bodies.empty()) continue;
    return node.name() + " (" + node.target + ") " + (op.known ? "runs sub-graphs" : "has no rule") +
           ", so what it keeps and works with is not known";
  }
  return {};
}

std::vector<AliveGroup> alive_groups(const Graph& graph, const Program& program, const ClassTimeline& timeline) {
  std::map<std::pair<MemoryKind, std::string>, AliveGroup> groups;
  for (const AliveBytes& a : timeline.alive) {
    std::string name = owner_name(graph, program, a.of);
    if (a.of.kind == Owner::Kind::working_set && timeline.peak_slot >= 0)
      name += " in " + label(program, timeline.slots[static_cast<std::size_t>(timeline.peak_slot)]);
    std::string what = without_numbers(name);
    AliveGroup& g = groups[{a.kind, what}];
    g.what = std::move(what);
    g.kind = a.kind;
    g.bytes += a.bytes;
    ++g.count;
  }
  std::vector<AliveGroup> out;
  for (auto& [key, g] : groups) out.push_back(std::move(g));
  std::stable_sort(out.begin(), out.end(), [](const AliveGroup& a, const AliveGroup& b) { return a.bytes > b.bytes; });
  return out;
}

}  // namespace planscope
