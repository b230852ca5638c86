#pragma once
// The one list of what a user can do: menus, shortcuts, palette and tests are made from it.
#include <QAction>
#include <QMenuBar>
#include <functional>
#include <vector>

namespace planscope {

struct Command {
  QString id;     // "plan.undo"
  QString menu;   // "&Edit"; a command whose menu differs from the one before begins a new menu or continues an old one
  QString title;  // "Undo"
  QKeySequence shortcut;
  QString tip;
  std::function<void()> run;
  bool separator_before = false;
};

// One QAction a command (its objectName is the id), added to `owner` so that its shortcut works, and to its menu.
std::vector<QAction*> build_actions(const std::vector<Command>& commands, QMenuBar& bar, QWidget& owner);

}  // namespace planscope
