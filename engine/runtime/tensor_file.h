#pragma once
// A file of tensors: 8 bytes length of a JSON header, the header, then the tensors' raw elements, each at a multiple of 64
// bytes. `TensorRows` collects the tensors and says where each of them lies: sizes, type and offset behind the header.
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "engine/base/diagnostic.h"
#include "engine/runtime/tensor_types.h"

namespace planscope {

class TensorRows {
 public:
  nlohmann::json add(const at::Tensor&);  // {"type", "sizes", "offset"}
  const TensorList& payload() const { return payload_; }

 private:
  TensorList payload_;
  std::uint64_t offset_ = 0;
};

// Written under a temporary name and renamed. Empty: written; else what went wrong.
std::vector<Diagnostic> write_tensor_file(const std::string& path, const nlohmann::json& header, const TensorRows&);

}  // namespace planscope
