#include "engine/graph/own_rules.h"

#include <filesystem>
#include <sstream>

#include "engine/base/file_text.h"

namespace planscope {

Result<OwnRules> read_own_rules(const std::string& model_path) {
  Result<OwnRules> out;
  OwnRules own;
  own.file = std::filesystem::path(model_path).replace_extension(".rules").string();
  std::error_code ec;
  if (std::filesystem::symlink_status(own.file, ec).type() == std::filesystem::file_type::not_found) {
    out.value = std::move(own);
    return out;
  }
  const Result<std::string> text = file_text(own.file);
  if (!text.ok()) return text.diagnostics;
  std::istringstream in(*text);
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == line.npos || line[first] == '#') continue;
    if (line.back() == '\r') line.pop_back();
    Result<TextRule> rule = parse_text_rule(line);
    for (Diagnostic& d : rule.diagnostics) {
      d.file = own.file;
      d.line = number;
      out.diagnostics.push_back(std::move(d));
    }
    if (!rule.value) continue;
    own.lines.push_back(number);
    own.rules.push_back(std::move(*rule.value));
  }
  out.value = std::move(own);
  return out;
}

Result<Graph> open_graph(std::shared_ptr<const Model> model) {
  const Result<OwnRules> own = read_own_rules(model->path);
  if (!own.ok()) return own.diagnostics;
  return make_graph(std::move(model), *own);
}

}  // namespace planscope
