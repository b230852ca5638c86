#include "engine/runtime/autograd.h"

#include <torch/csrc/autograd/autograd.h>

#include <stdexcept>

#include "engine/runtime/copy_bytes.h"

namespace planscope {

namespace {

void release(const c10::Storage& storage) {
  c10::StorageImpl* contents = storage.unsafeGetStorageImpl();
  contents->set_data_ptr_noswap(c10::DataPtr(nullptr, storage.device()));
  contents->set_nbytes(0);
}

}  // namespace

void release_storage(const at::Tensor& tensor) { release(tensor.storage()); }

void refill_storage(const at::Tensor& tensor, at::Tensor contents) {
  if (tensor.sizes() != contents.sizes() || tensor.scalar_type() != contents.scalar_type() || !tensor.is_contiguous()) {
    throw std::logic_error("a value is made again with other sizes");
  }
  c10::StorageImpl* storage = tensor.storage().unsafeGetStorageImpl();
  const bool alone = contents.use_count() == 1 && contents.storage().use_count() == 1 && contents.is_contiguous() &&
                     contents.storage().nbytes() == contents.nbytes();
  if (storage->nbytes() == 0 && tensor.storage_offset() == 0 && alone) {
    c10::StorageImpl* given = contents.storage().unsafeGetStorageImpl();
    storage->set_data_ptr_noswap(given->set_data_ptr(c10::DataPtr(nullptr, given->device())));
    storage->set_nbytes(contents.nbytes());
    given->set_nbytes(0);
    return;
  }
  const at::Tensor source = contents.contiguous();
  const std::size_t offset = static_cast<std::size_t>(tensor.storage_offset()) * tensor.element_size();
  if (storage->nbytes() == 0) {
    storage->set_data_ptr_noswap(c10::GetAllocator(c10::kCPU)->allocate(offset + source.nbytes()));
    storage->set_nbytes(offset + source.nbytes());
  }
  copy_bytes(static_cast<std::byte*>(storage->mutable_data()) + offset, source.const_data_ptr(), source.nbytes());
}

HostCopy::HostCopy(c10::Storage storage) : storage_(std::move(storage)) {
  const auto* data = static_cast<const std::byte*>(storage_.data());
  bytes_.assign(data, data + storage_.nbytes());
  release(storage_);
}

void HostCopy::bring_back() {
  c10::StorageImpl* storage = storage_.unsafeGetStorageImpl();
  storage->set_data_ptr_noswap(c10::GetAllocator(c10::kCPU)->allocate(bytes_.size()));
  storage->set_nbytes(bytes_.size());
  copy_bytes(storage->mutable_data(), bytes_.data(), bytes_.size());
  bytes_ = {};
}

at::Tensor stand_in(const at::Tensor& tensor) {
  at::Tensor stand = at::empty({}, tensor.options().requires_grad(false)).expand(tensor.sizes());
  if (!tensor.requires_grad()) return stand.requires_grad_();
  torch::autograd::impl::set_gradient_edge(stand, torch::autograd::impl::gradient_edge(tensor));
  return stand;
}

at::Tensor behind(const at::Tensor& stand_in_of_leaf, const at::Tensor& tensor) {
  at::Tensor seen = tensor.detach();
  torch::autograd::impl::set_gradient_edge(seen, torch::autograd::impl::gradient_edge(stand_in_of_leaf));
  return seen;
}

bool carries_gradient(const at::Tensor& tensor) { return tensor.is_floating_point() || tensor.is_complex(); }

at::Tensor settled(const at::Tensor& tensor) {
  const at::Tensor dense = tensor.layout() == at::kStrided ? tensor : tensor.to_dense();
  return dense.resolve_conj().resolve_neg().contiguous();
}

bool share_storage(const at::Tensor& a, const at::Tensor& b) {
  return a.defined() && b.defined() && a.has_storage() && b.has_storage() && a.is_alias_of(b);
}

}  // namespace planscope
