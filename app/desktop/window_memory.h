#pragma once
// What the window remembers from one start to the next: its place and layout, what was open.
//
//   WindowMemory memory("/tmp/a.ini");   // empty: the user's own file
#include <QSettings>
#include <memory>

namespace planscope {

class WindowMemory {
 public:
  explicit WindowMemory(const QString& file);

  QByteArray geometry() const { return value("geometry").toByteArray(); }
  QByteArray layout() const { return value("layout").toByteArray(); }
  QByteArray canvases() const { return value("canvases").toByteArray(); }
  bool wide_bottom() const { return value("wide_bottom", false).toBool(); }  // the lower docks have the whole width
  void keep_wide_bottom(bool wide) { settings_->setValue("wide_bottom", wide); }
  void keep_window(const QByteArray& geometry, const QByteArray& layout, const QByteArray& canvases);

  QStringList open() const { return value("open").toStringList(); }  // `open …` lines of a session script
  int current() const { return value("current", 0).toInt(); }
  void keep_open(const QStringList& lines, int current);
  QString look() const { return value("look").toString(); }  // a link: what was selected and how it was looked at
  void keep_look(const QString& link);

  QStringList recent_commands() const { return value("commands").toStringList(); }
  void keep_recent_commands(const QStringList& ids) { settings_->setValue("commands", ids); }

 private:
  QVariant value(const char* name, const QVariant& otherwise = {}) const { return settings_->value(name, otherwise); }

  std::unique_ptr<QSettings> settings_;
};

}  // namespace planscope
