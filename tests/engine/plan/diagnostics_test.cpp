// Whole messages: each case of tests/cases/plan/*.test is a model, a plan, and everything that parsing and binding say.
//
//   === what the case is about
//   llama layers=4                      the model and its sizes; `given`: bound with the values that rows give
//   devices 8 as data=8                 the plan, from line 1
//   ---
//   a.plan:2: …                         all diagnostics, one a line; then, if asked for, decisions
//
// Words behind the sizes ask for decisions: `splits` of operators, `parameters`, `places`, `units`, `order`, `open`.
#include <catch2/catch.hpp>

#include <fstream>
#include <set>

#include "engine/base/text.h"
#include "engine/plan/parser.h"
#include "engine/plan/printer.h"
#include "tests/engine/plan/files.h"
#include "tests/engine/plan/models.h"

using namespace planscope;
using namespace planscope::plan;

namespace {
struct Case {
  std::string name, model, plan, expected;
};

std::vector<Case> cases_of(const std::string& text) {
  std::vector<Case> out;
  int part = 0;
  for (const std::string& line : split(text, '\n')) {
    if (line.starts_with("=== ")) {
      out.push_back({line.substr(4), "", "", ""});
      part = 0;
    } else if (out.empty()) {
      continue;
    } else if (part == 0) {
      out.back().model = line;
      part = 1;
    } else if (line == "---") {
      part = 2;
    } else {
      (part == 1 ? out.back().plan : out.back().expected) += line + "\n";
    }
  }
  for (Case& c : out)
    while (c.expected.ends_with("\n\n")) c.expected.pop_back();
  return out;
}

ModelInfo model_of(const std::string& text, std::set<std::string>& wanted) {
  const std::vector<std::string> words = split(text, ' ');
  Sizes0 sizes;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto parts = split(words[i], '=');
    if (parts.size() < 2) {
      wanted.insert(words[i]);
      continue;
    }
    const std::int64_t n = std::stoll(parts[1]);
    if (parts[0] == "layers") sizes.layers = static_cast<int>(n);
    if (parts[0] == "batch") sizes.batch = n;
    if (parts[0] == "seq") sizes.seq = n;
    if (parts[0] == "hidden") sizes.hidden = n;
    if (parts[0] == "heads") sizes.heads = n;
    if (parts[0] == "kv_heads") sizes.kv_heads = n;
    if (parts[0] == "ffn") sizes.ffn = n;
    if (parts[0] == "vocab") sizes.vocab = n;
  }
  return words[0] == "llama" ? llama(sizes) : words[0] == "gpt2" ? gpt2(sizes) : t5(sizes);
}

std::string line_of(const Decisions& d, int statement) {
  return " (line " + std::to_string(d.plan.statements[static_cast<std::size_t>(statement)].line) + ")";
}

std::string split_text(const Decisions& d, const std::vector<FactorInfo>& factors, const Split& s, int axis) {
  std::string factor = "none";
  if (s.factor >= 0) factor = factors[static_cast<std::size_t>(s.factor)].names[0];
  if (s.factor == kOpen) {
    const Alternatives& a = d.alternatives[static_cast<std::size_t>(s.alternatives)];
    factor =
        join(a.words, "|") + (a.variable < 0 ? "" : " as ?" + d.variables[static_cast<std::size_t>(a.variable)].name);
  }
  return factor + " by " + d.axes[static_cast<std::size_t>(axis)].name + line_of(d, s.statement);
}

std::string task_text(const Decisions& d, const TaskFamily& f) {
  std::vector<std::string> names;
  for (const int u : f.units) names.push_back(d.units[static_cast<std::size_t>(u)].name);
  const std::string inner = join(names, ", ");
  std::string out = std::string(to_string(f.phase)) + "(" +
                    (f.of == Phase::forward ? inner : std::string(to_string(f.of)) + "(" + inner + ")") + ")";
  if (f.unit) out += "{" + print(*f.unit) + "}";
  if (f.step) out += "[step=" + print(*f.step) + "]";
  for (const auto& i : f.index)
    out += "[" + d.axes[static_cast<std::size_t>(i.axis)].name + "=" + print(i.index) +
           (i.end ? ":" + print(*i.end) : "") + "]";
  return out;
}

