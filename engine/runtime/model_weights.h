#pragma once
// The numbers that a model file holds: the file is mapped, pages are read when they are used. Tensors given out are
// whole, in the model's type, must not be written, and stay valid as long as this object lives.
//
// The checksum of a payload is compared when a tensor of it is first given out; nothing else of the file is read.
//
// Errors: a file that cannot be mapped throws std::runtime_error, a payload whose checksum does not hold DamagedFile;
// a payload that lies outside of the file, or that is too short for its sizes and strides, is as if the file had
// none.
#include <cstddef>
#include <map>
#include <set>
#include <stdexcept>

#include "engine/graph/payloads.h"
#include "engine/runtime/tensor_types.h"

namespace planscope {

// A file that was given to the worker is not what its own checksums say.
class DamagedFile : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

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
  void require_whole(const Weight&) const;

  std::map<ValueId, const Weight*> weights_;
  Payloads payloads_;
  mutable std::set<std::uint64_t> whole_;  // offsets of the payloads whose checksums hold
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace planscope
