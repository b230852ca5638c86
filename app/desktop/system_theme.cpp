#include "app/desktop/system_theme.h"

#include "app/desktop/portal_watch.h"

namespace planscope {

SystemTheme::SystemTheme(std::function<void(Theme)> changed)
    : watch_(std::make_unique<PortalWatch>(std::move(changed))) {}
SystemTheme::~SystemTheme() = default;
Theme SystemTheme::now() const { return watch_->now(); }

}  // namespace planscope
