#pragma once
// Small helpers around tensors that autograd records or has saved.
#include <cstddef>
#include <vector>

#include "engine/runtime/tensor_types.h"

namespace planscope {

// The contents of the tensor's storage, given back to the allocator; sizes stay. Whatever shares the storage (also what
// autograd has saved) must not be read before refill_storage().
void release_storage(const at::Tensor&);

// Makes the storage again with `contents` (equal sizes and type): takes their memory where nothing else holds it, and
// copies them otherwise. Autograd does not notice: what it had saved has the same contents as before.
void refill_storage(const at::Tensor&, at::Tensor contents);

// The contents of a storage in memory that is not the device's (here: not counted as such). Made from a storage that is
// given back; bring_back() makes it again.
class HostCopy {
 public:
  explicit HostCopy(c10::Storage);
  void bring_back();

 private:
  c10::Storage storage_;
  std::vector<std::byte> bytes_;
};

// A tensor that stands in autograd's graph where `tensor` stands (or, for one that autograd does not know, where a leaf
// would), without holding its contents: gradients can be asked of it and given to it as long as it lives.
at::Tensor stand_in(const at::Tensor& tensor);

// `tensor` as autograd is to see it: what is computed from it leads to the stand-in of a leaf, made by stand_in().
at::Tensor behind(const at::Tensor& stand_in_of_leaf, const at::Tensor& tensor);

// Whether autograd computes a gradient of such a tensor at all: floating and complex ones.
bool carries_gradient(const at::Tensor&);

// The same elements as they are sent and stored: dense, in order, with conjugation and sign carried out.
at::Tensor settled(const at::Tensor&);

bool share_storage(const at::Tensor&, const at::Tensor&);

}  // namespace planscope
