#include "planner/search/orders/least_memory.h"

#include <algorithm>
#include <map>
#include <set>

namespace planscope::orders {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

constexpr std::size_t kMostRuns = 2048;

class Runs {
 public:
  explicit Runs(std::size_t count, bool all = false) : words_(count / 64 + 1, all ? ~std::uint64_t{0} : 0) {}
  bool has(std::size_t run) const { return words_[run / 64] >> run % 64 & 1; }
  void add(std::size_t run) { words_[run / 64] |= std::uint64_t{1} << run % 64; }
  void add(const Runs& o) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= o.words_[i];
  }
  void keep(const Runs& o) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= o.words_[i];
  }

 private:
  std::vector<std::uint64_t> words_;
};

// Runs of blocks, one for each micro-batch, and which come before which in every order.
class Precedence {
 public:
  explicit Precedence(const schedule::Case& c)
      : rounds_(c.micro_batches[0]), runs_(c.blocks.size() * at(rounds_)), next_(runs_), waiting_(runs_, 0) {
    for (const schedule::Precedence& p : c.after) add(p.before, p.after, p.distance, 0, rounds_);
    for (const schedule::Relation& r : c.order) add(r.before, r.after, r.distance, r.first, r.count);
    close();
  }

  int rounds() const { return rounds_; }
  std::size_t run(int block, int round) const { return at(block) * at(rounds_) + at(round); }
  const Runs& before(std::size_t run) const { return before_[run]; }
  Runs all() const { return Runs(runs_, true); }

 private:
  void add(int before, int after, int distance, int first, int count) {
    for (std::int64_t m = first; m < std::min<std::int64_t>(std::int64_t{first} + count, rounds_); ++m) {
      if (m + distance < 0 || m + distance >= rounds_) continue;
      const std::size_t to = run(after, static_cast<int>(m) + distance);
      next_[run(before, static_cast<int>(m))].push_back(to);
      ++waiting_[to];
    }
  }

  void close() {
    before_.assign(runs_, Runs(runs_));
    std::vector<std::size_t> ready;
    for (std::size_t r = 0; r < runs_; ++r)
      if (waiting_[r] == 0) ready.push_back(r);
    for (std::size_t i = 0; i < ready.size(); ++i)
      for (std::size_t to : next_[ready[i]]) {
        before_[to].add(before_[ready[i]]);
        before_[to].add(ready[i]);
        if (--waiting_[to] == 0) ready.push_back(to);
      }
  }

  int rounds_;
  std::size_t runs_;
  std::vector<std::vector<std::size_t>> next_;
  std::vector<int> waiting_;
  std::vector<Runs> before_;  // by run: those before it
};

// Of a micro-batch, kept from the end of a block until the first of these others begins.
struct Kept {
  int forward = -1;
  std::set<int> backward;
  auto operator<=>(const Kept&) const = default;
};

class Least {
 public:
  Least(const Materialized& m, const Simulation& s, const ProgramCase& c)
      : program_(m.program), simulation_(s), case_(c), order_(c.problem) {
    find_pieces();
    find_values();
  }

  std::int64_t of_class(int k) const {
    const ClassTimeline& t = simulation_.classes[at(k)];
    std::int64_t standing = t.peak.bytes();
    for (const MemoryPoint& p : t.memory) standing = std::min(standing, p.bytes);
    std::map<Kept, std::int64_t> bytes;
    for (const AliveBytes& a : t.alive)
      if (a.of.kind == Owner::Kind::piece || a.of.kind == Owner::Kind::value) {
        const std::map<int, Kept>& all = a.of.kind == Owner::Kind::piece ? pieces_ : values_;
        if (const auto kept = all.find(a.of.id); kept != all.end())
          bytes[kept->second] += a.bytes / std::max<std::int64_t>(1, most_alive(t, kept->second));
      }
    std::set<std::size_t> ends;
    for (const auto& [kept, each] : bytes)
      for (int block : kept.backward)
        for (int m = 0; m < order_.rounds(); ++m) ends.insert(order_.run(block, m));
    std::int64_t most = 0;
    for (std::size_t from : ends) most = std::max(most, kept_before(from, ends, bytes));
    return standing + most;
  }

