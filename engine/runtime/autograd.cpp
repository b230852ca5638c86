#include "engine/runtime/autograd.h"

#include <cstring>
#include <stdexcept>

namespace planscope {

void release_storage(const at::Tensor& tensor) {
  c10::StorageImpl* storage = tensor.storage().unsafeGetStorageImpl();
  storage->set_data_ptr_noswap(c10::DataPtr(nullptr, tensor.device()));
  storage->set_nbytes(0);
}

void refill_storage(const at::Tensor& tensor, const at::Tensor& contents) {
  if (tensor.sizes() != contents.sizes() || tensor.scalar_type() != contents.scalar_type() || !tensor.is_contiguous()) {
    throw std::logic_error("a value is made again with other sizes");
  }
  const at::Tensor source = contents.contiguous();
  const std::size_t offset = static_cast<std::size_t>(tensor.storage_offset()) * tensor.element_size();
  c10::StorageImpl* storage = tensor.storage().unsafeGetStorageImpl();
  if (storage->nbytes() == 0) {
    storage->set_data_ptr_noswap(c10::GetAllocator(c10::kCPU)->allocate(offset + source.nbytes()));
    storage->set_nbytes(offset + source.nbytes());
  }
  std::memcpy(static_cast<std::byte*>(storage->mutable_data()) + offset, source.const_data_ptr(), source.nbytes());
}

bool share_storage(const at::Tensor& a, const at::Tensor& b) {
  return a.defined() && b.defined() && a.has_storage() && b.has_storage() && a.is_alias_of(b);
}

}  // namespace planscope
