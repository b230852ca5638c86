#include "tests/engine/graph/import/program_text.h"

namespace planscope::testing {
namespace {

void append(std::string& list, const std::string& item) { list += (list.empty() ? "" : ", ") + item; }

// At commas outside of parentheses.
std::vector<std::string> listed(const std::string& sizes) {
  std::vector<std::string> out;
  int depth = 0;
  for (const char c : sizes) {
    if (out.empty()) out.emplace_back();
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth == 0)
      out.emplace_back();
    else
      out.back() += c;
  }
  return out;
}

std::string extents(const std::string& sizes) {
  std::string list;
  for (const std::string& size : listed(sizes))
    append(list, size.starts_with("u") || size.find('(') != std::string::npos
                     ? R"({"as_expr": {"hint": null, "expr_str": ")" +
                           (size.starts_with("u") ? "Symbol('" + size + "', integer=True)" : size) + "\"}}"
                     : "{\"as_int\": " + size + "}");
  return "[" + list + "]";
}

}  // namespace

std::string GraphText::tensor(const std::string& name) { return R"({"as_tensor": {"name": ")" + name + "\"}}"; }

std::string GraphText::tensors(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) append(list, "{\"name\": \"" + name + "\"}");
  return "{\"as_tensors\": [" + list + "]}";
}

std::string GraphText::graph(const std::string& name, const std::string& text) {
  return R"({"as_graph": {"name": ")" + name + R"(", "graph": )" + text + "}}";
}

std::string GraphText::result(const std::string& name, int type, const std::string& sizes, const std::string& device) {
  std::string strides;  // of what is copied only the number counts
  for (std::size_t d = listed(sizes).size(); d > 0; --d)
    append(strides, "{\"as_int\": 1}");
  append(values_, "\"" + name + R"(": {"dtype": )" + std::to_string(type) + ", \"sizes\": " + extents(sizes) +
                      ", \"strides\": [" + strides + R"(], "requires_grad": false, "device": {"type": ")" + device +
                      "\"}}");
  return tensor(name);
}

void GraphText::input(const std::string& name, int type, const std::string& sizes, const std::string& device) {
  append(inputs_, result(name, type, sizes, device));
  names_.push_back(name);
}

void GraphText::node(const std::string& target, const Inputs& inputs, const std::vector<std::string>& results) {
  std::string in, out;
  for (const auto& [name, argument] : inputs)
    append(in, "{\"name\": \"" + name + "\", \"arg\": " + argument + ", \"kind\": 1}");
  for (const std::string& result : results) append(out, result);
  append(nodes_, "{\"target\": \"" + target + "\", \"inputs\": [" + in + "], \"outputs\": [" + out +
                     "], \"metadata\": {}}");
}

std::string GraphText::text(const std::vector<std::string>& results) const {
  std::string out;
  for (const std::string& result : results) append(out, tensor(result));
  return "{\"inputs\": [" + inputs_ + "], \"outputs\": [" + out + "], \"nodes\": [" + nodes_ +
         "], \"tensor_values\": {" + values_ + "}, \"sym_int_values\": {}}";
}

void ProgramText::range(const std::string& symbol, const std::string& most) {
  append(ranges_, "\"" + symbol + R"(": {"min_val": 0, "max_val": )" + most + "}");
}

std::string ProgramText::program(const std::vector<std::string>& results) const {
  std::string in, out;
  for (const std::string& name : names_) append(in, "{\"user_input\": {\"arg\": " + tensor(name) + "}}");
  for (const std::string& name : results) append(out, "{\"user_output\": {\"arg\": " + tensor(name) + "}}");
  return R"({"schema_version": {"major": 8, "minor": 0}, "torch_version": "2.13", "range_constraints": {)" + ranges_ +
         "}, \"graph_module\": {\"graph\": " + text(results) + ", \"signature\": {\"input_specs\": [" + in +
         "], \"output_specs\": [" + out + "]}}}";
}

}  // namespace planscope::testing
