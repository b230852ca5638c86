#include "tests/engine/graph/import/model_text.h"

#include <fstream>
#include <limits>
#include <regex>
#include <sstream>
#include <stdexcept>

#include "engine/graph/arguments.h"

namespace planscope::testing {
namespace {

std::optional<DType> dtype_named(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(DType::other); ++i)
    if (to_string(static_cast<DType>(i)) == name) return static_cast<DType>(i);
  return std::nullopt;
}

class ArgumentReader {
 public:
  explicit ArgumentReader(const std::string& text) : text_(text) {}

  std::vector<NamedArgument> read() {
    std::vector<NamedArgument> arguments;
    while (at_ < text_.size()) {
      std::string name = until("=");
      ++at_;
      arguments.push_back({name, value()});
      while (at_ < text_.size() && (text_[at_] == ',' || text_[at_] == ' ')) ++at_;
    }
    return arguments;
  }

 private:
  std::string until(const char* stops) {
    std::size_t end = std::min(text_.find_first_of(stops, at_), text_.size());
    std::string word = text_.substr(at_, end - at_);
    at_ = end;
    return word;
  }

  Argument value() {
    if (text_[at_] == '[') return list();
    if (text_[at_] == '"') {
      ++at_;
      std::string word = until("\"");
      ++at_;
      return word;
    }
    return word(until(",]"));
  }

  static Argument word(const std::string& word) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (word == "none") return None{};
    if (word == "true" || word == "false") return word == "true";
    if (word == "device") return Device{};
    if (word == "inf" || word == "-inf") return word == "inf" ? infinity : -infinity;
    if (word.starts_with("memory_format:")) return MemoryFormat{std::stoll(word.substr(14))};
    if (word.starts_with("%")) return Tensor{std::stoi(word.substr(1))};
    if (auto dtype = dtype_named(word)) return *dtype;
    if (word.find_first_of(".e") != std::string::npos) return std::stod(word);
    return static_cast<std::int64_t>(std::stoll(word));
  }

  template <class T>
  static Argument gathered(const std::vector<Argument>& elements) {
    std::vector<T> result;
    for (const Argument& element : elements)
      if (std::holds_alternative<None>(element)) {
        if constexpr (std::is_same_v<T, Tensor>) result.push_back(Tensor{});
      } else {
        result.push_back(std::get<T>(element));
      }
    return result;
  }

  Argument list() {
    std::vector<Argument> elements;
    ++at_;
    while (text_[at_] != ']') {
      elements.push_back(value());
      while (text_[at_] == ',' || text_[at_] == ' ') ++at_;
    }
    ++at_;
    for (const Argument& element : elements) {
      if (std::holds_alternative<Tensor>(element)) return gathered<Tensor>(elements);
      if (std::holds_alternative<double>(element)) return gathered<double>(elements);
      if (std::holds_alternative<bool>(element)) return gathered<bool>(elements);
    }
    return gathered<std::int64_t>(elements);
  }

  const std::string& text_;
  std::size_t at_ = 0;
};

Value& value_at(Model& model, const std::string& id) {
  auto index = static_cast<std::size_t>(std::stoul(id));
  if (model.values.size() <= index) model.values.resize(index + 1);
  return model.values[index];
}

void read_type(Value& value, const std::string& dtype, const std::string& sizes) {
  value.dtype = dtype_named(dtype).value();
  std::istringstream stream(sizes);
  for (std::string size; std::getline(stream, size, ',');) value.sizes.push_back(std::stoll(size));
}

bool read_value(Model& model, const std::string& line) {
  static const std::regex form(R"((input|parameter|buffer|constant) %(\d+) (\S+): (\w+)\[([\d,]*)\]( frozen)?)");
  std::smatch match;
  if (!std::regex_match(line, match, form)) return false;
  Value& value = value_at(model, match[2]);
  value.name = match[3];
  value.kind = match[1] == "input"       ? ValueKind::input
               : match[1] == "parameter" ? ValueKind::parameter
               : match[1] == "buffer"    ? ValueKind::buffer
                                         : ValueKind::constant;
  value.requires_grad = value.kind == ValueKind::parameter && !match[6].matched;
  read_type(value, match[4], match[5]);
  if (value.kind == ValueKind::input) model.inputs.push_back(std::stoi(match[2]));
  return true;
}

bool read_node(Model& model, const std::string& line) {
  static const std::regex form(R"(([^:@]*)(?:@(\d+))?:(\w+)#(\d+) (.*?) = ([\w:.]+)\((.*)\)((?: no_grad| random)*)(?: like %(\d+))?)");
  static const std::regex output(R"(%(\d+): (\w+)\[([\d,]*)\])");
  std::smatch match;
  if (!std::regex_match(line, match, form)) return false;
  Node node;
  node.module = match[1];
  node.call = match[2].matched ? std::stoi(match[2]) : -1;
  node.kind = match[3];
  node.ordinal = std::stoi(match[4]);
  node.target = match[6];
  std::string outputs = match[5], arguments = match[7], flags = match[8];
  for (std::sregex_iterator it(outputs.begin(), outputs.end(), output), end; it != end; ++it) {
    read_type(value_at(model, (*it)[1]), (*it)[2], (*it)[3]);
    node.outputs.push_back(std::stoi((*it)[1]));
  }
  node.arguments = ArgumentReader(arguments).read();
  node.no_grad = flags.find("no_grad") != std::string::npos;
  node.random = flags.find("random") != std::string::npos;
  if (match[9].matched) node.like = std::stoi(match[9]);
  model.nodes.push_back(std::move(node));
  return true;
}

}  // namespace

Model read_model_text(const std::string& text) {
  Model model;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (line.empty() || read_value(model, line) || read_node(model, line)) continue;
    std::smatch match;
    if (!std::regex_match(line, match, std::regex(R"((loss|output) %(\d+))"))) throw std::runtime_error(line);
    model.outputs.push_back(std::stoi(match[2]));
    if (match[1] == "loss") model.loss = model.outputs.back();
  }
  return model;
}

std::vector<TextCase> read_cases(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot open " + path);
  std::vector<TextCase> cases;
  bool expecting = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("=== ")) {
      cases.push_back({line.substr(4), "", ""});
      expecting = false;
    } else if (line == "---") {
      expecting = true;
    } else if (!cases.empty() && !line.empty()) {
      (expecting ? cases.back().expected : cases.back().input) += line + "\n";
    }
  }
  return cases;
}

}  // namespace planscope::testing
