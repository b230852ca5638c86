#pragma once
// Moves of a Program (program.h: Move) on real tensors: packs the blocks that the layouts before and after name, gives
// them to the transport, and puts what arrives where it belongs. Everything follows from the regions of the members, so
// that any part of any dimension, digits with a stride and uneven blocks need nothing of their own; blocks of different
// sizes are padded to the largest. Rows that are split by key are blocks as well, which the key names (row_blocks.h): all
// members know how many go where before anything is sent.
//
// A merge (log-sum-exp) is a maximum and a sum of exponentials relative to it.
#include <functional>
#include <map>

#include "engine/runtime/row_blocks.h"
#include "engine/runtime/site.h"
#include "engine/runtime/transport.h"

namespace planscope {

// A collective under way. `finish` waits and gives the result; call it once.
struct StartedMove {
  std::function<at::Tensor()> finish;
  at::Tensor share;  // merges: exp(in - combined), what the gradient of `in` is multiplied by; else undefined
};

class MoveRunner {
 public:
  MoveRunner(const Site& site, Transport& transport) : site_(site), transport_(transport) {}

  // The value that a move reads, and what tells its rows apart if one side is split by key.
  struct Operand {
    ProgramValueId value = -1;
    at::Tensor tensor;
    ProgramValueId key = -1;
    at::Tensor key_tensor;
    bool given = false;  // nobody else needs the tensor's memory
  };

  // slice, to_partial. The result may share memory with the operand.
  at::Tensor local(const Move&, const Operand&, ProgramValueId out, const Point& free_indices) const;

  // The result has memory of its own, or that of an operand that is given.
  StartedMove start(const Move&, const Operand&, ProgramValueId out, const Point& free_indices,
                    const std::string& label);

  // Reductions of several values as one message (bucket.h): they are packed one behind the other. The results share memory.
  std::function<TensorList()> start_bucket(const Move&, std::vector<Operand>, const std::vector<ProgramValueId>& out,
                                           const Point& free_indices, const std::string& label);

  // The block of a value: its region, where rows are selected by key with as many as the tensor has. Values that differ in
  // nothing but other dimensions have equally many.
  Region held(ProgramValueId, int device, const Point& free_indices, const at::Tensor&) const;

  // total + term, where the rows of the term are a selection of those of the total (undefined: zero), in place.
  at::Tensor add_rows(at::Tensor total, ProgramValueId out, const Operand& term, const Point& free_indices) const;

 private:
  template <class Block>
  struct Members {
    std::vector<int> devices;    // ascending
    std::vector<Block> in, out;  // what each holds before and after
    std::size_t self = 0;
  };
  using Blocks = std::vector<Region>;  // of a value that holds every index of an axis
  const std::vector<int>& group(const Move&, PlaceId);
  template <class Block>
  Members<Block> members(const Move&, PlaceId, const std::function<Block(ProgramValueId, int device)>&,
                         ProgramValueId in, ProgramValueId out);
  const Layout& layout(ProgramValueId) const;
  RowNumbers row_numbers(int dim, const Operand&, const Point& free_indices) const;
  RowBlock row_block(const RowNumbers&, ProgramValueId, int device, const Point& free_indices) const;
  StartedMove all_reduce(const Members<Region>&, const Operand&, const std::string& label);
  StartedMove merge(const Members<Region>&, const at::Tensor&, const std::string& label);
  StartedMove reduce_scatter(const Members<Region>&, const at::Tensor&, const std::string& label);
  template <class Block>
  StartedMove all_gather(const Members<Block>&, const at::Tensor&, const std::string& label);
  template <class Block>
  StartedMove all_to_all(const Members<Block>&, const at::Tensor&, const std::string& label);
  StartedMove rotate(const Members<Blocks>&, const at::Tensor&, bool one_region, const std::string& label);

  const Site& site_;
  Transport& transport_;
  std::map<std::pair<PlaceId, std::vector<Digit>>, std::vector<int>> groups_;
};

}  // namespace planscope
