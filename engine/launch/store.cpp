#include "engine/launch/store.h"

#include <algorithm>
#include <charconv>

#include "engine/base/text.h"

namespace planscope {
namespace {

constexpr std::chrono::milliseconds quick{600000};  // the launcher answers at once, or is gone

StoreRequest about(StoreAction action, std::vector<std::string> keys) {
  StoreRequest request;
  request.action = action;
  request.keys = std::move(keys);
  return request;
}

}  // namespace

bool Store::set(const std::string& key, std::string value) {
  StoreRequest request = about(StoreAction::set, {key});
  request.value = std::move(value);
  return link_.store_send(request);
}

Result<std::vector<std::string>> Store::wait(const std::vector<std::string>& keys, std::chrono::milliseconds patience) {
  Result<StoreReply> reply = link_.store_ask(about(StoreAction::wait, keys), patience);
  if (reply.ok()) return std::move(reply->values);
  std::vector<std::string> missing;
  for (const std::string& key : keys) {
    const Result<bool> there = check({key});
    if (!there.ok()) return reply.diagnostics;
    if (!*there) missing.push_back(key);
  }
  if (missing.empty()) return reply.diagnostics;  // they came just now
  return error("no value for " + join(missing, ", ") + " came from the other ranks", reply.diagnostics.front().why);
}

Result<std::string> Store::get(const std::string& key, std::chrono::milliseconds patience) {
  Result<std::vector<std::string>> values = wait({key}, patience);
  if (!values.ok()) return values.diagnostics;
  return std::move(values->at(0));
}

Result<bool> Store::check(const std::vector<std::string>& keys) {
  Result<StoreReply> reply = link_.store_ask(about(StoreAction::check, keys), quick);
  if (!reply.ok()) return reply.diagnostics;
  return reply->number != 0;
}

Result<std::int64_t> Store::add(const std::string& key, std::int64_t amount) {
  StoreRequest request = about(StoreAction::add, {key});
  request.amount = amount;
  Result<StoreReply> reply = link_.store_ask(std::move(request), quick);
  if (!reply.ok()) return reply.diagnostics;
  return reply->number;
}

Result<bool> Store::remove(const std::string& key) {
  Result<StoreReply> reply = link_.store_ask(about(StoreAction::remove, {key}), quick);
  if (!reply.ok()) return reply.diagnostics;
  return reply->number != 0;
}

Result<std::string> Store::swap(const std::string& key, const std::string& expected, const std::string& desired) {
  StoreRequest request = about(StoreAction::swap, {key});
  request.expected = expected;
  request.value = desired;
  Result<StoreReply> reply = link_.store_ask(std::move(request), quick);
  if (!reply.ok()) return reply.diagnostics;
  return reply->values.empty() ? std::string{} : std::move(reply->values[0]);
}

Result<std::int64_t> Store::count() {
  Result<StoreReply> reply = link_.store_ask(about(StoreAction::count, {}), quick);
  if (!reply.ok()) return reply.diagnostics;
  return reply->number;
}

bool StoreRelay::has_all(const std::vector<std::string>& keys) const {
  return std::all_of(keys.begin(), keys.end(), [&](const std::string& k) { return values_.contains(k); });
}

StoreReply StoreRelay::answer(const StoreRequest& request) {
  StoreReply reply;
  reply.id = request.id;
  const std::string key = request.keys.empty() ? std::string{} : request.keys.front();
  switch (request.action) {
    case StoreAction::set:
      values_[key] = request.value;
      break;
    case StoreAction::wait:
      for (const std::string& k : request.keys) reply.values.push_back(values_.at(k));
      break;
    case StoreAction::check:
      reply.number = has_all(request.keys) ? 1 : 0;
      break;
    case StoreAction::add: {
      std::string& value = values_[key];
      std::int64_t sum = 0;
      std::from_chars(value.data(), value.data() + value.size(), sum);  // what is not a number counts as 0
      reply.number = sum + request.amount;
      value = std::to_string(reply.number);
      break;
    }
    case StoreAction::remove:
      reply.number = static_cast<std::int64_t>(values_.erase(key));
      break;
    case StoreAction::swap: {
      const auto it = values_.find(key);
      if (it == values_.end() ? request.expected.empty() : it->second == request.expected) {
        values_[key] = request.value;
      }
      if (const auto now = values_.find(key); now != values_.end()) reply.values.push_back(now->second);
      break;
    }
    case StoreAction::count:
      reply.number = static_cast<std::int64_t>(values_.size());
      break;
  }
  return reply;
}

void StoreRelay::release(std::vector<std::pair<int, StoreReply>>& replies) {
  std::erase_if(waiting_, [&](const Waiting& w) {
    if (!has_all(w.request.keys)) return false;
    replies.emplace_back(w.rank, answer(w.request));
    return true;
  });
}

std::vector<std::pair<int, StoreReply>> StoreRelay::handle(int rank, const StoreRequest& request) {
  std::vector<std::pair<int, StoreReply>> replies;
  if (request.action == StoreAction::wait && !has_all(request.keys)) {
    waiting_.push_back({rank, request});
    return replies;
  }
  StoreReply reply = answer(request);
  if (request.id != 0) replies.emplace_back(rank, std::move(reply));
  release(replies);
  return replies;
}

}  // namespace planscope
