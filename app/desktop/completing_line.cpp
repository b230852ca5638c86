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
          [this](const QModelIndex& index) { take(index); });
  connect(this, &QLineEdit::textChanged, this, [this] { show_note(); });
}

CompletingLine::~CompletingLine() { delete note_label_; }

std::size_t CompletingLine::byte_at_cursor() const {
  return static_cast<std::size_t>(text().left(cursorPosition()).toUtf8().size());
}

bool CompletingLine::completing() const {
  return completer_->popup()->isVisible() && offered_.is_of(text().toStdString(), byte_at_cursor());
}

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

void CompletingLine::show_completions() { offer(true); }

void CompletingLine::offer(bool asked) {
  offered_ = complete ? complete(text().toStdString(), byte_at_cursor()) : session::Completion{};
  items_->clear();
  if (offered_.items.empty() || (offered_.whole && !asked)) return completer_->popup()->hide();
  for (const session::CompletionItem& i : offered_.items) {
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

void CompletingLine::take(const QModelIndex& completion) {
  if (!offered_.is_of(text().toStdString(), byte_at_cursor())) return;  // it was of another text, or place
  const QString chosen = completion.data(Qt::UserRole).toString();
  const QString front = QString::fromUtf8(text().toUtf8().left(static_cast<qsizetype>(offered_.from)));
  setText(front + chosen + text().mid(cursorPosition()));
  setCursorPosition(static_cast<int>(front.size() + chosen.size()));
}

// Tab takes what is chosen in the list, and goes to the next widget where nothing is.
bool CompletingLine::focusNextPrevChild(bool next) {
  const bool chosen = completing() && completer_->popup()->currentIndex().isValid();
  return !chosen && QLineEdit::focusNextPrevChild(next);
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
  const bool open = completing();
  if (!open) completer_->popup()->hide();
  const int key = event->key();
  if (open && (key == Qt::Key_Return || key == Qt::Key_Enter || key == Qt::Key_Tab)) {
    const QModelIndex chosen = completer_->popup()->currentIndex();
    completer_->popup()->hide();
    if (chosen.isValid()) return take(chosen);
  }
  if (open && key == Qt::Key_Escape) return completer_->popup()->hide();
  if (key == Qt::Key_Space && event->modifiers() == Qt::ControlModifier) return show_completions();
  QLineEdit::keyPressEvent(event);
  const QString typed = event->text();
  const bool letter =
      typed.size() == 1 && (typed[0].isLetterOrNumber() || typed[0] == '.' || typed[0] == '_' || typed[0] == ' ');
  if (letter || (open && key == Qt::Key_Backspace))
    offer(false);
  else if (!completing())
    completer_->popup()->hide();
}

void CompletingLine::focusOutEvent(QFocusEvent* event) {
  if (event->reason() != Qt::PopupFocusReason) note_label_->hide();
  QLineEdit::focusOutEvent(event);
}

}  // namespace planscope
