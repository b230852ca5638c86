#include "app/desktop/portal_watch.h"

#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusVariant>
#include <QMetaType>
#include <QVariant>

namespace planscope {

namespace {

constexpr const char *service = "org.freedesktop.portal.Desktop", *path = "/org/freedesktop/portal/desktop",
                     *interface = "org.freedesktop.portal.Settings";
constexpr const char *appearance = "org.freedesktop.appearance", *scheme = "color-scheme";
constexpr int patience_ms = 200;

// 0: no preference, 1: dark, 2: light.
Theme theme_of(QVariant value) {
  while (value.canConvert<QDBusVariant>()) value = value.value<QDBusVariant>().variant();
  return value.toUInt() == 2 ? Theme::light : Theme::dark;
}

}  // namespace

PortalWatch::PortalWatch(std::function<void(Theme)> changed) : changed_(std::move(changed)) {
  if (qEnvironmentVariableIsSet("PLANSCOPE_THEME")) {
    now_ = qEnvironmentVariable("PLANSCOPE_THEME") == "light" ? Theme::light : Theme::dark;
    return;
  }
  QDBusConnection bus = QDBusConnection::sessionBus();
  if (!bus.isConnected()) return;
  qRegisterMetaType<QDBusVariant>();  // a signal of a type that has no number yet is not connected
  // clang-format off: the signature as moc writes it, without spaces.
  bus.connect(service, path, interface, "SettingChanged", this, SLOT(setting_changed(QString,QString,QDBusVariant)));
  // clang-format on
  QDBusMessage call = QDBusMessage::createMethodCall(service, path, interface, "Read");
  call << QString(appearance) << QString(scheme);
  const QDBusMessage reply = bus.call(call, QDBus::Block, patience_ms);
  if (reply.type() == QDBusMessage::ReplyMessage && !reply.arguments().isEmpty())
    now_ = theme_of(reply.arguments().first());
}

void PortalWatch::setting_changed(const QString& space, const QString& key, const QDBusVariant& value) {
  if (space != appearance || key != scheme) return;
  const Theme next = theme_of(value.variant());
  if (next == now_) return;
  now_ = next;
  changed_(next);
}

}  // namespace planscope
