#pragma once
// Between which operators a value of a Program passes: who makes its tensor, and who reads it, whatever moves lie
// between.
//
//   ValueWays ways(graph, program);
//   const auto [from, to] = ways.ends(v);   // of a gradient too: `to` reads the tensor, its gradient comes from there
#include <utility>
#include <vector>

#include "engine/program/program.h"

namespace planscope::session {

class ValueWays {
 public:
  // Refers to both.
  ValueWays(const Graph&, const Program&);

  // -1: a parameter or an input is made by none; nothing reads it.
  std::pair<OpId, OpId> ends(ProgramValueId) const;

 private:
  struct End {
    const Instruction* instruction = nullptr;
    std::size_t operand = 0;
  };
  OpId reader_after(ProgramValueId, int steps) const;
  OpId reader_before(ProgramValueId, int steps) const;
  OpId reader_of_leaf(const Piece&, std::size_t leaf) const;

  const Graph& g_;
  const Program& p_;
  std::vector<End> makers_;                           // by value
  std::vector<std::vector<End>> users_;               // by value
  std::vector<ProgramValueId> sent_as_, arrives_as_;  // by value; -1: does not
};

}  // namespace planscope::session
