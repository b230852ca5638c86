#include "planner/search/layout/case_file.h"

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace planscope::layouts {

namespace {

using Json = nlohmann::json;

// Thrown at the first value of another shape, and caught in parse_case.
struct Unexpected {
  std::string where, what;
};

const char* kind_of(const Json& j) { return j.type_name(); }

std::string element(const std::string& where, std::size_t i) { return where + "[" + std::to_string(i) + "]"; }

const Json& field(const Json& object, const std::string& where, const char* name) {
  const auto it = object.find(name);
  if (it == object.end()) throw Unexpected{where, "it has no '" + std::string(name) + "'"};
  return *it;
}

const Json& list(const Json& j, const std::string& where) {
  if (!j.is_array()) throw Unexpected{where, "a list is expected, not a " + std::string(kind_of(j))};
  return j;
}

double number(const Json& j, const std::string& where) {
  if (!j.is_number()) throw Unexpected{where, "a number is expected, not a " + std::string(kind_of(j))};
  return j.get<double>();
}

std::int64_t whole(const Json& j, const std::string& where) {
  if (j.is_number_unsigned() && j.get<std::uint64_t>() > std::uint64_t{1} << 62)
    throw Unexpected{where, "it is too large"};
  if (j.is_number_integer()) return j.get<std::int64_t>();
  const double value = number(j, where);
  if (value != std::floor(value) || std::abs(value) > 9e15) throw Unexpected{where, "a whole number is expected"};
  return static_cast<std::int64_t>(value);
}

int index(const Json& j, const std::string& where) {
  const std::int64_t value = whole(j, where);
  if (value < 0 || value > 1'000'000'000) throw Unexpected{where, std::to_string(value) + " is not an index"};
  return static_cast<int>(value);
}

std::vector<std::int64_t> whole_numbers(const Json& j, const std::string& where) {
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < list(j, where).size(); ++i) out.push_back(whole(j[i], element(where, i)));
  return out;
}

std::vector<double> numbers(const Json& j, const std::string& where) {
  std::vector<double> out;
  for (std::size_t i = 0; i < list(j, where).size(); ++i) out.push_back(number(j[i], element(where, i)));
  return out;
}

Kind kind(const Json& j, const std::string& where) {
  if (!j.is_object()) throw Unexpected{where, "an object is expected, not a " + std::string(kind_of(j))};
  Kind k{numbers(field(j, where, "cost"), where + ".cost"), {}};
  const Json& memory = list(field(j, where, "memory"), where + ".memory");
  if (!memory.empty() && memory[0].is_array())
    for (std::size_t r = 0; r < memory.size(); ++r)
      k.memory.push_back(whole_numbers(memory[r], element(where + ".memory", r)));
  else
    k.memory.push_back(whole_numbers(memory, where + ".memory"));
  return k;
}

Matrix matrix(const Json& j, const std::string& where) {
  Matrix m;
  m.rows = static_cast<int>(list(j, where).size());
  for (std::size_t i = 0; i < j.size(); ++i) {
    const std::vector<double> row = numbers(j[i], element(where, i));
    if (i > 0 && static_cast<int>(row.size()) != m.columns)
      throw Unexpected{element(where, i),
                       "it has " + std::to_string(row.size()) + " costs, the rows above " + std::to_string(m.columns)};
    m.columns = static_cast<int>(row.size());
    m.values.insert(m.values.end(), row.begin(), row.end());
  }
  return m;
}

Edge edge(const Json& j, const std::string& where) {
  if (list(j, where).size() != 3) throw Unexpected{where, "[from, to, pair] is expected"};
  return {index(j[0], where), index(j[1], where), index(j[2], where)};
}

CostNetwork network(const Json& j) {
  if (!j.is_object()) throw Unexpected{"", "an object is expected, not a " + std::string(kind_of(j))};
  CostNetwork n;
  const Json& limit = field(j, "", "memory_limit");
  if (limit.is_array())
    n.limits = whole_numbers(limit, "memory_limit");
  else
    n.limits = {whole(limit, "memory_limit")};
  const auto each = [&](const char* name, auto add) {
    const Json& items = list(field(j, "", name), name);
    for (std::size_t i = 0; i < items.size(); ++i) add(items[i], element(name, i));
  };
  each("kinds", [&](const Json& item, const std::string& where) { n.kinds.push_back(kind(item, where)); });
  each("pairs", [&](const Json& item, const std::string& where) { n.pairs.push_back(matrix(item, where)); });
  each("nodes", [&](const Json& item, const std::string& where) { n.nodes.push_back(index(item, where)); });
  each("edges", [&](const Json& item, const std::string& where) { n.edges.push_back(edge(item, where)); });
  if (n.rows() == 0)
    for (Kind& k : n.kinds)
      if (k.memory.size() == 1 && k.memory[0].empty()) k.memory.clear();
  return n;
}

Diagnostic located(Diagnostic d, const std::string& file) {
  d.file = file;
  return d;
}

}  // namespace

Result<CostNetwork> parse_case(std::string_view text, const std::string& file) {
  try {
    CostNetwork n = network(Json::parse(text));
    std::vector<Diagnostic> bad = faults(n);
    if (bad.empty()) return n;
    for (Diagnostic& d : bad) d.file = file;
    return bad;
  } catch (const Json::exception& e) {
    const std::string what = e.what();
    const std::size_t at = what.find("] ");
    return located(error("it is not JSON", at == std::string::npos ? what : what.substr(at + 2)), file);
  } catch (const Unexpected& u) {
    Diagnostic d = error(u.what);
    d.subject = u.where;
    return located(std::move(d), file);
  }
}

Result<CostNetwork> read_case(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf()).good()) return located(error("it cannot be read"), file);
  return parse_case(text.str(), file);
}

}  // namespace planscope::layouts