std::string place_text(const Decisions& d, const PlaceInfo& p) {
  if (p.variable >= 0) return "?" + d.variables[static_cast<std::size_t>(p.variable)].name;
  std::vector<std::string> options;
  for (const PlaceInfo& a : p.alternatives) options.push_back(place_text(d, a));
  if (!options.empty()) return join(options, " | ");
  std::string out = d.grids[static_cast<std::size_t>(p.grid)].name;
  for (const auto& f : p.fixed)
    out += " " + d.axes[static_cast<std::size_t>(f.axis)].name + "=" + std::to_string(f.value);
  std::vector<std::string> devices;
  for (const int device : devices_of(d, p)) devices.push_back(std::to_string(device));
  return out + " {" + join(devices, ",") + "}";
}

std::string decisions_text(const Decisions& d, const ModelInfo& model, const std::set<std::string>& wanted) {
  std::string out;
  for (int op = 0; op < d.operator_count; ++op) {
    const OperatorInfo& o = model.operators[static_cast<std::size_t>(op)];
    const std::string name = o.module + ":" + o.kind + (o.ordinal ? "#" + std::to_string(o.ordinal) : "");
    if (wanted.count("splits"))
      for (int a = 0; a < static_cast<int>(d.axes.size()); ++a)
        if (d.split(op, a).statement >= 0) out += name + " " + split_text(d, o.factors, d.split(op, a), a) + "\n";
    const int place = d.operator_place[static_cast<std::size_t>(op)];
    const int indexed = d.operator_indexed[static_cast<std::size_t>(op)];
    if (wanted.count("places") && indexed >= 0) {
      out += name;
      const IndexedPlaces& x = d.indexed_places[static_cast<std::size_t>(indexed)];
      for (std::size_t i = 0; i < x.places.size(); ++i) {
        out += i ? "; " : " at ";
        if (x.places[i] < 0) {
          out += "nowhere";
          continue;
        }
        const PlaceInfo& p = d.places[static_cast<std::size_t>(x.places[i])];
        out += place_text(d, p) + line_of(d, p.statement);
      }
      out += "\n";
    } else if (wanted.count("places") && place >= 0) {
      const PlaceInfo& p = d.places[static_cast<std::size_t>(place)];
      out += name + " at " + place_text(d, p) + line_of(d, p.statement) + "\n";
    }
  }
  for (int p = 0; p < d.parameter_count && wanted.count("parameters"); ++p)
    for (const Phase phase : {Phase::fetch, Phase::grad, Phase::update})
      for (int a = 0; a < static_cast<int>(d.axes.size()); ++a) {
        const Split& s = d.parameter_split(phase, p, a);
        const ParameterInfo& info = model.parameters[static_cast<std::size_t>(p)];
        if (s.statement >= 0)
          out += std::string(to_string(phase)) + "(" + info.name + ") " + split_text(d, info.factors, s, a) + "\n";
      }
  if (wanted.count("units"))
    for (const AlgorithmUnit& u : d.algorithms) {
      std::vector<std::string> words;
      for (const Algorithm a : u.alternatives) words.emplace_back(to_string(a));
      const UnitInfo& unit = d.units[static_cast<std::size_t>(u.unit)];
      out += join(words, "|") + " " + unit.name + " (" + std::to_string(unit.operators.size()) + " operators)\n";
    }
  if (wanted.count("lags")) {
    std::map<std::pair<int, std::int64_t>, int> lags;
    for (const Lag& lag : d.operator_lag)
      if (lag.statement >= 0) ++lags[{lag.statement, lag.updates}];
    for (const auto& [lag, operators] : lags)
      out += "lag " + std::to_string(lag.second) + ": " + std::to_string(operators) + " operators" +
             line_of(d, lag.first) + "\n";
  }
  if (wanted.count("cuts"))
    for (const CutInfo& c : d.cuts)
      for (const int u : c.units) {
        const UnitInfo& unit = d.units[static_cast<std::size_t>(u)];
        out += unit.name + " " + std::to_string(unit.operators.front()) + ".." + std::to_string(unit.operators.back()) +
               "\n";
      }
  if (wanted.count("order"))
    for (const OrderRow& row : d.order) {
      std::vector<std::string> tasks, conditions;
      for (const TaskFamily& f : row.chain) tasks.push_back(task_text(d, f));
      for (const Condition& c : row.conditions) conditions.push_back(print(c));
      out += join(tasks, " < ") + (conditions.empty() ? "" : " where " + join(conditions, ", ")) +
             line_of(d, row.statement) + "\n";
    }
  if (wanted.count("open")) {
    for (const OpenVariable& v : d.variables) {
      std::vector<std::string> values = v.words;
      for (const std::int64_t n : v.values) values.push_back(std::to_string(n));
      out += "?" + v.name + (values.empty() ? "" : " in {" + join(values, ",") + "}") +
             (v.at_least ? " >= " + std::to_string(*v.at_least) : "") +
             (v.at_most ? " <= " + std::to_string(*v.at_most) : "") + "\n";
    }
    for (const ConditionRow& c : d.conditions) out += "row " + print(c.condition) + line_of(d, c.statement) + "\n";
    for (const MemoryRow& r : d.memory)
      out += "memory " + place_text(d, d.places[static_cast<std::size_t>(r.place)]) + (r.strict ? " < " : " <= ") +
             print(r.limit) + line_of(d, r.statement) + "\n";
    for (const ForbidRow& r : d.forbids)
      out += "forbid " + std::to_string(r.splits.size()) + " splits, " + std::to_string(r.places.size()) + " places, " +
             std::to_string(r.algorithms.size()) + " algorithms" +
             (r.states.empty() ? "" : ", " + std::to_string(r.states.size()) + " states") + line_of(d, r.statement) +
             "\n";
    out += d.complete ? "complete\n" : open_summary(d, "run") + "\n";
  }
  return out;
}

