#include "app/session/typing.h"

#include <algorithm>

namespace planscope::session {

namespace {

constexpr std::size_t kMost = 64;  // texts that may be under way at once, of all pages

template <class T>
void add(std::deque<T>& to, T one) {
  to.push_back(std::move(one));
  if (to.size() > kMost) to.pop_front();
}

}  // namespace

std::optional<std::string> Typing::base(const std::string& from, const std::string& text, const std::string& id,
                                        const std::string& after) {
  if (!id.empty() && std::find(overtaken_.begin(), overtaken_.end(), id) != overtaken_.end()) return std::nullopt;
  std::string base = from;
  if (!after.empty()) {
    const auto before = std::find_if(come_.begin(), come_.end(), [&](const auto& one) { return one.first == after; });
    if (before == come_.end())
      add(overtaken_, after);
    else
      base = before->second;
  }
  if (!id.empty()) add(come_, {id, text});
  return base;
}

}  // namespace planscope::session
