#include "planner/verify/staleness.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/program/bucket.h"
#include "engine/program/transfer.h"

namespace planscope::verification {

namespace {

template <class T>
const T& at(const std::vector<T>& list, int k) {
  return list[static_cast<std::size_t>(k)];
}

std::string text(std::int64_t age) { return std::to_string(age) + (age == 1 ? " update old" : " updates old"); }

class StalenessCheck {
 public:
  StalenessCheck(const Graph& g, const Program& p, const Makers& m, Ledger& ledger)
      : g_(g), p_(p), makers_(m), ledger_(ledger), age_(p.values.size(), kNotYet) {}

  std::vector<Staleness> run() {
    declared();
    for (ProgramValueId v = 0; v < static_cast<ProgramValueId>(p_.values.size()); ++v) value(v);
    for (const Segment& s : p_.segments)
      for (const Instruction& i : s.instructions)
        if (i.code == Code::compute || i.code == Code::replay) piece(s, i);
    for (const auto& [op, said] : declared_)
      if (readers_.count(op) == 0)
        ledger_.fail(FailureKind::staleness, {-1, said.statement, name(g_, op)}, -1,
                     "an operator that reads a trained parameter", "one that reads none");
    return stale_ ? report() : std::vector<Staleness>{};
  }

 private:
  static constexpr std::int64_t kNotYet = -1, kUnknown = -2;

  // Trained: gradients are applied to it.
  bool trained(TensorId t) const {
    return at(g_.model->values, t).kind == ValueKind::parameter && at(g_.tensors, t).gradient;
  }

  void declared() {
    for (const Relaxation& r : p_.relaxations) {
      ledger_.obligation();
      stale_ = stale_ || r.lag > 0;
      if (!declared_.emplace(r.op, r).second)
        ledger_.fail(FailureKind::staleness, {-1, r.statement, name(g_, r.op)}, -1, "one lag for an operator", "two");
    }
  }

  void value(ProgramValueId id) {
    const ProgramValue& v = at(p_.values, id);
    stale_ = stale_ || v.lag > 0;
    if (v.lag > 0) {
      ledger_.obligation();
      if (!trained(v.tensor))
        ledger_.fail(FailureKind::staleness, {v.place, -1, "value"}, v.tensor,
                     "older versions of trained parameters only", "those of a value that no gradient changes");
    }
    if (v.refills < 0 || !trained(v.tensor) || v.role != Role::data) return;
    ledger_.obligation();
    const std::int64_t again = age(id), before = age(v.refills);
    if (again != before || again < 0)
      ledger_.fail(FailureKind::staleness, {v.place, -1, "value"}, v.tensor, "the version that it refills",
                   "another one");
  }

  std::int64_t age(ProgramValueId id) {
    std::int64_t& known = age_[static_cast<std::size_t>(id)];
    if (known != kNotYet) return known;
    known = kUnknown;  // of a chain that comes back to itself
    const std::int64_t found = derived(id);
    return age_[static_cast<std::size_t>(id)] = found;
  }

  std::int64_t derived(ProgramValueId id) {
    if (at(p_.values, id).role == Role::home) return at(p_.values, id).lag;
    const CodePoint& made = at(makers_.of, id);
    if (made.segment < 0) return kUnknown;
    const Instruction& i = at(at(p_.segments, made.segment).instructions, made.instruction);
    if (i.code == Code::issue || i.code == Code::local) {
      const auto k = std::find(i.out.begin(), i.out.end(), id) - i.out.begin();
      return age(operands_of(i, static_cast<std::size_t>(k))[0]);
    }
    if (i.code == Code::receive) return age(sent_as(p_, i, id));
    return kUnknown;
  }

  void piece(const Segment& s, const Instruction& i) {
    const Piece& piece = at(p_.pieces, i.piece);
    for (const PieceOp& o : piece.ops)
      for (const int slot : o.inputs)
        if (slot < piece.leaves && trained(at(piece.slots, slot).tensor)) read(s, o.op, at(i.in, slot));
  }

  void read(const Segment& s, OpId op, ProgramValueId id) {
    ledger_.obligation();
    readers_.insert(op);
    const auto said = declared_.find(op);
    const std::int64_t wanted = said == declared_.end() ? 0 : said->second.lag, got = age(id);
    const int statement = said == declared_.end() ? -1 : said->second.statement;
    const TensorId t = at(p_.values, id).tensor;
    if (got == kUnknown) {
      ledger_.fail(FailureKind::unproved, {s.place, statement, name(g_, op)}, t, "a parameter that is " + text(wanted),
                   "one whose age is not known");
      return;
    }
    if (got != wanted)
      ledger_.fail(FailureKind::staleness, {s.place, statement, name(g_, op)}, t, "a parameter that is " + text(wanted),
                   "one that is " + text(got));
    Age& age = ages_[{s.place, got}];
    age.parameters.insert(t);
    if (age.statement < 0) age.statement = statement;
  }

  std::vector<Staleness> report() const {
    std::vector<Staleness> out;
    for (const auto& [key, age] : ages_) {
      const auto& [place, lag] = key;
      out.push_back({ledger_.devices(place),
                     lag,
                     static_cast<std::int64_t>(age.parameters.size()),
                     ledger_.tensor(*age.parameters.begin()),
                     {}});
      if (age.statement >= 0) out.back().statement = at(p_.statements, age.statement);
    }
    return out;
  }

  struct Age {
    std::set<TensorId> parameters;
    int statement = -1;
  };

  const Graph& g_;
  const Program& p_;
  const Makers& makers_;
  Ledger& ledger_;
  std::vector<std::int64_t> age_;  // by value
  std::map<OpId, Relaxation> declared_;
  std::set<OpId> readers_;
  std::map<std::pair<PlaceId, std::int64_t>, Age> ages_;
  bool stale_ = false;
};

}  // namespace

std::vector<Staleness> check_staleness(const Graph& g, const Program& p, const Makers& m, Ledger& ledger) {
  return StalenessCheck(g, p, m, ledger).run();
}

}  // namespace planscope::verification
