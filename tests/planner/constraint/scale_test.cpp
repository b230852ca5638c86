// Many rows over many operators: the conflicts are found, each assignment is bound once.
//
//   build/release/tests/planner_constraint_test -s "[.large]"        500 rows over 10,000 operators, with the seconds
#include <catch2/catch.hpp>

#include <chrono>
#include <ctime>
#include <random>

#include "engine/plan/parser.h"
#include "tests/planner/constraint/judge.h"

using namespace planscope;
using namespace planscope::constraint;
using namespace planscope::constraint::testing;

namespace {

const char* const kPlan =
    "devices 64 as pipe=?p data=?d tensor=?t where ?p >= 2, ?p * ?d * ?t = 64\n"
    "axis mb=?m where ?m in {4,8,16}\n"
    "let L = model.layers[*]\n"
    "let S = cut L into |pipe|\n"
    "trans * batch by mb, data\n"
    "trans L.mlp.{gate,up}_proj out|none by tensor\n"
    "trans L.mlp.down_proj in|none by tensor\n"
    "trans L recompute|keep\n"
    "assign S[i] to pipe=i\n"
    "use 1f1b(S)\n";

// Rows that each can be kept, of all kinds, over one layer, some, or all.
std::vector<std::string> easy_rows(int count, int layers) {
  std::mt19937 random(1);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const char* const modules[] = {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj",
                                 "mlp.gate_proj",    "mlp.up_proj",      "mlp.down_proj"};
  std::vector<std::string> out;
  for (int i = 0; i < count; ++i) {
    const std::string module = modules[below(7)], side = below(2) == 0 ? "in" : "out";
    const int first = below(layers), end = first + 1 + below(layers - first);
    const int kind = below(20);
    if (kind < 7)
      out.push_back("forbid trans model.layers[" + std::to_string(first) + "]." + module + " " + side + " by pipe");
    else if (kind < 11)
      out.push_back("forbid trans model.layers[" + std::to_string(first) + ":" + std::to_string(end) + "]." + module +
                    " " + side + " by data");
    else if (kind < 13)
      out.push_back("forbid trans model.layers[*]." + module + " batch by tensor");
    else if (kind < 14)
      out.emplace_back("forbid trans * seq by tensor");
    else if (kind < 16)
      out.push_back("require ?t <= " + std::to_string(8 << below(3)));
    else if (kind < 17)
      out.push_back("require ?t * ?d <= " + std::to_string(64 << below(3)));
    else if (kind < 18)
      out.push_back("require ?m >= " + std::to_string(1 << below(3)));
    else
      out.push_back("require memory(pipe=" + std::to_string(below(2)) + ") <= " + std::to_string(1 + below(9)) + "GiB");
  }
  return out;
}

struct Hard {
  std::string name;
  std::vector<std::string> rows;  // that contradict each other; they stand among the others
};

const std::vector<Hard>& hard() {
  static const std::vector<Hard> all = {
      {"sizes", {"require ?t <= 2", "require ?t * ?d >= 64", "require ?d <= 8"}},
      {"words",
       {"forbid trans model.layers[3].mlp.up_proj out by tensor",
        "forbid trans model.layers[3:9].mlp.up_proj none by tensor"}},
      {"sizes and words",
       {"forbid trans model.layers[1].mlp.down_proj in by tensor",
        "forbid trans model.layers[*].mlp.down_proj none by tensor", "require ?t >= 4", "require ?d >= 16"}},
      {"memory", {"require memory(all) <= 1000", "require ?t >= 2"}}};
  return all;
}

struct Asked {
  Result<Completion> answer;
  std::vector<int> lines;  // of the hard rows
  double seconds = 0, processor_seconds = 0;
};

Asked ask(const plan::ModelInfo& model, const Hard& hard, int count, int layers) {
  std::vector<std::string> rows = easy_rows(count, layers);
  Asked out;
  for (std::size_t i = 0; i < hard.rows.size(); ++i) {
    const std::size_t line = (i + 1) * rows.size() / (hard.rows.size() + 1);
    rows[line] = hard.rows[i];
    out.lines.push_back(static_cast<int>(line) + 1);
  }
  std::string text;
  for (const std::string& row : rows) text += row + "\n";
  const plan::Plan plan = *plan::parse_plan(kPlan, "a.plan"), more = *plan::parse_plan(text, "rows.plan");
  const Judge judge = synthetic_judge(model);
  const auto begin = std::chrono::steady_clock::now();
  const std::clock_t work = std::clock();
  out.answer = complete(plan, {more}, judge);
  out.processor_seconds = static_cast<double>(std::clock() - work) / CLOCKS_PER_SEC;
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return out;
}

std::vector<int> lines_of(const ConflictLines& c) {
  std::vector<int> out;
  for (const ConflictLine& l : c.lines)
    if (l.line.file == "rows.plan") out.push_back(l.line.line);
  return out;
}

}  // namespace

TEST_CASE("among many rows the few that contradict each other are found") {
  const plan::ModelInfo model = model_of("llama layers=12 batch=64 heads=64 kv_heads=64 hidden=64 ffn=64 vocab=64");
  for (std::size_t h = 0; h < 2; ++h) {
    const Asked asked = ask(model, hard()[h], 60, 12);
    std::string told = hard()[h].name + "\n" + to_string(asked.answer.diagnostics);
    for (const ConflictLines& c : asked.answer->conflicts)
      for (const ConflictLine& l : c.lines) told += "\n" + std::to_string(l.line.line) + " " + l.line.text;
    INFO(told);
    REQUIRE(asked.answer.value);
    CHECK(asked.answer->outcome == Outcome::impossible);
    REQUIRE(!asked.answer->conflicts.empty());  // there may be more among the others
    CHECK(lines_of(asked.answer->conflicts[0]) == asked.lines);
    CHECK(asked.answer->conflicts[0].minimal);
  }
}

TEST_CASE("500 rows over 10,000 operators", "[.large]") {
  const int layers = 667;
  const plan::ModelInfo model = model_of("llama layers=667 batch=64 heads=64 kv_heads=64 hidden=64 ffn=64 vocab=64");
  WARN(model.operators.size() << " operators");
  for (const Hard& h : hard()) {
    const Asked asked = ask(model, h, 500, layers);
    REQUIRE(asked.answer.value);
    std::string told = h.name + ": " + std::string(to_string(asked.answer->outcome)) + ", " +
                       std::to_string(asked.seconds) + " s (" + std::to_string(asked.processor_seconds) +
                       " s of processor), " + std::to_string(asked.answer->assignments) + " assignments, " +
                       std::to_string(asked.answer->evaluations) + " evaluations;";
    for (const ConflictLines& c : asked.answer->conflicts) {
      told += "\n  conflict";
      for (const ConflictLine& l : c.lines)
        told += "\n    " + l.line.text +
                (l.without.optimum ? " -> " + std::to_string(l.without.optimum->step_us) + " us" : " -> ?");
    }
    WARN(told);
    CHECK(!asked.answer->conflicts.empty());
  }
}
