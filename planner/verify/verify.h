#pragma once
// Does a Program compute what its model computes?
//
// The claim behind `equivalent`: for every input, every operand of every operator on every device is the slice that the
// logical model would give it, the loss and every updated parameter are the logical ones, and every device reaches the
// end of the step (floating-point reassociation aside). Only the Program and the Graph are read. What cannot be proved is
// a failure or `unknown`, never `equivalent`.
//
// How (docs/design.md, Verify, items 1 and 2):
// - Equivalence. A value's stated layout is its *judgement*: at coordinates c and free indices m it holds region R(c, m),
//   value part v(c, m) of its tensor. Every instruction has one transfer rule that derives the judgement of what it makes
//   from the judgements of what it reads; an operator's rule is that of the Graph (factors, added operands, linear sets).
//   A gradient also carries which contributions (operator, operand) it sums; where it is used it must sum all of them,
//   each once. The dual of a forward judgement: split stays split, a replicated read gives a partial gradient, a partial
//   read or result has a replicated one; a partial gradient passes through operators that are not bound to its digit.
//   Rows that are split by a key are a judgement like any other: those whose key lies in the device's block. Equal means the
//   same key, and what moves them reads that key, whole where they are selected from.
// - Order. The slots of every device class are replayed: every segment once for every index, nothing read before it is
//   made or after it is freed, no sum read before its last micro-batch, parameters not read after their update; what is made
//   again begins when the value that it refills has ended; state from host memory there when read, back at the end; sends,
//   of a device to itself too, come before their receives, communicators issue alike, nobody waits for ever.
// - Overlapping steps. A training of some steps is replayed (order.h): each parameter has to be there in the version that
//   its reader's step and lag ask for, and messages go to no earlier period.
// - Staleness. What reads a parameter has it as old as its home says (ProgramValue::lag), through every conversion; each
//   operator must read it as old as the plan says (Program::relaxations). A program in which anything is old is `relaxed`
//   at best: one step on equal parameters is the logical one, several steps are those of delayed gradients.
//
// Linear in instructions plus slots; nothing depends on the number of devices but the check that device classes cover
// their places.
//
// What it trusts: the Graph's rules (audited by executing shards); that the executor runs shards as ShardForm says, lets
// the backward of a partial log-sum-exp read the combined one, and gives a value and its refills one storage; that
// transports tell messages apart by transfer and index (rendezvous.h).
//
//   VerifyReport r = verify(graph, program);
//   if (r.verdict != Verdict::equivalent) std::cout << to_string(r.failures.front());
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/program/program.h"

namespace planscope {

// relaxed: as equivalent, but that parameters are read some updates old, each as old as the plan says.
enum class Verdict : std::uint8_t { equivalent, relaxed, different, unknown };
std::string_view to_string(Verdict);

enum class FailureKind : std::uint8_t {
  damaged,        // the Program cannot be read
  layout,         // an operand is not the slice that the operator needs
  communication,  // a conversion or transfer does not give what is stated
  gradient,       // a gradient lacks contributions or has some twice
  update,         // a parameter is not updated, or from the wrong gradient
  loss,           // the loss is not the logical one
  staleness,      // a parameter is read older or newer than the plan says
  order,          // read before written, freed too early, run twice or never
  deadlock,       // devices wait for each other for ever
  unproved,       // neither shown nor refuted
};
std::string_view to_string(FailureKind);

using Box = std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>>;  // begin and end of every dimension's parts

struct Failure {
  FailureKind kind = FailureKind::layout;
  std::string op;  // Node::name(), or the instruction where no operator is at fault
  std::string tensor;
  std::string region;  // `wanted` as text
  int device = -1;     // the first that has it wrong; -1: it is not about a region, or none of the first 64 devices has it wrong
  Box wanted, there;   // what that device should have of the tensor, and what it has; equal where only the part of the value differs
  std::string devices;
  std::string expected, got;
  StatementRef statement;  // line 0: none
  bool operator==(const Failure&) const = default;
};
std::string to_string(const Failure&);  // one sentence

// How old the trained parameters of a place are where its operators read them: there is one for each place and age.
struct Staleness {
  std::string devices;
  std::int64_t lag = 0;  // updates
  std::int64_t parameters = 0;
  std::string first;       // of them
  StatementRef statement;  // that says so; line 0: none, they are the newest
  bool operator==(const Staleness&) const = default;
};
std::string to_string(
    const Staleness&);  // `h.0.ln.weight and 11 more parameters on all[pipe=0] (device 0): 3 updates old (line 5: …)`

struct VerifyReport {
  Verdict verdict = Verdict::unknown;
  std::int64_t obligations = 0;   // judgements that had to hold
  std::vector<Failure> failures;  // the first of them
  std::int64_t failure_count = 0;
  std::vector<Staleness> staleness;  // of a relaxed program, by place
};

VerifyReport verify(const Graph&, const Program&);

}  // namespace planscope
