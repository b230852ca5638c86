// Order rows that contradict each other or the data flow: every minimal set of them, and no other, against all subsets of
// small random plans, looked at as tasks that wait for each other.
#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <map>
#include <random>
#include <set>

#include "planner/complete/complete.h"
#include "app/workbench/workbench.h"
#include "engine/plan/parser.h"
#include "engine/plan/printer.h"

using namespace planscope;

namespace {

constexpr int kStages = 2;

// `phase(S[stage])[m+ahead]`, or of one micro-batch, `phase(S[stage])[ahead]`.
struct Member {
  bool backward = false;
  int stage = 0, ahead = 0;
  bool of_each = false;
  bool operator==(const Member&) const = default;
};
using Row = std::vector<Member>;  // a chain

// A space of plans: order rows and rows about the number of micro-batches, which is one of these.
struct Space {
  std::vector<std::string> lines;
  std::map<int, Row> order;            // by line, from 1
  std::map<int, std::set<int>> sizes;  // by line: numbers of micro-batches that it allows
  std::vector<int> micro_batches;
};

std::string text(const Member& m) {
  const std::string at = m.of_each ? (m.ahead ? "m+" + std::to_string(m.ahead) : "m") : std::to_string(m.ahead);
  return std::string(m.backward ? "b" : "f") + "(S[" + std::to_string(m.stage) + "])[" + at + "]";
}

Space random_space(unsigned seed) {
  std::mt19937 engine(seed);
  const auto below = [&](int n) { return static_cast<int>(engine() % static_cast<unsigned>(n)); };
  Space s;
  s.micro_batches = below(3) == 0 ? std::vector<int>{2, 4} : std::vector<int>{4};
  s.lines = {"devices 2 as p=2", s.micro_batches.size() > 1 ? "axis mb=2|4" : "axis mb=4",
             "let S = cut transformer.h[*] into 2", "trans * batch by mb", "assign S[i] to p=i"};
  if (below(3) > 0) s.lines.push_back("order ?");
  for (int n = 2 + below(4); n > 0; --n) {
    const int stage = below(kStages);
    const bool each = below(2) == 0;
    Row row;
    for (std::size_t k = below(4) == 0 ? 3 : 2; row.size() < k;)
      if (const Member m{below(2) == 0, stage, below(3), each}; std::find(row.begin(), row.end(), m) == row.end())
        row.push_back(m);
    std::string line;
    for (const Member& m : row) line += (line.empty() ? "order " : " < ") + text(m);
    s.lines.push_back(line);
    s.order[static_cast<int>(s.lines.size())] = row;
  }
  if (s.micro_batches.size() > 1) {
    const int size = below(2) ? 2 : 4;
    s.lines.push_back("require |mb| = " + std::to_string(size));
    s.sizes[static_cast<int>(s.lines.size())] = {size};
  }
  return s;
}

// The tasks of so many micro-batches and what waits for what.
class Tasks {
 public:
  explicit Tasks(int count) : count_(count), next_(static_cast<std::size_t>(2 * kStages * count)) {
    for (int m = 0; m < count; ++m)
      for (int s = 0; s < kStages; ++s) {
        link({false, s, m, false}, {true, s, m, false});
        if (s + 1 == kStages) continue;
        link({false, s, m, false}, {false, s + 1, m, false});
        link({true, s + 1, m, false}, {true, s, m, false});
      }
  }

  // Of every value of m the tasks that exist, one after the other.
  void add(const Row& row) {
    for (int m = -count_; m < (row[0].of_each ? count_ : 1 - count_); ++m) {
      Row chain;
      for (Member one : row) {
        if (one.of_each) one.ahead += m;
        if (one.ahead >= 0 && one.ahead < count_) chain.push_back(one);
      }
      for (std::size_t k = 0; k + 1 < chain.size(); ++k) link(chain[k], chain[k + 1]);
    }
  }

  bool can_run() const {
    std::vector<int> waiting(next_.size(), 0), ready;
    for (const auto& list : next_)
      for (int t : list) ++waiting[static_cast<std::size_t>(t)];
    for (std::size_t t = 0; t < next_.size(); ++t)
      if (waiting[t] == 0) ready.push_back(static_cast<int>(t));
    for (std::size_t i = 0; i < ready.size(); ++i)
      for (int t : next_[static_cast<std::size_t>(ready[i])])
        if (--waiting[static_cast<std::size_t>(t)] == 0) ready.push_back(t);
    return ready.size() == next_.size();
  }

 private:
  int task(const Member& m) const { return ((m.backward ? kStages : 0) + m.stage) * count_ + m.ahead; }
  void link(const Member& before, const Member& after) {
    next_[static_cast<std::size_t>(task(before))].push_back(task(after));
  }

  int count_;
  std::vector<std::vector<int>> next_;
};

using Lines = std::set<int>;

bool possible(const Space& s, const Lines& rows) {
  return std::any_of(s.micro_batches.begin(), s.micro_batches.end(), [&](int count) {
    Tasks tasks(count);
    for (int row : rows) {
      if (const auto sizes = s.sizes.find(row); sizes != s.sizes.end() && !sizes->second.contains(count)) return false;
      if (const auto order = s.order.find(row); order != s.order.end()) tasks.add(order->second);
    }
    return tasks.can_run();
  });
}

std::set<Lines> minimal_conflicts(const Space& s) {
  std::vector<int> rows;
  for (const auto& [line, row] : s.order) rows.push_back(line);
  for (const auto& [line, row] : s.sizes) rows.push_back(line);
  std::set<Lines> out;
  for (unsigned bits = 0; bits < (1U << rows.size()); ++bits) {
    Lines chosen;
    for (std::size_t k = 0; k < rows.size(); ++k)
      if (bits >> k & 1) chosen.insert(rows[k]);
    const bool minimal = !possible(s, chosen) && std::all_of(chosen.begin(), chosen.end(), [&](int row) {
      Lines fewer = chosen;
      fewer.erase(row);
      return possible(s, fewer);
    });
    if (minimal) out.insert(chosen);
  }
  return out;
}

struct Bench {
  Result<OpenModel> model = open_model("sample_models/gpt2_tiny.pt2", nullptr);
  Cluster cluster = *open_cluster("dgx-a100", {}).value;
  std::atomic<bool> stop{false};

