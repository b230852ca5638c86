// Small random spaces against brute force: text with values written in by hand, bound and judged one by one.
#include <catch2/catch.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <set>

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

// `phases`: with splits of parameters that are open or forbidden.
Space random_space(unsigned seed, bool phases) {
  Random r(seed);
  Space s;
  const std::vector<std::string> sizes = {"1", "2", "4", "8"};
  s.lines = {"devices 8 as data=?d tensor=?t", "axis mb=?m where ?m in {1,2,4}", "trans * batch by mb, data"};
  s.holes = {{"?d", sizes}, {"?t", sizes}, {"?m", sizes}};
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
  } else if (phases && r.below(2)) {
    s.lines.push_back("trans update(lm_head) dim0|none by data");
    s.holes["dim0|none"] = {"dim0", "none"};
  } else if (r.below(2)) {
    s.lines.push_back("trans model.layers[*].mlp.down_proj ?word by tensor where ?word in {out, in}");
    s.holes["?word"] = {"out", "in"};
  }
  std::vector<std::string> rows = {"require ?t <= 2",
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
  if (phases)
    for (const char* row : {"forbid trans update(*) dim0 by data", "forbid trans update(lm_head) none by data"})
      rows.emplace_back(row);
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
    least_.reset();
    fill(join(lines, "\n") + "\n", space_.holes.begin());
    return best_;
  }

  std::optional<std::int64_t> least_bytes(const std::vector<std::string>& lines) {
    best(lines);
    return least_;
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
    least_ = std::min(least_.value_or(e->peaks[0].bytes), e->peaks[0].bytes);
  }

  const Space& space_;
  const plan::ModelInfo& model_;
  Judge judge_;
  std::optional<double> best_;
  std::optional<std::int64_t> least_;
};

}  // namespace

namespace {

// Lines by number, from 1.
using Lines = std::set<int>;

bool is_row(const std::string& line) {
  return line.starts_with("require") || line.starts_with("forbid") || line.find("axis mb") == 0;
}

// The space with no rows but these, and without one statement.
std::vector<std::string> with_rows(const Space& space, const Lines& rows, int left_out = 0) {
  std::vector<std::string> out;
  for (int i = 1; i <= static_cast<int>(space.lines.size()); ++i) {
    const std::string& line = space.lines[static_cast<std::size_t>(i - 1)];
    if (i == left_out) continue;
    if (!is_row(line) || rows.contains(i))
      out.push_back(line);
    else if (line.starts_with("axis"))
      out.push_back(line.substr(0, line.find(" where")));
  }
  return out;
}

// The smallest sets of `rows` that meet each conflict: what is left without one of them contains none.
std::set<Lines> hitting_sets(const std::vector<Lines>& conflicts, const Lines& rows) {
  std::set<Lines> all;
  const std::vector<int> list(rows.begin(), rows.end());
  for (unsigned bits = 0; bits < (1U << list.size()); ++bits) {
    Lines chosen;
    for (std::size_t k = 0; k < list.size(); ++k)
      if (bits >> k & 1) chosen.insert(list[k]);
    const bool hits = std::all_of(conflicts.begin(), conflicts.end(), [&](const Lines& c) {
      return std::any_of(c.begin(), c.end(), [&](int line) { return chosen.contains(line); });
    });
    if (hits) all.insert(chosen);
  }
  std::set<Lines> out;
  for (const Lines& one : all)
    if (std::none_of(all.begin(), all.end(), [&](const Lines& o) {
          return o != one && std::includes(one.begin(), one.end(), o.begin(), o.end());
        }))
      out.insert(one);
  return out;
}

void check_conflicts(const Space& space, const Completion& c, BruteForce& brute) {
  Lines rows;
  for (int i = 1; i <= static_cast<int>(space.lines.size()); ++i)
    if (is_row(space.lines[static_cast<std::size_t>(i - 1)])) rows.insert(i);
  CHECK(c.all_conflicts);
  std::vector<Lines> conflicts;
  for (const ConflictLines& conflict : c.conflicts) {
    CHECK(conflict.minimal);
    Lines& lines = conflicts.emplace_back();
    for (const ConflictLine& l : conflict.lines)
      if (rows.contains(l.line.line)) lines.insert(l.line.line);
    CHECK(!brute.best(with_rows(space, lines)));
    for (const ConflictLine& l : conflict.lines) {
      Lines rest = lines, others = rows;
      rest.erase(l.line.line);
      others.erase(l.line.line);
      const bool row = rows.contains(l.line.line);
      CHECK(brute.best(with_rows(space, rest, row ? 0 : l.line.line)).has_value());
      if (!row) continue;
      const std::optional<double> best = brute.best(with_rows(space, others));
      CHECK((l.without.possible == Answer::yes) == best.has_value());
      CHECK((l.without.possible == Answer::no) == !best.has_value());
      REQUIRE(l.without.optimum.has_value() == best.has_value());
      if (best) {
        CHECK(l.without.optimum->step_us == Approx(*best));
        CHECK(l.without.optimum->proven);
      }
      if (!l.needs) continue;
      CHECK(l.needs->proven);
      CHECK(l.needs->bytes == brute.least_bytes(with_rows(space, rest)));
      CHECK(l.needs->bytes > l.needs->limit_bytes);
    }
  }
  // There is no other: rows that contain none of these leave something.
  for (const Lines& out : hitting_sets(conflicts, rows)) {
    Lines rest;
    std::set_difference(rows.begin(), rows.end(), out.begin(), out.end(), std::inserter(rest, rest.end()));
    CHECK(brute.best(with_rows(space, rest)).has_value());
  }
}

}  // namespace

TEST_CASE("a completion exists where brute force finds one, and is as good; the conflicts are all minimal ones") {
  const plan::ModelInfo model = model_of("llama layers=1 batch=8 heads=4 kv_heads=2 hidden=32 ffn=64 vocab=64");
  int possible = 0, impossible = 0, several = 0, memory = 0;
  for (unsigned seed = 1; seed <= 80; ++seed) {
    const Space space = random_space(seed, seed > 40);
    const std::string text = join(space.lines, "\n") + "\n";
    INFO("seed " << seed << "\n" << text);
    BruteForce brute(space, model);
    const std::optional<double> best = brute.best(space.lines);
    const Result<Completion> c = complete(*plan::parse_plan(text, "a.plan"), {}, synthetic_judge(model),
                                          {.seconds = 1e5, .relaxing_seconds = 1e5});
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
    REQUIRE(!c->conflicts.empty());
    several += c->conflicts.size() > 1 ? 1 : 0;
    for (const ConflictLines& conflict : c->conflicts)
      for (const ConflictLine& l : conflict.lines) memory += l.needs ? 1 : 0;
    check_conflicts(space, *c, brute);
  }
  CHECK(possible >= 8);
  CHECK(impossible >= 8);
  CHECK(several >= 3);
  CHECK(memory >= 3);
}
