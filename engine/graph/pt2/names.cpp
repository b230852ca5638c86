#include "engine/graph/pt2/names.h"

#include <charconv>
#include <map>
#include <set>
#include <tuple>

#include "engine/base/module_path.h"

namespace planscope {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// `L['self']._modules['layers']._modules['0']` -> `layers.0`
std::string plain_path(std::string_view path) {
  constexpr std::string_view root = "L['self']";
  std::string text(path);
  if (!text.starts_with(root)) return text;
  text.erase(0, root.size());
  replace_all(text, "._modules['", ".");
  replace_all(text, "']", "");
  return text.starts_with('.') ? text.substr(1) : text;
}

// No module of a model lies as deep; what a file names below is taken for one, as every part of a path costs its whole length.
void cut_deep(std::string& path) {
  constexpr int most_parts = 256;
  std::size_t at = 0;
  for (int parts = 1; at < path.size(); ++at)
    if (path[at] == '.' && ++parts > most_parts) break;
  path.resize(at);
}

int call_number(std::string_view key) {
  auto mark = key.rfind('@');
  int call = 0;
  if (mark == std::string_view::npos) return 0;
  std::string_view digits = key.substr(mark + 1);
  auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), call);
  return code == std::errc() && end == digits.data() + digits.size() && call >= 0 ? call : 0;
}

}  // namespace

ModuleCall innermost_module(std::string_view stack) {
  std::string_view entry = stack.substr(stack.rfind(';') + 1);
  auto first = entry.find(','), last = entry.rfind(',');
  if (first == std::string_view::npos || last == first) return {};
  ModuleCall call;
  call.path = plain_path(entry.substr(first + 1, last - first - 1));
  cut_deep(call.path);
  std::string_view type = entry.substr(last + 1);
  call.type = type.substr(type.rfind('.') + 1);
  call.call = call_number(entry.substr(0, first));
  return call;
}

std::string source_line(std::string_view trace) {
  constexpr std::string_view begin = "File \"", middle = "\", line ";
  std::string innermost;
  for (auto at = trace.rfind(begin); at != std::string_view::npos; at = at > 0 ? trace.rfind(begin, at - 1) : std::string_view::npos) {
    const std::string_view rest = trace.substr(at + begin.size());
    const auto quote = rest.find(middle);
    if (quote == std::string_view::npos) continue;
    const std::string_view file = rest.substr(0, quote);
    std::string_view line = rest.substr(quote + middle.size());
    line = line.substr(0, line.find_first_not_of("0123456789"));
    if (line.empty()) continue;
    std::string found = std::string(file.substr(file.rfind('/') + 1)) + ":" + std::string(line);
    if (file.find("/torch/") == std::string_view::npos) return found;
    if (innermost.empty()) innermost = std::move(found);
  }
  return innermost;
}

std::string operator_name(std::string_view target) {
  constexpr std::string_view prefix = "torch.ops.", plain = ".default";
  if (!target.starts_with(prefix)) return std::string(target);
  target.remove_prefix(prefix.size());
  if (target.ends_with(plain)) target.remove_suffix(plain.size());
  auto dot = target.find('.');
  if (dot == std::string_view::npos) return std::string(target);
  return std::string(target.substr(0, dot)) + "::" + std::string(target.substr(dot + 1));
}

std::string short_name(std::string_view target) {
  auto colons = target.find("::");
  if (colons != std::string_view::npos)
    target.remove_prefix(colons + 2);
  else if (auto dot = target.rfind('.'); dot != std::string_view::npos)
    target.remove_prefix(dot + 1);
  target = target.substr(0, target.find('.'));
  while (target.size() > 1 && target.ends_with('_') && !target.ends_with("__")) target.remove_suffix(1);
  return std::string(target);
}

void tidy_names(Model& model) {
  std::set<std::string> repeated;
  for (const Node& node : model.nodes)
    if (node.call > 0) repeated.insert(node.module);
  for (Node& node : model.nodes)
    if (!repeated.contains(node.module)) node.call = -1;
  for (Node& node : model.nodes) node.module = written_path(node.module);
}

void number_nodes(Model& model) {
  std::map<std::tuple<std::string_view, int, std::string_view>, int> counts;
  for (Node& node : model.nodes) node.ordinal = counts[{node.module, node.call, node.kind}]++;
}

}  // namespace planscope
