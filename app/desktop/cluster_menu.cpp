#include "app/desktop/cluster_menu.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QRegularExpression>
#include <QSpinBox>
#include <QWidgetAction>

namespace planscope {

QString ClusterMenu::with_nodes(const QString& name, int nodes) {
  static const QRegularExpression counted("x[0-9]+$");
  const bool file = name.endsWith(".json") || name.contains('/');
  return nodes == 0 || file || name.contains('+') || counted.match(name).hasMatch()
             ? name
             : name + 'x' + QString::number(nodes);
}

ClusterMenu::ClusterMenu(const std::vector<session::Choice>& choices, const QString& now,
                         std::function<void(const QString&)> choose, std::function<void()> ask_file, QWidget* parent)
    : QMenu(parent) {
  setObjectName("clusters");
  setToolTipsVisible(true);
  auto* box = new QWidget;
  auto* row = new QHBoxLayout(box);
  row->setContentsMargins(14, 4, 14, 4);
  auto* nodes = new QSpinBox;
  nodes->setObjectName("nodes");
  nodes->setRange(0, 4096);
  nodes->setSpecialValueText(tr("as many as the plan needs"));
  nodes->setAccessibleName(tr("Number of nodes"));
  auto* label = new QLabel(tr("&Nodes"));
  label->setBuddy(nodes);
  row->addWidget(label);
  row->addWidget(nodes, 1);
  static const QRegularExpression counted("x([0-9]+)$");
  if (const auto match = counted.match(now); match.hasMatch()) nodes->setValue(match.captured(1).toInt());
  auto* holder = new QWidgetAction(this);
  holder->setDefaultWidget(box);
  addAction(holder);
  addSeparator();
  for (const session::Choice& c : choices) {
    const QString name = QString::fromStdString(c.value), about = QString::fromStdString(c.about);
    QAction* action = addAction(fontMetrics().elidedText(name + "  –  " + about, Qt::ElideRight, 560));
    action->setObjectName(name);
    action->setToolTip(about);
    action->setCheckable(true);
    action->setChecked(name == now || with_nodes(name, nodes->value()) == now);
    connect(action, &QAction::triggered, this, [choose, nodes, name] { choose(with_nodes(name, nodes->value())); });
  }
  addSeparator();
  connect(addAction(tr("A file …")), &QAction::triggered, this, [ask_file] { ask_file(); });
}

}  // namespace planscope
