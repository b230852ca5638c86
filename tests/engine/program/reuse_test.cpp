#include "engine/program/reuse.h"

#include <catch2/catch.hpp>

using namespace planscope;

namespace {

Instruction make(Code code, std::vector<ProgramValueId> in, std::vector<ProgramValueId> out) {
  Instruction i;
  i.code = code;
  i.in = std::move(in);
  i.out = std::move(out);
  return i;
}

// issue all_reduce 0 -> 1; wait 1; free 0
struct Reduction {
  Program program;
  Segment segment;
  Reduction() {
    for (int v = 0; v < 4; ++v) program.values.push_back({0, Role::gradient, 0, 0, {}, -1});
    Instruction issue = make(Code::issue, {0}, {1});
    issue.move.kind = MoveKind::all_reduce;
    issue.move.reduce = PartialKind::sum;
    segment.instructions = {issue, make(Code::wait, {}, {1}), make(Code::free, {0}, {})};
  }
  Program whole() const {
    Program p = program;
    p.segments.insert(p.segments.begin(), segment);
    return p;
  }
  bool takes() const {
    const Program p = whole();
    return Reuse(p).takes_operands(p.segments[0], 0);
  }
};

}  // namespace

TEST_CASE_METHOD(Reduction, "a gradient that ends where it is reduced is taken") {
  CHECK(takes());
  segment.instructions[0].move.kind = MoveKind::reduce_scatter;
  CHECK(takes());
}

TEST_CASE_METHOD(Reduction, "what is read later keeps its memory") {
  segment.instructions.insert(segment.instructions.begin() + 1, make(Code::update, {2, 0}, {2}));
  CHECK_FALSE(takes());
}

TEST_CASE_METHOD(Reduction, "what lives on after the segment keeps its memory") {
  segment.instructions.pop_back();
  CHECK_FALSE(takes());
}

TEST_CASE_METHOD(Reduction, "a value of the forward pass keeps its memory: autograd may have saved it") {
  program.values[0].role = Role::data;
  CHECK_FALSE(takes());
}

TEST_CASE_METHOD(Reduction, "only sums take what they are made of") {
  segment.instructions[0].move.kind = MoveKind::all_gather;
  CHECK_FALSE(takes());
  segment.instructions[0].move.kind = MoveKind::all_reduce;
  segment.instructions[0].move.reduce = PartialKind::merge;
  CHECK_FALSE(takes());
}

TEST_CASE_METHOD(Reduction, "the wait and the end may stand in another segment") {
  Segment later;
  later.instructions.assign(segment.instructions.begin() + 1, segment.instructions.end());
  segment.instructions.resize(1);
  CHECK_FALSE(takes());
  program.segments = {later};
  CHECK(takes());
  program.segments[0].instructions.insert(program.segments[0].instructions.begin(), make(Code::send, {0}, {}));
  CHECK_FALSE(takes());
}

TEST_CASE_METHOD(Reduction, "a bucket takes its operands where each may be taken") {
  for (int v = 0; v < 2; ++v) program.values.push_back({0, Role::gradient, 0, 0, {}, -1});
  segment.instructions[0].in = {0, 2};
  segment.instructions[0].out = {1, 3};
  CHECK_FALSE(takes());
  segment.instructions[2].in = {0, 2};
  CHECK(takes());
}
