#include "app/desktop/commands.h"

#include <QMap>
#include <QMenu>

namespace planscope {

std::vector<QAction*> build_actions(const std::vector<Command>& commands, QMenuBar& bar, QWidget& owner) {
  QMap<QString, QMenu*> menus;
  std::vector<QAction*> actions;
  for (const Command& command : commands) {
    QMenu*& menu = menus[command.menu];
    if (menu == nullptr) menu = bar.addMenu(command.menu);
    if (command.separator_before) menu->addSeparator();
    auto* action = new QAction(command.title, &owner);
    action->setObjectName(command.id);
    action->setShortcut(command.shortcut);
    action->setToolTip(command.tip);
    action->setStatusTip(command.tip);
    QObject::connect(action, &QAction::triggered, &owner, [run = command.run] { run(); });
    owner.addAction(action);
    menu->addAction(action);
    actions.push_back(action);
  }
  return actions;
}

}  // namespace planscope
