#pragma once
// Moves of a Program (program.h: Move) on real tensors: packs the blocks that the layouts before and after name, gives
// them to the transport, and puts what arrives where it belongs. Everything follows from the regions of the members, so
// that any part of any dimension, digits with a stride and uneven blocks need nothing of their own; blocks of different
// sizes are padded to the largest.
//
// A merge (log-sum-exp) is a maximum and a sum of exponentials relative to it.
#include <functional>
#include <map>

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

  // slice, to_partial. The result may share memory with `tensor`.
  at::Tensor local(const Move&, ProgramValueId in, ProgramValueId out, const Point& free_indices,
                   const at::Tensor& tensor) const;

  // The result has memory of its own.
  StartedMove start(const Move&, ProgramValueId in, ProgramValueId out, const Point& free_indices,
                    const at::Tensor& tensor, const std::string& label);

 private:
  struct Members {
    std::vector<int> devices;     // ascending
    std::vector<Region> in, out;  // what each holds before and after
    std::size_t self = 0;
  };
  Members members(const Move&, ProgramValueId in, ProgramValueId out, const Point& free_indices);
  StartedMove all_reduce(const Members&, const at::Tensor&, const std::string& label);
  StartedMove merge(const Members&, const at::Tensor&, const std::string& label);
  StartedMove all_gather(const Members&, const at::Tensor&, const std::string& label);
  StartedMove reduce_scatter(const Members&, const at::Tensor&, const std::string& label);
  StartedMove all_to_all(const Members&, const at::Tensor&, const std::string& label);

  const Site& site_;
  Transport& transport_;
  std::map<std::pair<PlaceId, std::vector<Digit>>, std::vector<int>> groups_;
};

}  // namespace planscope
