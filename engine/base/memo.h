#pragma once
// What a function gives, computed once for every key. Threads may ask at once: who asks for what another computes waits for it.
// Values stay where they are.
//
//   Memo<std::string, Layout> layouts;
//   const Layout& l = layouts.at("a", [] { return slow("a"); });
//   layouts.find("b")                                                // nullptr: nobody asked, or it is being computed
#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>

namespace planscope {

template <class Key, class Value>
class Memo {
 public:
  template <class Make>
  const Value& at(const Key& key, const Make& make) {
    Entry& entry = entry_of(key);
    std::call_once(entry.once, [&] {
      entry.value.emplace(make());
      entry.made = true;
    });
    return *entry.value;
  }
  const Value* find(const Key& key) const {
    const std::lock_guard lock(mutex_);
    const auto entry = entries_.find(key);
    return entry != entries_.end() && entry->second.made ? &*entry->second.value : nullptr;
  }

  bool asked(const Key& key) const {  // made, or being computed
    const std::lock_guard lock(mutex_);
    return entries_.contains(key);
  }
  std::size_t size() const {  // of what was asked for
    const std::lock_guard lock(mutex_);
    return entries_.size();
  }

 private:
  struct Entry {
    std::once_flag once;
    std::atomic<bool> made = false;
    std::optional<Value> value;
  };
  Entry& entry_of(const Key& key) {
    const std::lock_guard lock(mutex_);
    return entries_[key];
  }
  mutable std::mutex mutex_;  // of the map, not of its values
  std::map<Key, Entry> entries_;
};

}  // namespace planscope
