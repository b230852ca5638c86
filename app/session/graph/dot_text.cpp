#include "app/session/graph/dot_text.h"

#include "app/session/panels/graph_cells.h"
#include "engine/base/enumeration.h"
#include "engine/base/format.h"

namespace planscope::session {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

// Lines of a label; `\n` is a line break in the language.
std::string label(const std::vector<std::string>& lines) {
  std::string out = "\"";
  for (const std::string& line : lines) {
    const std::string one = quoted(line);
    out += (out.size() > 1 ? "\\n" : "") + one.substr(1, one.size() - 2);
  }
  return out + "\"";
}

std::string title(const Group& g) { return g.label + (g.repeats > 1 ? " × " + std::to_string(g.repeats) : ""); }

std::string splits_text(const std::vector<SplitText>& splits) {
  std::string out;
  for (const SplitText& s : splits) out += (out.empty() ? "" : " · ") + s.text();
  return out;
}

std::string node_text(const GraphPicture& p, const NodePicture& n) {
  std::vector<std::string> lines = {title(*n.group)};
  if (n.group->kind != n.group->label) lines.push_back(n.group->kind);
  if (p.evaluation) {
    lines.push_back(n.splits.empty() ? "whole" : splits_text(n.splits));
    if (!n.places.empty()) lines.push_back("on " + text_of(n.places));
    if (const std::string storage = storage_text(n); !storage.empty()) lines.push_back(storage);
    lines.push_back(time_text(n.time_us) + ", holds " + bytes_text(n.kept_bytes));
    for (const Conversion& c : n.within) lines.push_back("within: " + text_of(c));
    const ParameterLane& w = n.parameters;
    if (w.count > 0)
      lines.push_back(std::to_string(w.count) + " parameters, " + bytes_text(static_cast<double>(w.bytes)) + ", home " +
                      (w.splits.empty() ? "whole" : splits_text(w.splits)) + ", update " + time_text(w.update_us));
    for (const Conversion& c : w.fetch) lines.push_back("fetch: " + text_of(c));
    for (const Conversion& c : w.gradient) lines.push_back("gradient: " + text_of(c));
  }
  return quoted(n.group->id) + " [label=" + label(lines) + "]\n";
}

void write(const GraphPicture& p, const std::vector<std::vector<int>>& inside, int box, const std::string& indent,
           std::string& out) {
  for (const int k : inside[at(box + 1)]) {
    const NodePicture& n = p.nodes[at(k)];
    if (!n.expanded) {
      out += indent + node_text(p, n);
      continue;
    }
    out += indent + "subgraph " + quoted("cluster_" + n.group->id) + " {\n" + indent +
           "  label=" + quoted(title(*n.group)) + "\n";
    write(p, inside, k, indent + "  ", out);
    out += indent + "}\n";
  }
}

}  // namespace

std::string dot_text(const GraphPicture& p, const Graph& g) {
  std::vector<std::vector<int>> inside(p.nodes.size() + 1);
  for (std::size_t k = 0; k < p.nodes.size(); ++k) inside[at(p.nodes[k].parent + 1)].push_back(static_cast<int>(k));
  std::string out = "digraph " + quoted(p.model->groups[0].label) + " {\n  rankdir=LR\n  node [shape=box]\n";
  write(p, inside, -1, "  ", out);
  for (const EdgePicture& e : p.edges) {
    std::vector<std::string> lines = {
        and_more(g.tensor_name(e.edge->tensors[0]), e.edge->tensors.size() - 1) + ", " +
        bytes_text(static_cast<double>(e.bytes))};
    for (const Conversion& c : e.conversions) lines.push_back(text_of(c));
    out += "  " + quoted(p.nodes[at(e.edge->from)].group->id) + " -> " + quoted(p.nodes[at(e.edge->to)].group->id) +
           " [label=" + label(lines) + (e.edge->next ? " style=dashed" : "") + "]\n";
  }
  return out + "}\n";
}

}  // namespace planscope::session