std::string actual(const Case& c) {
  std::set<std::string> wanted;
  const ModelInfo model = model_of(c.model, wanted);
  const Result<Plan> plan = parse_plan(c.plan, "a.plan");
  const Result<Decisions> d = plan::bind(*plan, model, wanted.count("given") ? given_values(*plan) : OpenValues{});
  std::string out = to_string(plan.diagnostics) + to_string(d.diagnostics) + decisions_text(*d, model, wanted);
  return out.empty() ? "ok\n" : out;
}
}  // namespace

TEST_CASE("plans say what their cases say, word for word") {
  const auto files = files_below("tests/cases/plan", ".test");
  REQUIRE(files.size() >= 6);
  for (const TextFile& file : files)
    for (const Case& c : cases_of(file.text)) {
      INFO(file.path << ": " << c.name);
      CHECK(actual(c) == c.expected);
    }
}

// Writes what is said now into the case files; the change is then read in a diff. Hidden: run it by its name.
TEST_CASE("rewrite the expected text of all cases", "[.rewrite]") {
  for (const TextFile& file : files_below("tests/cases/plan", ".test")) {
    std::string text = file.text.substr(0, file.text.find("=== "));
    for (const Case& c : cases_of(file.text))
      text += "=== " + c.name + "\n" + c.model + "\n" + c.plan + "---\n" + actual(c) + "\n";
    while (text.ends_with("\n\n")) text.pop_back();
    std::ofstream(file.path, std::ios::binary) << text;
  }
}
