#include "app/desktop/window_memory.h"

namespace planscope {

WindowMemory::WindowMemory(const QString& file)
    : settings_(file.isEmpty()
                    ? std::make_unique<QSettings>(QSettings::IniFormat, QSettings::UserScope, "planscope", "desktop")
                    : std::make_unique<QSettings>(file, QSettings::IniFormat)) {}

void WindowMemory::keep_window(const QByteArray& geometry, const QByteArray& layout, const QByteArray& canvases) {
  settings_->setValue("geometry", geometry);
  settings_->setValue("layout", layout);
  settings_->setValue("canvases", canvases);
  settings_->sync();
}

void WindowMemory::keep_open(const QStringList& lines, int current) {
  if (lines == open() && current == this->current()) return;
  settings_->setValue("open", lines);
  settings_->setValue("current", current);
  settings_->sync();  // also a kill -9 finds it
}

void WindowMemory::keep_look(const QString& link) {
  if (link != look()) settings_->setValue("look", link);
}

}  // namespace planscope
