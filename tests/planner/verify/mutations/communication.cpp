#include <algorithm>
#include <utility>

#include "engine/program/bucket.h"
#include "tests/planner/verify/mutations/mutations.h"

namespace planscope::testing {

namespace {

// Takes a communication out: its readers read its operand. With `lie`, the operand states what they expect.
bool drop_move(Program& p, Random& random, bool lie) {
  Spot at;
  Instruction* i = pick(p, random, moves, &at);
  if (!i) return false;
  const std::size_t one = random() % i->out.size();  // of a bucket
  const ProgramValueId in = i->in[one], out = i->out[one];
  if (p.values[static_cast<std::size_t>(out)].refills >= 0)
    return false;  // nobody names a refill; see the order classes
  if (i->out.size() > 1) {
    i->in.erase(i->in.begin() + static_cast<std::ptrdiff_t>(one));
    i->out.erase(i->out.begin() + static_cast<std::ptrdiff_t>(one));
  } else {
    erase(p, at);
  }
  for (Segment& s : p.segments)
    for (Instruction& x : s.instructions)
      if (x.code == Code::wait || x.code == Code::free) {
        std::erase(x.out, out);
        std::erase(x.in, out);
        std::erase(x.in, in);
      }
  replace_reads(p, out, in);
  for (Transfer& t : p.transfers) std::replace(t.from.begin(), t.from.end(), out, in);
  if (p.loss == out) p.loss = in;
  if (lie) p.values[static_cast<std::size_t>(in)].layout = p.values[static_cast<std::size_t>(out)].layout;
  return true;
}

}  // namespace

Mutations communication_mutations() {
  return {
      {"drop a communication", [](Program& p, const Graph&, Random& r) { return drop_move(p, r, false); }},
      {"drop a communication and state its result",
       [](Program& p, const Graph&, Random& r) { return drop_move(p, r, true); }},
      {"swap the kind of a move",
       [](Program& p, const Graph&, Random& r) {
         Instruction* i = pick(p, r, moves);
         if (!i) return false;
         i->move.kind = static_cast<MoveKind>((static_cast<int>(i->move.kind) + 1 + static_cast<int>(r() % 7)) % 8);
         if (i->move.dim < 0) i->move.dim = i->move.part = 0;
         if (i->move.from_dim < 0) i->move.from_dim = i->move.from_part = 0;
         return true;
       }},
      {"change a digit of a move",
       [](Program& p, const Graph&, Random& r) {
         Instruction* i = pick(p, r, [](const Instruction& x) { return moves(x) && !x.move.digits.empty(); });
         if (!i) return false;
         Digit& d = any(i->move.digits, r);
         d.axis = static_cast<AxisId>(r() % p.axes.size());
         d.size = p.axes[static_cast<std::size_t>(d.axis)].size;
         d.stride = 1;
         return true;
       }},
      {"drop a digit of a move",
       [](Program& p, const Graph&, Random& r) {
         Instruction* i = pick(p, r, [](const Instruction& x) { return moves(x) && !x.move.digits.empty(); });
         if (!i) return false;
         i->move.digits.erase(i->move.digits.begin() + static_cast<std::ptrdiff_t>(r() % i->move.digits.size()));
         return true;
       }},
      {"sum where log-sum-exps merge, or the reverse",
       [](Program& p, const Graph&, Random& r) {
         Instruction* i = pick(p, r, [](const Instruction& x) {
           return moves(x) && (x.move.kind == MoveKind::all_reduce || x.move.kind == MoveKind::reduce_scatter);
         });
         if (!i) return false;
         i->move.reduce = i->move.reduce == PartialKind::sum ? PartialKind::merge : PartialKind::sum;
         return true;
       }},
      {"move another dimension",
       [](Program& p, const Graph& g, Random& r) {
         Instruction* i = pick(p, r, [](const Instruction& x) { return moves(x) && x.move.dim >= 0; });
         if (!i) return false;
         const auto& dims =
             g.tensors[static_cast<std::size_t>(p.values[static_cast<std::size_t>(i->in[0])].tensor)].dims;
         i->move.dim = static_cast<int>(r() % dims.size());
         return true;
       }},
      {"another rotation",
       [](Program& p, const Graph&, Random& r) {
         Instruction* i = pick(p, r, [](const Instruction& x) { return moves(x) && is_turned(x.move.turned); });
         if (!i) return false;
         turn(i->move.turned, r);
         return true;
       }},
      {"a move by another key",
       [](Program& p, const Graph& g, Random& r) {
         Instruction* i = pick(p, r, [](const Instruction& x) { return x.move.key >= 0; });
         if (!i) return false;
         i->move.key = static_cast<TensorId>(r() % g.tensors.size());
         return true;
       }},
      {"rows by another key",
       [](Program& p, const Graph& g, Random& r) {
         std::vector<Split*> splits;
         for (Layout& l : p.layouts)
           for (Split& s : l.splits)
             if (s.part == kByKey) splits.push_back(&s);
         if (splits.empty()) return false;
         any(splits, r)->key = static_cast<TensorId>(r() % g.tensors.size());
         return true;
       }},
      {"another sender",
       [](Program& p, const Graph&, Random& r) {
         if (p.transfers.empty()) return false;
         any(any(p.transfers, r).from, r) = static_cast<ProgramValueId>(r() % p.values.size());
         return true;
       }},
      {"cross two transfers",
       [](Program& p, const Graph&, Random& r) {
         if (p.transfers.size() < 2) return false;
         std::swap(any(p.transfers, r).to, any(p.transfers, r).to);
         return true;
       }},
      {"a message without one of its values",
       [](Program& p, const Graph&, Random& r) {
         if (p.transfers.empty()) return false;
         Transfer& t = any(p.transfers, r);
         if (t.from.size() < 2) return false;
         const auto k = static_cast<std::ptrdiff_t>(r() % t.from.size());
         const int number = static_cast<int>(&t - p.transfers.data());
         t.from.erase(t.from.begin() + k);
         t.to.erase(t.to.begin() + k);
         for (Segment& s : p.segments)
           for (Instruction& i : s.instructions) {
             if (i.transfer == number && i.code == Code::send) i.in = t.from;
             if (i.transfer == number && i.code == Code::receive) i.out = t.to;
           }
         return true;
       }},
      {"values of a message crossed at its receiver",
       [](Program& p, const Graph&, Random& r) {
         if (p.transfers.empty()) return false;
         const Transfer& t = any(p.transfers, r);
         if (t.to.size() < 2) return false;
         for (Segment& s : p.segments)
           for (Instruction& i : s.instructions)
             if (i.code == Code::receive && i.transfer == static_cast<int>(&t - p.transfers.data()))
               std::swap(i.out.front(), i.out.back());
         return true;
       }},
      {"drop a value of a bucket",
       [](Program& p, const Graph&, Random& r) {
         Instruction* i = pick(p, r, bucket);
         if (!i) return false;
         const auto one = static_cast<std::ptrdiff_t>(r() % i->out.size());
         i->in.erase(i->in.begin() + one);
         i->out.erase(i->out.begin() + one);
         return true;
       }},
      {"two values of a bucket exchanged",
       [](Program& p, const Graph&, Random& r) {
         Instruction* i = pick(p, r, bucket);
         if (!i) return false;
         const std::size_t a = r() % i->out.size(), b = r() % i->out.size();
         std::swap(i->out[a], i->out[b]);
         return a != b;
       }},
      {"a bucket of what is no sum",
       [](Program& p, const Graph&, Random& r) {
         Spot at;
         if (!pick(p, r, [](const Instruction& x) { return x.code == Code::issue && !makes_buckets(x.move); }, &at))
           return false;
         auto& list = p.segments[at.segment].instructions;
         Instruction& into = list[at.instruction];
         const auto other = std::find_if(list.begin(), list.end(), [&](const Instruction& x) {
           return &x != &into && x.code == Code::issue && x.move == into.move && x.move.key < 0;
         });
         if (other == list.end()) return false;
         into.in.push_back(other->in[0]);
         into.out.push_back(other->out[0]);
         list.erase(other);
         return true;
       }},
      {"a value of a bucket twice",
       [](Program& p, const Graph&, Random& r) {
         Instruction* i = pick(p, r, bucket);
         if (!i) return false;
         i->in[r() % i->in.size()] = i->in[r() % i->in.size()];
         return true;
       }},
  };
}

}  // namespace planscope::testing
