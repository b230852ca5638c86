#pragma once
// A value that is made when it is first asked for, once, by whichever thread asks first. Shared by copies of what
// holds it.
//
//   auto figures = make_once([evaluation] { return plan_figures(*evaluation); });
//   figures->get().operators
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace planscope::session {

template <class T>
class Once {
 public:
  explicit Once(std::function<T()> make) : make_(std::move(make)) {}
  const T& get() const {
    std::call_once(once_, [this] {
      value_.emplace(make_());
      make_ = nullptr;
    });
    return *value_;
  }

 private:
  mutable std::once_flag once_;
  mutable std::function<T()> make_;
  mutable std::optional<T> value_;
};

template <class Make>
auto make_once(Make make) {
  using T = decltype(make());
  return std::make_shared<const Once<T>>(std::function<T()>(std::move(make)));
}

}  // namespace planscope::session
