#include "app/desktop/command_palette.h"

#include <QAction>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QVBoxLayout>

namespace planscope {

bool matches_in_order(const QString& typed, const QString& title) {
  int at = 0;
  for (const QChar c : typed) {
    if (c.isSpace()) continue;
    at = static_cast<int>(title.indexOf(c, at, Qt::CaseInsensitive));
    if (at < 0) return false;
    ++at;
  }
  return true;
}

CommandPalette::CommandPalette(const std::vector<QAction*>& actions, QWidget* parent)
    : QDialog(parent, Qt::Popup), actions_(actions), input_(new QLineEdit(this)), list_(new QListWidget(this)) {
  setObjectName("palette");
  input_->setPlaceholderText(tr("Any command"));
  input_->setAccessibleName(tr("Command"));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(8, 8, 8, 8);
  layout->addWidget(input_);
  layout->addWidget(list_);
  resize(520, 360);
  connect(input_, &QLineEdit::textChanged, this, [this] { refill(); });
  connect(list_, &QListWidget::itemActivated, this, [this] { run_current(); });
  input_->installEventFilter(this);
  refill();
  input_->setFocus();
}

void CommandPalette::refill() {
  list_->clear();
  for (QAction* action : actions_) {
    if (!action->isEnabled() || !matches_in_order(input_->text(), action->text())) continue;
    const QString keys = action->shortcut().toString(QKeySequence::NativeText);
    auto* item = new QListWidgetItem(action->text() + (keys.isEmpty() ? QString() : "    " + keys), list_);
    item->setData(Qt::UserRole, QVariant::fromValue(action));
    item->setToolTip(action->toolTip());
  }
  list_->setCurrentRow(0);
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::KeyPress) return QDialog::eventFilter(watched, event);
  const int key = static_cast<QKeyEvent*>(event)->key();
  const int step = key == Qt::Key_Down ? 1 : key == Qt::Key_Up ? -1 : 0;
  if (step != 0)
    list_->setCurrentRow(qBound(0, list_->currentRow() + step, list_->count() - 1));
  else if (key == Qt::Key_Return || key == Qt::Key_Enter)
    run_current();
  else
    return QDialog::eventFilter(watched, event);
  return true;
}

void CommandPalette::run_current() {
  const QListWidgetItem* item = list_->currentItem();
  QAction* action = item == nullptr ? nullptr : item->data(Qt::UserRole).value<QAction*>();
  close();
  if (action != nullptr) action->trigger();
}

}  // namespace planscope
