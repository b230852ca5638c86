#include "tests/planner/verify/mutations/mutations.h"

#include <array>
#include <set>

namespace planscope::testing {

Mutations breaking_mutations() {
  Mutations all;
  for (const auto& of : {communication_mutations, layout_mutations, gradient_mutations, parameter_mutations,
                         order_mutations, convention_mutations})
    all.merge(of());
  return all;
}

std::vector<Spot> spots(const Program& p, const std::function<bool(const Instruction&)>& wanted) {
  std::vector<Spot> out;
  for (std::size_t s = 0; s < p.segments.size(); ++s)
    for (std::size_t i = 0; i < p.segments[s].instructions.size(); ++i)
      if (wanted(p.segments[s].instructions[i])) out.push_back({s, i});
  return out;
}

Instruction* pick(Program& p, Random& random, const std::function<bool(const Instruction&)>& wanted, Spot* where) {
  const std::vector<Spot> all = spots(p, wanted);
  if (all.empty()) return nullptr;
  const Spot s = all[random() % all.size()];
  if (where) *where = s;
  return &p.segments[s.segment].instructions[s.instruction];
}

void erase(Program& p, Spot s) {
  auto& list = p.segments[s.segment].instructions;
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(s.instruction));
}

std::function<bool(const Instruction&)> is(Code c) {
  return [c](const Instruction& i) { return i.code == c; };
}
bool moves(const Instruction& i) { return i.code == Code::issue || i.code == Code::local; }

bool bucket(const Instruction& i) { return i.code == Code::issue && i.out.size() > 1; }
bool keyed(const Instruction& i) {
  return (moves(i) || i.code == Code::accumulate) && i.in.size() > 1 && i.out.size() == 1;
}

void replace_reads(Program& p, ProgramValueId from, ProgramValueId to) {
  for (Segment& s : p.segments)
    for (Instruction& i : s.instructions)
      if (i.code != Code::free)
        for (ProgramValueId& v : i.in)
          if (v == from) v = to;
}

void turn(Digit& d, Random& random) {
  std::int64_t& n = std::array{&d.step, &d.turn, &d.start, &d.cross}[random() % 4][0];
  n = (n + 1 + static_cast<std::int64_t>(random() % static_cast<unsigned>(d.size - 1))) % d.size;
}

bool reads_version(const Program& p, const Segment& s, std::int64_t lag) {
  std::set<ProgramValueId> updated;
  for (const Segment& other : p.segments)
    for (const Instruction& i : other.instructions)
      if (i.code == Code::update) updated.insert(i.in[0]);
  for (const Instruction& i : s.instructions)
    for (const ProgramValueId v : i.in)
      if (i.code != Code::update && updated.count(v) > 0 && p.values[static_cast<std::size_t>(v)].lag == lag)
        return true;
  return false;
}

}  // namespace planscope::testing
