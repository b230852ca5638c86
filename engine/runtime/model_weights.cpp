#include "engine/runtime/model_weights.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <stdexcept>

namespace planscope {

ModelWeights::ModelWeights(const Model& model) : model_(model) {
  bool any = false;
  for (const Weight& weight : model.weights) {
    if (weight.bytes > 0) any = weights_.emplace(weight.value, &weight).second || any;
  }
  if (!any) return;
  const int file = ::open(model.path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status{};
  if (file < 0 || ::fstat(file, &status) != 0) {
    if (file >= 0) ::close(file);
    throw std::runtime_error("cannot read the weights in '" + model.path + "'");
  }
  size_ = static_cast<std::size_t>(status.st_size);
  void* mapped = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
  ::close(file);
  if (mapped == MAP_FAILED) throw std::runtime_error("cannot map the weights in '" + model.path + "'");
  data_ = static_cast<std::byte*>(mapped);
  payloads_ = Payloads({reinterpret_cast<const char*>(data_), size_});
}

ModelWeights::~ModelWeights() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

void ModelWeights::release_pages() const {
  if (data_ != nullptr) ::madvise(data_, size_, MADV_DONTNEED);
}

void ModelWeights::require_whole(const Weight& weight) const {
  if (!whole_.insert(weight.offset).second) return;
  const std::string_view file(reinterpret_cast<const char*>(data_), size_);
  if (auto damage = payloads_.damage(file, weight.offset)) {
    damage->file = model_.path;
    throw DamagedFile(to_string(*damage));
  }
}

at::Tensor ModelWeights::whole(ValueId id) const {
  const auto found = weights_.find(id);
  if (found == weights_.end()) return {};
  const Weight& weight = *found->second;
  const Value& value = model_.values[static_cast<std::size_t>(id)];
  const auto element = static_cast<std::uint64_t>(byte_size(value.dtype));
  if (weight.offset > size_ || weight.bytes > size_ - weight.offset || weight.strides.size() != value.sizes.size())
    return {};
  std::uint64_t last = static_cast<std::uint64_t>(weight.storage_offset);
  for (std::size_t d = 0; d < value.sizes.size(); ++d) {
    if (value.sizes[d] <= 0 || weight.strides[d] < 0) return {};
    last += static_cast<std::uint64_t>(value.sizes[d] - 1) * static_cast<std::uint64_t>(weight.strides[d]);
  }
  if (weight.storage_offset < 0 || last >= weight.bytes / element) return {};
  require_whole(weight);
  std::byte* first = data_ + weight.offset + static_cast<std::uint64_t>(weight.storage_offset) * element;
  return at::from_blob(first, value.sizes, weight.strides, at::TensorOptions().dtype(scalar_type(value.dtype)));
}

}  // namespace planscope