 private:
  // Pieces of which something is kept between blocks, and never in host memory.
  void find_pieces() {
    std::set<PieceId> away;
    for (int block = 0; block < static_cast<int>(case_.segments.size()); ++block)
      for (const Instruction& i : program_.segments[at(case_.segments[at(block)])].instructions) {
        if (i.code == Code::compute && i.keep) pieces_[i.piece].forward = block;
        if (i.code == Code::backward) pieces_[i.piece].backward.insert(block);
      }
    for (const Segment& s : program_.segments)
      for (const Instruction& i : s.instructions)
        if (i.piece >= 0 && (i.code == Code::offload || i.code == Code::replay)) away.insert(i.piece);
    std::erase_if(pieces_, [&](const auto& p) {
      return p.second.forward < 0 || p.second.backward.empty() || p.second.backward.contains(p.second.forward) ||
             away.contains(p.first);
    });
  }

  // Values of a micro-batch from the block that makes them to the one that ends them.
  void find_values() {
    for (int block = 0; block < static_cast<int>(case_.segments.size()); ++block)
      for (const Instruction& i : program_.segments[at(case_.segments[at(block)])].instructions) {
        if (i.code == Code::free) {
          for (ProgramValueId v : i.in) values_[v].backward.insert(block);
          continue;
        }
        if (i.code == Code::wait || i.code == Code::accumulate) continue;
        for (ProgramValueId v : i.out)
          if (v >= 0 && values_[v].forward < 0) values_[v].forward = block;
      }
    std::erase_if(values_, [&](const auto& v) {
      return v.second.forward < 0 || v.second.backward.empty() || v.second.backward.contains(v.second.forward) ||
             program_.values[at(v.first)].indexed.empty();
    });
  }

  // Instances that there can be at the peak: begun, and not known to be over.
  std::int64_t most_alive(const ClassTimeline& t, const Kept& kept) const {
    std::int64_t begun = 0;
    std::map<int, std::int64_t> over;
    for (const SlotBlock& slot : t.slots)
      for (int block = 0; block < static_cast<int>(case_.segments.size()); ++block) {
        if (case_.segments[at(block)] != slot.segment) continue;
        if (block == kept.forward && slot.start <= t.peak_time) ++begun;
        if (kept.backward.contains(block) && slot.end <= t.peak_time) ++over[block];
      }
    std::int64_t least_over = kept.backward.size() == over.size() ? begun : 0;
    for (const auto& [block, count] : over) least_over = std::min(least_over, count);
    return begun - least_over;
  }

  // What is kept when the first of `ends` begins that are not before `from`: whichever that is, none of them has begun, and
  // what is before all of them is over.
  std::int64_t kept_before(std::size_t from, const std::set<std::size_t>& ends,
                           const std::map<Kept, std::int64_t>& bytes) const {
    Runs over = order_.all();
    for (std::size_t end : ends)
      if (!order_.before(from).has(end)) over.keep(order_.before(end));
    std::int64_t out = 0;
    for (const auto& [kept, each] : bytes)
      for (int m = 0; m < order_.rounds(); ++m) {
        const bool needed = std::none_of(kept.backward.begin(), kept.backward.end(),
                                         [&](int block) { return order_.before(from).has(order_.run(block, m)); });
        if (needed && over.has(order_.run(kept.forward, m))) out += each;
      }
    return out;
  }

  const Program& program_;
  const Simulation& simulation_;
  const ProgramCase& case_;
  const Precedence order_;
  std::map<int, Kept> pieces_, values_;
};

}  // namespace

std::vector<std::int64_t> least_memory(const Materialized& m, const Simulation& with_alive, const Cluster& cluster) {
  const Result<ProgramCase> c = program_case(m, with_alive, cluster);
  if (!c.ok() || c->problem.blocks.size() * at(c->problem.micro_batches[0]) > kMostRuns) return {};
  const Least least(m, with_alive, *c);
  std::vector<std::int64_t> out;
  for (int k = 0; k < c->problem.devices; ++k) out.push_back(least.of_class(k));
  return out;
}

}  // namespace planscope::orders
