// What runs have kept for their backward, in host memory: `offload` and `restore` of pieces and of optimizer states.
#include <stdexcept>

#include "engine/runtime/executor.h"

namespace planscope {

// What the Program still reads as a value, what is stored, and what runs have kept that are not offloaded.
std::set<const c10::StorageImpl*> Executor::needed_here() const {
  std::set<const c10::StorageImpl*> needed;
  const auto note = [&](const at::Tensor& tensor) { needed.insert(tensor.storage().unsafeGetStorageImpl()); };
  for (const auto& [key, tensor] : values_) note(tensor);
  for (const auto& [key, tensor] : retired_) note(tensor);
  for (const auto& [id, tensor] : homes_) note(tensor);
  for (const auto& [id, versions] : older_)
    for (const at::Tensor& tensor : versions) note(tensor);
  for (const auto& [buffer, versions] : written_)
    for (const auto& [step, tensor] : versions) note(tensor);
  for (const auto& [key, kept] : kept_)
    if (!kept.offloaded)
      for (const SavedStorage& saved : kept.run.saved)
        if (const auto storage = saved.lock()) needed.insert(storage.get());
  return needed;
}

// Goes to host memory now, or when the forward pass frees it.
void Executor::move_out(const SavedStorage& saved, const std::set<const c10::StorageImpl*>& needed) {
  const c10::Storage storage(saved.lock());
  if (!storage) return;
  const c10::StorageImpl* key = storage.unsafeGetStorageImpl();
  if (needed.contains(key)) {
    leaving_.insert_or_assign(key, saved);
  } else {
    leaving_.erase(key);
    if (storage.nbytes() > 0) away_.emplace(key, storage);
  }
}

void Executor::offload(const Instruction& i) {
  if (i.piece < 0) return optimizers_.at(home_of_.at(i.in[0])).put_away();
  const auto found = kept_.find({i.piece, free_index()});
  if (found == kept_.end()) throw std::logic_error("a piece that was not kept is offloaded");
  found->second.offloaded = true;
  const std::set<const c10::StorageImpl*> needed = needed_here();
  for (const SavedStorage& saved : found->second.run.saved) move_out(saved, needed);
}

void Executor::move_out_freed(const std::vector<const c10::StorageImpl*>& freed) {
  std::vector<SavedStorage> leaving;
  for (const c10::StorageImpl* storage : freed)
    if (const auto found = leaving_.find(storage); found != leaving_.end()) leaving.push_back(found->second);
  if (leaving.empty()) return;
  const std::set<const c10::StorageImpl*> needed = needed_here();
  for (const SavedStorage& saved : leaving) move_out(saved, needed);
}

void Executor::restore(const Instruction& i) {
  if (i.piece < 0) return optimizers_.at(home_of_.at(i.out[0])).bring_back();
  const auto found = kept_.find({i.piece, free_index()});
  if (found == kept_.end()) throw std::logic_error("a piece that was not kept is restored");
  found->second.offloaded = false;
  for (const SavedStorage& saved : found->second.run.saved) {
    const auto storage = saved.lock();
    const auto copy = away_.find(storage.get());
    if (copy == away_.end()) continue;
    copy->second.bring_back();
    away_.erase(copy);
  }
}

}  // namespace planscope
