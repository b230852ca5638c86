#include "app/desktop/command_palette.h"

#include <QAction>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>

namespace planscope {

int match_of(const QString& typed, const QString& title) {
  const QString t = typed.simplified();
  if (t.isEmpty()) return 1;
  if (title.startsWith(t, Qt::CaseInsensitive)) return 4;
  if (title.contains(' ' + t, Qt::CaseInsensitive)) return 3;
  if (title.contains(t, Qt::CaseInsensitive)) return 2;
  int at = 0;
  for (const QChar c : t) {
    if (c.isSpace()) continue;
    at = static_cast<int>(title.indexOf(c, at, Qt::CaseInsensitive));
    if (at < 0) return 0;
    ++at;
  }
  return 1;
}

CommandPalette::CommandPalette(QWidget* window, const std::vector<QAction*>& actions, QStringList& recent)
    : Overlay(window, "palette", {620, 420}), actions_(actions), recent_(recent), input_(new QLineEdit), list_(new QListWidget) {
  input_->setPlaceholderText(tr("Any command"));
  input_->setAccessibleName(tr("Command"));
  list_->setAccessibleName(tr("Commands"));
  list_->setTextElideMode(Qt::ElideRight);
  content()->addWidget(input_);
  content()->addWidget(list_);
  connect(input_, &QLineEdit::textChanged, this, [this] { refill(); });
  connect(list_, &QListWidget::itemActivated, this, [this] { run_current(); });
  connect(list_, &QListWidget::itemClicked, this, [this] { run_current(); });
  input_->installEventFilter(this);
  refill();
  open(input_);
}

void CommandPalette::refill() {
  struct Hit {
    QAction* action;
    int match;
    qsizetype recent;
  };
  std::vector<Hit> hits;
  for (QAction* action : actions_) {
    const qsizetype used = recent_.indexOf(action->objectName());
    if (const int m = match_of(input_->text(), action->text())) hits.push_back({action, m, used < 0 ? 1000 : used});
  }
  std::stable_sort(hits.begin(), hits.end(), [](const Hit& a, const Hit& b) {
    if (a.action->isEnabled() != b.action->isEnabled()) return a.action->isEnabled();
    return a.match != b.match ? a.match > b.match : a.recent < b.recent;
  });
  list_->clear();
  for (const Hit& h : hits) {
    const QString keys = h.action->shortcut().toString(QKeySequence::NativeText);
    const QString reason = h.action->isEnabled() ? QString() : h.action->statusTip();
    auto* item = new QListWidgetItem(h.action->text() + (keys.isEmpty() ? "" : "    " + keys) + (reason.isEmpty() ? "" : "    – " + reason), list_);
    item->setData(Qt::UserRole, QVariant::fromValue(h.action));
    item->setToolTip(h.action->toolTip());
    if (!h.action->isEnabled()) item->setForeground(palette().color(QPalette::PlaceholderText));
  }
  list_->setCurrentRow(0);
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
  if (watched != input_ || event->type() != QEvent::KeyPress) return Overlay::eventFilter(watched, event);
  const int key = static_cast<QKeyEvent*>(event)->key();
  const int step = key == Qt::Key_Down ? 1 : key == Qt::Key_Up ? -1 : key == Qt::Key_PageDown ? 10 : key == Qt::Key_PageUp ? -10 : 0;
  if (step != 0)
    list_->setCurrentRow(qBound(0, list_->currentRow() + step, list_->count() - 1));
  else if (key == Qt::Key_Return || key == Qt::Key_Enter)
    run_current();
  else
    return Overlay::eventFilter(watched, event);
  return true;
}

void CommandPalette::run_current() {
  const QListWidgetItem* item = list_->currentItem();
  QAction* action = item == nullptr ? nullptr : item->data(Qt::UserRole).value<QAction*>();
  if (!action || !action->isEnabled()) return;
  recent_.removeAll(action->objectName());
  recent_.prepend(action->objectName());
  while (recent_.size() > 20) recent_.removeLast();
  leave();
  action->trigger();
}

}  // namespace planscope
