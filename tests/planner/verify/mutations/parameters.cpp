#include <utility>

#include "tests/planner/verify/mutations/mutations.h"

namespace planscope::testing {

namespace {

// Of a trained parameter, with at least this lag.
ProgramValue* stored(Program& p, const Graph& g, Random& random, std::int64_t lag) {
  std::vector<ProgramValue*> all;
  for (ProgramValue& v : p.values)
    if (v.role == Role::home && v.lag >= lag && g.tensors[static_cast<std::size_t>(v.tensor)].gradient)
      all.push_back(&v);
  return all.empty() ? nullptr : any(all, random);
}

}  // namespace

Mutations parameter_mutations() {
  return {
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
  };
}

}  // namespace planscope::testing
