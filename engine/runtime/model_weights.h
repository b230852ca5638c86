#pragma once
// The numbers that a model file holds: the file is mapped, pages are read when they are used. Tensors given out are
// whole, in the model's type, must not be written, and stay valid as long as this object lives.
//
// Errors: a file that cannot be mapped throws std::runtime_error; a payload that lies outside of the file, or that is
// too short for its sizes and strides, is as if the file had none.
#include <cstddef>
#include <map>

#include "engine/runtime/tensor_types.h"

namespace planscope {

class ModelWeights {
 public:
  explicit ModelWeights(const Model&);
  ~ModelWeights();
  ModelWeights(const ModelWeights&) = delete;
  ModelWeights& operator=(const ModelWeights&) = delete;

  at::Tensor whole(ValueId) const;  // undefined: the file has no numbers for it
  void release_pages() const;       // memory that was read into; read again when it is used again

 private:
  const Model& model_;
  std::map<ValueId, const Weight*> weights_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace planscope
