#pragma once
// Whether the system wants dark or light: what its portal says, else dark, as the pictures of the documentation.
// PLANSCOPE_THEME=light|dark goes before.
//
//   SystemTheme system([](Theme now) { … });   // on every change, by the event loop
//   system.now()
#include <functional>
#include <memory>

#include "app/desktop/style.h"

namespace planscope {

class PortalWatch;

class SystemTheme {
 public:
  explicit SystemTheme(std::function<void(Theme)> changed);
  ~SystemTheme();
  Theme now() const;

 private:
  std::unique_ptr<PortalWatch> watch_;
};

}  // namespace planscope
