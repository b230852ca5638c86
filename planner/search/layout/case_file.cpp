#include "planner/search/layout/case_file.h"

#include "engine/base/file_text.h"
#include "engine/base/json_reader.h"

namespace planscope::layouts {

namespace {

constexpr std::int64_t kMostWhole = std::int64_t{1} << 62;
constexpr std::int64_t kMostIndex = 1'000'000'000;
constexpr double kMostCost = 1e308;

int index(const JsonValue& json) { return static_cast<int>(json.whole(0, kMostIndex)); }

std::vector<std::int64_t> whole_numbers(const JsonValue& json) {
  std::vector<std::int64_t> out;
  for (const JsonValue n : json.as_list()) out.push_back(n.whole(-kMostWhole, kMostWhole));
  return out;
}

std::vector<double> numbers(const JsonValue& json) {
  std::vector<double> out;
  for (const JsonValue x : json.as_list()) out.push_back(x.number(-kMostCost, kMostCost));
  return out;
}

Kind kind(const JsonValue& json) {
  Kind out{numbers(json.field("cost")), {}};
  const JsonValue memory = json.list("memory");
  if (memory[0].is_list())
    for (const JsonValue row : memory) out.memory.push_back(whole_numbers(row));
  else
    out.memory.push_back(whole_numbers(memory));
  return out;
}

Matrix matrix(const JsonValue& json) {
  Matrix m;
  m.rows = static_cast<int>(json.as_list().size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    const std::vector<double> row = numbers(json[i]);
    if (i > 0 && static_cast<int>(row.size()) != m.columns)
      json[i].fail("has " + std::to_string(row.size()) + " costs, the rows above " + std::to_string(m.columns));
    m.columns = static_cast<int>(row.size());
    m.values.insert(m.values.end(), row.begin(), row.end());
  }
  return m;
}

Edge edge(const JsonValue& json) {
  if (json.size() == 3) return {index(json[0]), index(json[1]), index(json[2])};
  json.fail("is not a list [from, to, pair]");
  return {};
}

CostNetwork network(const JsonValue& json) {
  CostNetwork n;
  const JsonValue limit = json.field("memory_limit");
  if (limit.is_list())
    n.limits = whole_numbers(limit);
  else
    n.limits = {limit.whole(-kMostWhole, kMostWhole)};
  for (const JsonValue item : json.list("kinds")) n.kinds.push_back(kind(item));
  for (const JsonValue item : json.list("pairs")) n.pairs.push_back(matrix(item));
  for (const JsonValue item : json.list("nodes")) n.nodes.push_back(index(item));
  for (const JsonValue item : json.list("edges")) n.edges.push_back(edge(item));
  if (n.rows() == 0)
    for (Kind& k : n.kinds)
      if (k.memory.size() == 1 && k.memory[0].empty()) k.memory.clear();
  return n;
}

}  // namespace

Result<CostNetwork> parse_case(std::string_view text, const std::string& file) {
  JsonReader reader("the case", file);
  CostNetwork n = network(reader.parse(text));
  if (reader.failed()) return reader.diagnostics();
  std::vector<Diagnostic> bad = faults(n);
  if (bad.empty()) return n;
  for (Diagnostic& d : bad) d.file = file;
  return bad;
}

Result<CostNetwork> read_case(const std::string& file) {
  const Result<std::string> text = file_text(file);
  if (!text.ok()) return text.diagnostics;
  return parse_case(*text, file);
}

}  // namespace planscope::layouts
