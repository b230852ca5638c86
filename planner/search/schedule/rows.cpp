#include "planner/search/schedule/rows.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "engine/base/text.h"
#include "planner/search/schedule/finite.h"
#include "planner/search/schedule/retime.h"

namespace planscope::schedule {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// `before` of a micro-batch ends before `after` starts `distance` later.
struct Wait {
  int before = 0, after = 0;
  std::int64_t span = 0;
  int distance = 0;
  int row = -1;
  int micro_batch = 0;  // of `before`, where it is a given one
};

std::string index_text(std::int64_t m) {
  return m == 0 ? "[m]" : m > 0 ? "[m+" + std::to_string(m) + "]" : "[m-" + std::to_string(-m) + "]";
}

// From the first row on.
void turn(std::vector<Wait>& circle) {
  const auto row = [](const Wait& w) { return static_cast<unsigned>(w.row); };  // none: the largest
  std::rotate(
      circle.begin(),
      std::min_element(circle.begin(), circle.end(), [&](const Wait& a, const Wait& b) { return row(a) < row(b); }),
      circle.end());
}

// `index[i]` is the micro-batch of the block where wait i begins, as text; the last one is where the circle closes.
Diagnostic told(const Case& c, const std::vector<Wait>& cycle, const std::string& what,
                const std::vector<std::string>& index) {
  std::vector<std::string> rows, data;
  std::set<int> named;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    const Wait& w = cycle[i];
    const std::string from = c.blocks[at(w.before)].name + index[i], to = c.blocks[at(w.after)].name + index[i + 1];
    if (w.row < 0) {
      data.push_back((data.empty() ? "data " : "") + from + " → " + to);
      continue;
    }
    rows.push_back(from + " before " + to + " (" + c.rows[at(w.row)] + ")");
    named.insert(w.row);
  }
  rows.insert(rows.end(), data.begin(), data.end());
  std::string relax;
  for (int row : named) relax += (relax.empty() ? "relax " : " or ") + c.rows[at(row)];
  return error(what + ": " + join(rows, ", "), "", relax);
}

// ---- what repeats

std::vector<Wait> repeating(const Case& c) {
  std::vector<Wait> out;
  for (const Precedence& a : c.after)
    out.push_back({a.before, a.after, c.blocks[at(a.before)].time + a.delay, a.distance, -1});
  for (const Relation& r : c.order) {
    const int count = c.micro_batches[at(c.blocks[at(r.before)].kind)];
    const int low = std::max(0, -r.distance), high = std::min(count, count - r.distance);
    if (low >= high || r.first > low || std::int64_t{r.first} + r.count < high) continue;
    out.push_back({r.before, r.after, c.blocks[at(r.before)].time, r.distance, r.row});
  }
  return out;
}

// A circle that takes time and goes no micro-batch on, or goes back: starts are (periods, time), and what a wait asks for
// is more than any number of units once it is a period.
std::vector<Wait> endless(const Case& c) {
  const std::vector<Wait> waits = repeating(c);
  if (std::all_of(waits.begin(), waits.end(), [](const Wait& w) { return w.distance == 0; })) return {};
  std::vector<std::pair<std::int64_t, std::int64_t>> start(c.blocks.size(), {0, 0});
  std::vector<int> cause(c.blocks.size(), -1);
  int last = -1;
  for (std::size_t round = 0; round <= c.blocks.size(); ++round) {
    last = -1;
    for (std::size_t i = 0; i < waits.size(); ++i) {
      const Wait& w = waits[i];
      const std::pair least{start[at(w.before)].first - w.distance, start[at(w.before)].second + w.span};
      if (start[at(w.after)] >= least) continue;
      start[at(w.after)] = least;
      cause[at(w.after)] = static_cast<int>(i);
      last = w.after;
    }
    if (last < 0) return {};
  }
  for (std::size_t i = 0; i < c.blocks.size(); ++i) last = waits[at(cause[at(last)])].before;  // into the circle
  std::vector<Wait> out;
  const int end = last;
  do {
    out.push_back(waits[at(cause[at(last)])]);
    last = out.back().before;
  } while (last != end);
  std::reverse(out.begin(), out.end());
  return out;
}

// ---- given micro-batches

class Runs {
 public:
  explicit Runs(const Case& c) : c_(c) {
    int count = 0;
    for (const Block& b : c.blocks) {
      first_.push_back(count);
      count += c.micro_batches[at(b.kind)];
    }
    into_.resize(at(count));
    for (const Precedence& a : c.after) add({a.before, a.after, 0, a.distance, -1}, 0, Relation::kEvery);
    for (const Relation& r : c.order) add({r.before, r.after, 0, r.distance, r.row}, r.first, r.count);
  }

  // Runs that wait for each other.
  std::optional<Diagnostic> circle() const {
    std::vector<int> waiting(into_.size(), 0), done;
    std::vector<std::vector<int>> next(into_.size());
    for (std::size_t i = 0; i < into_.size(); ++i)
      for (const Wait& w : into_[i]) {
        next[at(run(w))].push_back(static_cast<int>(i));
        ++waiting[i];
      }
    for (std::size_t i = 0; i < into_.size(); ++i)
      if (waiting[i] == 0) done.push_back(static_cast<int>(i));
    for (std::size_t i = 0; i < done.size(); ++i)
      for (int n : next[at(done[i])])
        if (--waiting[at(n)] == 0) done.push_back(n);
    if (done.size() == into_.size()) return std::nullopt;
    return follow(waiting);
  }

 private:
  int run(const Wait& w) const { return first_[at(w.before)] + w.micro_batch; }

