#include "app/desktop/completing_line.h"

#include <QAbstractItemView>
#include <QCompleter>
#include <QKeyEvent>
#include <QLabel>
#include <QStandardItemModel>

#include "app/desktop/style.h"

namespace planscope {

CompletingLine::CompletingLine(QWidget* parent)
    : QLineEdit(parent),
      completer_(new QCompleter(this)),
      items_(new QStandardItemModel(this)),
      note_label_(new QLabel) {
  completer_->setModel(items_);
  completer_->setWidget(this);
  completer_->setCompletionMode(QCompleter::UnfilteredPopupCompletion);
  completer_->setMaxVisibleItems(10);
  completer_->popup()->setObjectName("completions");
  completer_->popup()->setAccessibleName(tr("Completions"));
  note_label_->setWindowFlags(Qt::ToolTip);
  note_label_->setObjectName("value.note");
  note_label_->setProperty("note", true);
  note_label_->setMargin(px(4));
  connect(completer_, qOverload<const QModelIndex&>(&QCompleter::activated), this,
          [this](const QModelIndex& index) { insert(index.data(Qt::UserRole).toString()); });
  connect(this, &QLineEdit::textChanged, this, [this] { show_note(); });
}

CompletingLine::~CompletingLine() { delete note_label_; }

bool CompletingLine::completing() const { return completer_->popup()->isVisible(); }

QString CompletingLine::note_text() const { return note_label_->text(); }

void CompletingLine::show_note() {
  const std::string said = note ? note(text().toStdString()) : "";
  note_label_->setText(QString::fromStdString(said));
  if (said.empty() || !hasFocus()) return note_label_->hide();
  note_label_->adjustSize();
  const int above = note_label_->height() + 2;  // completions are below
  note_label_->move(mapToGlobal(QPoint(0, -above)));
  note_label_->show();
}

void CompletingLine::show_completions() {
  const QString now = text(), front = now.left(cursorPosition());
  const auto cursor = static_cast<std::size_t>(front.toUtf8().size());
  const session::Completion found = complete ? complete(now.toStdString(), cursor) : session::Completion{};
  items_->clear();
  if (found.items.empty()) return completer_->popup()->hide();
  from_ = static_cast<int>(QString::fromUtf8(now.toUtf8().left(static_cast<int>(found.from))).size());
  for (const session::CompletionItem& i : found.items) {
    const QString value = QString::fromStdString(i.text), about = QString::fromStdString(i.about);
    auto* item = new QStandardItem(about.isEmpty() ? value : value + "   " + about);
    item->setData(value, Qt::UserRole);
    items_->appendRow(item);
  }
  QRect at(0, 0, qMax(width(), completer_->popup()->sizeHintForColumn(0) + px(30)), height());
  completer_->setWidget(this);  // its filter of events before that of a delegate
  completer_->complete(at);
  completer_->popup()->setCurrentIndex(items_->index(0, 0));
}

void CompletingLine::insert(const QString& chosen) {
  const int cursor = cursorPosition();
  setText(text().left(from_) + chosen + text().mid(cursor));
  setCursorPosition(from_ + static_cast<int>(chosen.size()));
}

bool CompletingLine::event(QEvent* event) {
  const bool escape =
      event->type() == QEvent::ShortcutOverride && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape;
  if (escape && completer_->popup()->isVisible()) {
    event->accept();
    return true;
  }
  return QLineEdit::event(event);
}

void CompletingLine::keyPressEvent(QKeyEvent* event) {
  const bool open = completer_->popup()->isVisible();
  const int key = event->key();
  if (open && (key == Qt::Key_Return || key == Qt::Key_Enter || key == Qt::Key_Tab)) {
    const QModelIndex chosen = completer_->popup()->currentIndex();
    completer_->popup()->hide();
    if (chosen.isValid()) return insert(chosen.data(Qt::UserRole).toString());
  }
  if (open && key == Qt::Key_Escape) return completer_->popup()->hide();
  if (key == Qt::Key_Space && event->modifiers() == Qt::ControlModifier) return show_completions();
  QLineEdit::keyPressEvent(event);
  const QString typed = event->text();
  const bool letter =
      typed.size() == 1 && (typed[0].isLetterOrNumber() || typed[0] == '.' || typed[0] == '_' || typed[0] == ' ');
  if (letter || (open && key == Qt::Key_Backspace))
    show_completions();
  else if (open && !typed.isEmpty())
    completer_->popup()->hide();
}

void CompletingLine::focusOutEvent(QFocusEvent* event) {
  if (event->reason() != Qt::PopupFocusReason) note_label_->hide();
  QLineEdit::focusOutEvent(event);
}

}  // namespace planscope
