#pragma once
// Ways to break a Program at random, by what they break. Each says whether it applied; mutation_test.cpp holds them against
// verify().
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "engine/program/program.h"

namespace planscope::testing {

using Random = std::mt19937;
using Mutation = std::function<bool(Program&, const Graph&, Random&)>;  // false: it does not apply
using Mutations = std::map<std::string, Mutation>;

Mutations communication_mutations();  // moves, buckets, messages
Mutations layout_mutations();         // vTensors and bindings
Mutations gradient_mutations();       // contributions, accumulation, the running softmax
Mutations parameter_mutations();      // updates, their states, versions
Mutations order_mutations();          // slots, waits, frees, what the last run does
Mutations convention_mutations();     // what who runs a Program could read in another way than who checks it
Mutations breaking_mutations();       // all of these: none gives an equivalent Program
Mutations open_mutations();           // harmless ones among them: what is called equivalent is to be run

template <class T>
T& any(std::vector<T>& list, Random& random) {
  return list[random() % list.size()];
}

struct Spot {
  std::size_t segment = 0, instruction = 0;
};
std::vector<Spot> spots(const Program&, const std::function<bool(const Instruction&)>& wanted);
Instruction* pick(Program&, Random&, const std::function<bool(const Instruction&)>& wanted, Spot* where = nullptr);
void erase(Program&, Spot);

std::function<bool(const Instruction&)> is(Code);
bool moves(const Instruction&);
bool bucket(const Instruction&);
bool keyed(const Instruction&);
void replace_reads(Program&, ProgramValueId from, ProgramValueId to);
void turn(Digit&, Random&);  // another block index, perhaps one that names a block twice
// Whether a segment reads a home that is updated and has this lag.
bool reads_version(const Program&, const Segment&, std::int64_t lag);

}  // namespace planscope::testing