  void add(const Wait& w, int first, int count) {
    const int all = c_.micro_batches[at(c_.blocks[at(w.before)].kind)];
    const int low = std::max({0, -w.distance, first});
    const auto high =
        static_cast<int>(std::min({std::int64_t{all}, std::int64_t{all} - w.distance, std::int64_t{first} + count}));
    for (int m = low; m < high; ++m)
      into_[at(first_[at(w.after)] + m + w.distance)].push_back({w.before, w.after, w.span, w.distance, w.row, m});
  }

  // Backwards along what still waits, until a run comes again.
  std::optional<Diagnostic> follow(const std::vector<int>& waiting) const {
    int here =
        static_cast<int>(std::find_if(waiting.begin(), waiting.end(), [](int n) { return n > 0; }) - waiting.begin());
    std::vector<int> seen(waiting.size(), -1);
    std::vector<Wait> waits;
    while (seen[at(here)] < 0) {
      seen[at(here)] = static_cast<int>(waits.size());
      const auto& into = into_[at(here)];
      waits.push_back(*std::find_if(into.begin(), into.end(), [&](const Wait& w) { return waiting[at(run(w))] > 0; }));
      here = run(waits.back());
    }
    waits.erase(waits.begin(), waits.begin() + seen[at(here)]);
    std::reverse(waits.begin(), waits.end());
    turn(waits);
    std::vector<std::string> index;
    for (const Wait& w : waits) index.push_back("[" + std::to_string(w.micro_batch) + "]");
    index.push_back(index.front());
    return told(c_, waits, "the rows cannot all be kept", index);
  }

  const Case& c_;
  std::vector<int> first_;               // run of each block
  std::vector<std::vector<Wait>> into_;  // by run
};

// ---- memory

// Each task takes one unit, or none if it takes no time; nothing takes time between them.
Problem unit_times(const Problem& p) {
  Problem out = p;
  for (Task& t : out.tasks) t.time = t.time > 0 ? 1 : 0;
  for (Edge& e : out.edges) e.span = out.tasks[at(e.from)].time;
  return out;
}

std::int64_t work(const Problem& p) {
  std::int64_t out = 0;
  for (const Task& t : p.tasks) out += t.time;
  return std::max<std::int64_t>(1, out);
}

// Rows that must stay for the answer to be "none".
template <class F>
std::vector<int> needed(const Case& c, F&& none) {
  std::set<int> all;
  for (const Relation& r : c.order) all.insert(r.row);
  Case less = c;
  std::vector<int> out;
  for (int row : all) {
    Case rest = less;
    std::erase_if(rest.order, [&](const Relation& r) { return r.row == row; });
    if (none(make_problem(rest)))
      less = std::move(rest);
    else
      out.push_back(row);
  }
  return out;
}

}  // namespace

std::optional<Diagnostic> contradiction(const Case& c) {
  if (!c.order.empty())
    if (std::optional<Diagnostic> d = Runs(c).circle()) return d;
  std::vector<Wait> cycle = endless(c);
  if (cycle.empty()) return std::nullopt;
  turn(cycle);
  std::vector<std::string> index;
  std::int64_t m = 0;
  for (const Wait& w : cycle) {
    index.push_back(index_text(m));
    m += w.distance;
  }
  index.push_back(index_text(m));
  return told(c, cycle, "nothing can repeat in this order", index);
}

Feasible feasible_pattern(const Case& c, const Problem& p, const Deadline& deadline) {
  const auto solve = [&](const Problem& q) {
    const Problem units = unit_times(q);
    return solve_period(units, work(units), deadline);
  };
  const Periodic a = solve(p);
  Feasible out{a.answer, {}, {}, {}};
  if (a.answer == Periodic::Answer::found) {
    std::optional<Pattern> real = retimed(p, unit_times(p), a.pattern);
    if (!real) return {};
    out.pattern = std::move(*real);
  }
  if (a.answer == Periodic::Answer::none)
    out.rows = needed(c, [&](const Problem& q) { return solve(q).answer == Periodic::Answer::none; });
  return out;
}

namespace {

// One round after the other, as far as rows allow.
std::optional<Timeline> rounds_in_turn(const Problem& p) {
  std::vector<std::int64_t> key(p.tasks.size() * at(p.rounds));
  const auto tasks = static_cast<std::int64_t>(p.tasks.size());
  for (std::size_t i = 0; i < p.topological.size(); ++i) {
    const int task = p.topological[i];
    for (int n = 0; n < p.rounds; ++n) key[at(task * p.rounds + n)] = n * tasks + static_cast<std::int64_t>(i);
  }
  return pack(p, Orders(p).by(key));
}

}  // namespace

Feasible feasible_timeline(const Case& c, const Problem& p, const Deadline& deadline) {
  if (std::optional<Timeline> t = rounds_in_turn(p)) return {Periodic::Answer::found, {}, std::move(*t), {}};
  const Fit found = fit(unit_times(p), deadline);
  Feasible out{found.none ? Periodic::Answer::none : Periodic::Answer::unknown, {}, {}, {}};
  if (found.timeline)
    if (std::optional<Timeline> t = pack(p, Orders(p).by(found.timeline->start))) {
      out.answer = Periodic::Answer::found;
      out.timeline = std::move(*t);
    }
  if (found.none) out.rows = needed(c, [&](const Problem& q) { return fit(unit_times(q), deadline).none; });
  return out;
}

std::string names(const Case& c, const std::vector<int>& rows) {
  std::vector<std::string> out;
  for (int row : rows) out.push_back(c.rows[at(row)]);
  return join(out, ", ");
}

}  // namespace planscope::schedule
