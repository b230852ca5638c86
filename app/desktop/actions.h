#pragma once
// Everything that can be done in the window, as one list of actions: the session's commands and the window's own.
// Menus, shortcuts, the
// palette, the shortcut sheet and tests are made from it. What cannot be done now is disabled, with the reason as
// its tooltip.
#include <QAction>
#include <functional>
#include <vector>

#include "app/session/commands.h"
#include "app/session/panel.h"
#include "app/session/state.h"

class QMenuBar;
class QWidget;

namespace planscope {

// What the window does itself: views, files of pictures, help.
struct WindowCommand {
  QString id;
  const char* menu;
  QString title, keys, about;  // keys: as "Ctrl+F; F3"
  std::function<void()> run;
  std::function<QString()> why_not = {};  // empty: always
};

class Actions {
 public:
  using RunSession = std::function<void(const session::CommandInfo&)>;

  // One QAction a command (its objectName is the id), added to `owner` so that its shortcut works, and to its menu.
  Actions(QMenuBar& bar, QWidget& owner, std::vector<WindowCommand> own, RunSession run);

  void refresh(const session::State& state);
  const std::vector<QAction*>& all() const { return actions_; }
  QAction* find(const QString& id) const;  // null: there is none
  session::Panel sheet() const;            // the shortcut sheet: rows run by their ids

 private:
  QAction* add(QWidget& owner, const QString& id, const QString& title, const QString& keys, const QString& about);

  std::vector<WindowCommand> own_;
  std::vector<QAction*> actions_;
};

}  // namespace planscope
