// Small random spaces against brute force: text with values written in by hand, bound and judged one by one.
#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
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

// As long as it takes.
Result<Completion> searched(const std::string& text, const plan::ModelInfo& model) {
  return complete(*plan::parse_plan(text, "a.plan"), {}, synthetic_judge(model),
                  {.seconds = 1e5, .relaxing_work = Deadline::kAnyWork});
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
    const Result<Completion> c = searched(text, model);
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

namespace {

// Parts whose number is open, and whose sizes are open values that only this number brings.
const std::string kParts = "let F = cut model.layers[*] into ?s[i] where 0 <= i, i < ?n";

std::vector<std::string> random_parts(unsigned seed) {
  Random r(seed);
  std::vector<std::string> lines = {"devices 2 as tensor=2", "let G = cut model.layers[*] into ?n", kParts,
                                    "trans F[0] recompute|keep"};
  const std::vector<std::string> rows = {"require ?n >= 2",
                                         "require ?n <= 2",
                                         "require ?n != 2",
                                         "require ?s[0] >= 2",
                                         "require ?s[0] = 1",
                                         "require ?n > 3",
                                         "require ?s[0] > ?n",
                                         "require ?s[0] < ?n",
                                         "require memory(all) <= 2400000",
                                         "forbid trans model.layers[1] keep",
                                         "forbid trans model.layers[0] recompute"};
  for (int i = 2 + r.below(4); i > 0; --i) lines.push_back(r.of(rows));
  return lines;
}

// Into parts of at least one, of so many layers.
void compositions(int layers, std::vector<int> parts, const std::function<void(const std::vector<int>&)>& visit) {
  if (layers == 0) return visit(parts);
  parts.push_back(0);
  for (parts.back() = 1; parts.back() <= layers; ++parts.back()) compositions(layers - parts.back(), parts, visit);
}

std::optional<double> best_parts(const std::vector<std::string>& lines, const plan::ModelInfo& model, int layers) {
  std::optional<double> best;
  const Judge judge = synthetic_judge(model);
  compositions(layers, {}, [&](const std::vector<int>& parts) {
    std::vector<std::string> sizes;
    for (const int n : parts) sizes.push_back(std::to_string(n));
    for (const std::string word : {"recompute", "keep"}) {
      std::string text =
          replaced(join(lines, "\n") + "\n", kParts, "let F = cut model.layers[*] into " + join(sizes, ","));
      if (sizes.size() == 1) text = replaced(text, "into " + sizes[0] + "\n", "into 1\n");  // it is a number of parts
      text = replaced(replaced(text, "?n", std::to_string(parts.size())), "?s[0]", sizes[0]);
      const plan::Plan p = *plan::parse_plan(replaced(text, "recompute|keep", word));
      const Result<plan::Decisions> d = plan::bind(p, model);
      if (d.has_errors()) continue;
      const Result<Evaluation> e = judge.evaluate(p);
      const bool fits = std::all_of(d->memory.begin(), d->memory.end(),
                                    [&](const plan::MemoryRow& row) { return e->peaks[0].bytes <= *row.limit_bytes; });
      if (fits) best = std::min(best.value_or(e->step_us), e->step_us);
    }
  });
  return best;
}

std::set<Lines> minimal_conflicts_of(const std::vector<std::string>& lines, int first_row,
                                     const std::function<bool(const std::vector<std::string>&)>& possible) {
  const int rows = static_cast<int>(lines.size()) - first_row;
  std::set<Lines> out;
  for (int size = 1; size <= rows; ++size)
    for (unsigned bits = 0; bits < (1U << rows); ++bits) {
      Lines chosen;
      std::vector<std::string> some(lines.begin(), lines.begin() + first_row);
      for (int k = 0; k < rows; ++k)
        if (bits >> k & 1) {
          chosen.insert(first_row + k + 1);
          some.push_back(lines[static_cast<std::size_t>(first_row + k)]);
        }
      const bool larger = std::any_of(out.begin(), out.end(), [&](const Lines& o) {
        return std::includes(chosen.begin(), chosen.end(), o.begin(), o.end());
      });
      if (static_cast<int>(chosen.size()) == size && !larger && !possible(some)) out.insert(chosen);
    }
  return out;
}

}  // namespace

TEST_CASE("open values that a value brings are searched as well as the first ones") {
  constexpr int kLayers = 4, kFirstRow = 4;
  const plan::ModelInfo model = model_of("llama layers=4 batch=8 heads=4 kv_heads=2 hidden=32 ffn=64 vocab=64");
  int possible = 0, impossible = 0, several = 0;
  for (unsigned seed = 1; seed <= 80; ++seed) {
    const std::vector<std::string> lines = random_parts(seed);
    const std::string text = join(lines, "\n") + "\n";
    INFO("seed " << seed << "\n" << text);
    const std::optional<double> best = best_parts(lines, model, kLayers);
    const Result<Completion> c = searched(text, model);
    INFO(to_string(c.diagnostics));
    REQUIRE(c.value);
    INFO(c->reason);
    CHECK((c->outcome == Outcome::complete) == best.has_value());
    if (best) {
      ++possible;
      CHECK(c->evaluation.step_us == Approx(*best));
      CHECK(c->optimal);
      continue;
    }
    ++impossible;
    std::set<Lines> found;
    for (const ConflictLines& conflict : c->conflicts) found.emplace(conflict.rows.begin(), conflict.rows.end());
    several += found.size() > 1 ? 1 : 0;
    CHECK(found == minimal_conflicts_of(lines, kFirstRow, [&](const std::vector<std::string>& some) {
            return best_parts(some, model, kLayers).has_value();
          }));
  }
  CHECK(possible >= 10);
  CHECK(impossible >= 10);
  CHECK(several >= 3);
}

namespace {

constexpr unsigned kCutSeeds = 60;

// Lines over parts of a cut of open size, among others that they take back or that take them back, in any order.
Space random_cut_space(unsigned seed) {
  Random r(seed);
  Space s;
  s.lines = {"devices 4 as pipe=?p data=?d tensor=?t", "axis mb=?m where ?m in {1,2,4}", "let L = model.layers[*]",
             "let S = cut L into |pipe|", "trans * batch by mb, data"};
  const std::vector<std::string> sizes = {"1", "2", "4"};
  s.holes = {{"?p", sizes}, {"?d", sizes}, {"?t", sizes}, {"?m", sizes}};
  const std::vector<std::string> statements = {"trans L.mlp.up_proj out by tensor",
                                               "trans S[i].mlp.up_proj none by tensor",
                                               "trans S[0].mlp.up_proj in by tensor",
                                               "trans S[i].mlp.up_proj out by tensor where i >= 1",
                                               "trans S[i].mlp.down_proj in by data where i < 1",
                                               "trans L[1] recompute",
                                               "trans S[i] keep where i >= 1",
                                               "trans S[0] recompute",
                                               "trans S[i] batch by data",
                                               "assign S[i] to pipe=i",
                                               "assign S[i] to data=i",
                                               "assign L to all",
                                               "assign S[0] to pipe=0, tensor=0"};
  for (int i = 2 + r.below(5); i > 0; --i) s.lines.push_back(r.of(statements));
  if (r.below(2)) {
    s.lines.push_back("trans model.layers[0].mlp.up_proj out|none by tensor");
    s.holes["out|none"] = {"out", "none"};
    if (r.below(2)) s.lines.push_back(r.of(statements));
  }
  const std::vector<std::string> rows = {"require ?t >= 2",
                                         "require ?p = 2",
                                         "require ?p >= 2",
                                         "require ?m * ?d <= 4",
                                         "require ?d = 1",
                                         "forbid trans L.mlp.up_proj out by tensor",
                                         "forbid trans S[0].mlp.up_proj out by tensor",
                                         "forbid trans S[0].mlp.up_proj in by tensor",
                                         "forbid trans S[i].mlp.up_proj none by tensor where i >= 1",
                                         "forbid trans model.layers[1].mlp.up_proj none by tensor",
                                         "forbid trans S[i] recompute",
                                         "forbid trans model.layers[1] keep",
                                         "forbid assign model.layers[1] to pipe=1",
                                         "require memory(pipe=0) <= " + std::to_string(20000 * (3 + r.below(18)))};
  for (int i = 2 + r.below(4); i > 0; --i) s.lines.push_back(r.of(rows));
  return s;
}

}  // namespace

TEST_CASE("lines over parts of a cut of open size hold for every size, and as brute force says") {
  const plan::ModelInfo model = model_of("llama layers=2 batch=4 heads=4 kv_heads=2 hidden=32 ffn=64 vocab=64");
  int possible = 0, impossible = 0;
  for (unsigned seed = 1; seed <= kCutSeeds; ++seed) {
    const Space space = random_cut_space(seed);
    const std::string text = join(space.lines, "\n") + "\n";
    INFO("seed " << seed << "\n" << text);
    BruteForce brute(space, model);
    const std::optional<double> best = brute.best(space.lines);
    const Result<Completion> c = searched(text, model);
    INFO(to_string(c.diagnostics));
    if (!c.value) {  // refused whatever the values are
      CHECK(!best);
      continue;
    }
    INFO(c->reason);
    CHECK((c->outcome == Outcome::complete) == best.has_value());
    if (best) {
      ++possible;
      CHECK(c->evaluation.step_us == Approx(*best));
      CHECK(c->optimal);
      continue;
    }
    ++impossible;
    for (const ConflictLines& conflict : c->conflicts) {
      Lines rows;
      for (const ConflictLine& l : conflict.lines)
        if (is_row(space.lines[static_cast<std::size_t>(l.line.line - 1)])) rows.insert(l.line.line);
      CHECK(!brute.best(with_rows(space, rows)));
    }
  }
  CHECK(possible >= 10);
  CHECK(impossible >= 10);
}
