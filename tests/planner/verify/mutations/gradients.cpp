#include <algorithm>
#include <utility>

#include "tests/planner/verify/mutations/mutations.h"

namespace planscope::testing {

namespace {

bool joins(const Instruction& i) { return i.code == Code::accumulate && i.out.size() == 2; }

}  // namespace

Mutations gradient_mutations() {
  return {
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
             join->in[1] =
                 static_cast<ProgramValueId>(p.values.size()) + static_cast<ProgramValueId>(weights - i->out.begin());
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
  };
}

}  // namespace planscope::testing