  Result<Completion> complete(const std::string& text) const {
    const Result<plan::Plan> p = plan::parse_plan(text, "a.plan");
    REQUIRE(p.ok());
    return planscope::complete(model->graph, *p, {}, cluster, {.time_limit_s = 1000, .relaxing_work = Deadline::kAnyWork}, stop);
  }
};

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

std::set<Lines> lines_of(const Completion& c) {
  std::set<Lines> out;
  for (const constraint::ConflictLines& conflict : c.conflicts) {
    Lines lines;
    for (const constraint::ConflictLine& l : conflict.lines) lines.insert(l.line.line);
    out.insert(lines);
  }
  return out;
}

}  // namespace

TEST_CASE("order rows that cannot all be kept: all minimal sets of them, and nothing else is impossible", "[slow]") {
  const Bench bench;
  int possible_plans = 0, impossible = 0, several = 0, with_sizes = 0;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    const Space s = random_space(seed);
    INFO("seed " << seed << "\n" << joined(s.lines));
    const std::set<Lines> expected = minimal_conflicts(s);
    const Result<Completion> c = bench.complete(joined(s.lines));
    INFO(to_string(c.diagnostics));
    REQUIRE(c.value);
    CHECK(lines_of(*c) == expected);
    CHECK(c->status == (expected.empty() ? CompletionStatus::complete : CompletionStatus::impossible));
    (expected.empty() ? possible_plans : impossible) += 1;
    several += expected.size() > 1 ? 1 : 0;
    for (const Lines& lines : expected)
      with_sizes += std::any_of(lines.begin(), lines.end(), [&](int l) { return s.sizes.contains(l); }) ? 1 : 0;
    for (const constraint::ConflictLines& conflict : c->conflicts) {
      CHECK(conflict.minimal);
      for (const constraint::ConflictLine& l : conflict.lines) {
        Lines rest;
        for (const auto& [line, row] : s.order) rest.insert(line);
        for (const auto& [line, row] : s.sizes) rest.insert(line);
        rest.erase(l.line.line);
        CHECK((l.without.possible == constraint::Answer::yes) == possible(s, rest));
        CHECK(l.without.optimum.has_value() == possible(s, rest));
      }
    }
  }
  CHECK(possible_plans >= 10);
  CHECK(impossible >= 20);
  CHECK(several >= 5);
  CHECK(with_sizes >= 1);
}

TEST_CASE("order rows of constraint files stay in the plan, and are named by their file") {
  const Bench bench;
  const std::string text =
      "devices 2 as p=2\naxis mb=4\nlet S = cut transformer.h[*] into 2\ntrans * batch by mb\nassign S[i] to "
      "p=i\norder ?\n";
  const plan::Plan p = *plan::parse_plan(text, "a.plan");
  const plan::Plan kept = *plan::parse_plan("order f(S[0])[3] < b(S[0])[0]\n", "kept.plan");
  const plan::Plan other = *plan::parse_plan("forbid order f(S[0])[3] < b(S[0])[0]\n", "other.plan");
  const CompletionSettings settings{.time_limit_s = 100, .relaxing_work = Deadline::kAnyWork};
  const Result<Completion> ok = complete(bench.model->graph, p, {kept}, bench.cluster, settings, bench.stop);
  REQUIRE(ok.ok());
  CHECK(ok->status == CompletionStatus::complete);
  CHECK(plan::print(ok->plan).find("auto order f(S[0])[3] < b(S[0])[0]\n") != std::string::npos);
  const Result<Completion> no = complete(bench.model->graph, p, {kept, other}, bench.cluster, settings, bench.stop);
  REQUIRE(no.ok());
  CHECK(no->status == CompletionStatus::impossible);
  REQUIRE(no->conflicts.size() == 1);
  REQUIRE(no->conflicts[0].lines.size() == 2);
  CHECK(no->conflicts[0].lines[0].line == constraint::PlanLine{"kept.plan", 1, "order f(S[0])[3] < b(S[0])[0]"});
  CHECK(no->conflicts[0].lines[1].line ==
        constraint::PlanLine{"other.plan", 1, "forbid order f(S[0])[3] < b(S[0])[0]"});
}

TEST_CASE("a forbid row and the line that it contradicts") {
  const Bench bench;
  const Result<Completion> c = bench.complete(
      "devices 2 as t=2\ntrans * batch by t\ntrans transformer.h[1].attn batch by t\n"
      "forbid trans transformer.h[1].attn batch by t\n");
  INFO(to_string(c.diagnostics));
  REQUIRE(c.ok());
  CHECK(c->status == CompletionStatus::impossible);
  REQUIRE(c->conflicts.size() == 1);
  CHECK(lines_of(*c) == std::set<Lines>{{3, 4}});
}
