// Small random spaces against brute force: text with values written in by hand, bound and judged one by one.
#include <catch2/catch.hpp>

#include <map>
#include <random>

#include "engine/base/text.h"
#include "engine/plan/parser.h"
#include "engine/plan/printer.h"
#include "tests/planner/constraint/judge.h"

using namespace planscope;
using namespace planscope::constraint;
using namespace planscope::constraint::testing;

namespace {

struct Space {
  std::vector<std::string> lines;
  std::map<std::string, std::vector<std::string>> holes;  // `?d` or `out|in` -> what may stand there
};

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t i = text.find(what); i != text.npos; i = text.find(what, i + by.size()))
    text.replace(i, what.size(), by);
  return text;
}

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  int below(int n) { return static_cast<int>(engine_() % static_cast<unsigned>(n)); }
  template <class T>
  const T& of(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(below(static_cast<int>(list.size())))];
  }

 private:
  std::mt19937 engine_;
};

Space random_space(unsigned seed) {
  Random r(seed);
  Space s;
  const std::vector<std::string> sizes = {"1", "2", "4", "8"};
  s.lines = {"devices 8 as data=?d tensor=?t", "axis mb=?m where ?m in {1,2,4}", "trans * batch by mb, data"};
  s.holes = {{"?d", sizes}, {"?t", sizes}, {"?m", {"1", "2", "4"}}};
  if (r.below(2)) {
    s.lines.push_back("trans model.layers[*].mlp.up_proj out|in|none by tensor");
    s.holes["out|in|none"] = {"out", "in", "none"};
  }
  if (r.below(2)) {
    s.lines.push_back("trans model.layers[*] recompute|keep");
    s.holes["recompute|keep"] = {"recompute", "keep"};
  }
  if (r.below(2)) {
    s.lines.push_back("trans update(*) dim0 by data");
  } else if (r.below(2)) {
    s.lines.push_back("trans model.layers[*].mlp.down_proj ?word by tensor where ?word in {out, in}");
    s.holes["?word"] = {"out", "in"};
  }
  const std::vector<std::string> rows = {"require ?t <= 2",
                                         "require ?d > 1",
                                         "require ?m * ?d <= 8",
                                         "require ?d != 4",
                                         "require ?t % 2 = 0",
                                         "require ?m >= ?t",
                                         "require ?d / ?t = 2 or ?t = 1",
                                         "require not ?m = 1",
                                         "forbid trans model.layers[*].mlp.up_proj out by tensor",
                                         "forbid trans model.layers[*].mlp.up_proj none by tensor",
                                         "forbid trans model.layers[*] recompute",
                                         "require ?t in {2,8}",
                                         "require memory(all) <= " + std::to_string(20000 * (3 + r.below(18))),
                                         "require memory(all) < " + std::to_string(50000 * (1 + r.below(6)))};
  for (int i = 1 + r.below(6); i > 0; --i) s.lines.push_back(r.of(rows));
  return s;
}

// Everything that the holes allow, without a solver.
class BruteForce {
 public:
  BruteForce(const Space& s, const plan::ModelInfo& model) : space_(s), model_(model), judge_(synthetic_judge(model)) {}

  // The shortest step of the plan made of these lines; nothing: impossible.
  std::optional<double> best(const std::vector<std::string>& lines) {
    best_.reset();
    fill(join(lines, "\n") + "\n", space_.holes.begin());
    return best_;
  }

 private:
  using Hole = std::map<std::string, std::vector<std::string>>::const_iterator;
  void fill(const std::string& text, Hole hole) {
    if (hole == space_.holes.end()) return judge(text);
    for (const std::string& word : hole->second) {
      // A row names no alternative; only the statement with the hole changes.
      fill(replaced(text, hole->first, word), std::next(hole));
    }
  }
  void judge(const std::string& text) {
    const plan::Plan p = *plan::parse_plan(text);
    const Result<plan::Decisions> d = plan::bind(p, model_);
    if (d.has_errors()) return;
    REQUIRE(d->complete);
    const Result<Evaluation> e = judge_.evaluate(p);
    for (const plan::MemoryRow& row : d->memory)
      if (row.strict ? e->peaks[0].bytes >= *row.limit_bytes : e->peaks[0].bytes > *row.limit_bytes) return;
    if (!best_ || e->step_us < *best_) best_ = e->step_us;
  }

  const Space& space_;
  const plan::ModelInfo& model_;
  Judge judge_;
  std::optional<double> best_;
};

}  // namespace

TEST_CASE("a completion exists where brute force finds one, and is as good; conflicts are minimal") {
  const plan::ModelInfo model = model_of("llama layers=1 batch=8 heads=4 kv_heads=2 hidden=32 ffn=64 vocab=64");
  int possible = 0, impossible = 0;
  for (unsigned seed = 1; seed <= 24; ++seed) {
    const Space space = random_space(seed);
    const std::string text = join(space.lines, "\n") + "\n";
    INFO("seed " << seed << "\n" << text);
    BruteForce brute(space, model);
    const std::optional<double> best = brute.best(space.lines);
    const Result<Completion> c =
        complete(*plan::parse_plan(text, "a.plan"), {}, synthetic_judge(model), {.seconds = 1e5});
    INFO(to_string(c.diagnostics));
    REQUIRE(c.value);
    CHECK((c->outcome == Outcome::complete) == best.has_value());
    if (best) {
      ++possible;
      CHECK(c->evaluation.step_us == Approx(*best));
      CHECK(c->optimal);
      CHECK(c->gap() == 0);
      continue;
    }
    ++impossible;
    REQUIRE(c->conflicts.size() == 1);
    CHECK(c->minimal);
    REQUIRE(!c->conflicts[0].empty());
    // The named lines and no other row: impossible; without any one of them: possible.
    const auto with = [&](const PlanLine* left_out) {
      std::vector<std::string> lines;
      for (std::size_t i = 0; i < space.lines.size(); ++i) {
        std::string line = space.lines[i];
        bool named = false;
        for (const PlanLine& l : c->conflicts[0])
          named = named || (l.line == static_cast<int>(i) + 1 && &l != left_out);
        const bool row = line.starts_with("require") || line.starts_with("forbid");
        const bool dropped = left_out && left_out->line == static_cast<int>(i) + 1;
        if ((row || dropped) && !named && !line.starts_with("axis")) continue;
        lines.push_back(line);
      }
      return lines;
    };
    CHECK(!brute.best(with(nullptr)));
    for (const PlanLine& l : c->conflicts[0]) CHECK(brute.best(with(&l)).has_value());
  }
  CHECK(possible >= 8);
  CHECK(impossible >= 8);
}
