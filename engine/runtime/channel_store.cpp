#include "engine/runtime/channel_store.h"

#include <stdexcept>

namespace planscope {
namespace {

using ByteVector = std::vector<std::uint8_t>;

std::string text(const ByteVector& bytes) { return {bytes.begin(), bytes.end()}; }
ByteVector bytes(const std::string& text) { return {text.begin(), text.end()}; }

template <class T>
T value_or_throw(Result<T> r) {
  if (!r.ok()) throw std::runtime_error(to_string(r.diagnostics.front()));
  return std::move(*r);
}

}  // namespace

c10::intrusive_ptr<c10d::Store> ChannelStore::clone() { return c10::make_intrusive<ChannelStore>(store_, timeout_); }

void ChannelStore::set(const std::string& key, const ByteVector& value) {
  if (!store_.set(key, text(value))) throw std::runtime_error("the launcher is gone");
}

ByteVector ChannelStore::get(const std::string& key) { return bytes(value_or_throw(store_.get(key, timeout_))); }

ByteVector ChannelStore::compareSet(const std::string& key, const ByteVector& expected, const ByteVector& desired) {
  return bytes(value_or_throw(store_.swap(key, text(expected), text(desired))));
}

std::int64_t ChannelStore::add(const std::string& key, std::int64_t amount) {
  return value_or_throw(store_.add(key, amount));
}
bool ChannelStore::deleteKey(const std::string& key) { return value_or_throw(store_.remove(key)); }
bool ChannelStore::check(const std::vector<std::string>& keys) { return value_or_throw(store_.check(keys)); }
std::int64_t ChannelStore::getNumKeys() { return value_or_throw(store_.count()); }
void ChannelStore::wait(const std::vector<std::string>& keys) { value_or_throw(store_.wait(keys, timeout_)); }

void ChannelStore::wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) {
  value_or_throw(store_.wait(keys, timeout == kNoTimeout ? timeout_ : timeout));
}

}  // namespace planscope
