#pragma once
// What the system's portal says of dark and light, and each change of it; of system_theme.cpp alone. A header of its own, since the
// signal of D-Bus calls a slot, for which Qt makes code that needs to know all types.
#include <QDBusVariant>
#include <QObject>
#include <QString>
#include <functional>

#include "app/desktop/style.h"

namespace planscope {

class PortalWatch : public QObject {
  Q_OBJECT

 public:
  explicit PortalWatch(std::function<void(Theme)> changed);
  Theme now() const { return now_; }

 private Q_SLOTS:
  void setting_changed(const QString& space, const QString& key, const QDBusVariant& value);

 private:
  std::function<void(Theme)> changed_;
  Theme now_ = Theme::dark;
};

}  // namespace planscope
