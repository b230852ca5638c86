#pragma once
// Regions of torch.autocast: which operators of a region work in the low type, in float32 or in the widest type among their
// operands, as PyTorch 2.13 has it for CPU and CUDA. An operator that none of the lists names works in the types that its
// operands have.
//
//   AutocastState state;
//   state.of(false) = DType::bf16;                                                  // with torch.autocast("cpu")
//   autocast_policy("aten::linear", false) == AutocastPolicy::low;                  // its float32 operands are cast to bf16
#include <optional>
#include <string_view>

#include "engine/graph/model.h"

namespace planscope {

enum class AutocastPolicy : std::uint8_t {
  none,
  low,
  full,     // float32
  widest,   // float32 if one operand is, else the low type
  results,  // a composition of operators that are listed: what its results are says what its operands become
};
AutocastPolicy autocast_policy(std::string_view target, bool cuda);

// The low type of the innermost region around an operator, for each kind of device; nothing where it is switched off.
struct AutocastState {
  std::optional<DType> cpu, cuda;
  std::optional<DType>& of(bool on_cuda) { return on_cuda ? cuda : cpu; }
  const std::optional<DType>& of(bool on_cuda) const { return on_cuda ? cuda : cpu; }
};

}  // namespace planscope
