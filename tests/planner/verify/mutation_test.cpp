// Programs are broken at random in every way that the list below knows. verify() must not call any of them equivalent,
// unless nothing changed or the change is harmless for a reason that is stated here:
//   - two values with the same judgement are exchanged where the forward pass reads them (they have equal contents);
//   - a value that is the same at every index is made anew and freed at each instead of having an instance for each;
//   - a value that nobody frees lives to the end of the step, so `free` is not among the instructions that are dropped.
#include <array>
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "engine/program/bucket.h"
#include "planner/verify/verify.h"
#include "programs.h"

using namespace planscope;

namespace {

using Random = std::mt19937;

template <class T>
T& any(std::vector<T>& list, Random& random) {
  return list[random() % list.size()];
}

struct Spot {
  std::size_t segment = 0, instruction = 0;
};

std::vector<Spot> spots(const Program& p, const std::function<bool(const Instruction&)>& wanted) {
  std::vector<Spot> out;
  for (std::size_t s = 0; s < p.segments.size(); ++s)
    for (std::size_t i = 0; i < p.segments[s].instructions.size(); ++i)
      if (wanted(p.segments[s].instructions[i])) out.push_back({s, i});
  return out;
}

Instruction* pick(Program& p, Random& random, const std::function<bool(const Instruction&)>& wanted,
                  Spot* where = nullptr) {
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

bool joins(const Instruction& i) { return i.code == Code::accumulate && i.out.size() == 2; }

// Another block index, perhaps one that names a block twice.
void turn(Digit& d, Random& random) {
  std::int64_t& n = std::array{&d.step, &d.turn, &d.start, &d.cross}[random() % 4][0];
  n = (n + 1 + static_cast<std::int64_t>(random() % static_cast<unsigned>(d.size - 1))) % d.size;
}

using Mutation = std::function<bool(Program&, const Graph&, Random&)>;  // false: it does not apply

bool depends(const Layout& l, const std::vector<AxisId>& axes) {
  const auto named = [&](const Digit& d) { return std::find(axes.begin(), axes.end(), d.axis) != axes.end(); };
  return std::any_of(l.splits.begin(), l.splits.end(),
                     [&](const Split& x) { return std::any_of(x.digits.begin(), x.digits.end(), named); }) ||
         std::any_of(l.partials.begin(), l.partials.end(), [&](const Partial& x) { return named(x.digit); });
}

// Whether a segment reads a home that is updated and has this lag.
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

// Of a trained parameter, with at least this lag.
ProgramValue* stored(Program& p, const Graph& g, Random& random, std::int64_t lag) {
  std::vector<ProgramValue*> all;
  for (ProgramValue& v : p.values)
    if (v.role == Role::home && v.lag >= lag && g.tensors[static_cast<std::size_t>(v.tensor)].gradient)
      all.push_back(&v);
  return all.empty() ? nullptr : any(all, random);
}

const std::map<std::string, Mutation>& mutations() {
  static const std::map<std::string, Mutation> all = {
      {"drop a communication", [](Program& p, const Graph&, Random& r) { return drop_move(p, r, false); }},
      {"drop a communication and state its result",
       [](Program& p, const Graph&, Random& r) { return drop_move(p, r, true); }},
      {"drop an instruction",
       [](Program& p, const Graph&, Random& r) {
         Spot at;
         if (!pick(p, r, [](const Instruction& i) { return i.code != Code::free; }, &at)) return false;
         erase(p, at);
         return true;
       }},
      {"in every run what the last one does",
       [](Program& p, const Graph&, Random& r) {
         Instruction* i = pick(p, r, [](const Instruction& x) { return x.last; });
         if (!i) return false;
         i->last = false;
         return true;
       }},
      {"in the last run what every one does",
       [](Program& p, const Graph&, Random& r) {
         Spot at;
         if (!pick(p, r, [](const Instruction& x) { return !x.last; }, &at)) return false;
         const Segment& s = p.segments[static_cast<std::size_t>(at.segment)];
         std::int64_t runs = 1;
         for (const AxisId a : s.free_axes) runs *= index_count(p.axes[static_cast<std::size_t>(a)]);
         if (runs < 2) return false;
         p.segments[static_cast<std::size_t>(at.segment)].instructions[static_cast<std::size_t>(at.instruction)].last =
             true;
         return true;
       }},
      {"another run is the last",
       [](Program& p, const Graph&, Random& r) {
         DeviceClass& c = any(p.classes, r);
         const std::vector<SlotRun> once = period(c);
         const auto sums = [&](const SlotRun& run) {
           const Segment& s = p.segments[static_cast<std::size_t>(run.segment)];
           return std::any_of(s.instructions.begin(), s.instructions.end(), [](const Instruction& i) { return i.last; });
         };
         std::vector<std::size_t> of;  // the runs of one such segment
         for (std::size_t k = 0; k < once.size(); ++k)
           if (sums(once[k]) && (of.empty() || once[k].segment == once[of[0]].segment)) of.push_back(k);
         if (of.size() < 2) return false;
         // The last one comes again, for the one before it.
         c.loops.clear();
         for (std::size_t k = 0; k < once.size(); ++k) {
           const SlotRun& run = once[k == of[of.size() - 2] ? of.back() : k];
           c.loops.push_back({1, {{run.segment, run.index, std::vector<std::int64_t>(run.index.size(), 0), run.ahead}}});
         }
         return true;
       }},
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
      {"no key",
       [](Program& p, const Graph&, Random& r) {
         Instruction* i = pick(p, r, keyed);
         if (!i) return false;
         i->in.pop_back();
         return true;
       }},
      {"another key",
       [](Program& p, const Graph&, Random& r) {
         Instruction* i = pick(p, r, keyed);
         if (!i) return false;
         const ProgramValue& was = p.values[static_cast<std::size_t>(i->in[1])];
         std::vector<ProgramValueId> others;
         for (ProgramValueId o = 0; o < static_cast<ProgramValueId>(p.values.size()); ++o) {
           const ProgramValue& x = p.values[static_cast<std::size_t>(o)];
           if (x.tensor != was.tensor && x.place == was.place && x.indexed == was.indexed && x.layout == was.layout)
             others.push_back(o);
         }
         if (others.empty()) return false;
         i->in[1] = any(others, r);
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
      {"rows of other blocks",
       [](Program& p, const Graph&, Random& r) {
         std::vector<Split*> splits;
         for (Layout& l : p.layouts)
           for (Split& s : l.splits)
             if (s.part == kByKey) splits.push_back(&s);
         if (splits.empty()) return false;
         Digit& d = any(any(splits, r)->digits, r);
         d.sizes.assign(static_cast<std::size_t>(d.size), 1);
         d.sizes.front() = 5 - d.size;
         return true;
       }},
      {"blocks turned in another way",
       [](Program& p, const Graph&, Random& r) {
         std::vector<Digit*> turned;
         for (Layout& l : p.layouts)
           for (Split& s : l.splits)
             for (Digit& d : s.digits)
               if (is_turned(d)) turned.push_back(&d);
         if (turned.empty()) return false;
         turn(*any(turned, r), r);
         return true;
       }},
      {"another rotation",
       [](Program& p, const Graph&, Random& r) {
         Instruction* i = pick(p, r, [](const Instruction& x) { return moves(x) && is_turned(x.move.turned); });
         if (!i) return false;
         turn(i->move.turned, r);
         return true;
       }},
      {"a binding turned in another way",
       [](Program& p, const Graph&, Random& r) {
         std::vector<Digit*> turned;
         for (Piece& piece : p.pieces)
           for (PieceOp& o : piece.ops)
             for (Binding& b : o.bindings)
               if (is_turned(b.digit)) turned.push_back(&b.digit);
         if (turned.empty()) return false;
         turn(*any(turned, r), r);
         return true;
       }},
      {"a digit that reaches over other indices",
       [](Program& p, const Graph&, Random& r) {
         std::vector<Digit*> far;
         for (Layout& l : p.layouts)
           for (Split& s : l.splits)
             for (Digit& d : s.digits)
               if (d.reach != Reach::own) far.push_back(&d);
         if (far.empty()) return false;
         Reach& reach = any(far, r)->reach;
         reach = static_cast<Reach>((static_cast<int>(reach) + 1 + static_cast<int>(r() % 2)) % 3);
         return true;
       }},
      {"a binding that reaches over other indices",
       [](Program& p, const Graph&, Random& r) {
         std::vector<Digit*> far;
         for (Piece& piece : p.pieces)
           for (PieceOp& o : piece.ops)
             for (Binding& b : o.bindings)
               if (b.digit.reach != Reach::own) far.push_back(&b.digit);
         if (far.empty()) return false;
         Reach& reach = any(far, r)->reach;
         reach = static_cast<Reach>((static_cast<int>(reach) + 1 + static_cast<int>(r() % 2)) % 3);
         return true;
       }},
      {"a prefix that is cut by another axis",
       [](Program& p, const Graph&, Random& r) {
         std::vector<Digit*> far;
         for (Segment& s : p.segments)
           for (Instruction& i : s.instructions)
             if (i.code == Code::local && i.move.digits[0].reach == Reach::prefix) far.push_back(&i.move.digits[0]);
         if (far.empty()) return false;
         Digit& d = *far[r() % far.size()];
         d.reach = Reach::own;
         return true;
       }},
      {"slices in the other order",
       [](Program& p, const Graph&, Random& r) {
         std::vector<std::pair<SegmentId, AxisId>> grows;
         for (SegmentId s = 0; s < static_cast<SegmentId>(p.segments.size()); ++s)
           for (const Instruction& i : p.segments[static_cast<std::size_t>(s)].instructions) {
             if (i.code != Code::accumulate) continue;
             for (const Instruction& reader : p.segments[static_cast<std::size_t>(s)].instructions)
               if (reader.code == Code::local && reader.in[0] == i.out[0] && reader.move.kind == MoveKind::slice)
                 grows.emplace_back(s, reader.move.digits[0].axis);
           }
         if (grows.empty()) return false;
         const auto [segment, axis] = grows[r() % grows.size()];
         const auto& axes = p.segments[static_cast<std::size_t>(segment)].free_axes;
         const auto k = static_cast<std::size_t>(std::find(axes.begin(), axes.end(), axis) - axes.begin());
         for (DeviceClass& c : p.classes)
           for (Loop& loop : c.loops)
             for (SlotStep& s : loop.body)
               if (s.segment == segment) {
                 s.base[k] = p.axes[static_cast<std::size_t>(axis)].size - 1 - s.base[k];
                 s.step[k] = -s.step[k];
               }
         return true;
       }},
      {"one block everywhere twice, another never",
       [](Program& p, const Graph&, Random&) {
         bool any_turned = false;
         const auto even = [&](Digit& d) {
           if (!is_turned(d)) return;
           d.step = 0;
           any_turned = true;
         };
         for (Layout& l : p.layouts)
           for (Split& s : l.splits) std::for_each(s.digits.begin(), s.digits.end(), even);
         for (Piece& piece : p.pieces)
           for (PieceOp& o : piece.ops)
             for (Binding& b : o.bindings) even(b.digit);
         for (Segment& s : p.segments)
           for (Instruction& i : s.instructions) even(i.move.turned);
         return any_turned;
       }},
      {"blocks of a softmax added",
       [](Program& p, const Graph&, Random& r) {
         Instruction* i = pick(p, r, joins);
         if (!i) return false;
         i->in.pop_back();
         i->out.pop_back();
         return true;
       }},
      {"a softmax stated as a sum",
       [](Program& p, const Graph&, Random&) {
         bool found = false;
         for (Layout& l : p.layouts)
           for (Partial& x : l.partials)
             if (x.kind == PartialKind::softmax) {
               x.kind = PartialKind::sum;
               found = true;
             }
         return found;
       }},
      {"other weights",
       [](Program& p, const Graph&, Random& r) {
         Instruction* i = pick(p, r, joins);
         if (!i) return false;
         i->in[1] = static_cast<ProgramValueId>(r() % p.values.size());
         return i->in[1] >= 0;
       }},
      {"weights of another run of the operator",
       [](Program& p, const Graph&, Random& r) {
         Instruction* join = pick(p, r, joins);
         if (!join) return false;
         for (Segment& s : p.segments)
           for (auto i = s.instructions.begin(); i != s.instructions.end(); ++i) {
             const auto weights = std::find(i->out.begin(), i->out.end(), join->in[1]);
             if (i->code != Code::compute || weights == i->out.end()) continue;
             join->in[1] = static_cast<ProgramValueId>(p.values.size()) +
                           static_cast<ProgramValueId>(weights - i->out.begin());
             Instruction again = *i;
             again.keep = false;
             for (ProgramValueId& v : again.out) {
               p.values.push_back(ProgramValue(p.values[static_cast<std::size_t>(v)]));
               v = static_cast<ProgramValueId>(p.values.size()) - 1;
             }
             s.instructions.insert(i, std::move(again));
             return true;
           }
         return false;
       }},
      {"results and weights exchanged",
       [](Program& p, const Graph&, Random& r) {
         Instruction* i = pick(p, r, joins);
         if (!i) return false;
         std::swap(i->in[0], i->in[1]);
         std::swap(i->out[0], i->out[1]);
         return true;
       }},
      {"backward of a block by itself",
       [](Program& p, const Graph& g, Random& r) {
         Instruction* back = pick(p, r, [&](const Instruction& x) {
           return x.code == Code::backward &&
                  !softmax_outputs(g, p, p.pieces[static_cast<std::size_t>(x.piece)]).empty();
         });
         if (!back) return false;
         const Piece& piece = p.pieces[static_cast<std::size_t>(back->piece)];
         const int output = softmax_outputs(g, p, piece)[0];
         for (Segment& s : p.segments)
           for (Instruction& i : s.instructions)
             if ((i.code == Code::compute || i.code == Code::replay) && i.keep && i.piece == back->piece) {
               back->in[piece.outputs.size()] = i.out[static_cast<std::size_t>(output)];
               return true;
             }
         return false;
       }},
      {"accumulate twice",
       [](Program& p, const Graph&, Random& r) {
         Spot at;
         Instruction* i = pick(p, r, is(Code::accumulate), &at);
         if (!i) return false;
         const Instruction again = *i;
         auto& list = p.segments[at.segment].instructions;
         list.insert(list.begin() + static_cast<std::ptrdiff_t>(at.instruction), again);
         return true;
       }},
      {"skip an accumulation",
       [](Program& p, const Graph&, Random& r) {
         Spot at;
         Instruction* i = pick(p, r, is(Code::accumulate), &at);
         if (!i) return false;
         const ProgramValueId in = i->in[0], out = i->out[0];
         erase(p, at);
         replace_reads(p, out, in);
         if (p.loss == out) p.loss = in;
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
      {"no update",
       [](Program& p, const Graph&, Random& r) {
         Spot at;
         if (!pick(p, r, is(Code::update), &at)) return false;
         erase(p, at);
         return true;
       }},
      {"two updates",
       [](Program& p, const Graph&, Random& r) {
         Spot at;
         Instruction* i = pick(p, r, is(Code::update), &at);
         if (!i) return false;
         const Instruction again = *i;
         auto& list = p.segments[at.segment].instructions;
         list.insert(list.begin() + static_cast<std::ptrdiff_t>(at.instruction), again);
         return true;
       }},
      {"an update from another gradient",
       [](Program& p, const Graph&, Random& r) {
         Instruction* i = pick(p, r, is(Code::update));
         if (!i) return false;
         i->in[1] = static_cast<ProgramValueId>(r() % p.values.size());
         return true;
       }},
      {"an update with the state of another parameter",
       [](Program& p, const Graph&, Random& r) {
         const auto knows = [](const Instruction& i) { return i.code == Code::update && i.in.size() > 2; };
         Instruction* a = pick(p, r, knows);
         Instruction* b = pick(p, r, knows);
         if (!a || a->in[2] == b->in[2]) return false;
         std::swap(a->in[2], b->in[2]);
         return true;
       }},
      {"a parameter that is older than the plan says",
       [](Program& p, const Graph& g, Random& r) {
         ProgramValue* home = stored(p, g, r, 0);
         if (home) home->lag += 1 + static_cast<std::int64_t>(r() % 3);
         return home != nullptr;
       }},
      {"a parameter that is newer than the plan says",
       [](Program& p, const Graph& g, Random& r) {
         ProgramValue* home = stored(p, g, r, 1);
         if (home) home->lag = static_cast<std::int64_t>(r()) % home->lag;
         return home != nullptr;
       }},
      {"old parameters that the plan says nothing of",
       [](Program& p, const Graph&, Random& r) {
         if (p.relaxations.empty()) return false;
         p.relaxations.erase(p.relaxations.begin() + static_cast<std::ptrdiff_t>(r() % p.relaxations.size()));
         return true;
       }},
      {"another lag than the program has",
       [](Program& p, const Graph&, Random& r) {
         if (p.relaxations.empty()) return false;
         Relaxation& said = any(p.relaxations, r);
         said.lag = said.lag > 1 && r() % 2 ? said.lag - 1 : said.lag + 1;
         return true;
       }},
      {"a lag for an operator that reads the newest",
       [](Program& p, const Graph& g, Random& r) {
         const Parameter& read = g.parameters[r() % g.parameters.size()];
         const OpId op = g.tensors[static_cast<std::size_t>(read.tensor)].readers.at(0);
         for (const Relaxation& said : p.relaxations)
           if (said.op == op) return false;
         p.relaxations.push_back({op, 1, -1});
         return true;
       }},
      {"an update that does not know where its state is",
       [](Program& p, const Graph&, Random& r) {
         Instruction* i = pick(p, r, [](const Instruction& x) { return x.code == Code::update && x.in.size() > 2; });
         if (!i) return false;
         i->in.pop_back();
         return true;
       }},
      {"a state is stored before its update",
       [](Program& p, const Graph&, Random& r) {
         Spot at;
         const auto moves = [](const Instruction& x) { return x.code == Code::offload && !x.in.empty(); };
         if (!pick(p, r, moves, &at)) return false;
         const Instruction store = p.segments[at.segment].instructions[at.instruction];
         erase(p, at);
         for (Segment& s : p.segments)
           for (std::size_t k = 0; k < s.instructions.size(); ++k)
             if (s.instructions[k].code == Code::restore && s.instructions[k].out == store.in) {
               s.instructions.insert(s.instructions.begin() + static_cast<std::ptrdiff_t>(k) + 1, store);
               return true;
             }
         return false;
       }},
      {"a state is read where it is not",
       [](Program& p, const Graph&, Random& r) {
         Instruction* i = pick(p, r, [](const Instruction& x) { return x.code == Code::restore && !x.out.empty(); });
         if (!i) return false;
         const ProgramValueId state = i->out[0];
         Instruction* reader =
             pick(p, r, [](const Instruction& x) { return x.code == Code::compute && !x.in.empty(); });
         if (!reader) return false;
         any(reader->in, r) = state;
         return true;
       }},
      {"a slot is left out",
       [](Program& p, const Graph&, Random& r) {
         DeviceClass& c = any(p.classes, r);
         if (c.loops.empty()) return false;
         Loop& loop = any(c.loops, r);
         if (loop.body.empty() || loop.count == 0) return false;
         loop.body.erase(loop.body.begin() + static_cast<std::ptrdiff_t>(r() % loop.body.size()));
         return true;
       }},
      {"a slot runs twice",
       [](Program& p, const Graph&, Random& r) {
         DeviceClass& c = any(p.classes, r);
         if (c.loops.empty()) return false;
         Loop& loop = any(c.loops, r);
         if (loop.body.empty() || loop.count == 0) return false;
         loop.body.push_back(any(loop.body, r));
         return true;
       }},
      {"a loop is shorter",
       [](Program& p, const Graph&, Random& r) {
         DeviceClass& c = any(p.classes, r);
         if (c.loops.empty()) return false;
         Loop& loop = any(c.loops, r);
         if (loop.body.empty() || loop.count == 0) return false;
         --loop.count;
         return true;
       }},
      {"all slots backwards",
       [](Program& p, const Graph&, Random& r) {
         DeviceClass& c = any(p.classes, r);
         std::reverse(c.loops.begin(), c.loops.end());
         for (Loop& loop : c.loops) std::reverse(loop.body.begin(), loop.body.end());
         return true;
       }},
      {"free before a use",
       [](Program& p, const Graph&, Random& r) {
         Spot at;
         Instruction* i = pick(p, r, [](const Instruction& x) { return x.code == Code::free && !x.in.empty(); }, &at);
         if (!i) return false;
         auto& list = p.segments[at.segment].instructions;
         const ProgramValueId v = any(i->in, r);
         std::ptrdiff_t use = -1;
         for (std::size_t k = 0; k < at.instruction; ++k)
           if (std::find(list[k].in.begin(), list[k].in.end(), v) != list[k].in.end())
             use = static_cast<std::ptrdiff_t>(k);
         if (use < 0) return false;
         std::erase(i->in, v);
         Instruction early;
         early.code = Code::free;
         early.in = {v};
         list.insert(list.begin() + use, early);
         return true;
       }},
      {"free twice",
       [](Program& p, const Graph&, Random& r) {
         Instruction* i = pick(p, r, [](const Instruction& x) { return x.code == Code::free && !x.in.empty(); });
         if (!i) return false;
         i->in.push_back(any(i->in, r));
         return true;
       }},
      {"a contribution twice",
       [](Program& p, const Graph&, Random& r) {
         Instruction* i = pick(p, r, is(Code::add));
         if (!i) return false;
         i->in.push_back(any(i->in, r));
         return true;
       }},
      {"a contribution in place of another",
       [](Program& p, const Graph&, Random& r) {
         Instruction* i = pick(p, r, [](const Instruction& x) { return x.code == Code::add && x.in.size() > 1; });
         if (!i) return false;
         i->in[0] = i->in[1];
         return true;
       }},
      {"a contribution less",
       [](Program& p, const Graph&, Random& r) {
         Instruction* i = pick(p, r, [](const Instruction& x) { return x.code == Code::add && x.in.size() > 1; });
         if (!i) return false;
         i->in.pop_back();
         return true;
       }},
      {"no gradient for a result",
       [](Program& p, const Graph&, Random& r) {
         Instruction* i = pick(p, r, [](const Instruction& x) { return x.code == Code::backward; });
         if (!i) return false;
         std::vector<std::size_t> given;
         for (std::size_t k = 0; k < i->in.size(); ++k)
           if (i->in[k] >= 0) given.push_back(k);
         if (given.empty()) return false;
         i->in[any(given, r)] = -1;
         return true;
       }},
      {"another value of the same tensor",
       [](Program& p, const Graph&, Random& r) {
         Instruction* i = pick(p, r, [](const Instruction& x) { return !x.in.empty() && x.code != Code::free; });
         if (!i) return false;
         ProgramValueId& v = any(i->in, r);
         if (v < 0) return false;
         std::vector<ProgramValueId> others;
         const ProgramValue& was = p.values[static_cast<std::size_t>(v)];
         for (ProgramValueId o = 0; o < static_cast<ProgramValueId>(p.values.size()); ++o) {
           const ProgramValue& x = p.values[static_cast<std::size_t>(o)];
           const bool equal = x.role == Role::data && was.role == Role::data && x.layout == was.layout &&
                              x.indexed == was.indexed && x.place == was.place;
           if (o != v && x.tensor == was.tensor && !equal) others.push_back(o);
         }
         if (others.empty()) return false;
         v = any(others, r);
         return true;
       }},
      {"another layout of a value",
       [](Program& p, const Graph&, Random& r) {
         ProgramValue& v = any(p.values, r);
         v.layout = static_cast<LayoutId>(r() % p.layouts.size());
         return true;
       }},
      {"another layout of a slot",
       [](Program& p, const Graph&, Random& r) {
         any(any(p.pieces, r).slots, r).layout = static_cast<LayoutId>(r() % p.layouts.size());
         return true;
       }},
      {"a value of other free axes",
       [](Program& p, const Graph&, Random& r) {
         ProgramValue& v = any(p.values, r);
         // A value that does not depend on the axis (a weight gathered in the loop) is the same at every index: harmless.
         if (v.indexed.empty() || !depends(p.layouts[static_cast<std::size_t>(v.layout)], v.indexed)) return false;
         v.indexed.clear();
         return true;
       }},
      {"a binding to another factor",
       [](Program& p, const Graph& g, Random& r) {
         PieceOp& o = any(any(p.pieces, r).ops, r);
         if (o.bindings.empty()) return false;
         Binding& b = any(o.bindings, r);
         const auto& factors = g.ops[static_cast<std::size_t>(o.op)].factors;
         if (factors.empty()) return false;
         b.factor = static_cast<int>(r() % factors.size());
         b.part = 0;
         return true;
       }},
      {"a binding to another axis",
       [](Program& p, const Graph&, Random& r) {
         PieceOp& o = any(any(p.pieces, r).ops, r);
         if (o.bindings.empty()) return false;
         Binding& b = any(o.bindings, r);
         b.digit.axis = static_cast<AxisId>(r() % p.axes.size());
         b.digit.size = p.axes[static_cast<std::size_t>(b.digit.axis)].size;
         return true;
       }},
      {"a binding less",
       [](Program& p, const Graph&, Random& r) {
         PieceOp& o = any(any(p.pieces, r).ops, r);
         if (o.bindings.empty()) return false;
         o.bindings.erase(o.bindings.begin() + static_cast<std::ptrdiff_t>(r() % o.bindings.size()));
         return true;
       }},
      {"bindings in another order",
       [](Program& p, const Graph&, Random& r) {
         PieceOp& o = any(any(p.pieces, r).ops, r);
         const auto same = [&](std::size_t k) {
           return o.bindings[k].factor == o.bindings[k + 1].factor && o.bindings[k].part == o.bindings[k + 1].part;
         };
         for (std::size_t k = 0; k + 1 < o.bindings.size(); ++k)
           if (same(k) && o.bindings[k].factor >= 0) {
             std::swap(o.bindings[k], o.bindings[k + 1]);
             return true;
           }
         return false;
       }},
      {"digits in another order",
       [](Program& p, const Graph&, Random& r) {
         Layout& l = any(p.layouts, r);
         for (Split& s : l.splits)
           if (s.digits.size() > 1) {
             std::swap(s.digits[0], s.digits[1]);
             return true;
           }
         return false;
       }},
      {"nothing is kept",
       [](Program& p, const Graph&, Random& r) {
         Instruction* i = pick(p, r, [](const Instruction& x) { return x.keep && x.code == Code::compute; });
         if (!i) return false;
         i->keep = false;
         return true;
       }},
      {"a second seed",
       [](Program& p, const Graph&, Random& r) {
         Spot at;
         Instruction* i = pick(p, r, is(Code::seed), &at);
         if (!i) return false;
         const Instruction again = *i;
         p.segments[at.segment].instructions.push_back(again);
         return true;
       }},
      {"another loss",
       [](Program& p, const Graph&, Random& r) {
         p.loss = static_cast<ProgramValueId>(r() % p.values.size());
         return true;
       }},
      {"fewer devices run it",
       [](Program& p, const Graph&, Random& r) {
         DeviceClass& c = any(p.classes, r);
         std::vector<int> list = devices(p, c);
         if (list.size() < 2) return false;
         list.pop_back();
         c.devices = list;
         return true;
       }},
      {"an index of a part of an axis less",
       [](Program& p, const Graph&, Random& r) {
         if (p.axes.empty()) return false;
         Axis& a = any(p.axes, r);
         if (a.indices.size() < 2) return false;
         a.indices.erase(a.indices.begin() + static_cast<std::ptrdiff_t>(r() % a.indices.size()));
         return true;
       }},
      {"an index of a part of an axis is another one",
       [](Program& p, const Graph&, Random& r) {
         if (p.axes.empty()) return false;
         Axis& a = any(p.axes, r);
         if (a.of < 0) return false;
         std::int64_t& i = any(a.indices, r);
         i = static_cast<std::int64_t>((i + 1) % a.size);
         std::sort(a.indices.begin(), a.indices.end());
         return true;
       }},
      {"a slot at another index",
       [](Program& p, const Graph&, Random& r) {
         DeviceClass& c = any(p.classes, r);
         if (c.loops.empty()) return false;
         Loop& loop = any(c.loops, r);
         if (loop.body.empty()) return false;
         SlotStep& s = any(loop.body, r);
         if (s.base.empty()) return false;
         const Segment& segment = p.segments[static_cast<std::size_t>(s.segment)];
         const std::size_t k = r() % s.base.size();
         if (loop.count > 1 || p.axes[static_cast<std::size_t>(segment.free_axes[k])].size < 2) return false;
         s.base[k] = (s.base[k] + 1) % p.axes[static_cast<std::size_t>(segment.free_axes[k])].size;
         return true;
       }},
      {"a forward further ahead than its parameters have versions for",
       [](Program& p, const Graph&, Random& r) {
         DeviceClass& c = any(p.classes, r);
         if (c.loops.empty()) return false;
         Loop& loop = any(c.loops, r);
         if (loop.body.empty()) return false;
         SlotStep& s = any(loop.body, r);
         if (!reads_version(p, p.segments[static_cast<std::size_t>(s.segment)], s.ahead)) return false;
         ++s.ahead;
         return true;
       }},
      {"a backward, or an update, of the step after",
       [](Program& p, const Graph&, Random& r) {
         DeviceClass& c = any(p.classes, r);
         if (c.loops.empty()) return false;
         Loop& loop = any(c.loops, r);
         if (loop.body.empty()) return false;
         SlotStep& s = any(loop.body, r);
         const Segment& segment = p.segments[static_cast<std::size_t>(s.segment)];
         const auto& list = segment.instructions;
         if (std::none_of(list.begin(), list.end(), [](const Instruction& i) {
               return i.code == Code::backward || i.code == Code::update;
             }))
           return false;
         s.ahead += 1 + static_cast<std::int64_t>(r() % 2);
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
      {"wait for a part of a bucket",
       [](Program& p, const Graph&, Random& r) {
         Instruction* i = pick(p, r, [](const Instruction& x) { return x.code == Code::wait && x.out.size() > 1; });
         if (!i) return false;
         i->out.erase(i->out.begin() + static_cast<std::ptrdiff_t>(r() % i->out.size()));
         return true;
       }},
      {"a wait after the reader",
       [](Program& p, const Graph&, Random& r) {
         Spot at;
         if (!pick(p, r, is(Code::wait), &at)) return false;
         auto& list = p.segments[at.segment].instructions;
         if (at.instruction + 1 >= list.size() || list[at.instruction + 1].code == Code::wait) return false;
         const auto& next = list[at.instruction + 1].in;
         const auto& made = list[at.instruction].out;
         if (std::find_first_of(next.begin(), next.end(), made.begin(), made.end()) == next.end()) return false;
         std::swap(list[at.instruction], list[at.instruction + 1]);
         return true;
       }},
      {"wait for nothing",
       [](Program& p, const Graph&, Random& r) {
         Spot at;
         if (!pick(p, r, is(Code::wait), &at)) return false;
         erase(p, at);
         return true;
       }},
  };
  return all;
}

}  // namespace

TEST_CASE("no mutated program is called equivalent") {
  std::map<std::string, int> applied;
  for (const tiny::NamedPlan& plan : tiny::plans()) {
    const auto m = tiny::materialized(plan);
    INFO(plan.name << "\n" << to_string(m.diagnostics));
    REQUIRE(m.value);
    const Program& original = m.value->program;
    const auto accepted = [](const VerifyReport& r) {
      return r.verdict == Verdict::equivalent || r.verdict == Verdict::relaxed;
    };
    if (!accepted(verify(*m.value->graph, original))) continue;  // plans_test.cpp tells
    for (const auto& [name, mutate] : mutations()) {
      Random random(42);
      for (int round = 0; round < 25; ++round) {
        Program broken = original;
        if (!mutate(broken, *m.value->graph, random) || broken == original) continue;
        ++applied[name];
        INFO(name << ", round " << round);
        const VerifyReport r = verify(*m.value->graph, broken);
        if (accepted(r)) {
          CHECK(to_string(r.verdict) == "different");
          break;
        }
      }
    }
  }
  for (const auto& [name, mutate] : mutations()) {
    INFO(name);
    CHECK(applied[name] > 0);
  }
}
