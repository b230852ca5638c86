#pragma once
// A one-device run in a file that all ranks map: 8 bytes length of a JSON header, the header, raw tensors. Written
// under a temporary name and renamed, so that a file that is there is whole. Read by the build of planscope that wrote
// it.
//
// The error of a tensor is max|a - b| over the scale of its class: the largest reference value among the tensors of the
// same kind (gradient or parameter) and equal sizes, with 1e-6 of the largest of the kind as a floor, because some
// gradients are truly zero (a key bias under softmax). Where all gradients are no more than the rounding of the loss, they
// are measured by the loss. `noise` says what the model's types round away: the largest difference between the one-device runs in these
// types and in float64, over the tensors of the class (0 in float64). So does that of a loss, which in float64 is what
// loss_rounding of reference.h measures.
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "engine/base/diagnostic.h"
#include "engine/runtime/blocks.h"
#include "engine/runtime/reference.h"

namespace planscope {

enum class ReferenceKind : std::uint8_t { gradient, parameter };
std::string_view to_string(ReferenceKind);

// Empty: written; else what went wrong.
std::vector<Diagnostic> write_reference(const std::string& path, const std::map<Precision, const ReferenceRun*>& runs);

class ReferenceFile {
 public:
  static Result<ReferenceFile> open(const std::string& path);

  struct Entry {
    at::Tensor whole;  // mapped; do not write
    double scale = 0;
    double noise = 0;
  };
  const std::vector<double>& losses(Precision) const;
  double loss_noise(Precision, std::size_t step) const;  // what rounding makes of it, as far as is known
  double largest(Precision, ReferenceKind) const;  // of all tensors of the kind
  const Entry* find(Precision, ReferenceKind, TensorId) const;  // nullptr: the one-device run has none

 private:
  std::shared_ptr<void> mapping_;
  std::map<Precision, std::vector<double>> losses_, loss_noise_;
  std::map<std::pair<Precision, ReferenceKind>, double> largest_;
  std::map<std::tuple<Precision, ReferenceKind, TensorId>, Entry> entries_;
};

}  // namespace planscope
