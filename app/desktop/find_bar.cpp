#include "app/desktop/find_bar.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QTextBlock>
#include <QToolButton>
#include <QVBoxLayout>

namespace planscope {

namespace {

QToolButton* button(const QString& text, const QString& tip) {
  auto* b = new QToolButton;
  b->setText(text);
  b->setToolTip(tip);
  b->setFocusPolicy(Qt::TabFocus);
  return b;
}

}  // namespace

FindBar::FindBar(QPlainTextEdit* editor)
    : editor_(editor), what_(new QLineEdit), with_(new QLineEdit), replacing_(new QWidget), answer_(new QLabel) {
  setObjectName("find");
  what_->setPlaceholderText(tr("Find"));
  what_->setAccessibleName(tr("Text to find"));
  with_->setPlaceholderText(tr("Replace with"));
  with_->setAccessibleName(tr("Text to put in its place"));
  auto* next = button(tr("Next"), tr("The next place (Return)"));
  auto* before = button(tr("Previous"), tr("The place before (Shift+Return)"));
  auto* one = button(tr("Replace"), tr("Replaces this place and goes to the next"));
  auto* all = button(tr("All"), tr("Replaces every place"));
  auto* close = button(QStringLiteral("×"), tr("Close (Escape)"));
  auto* replace_layout = new QHBoxLayout(replacing_);
  replace_layout->setContentsMargins(0, 0, 0, 0);
  for (QWidget* w : std::initializer_list<QWidget*>{with_, one, all}) replace_layout->addWidget(w);
  replace_layout->setStretch(0, 1);
  // A line for each field: beside a graph the script is narrow.
  auto* find_layout = new QHBoxLayout;
  for (QWidget* w : std::initializer_list<QWidget*>{what_, before, next, answer_, close}) find_layout->addWidget(w);
  find_layout->setStretch(0, 1);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(8, 3, 8, 3);
  layout->setSpacing(3);
  layout->addLayout(find_layout);
  layout->addWidget(replacing_);
  connect(next, &QToolButton::clicked, this, [this] { find_next(); });
  connect(before, &QToolButton::clicked, this, [this] { find_next(true); });
  connect(one, &QToolButton::clicked, this, [this] { replace_one(); });
  connect(all, &QToolButton::clicked, this, [this] { replace_all(); });
  connect(close, &QToolButton::clicked, this, [this] { hide(), editor_->setFocus(); });
  hide();
}

void FindBar::open(bool replace) {
  const QString selected = editor_->textCursor().selectedText();
  if (!selected.isEmpty() && !selected.contains(QChar::ParagraphSeparator)) what_->setText(selected);
  replacing_->setVisible(replace);
  answer_->clear();
  show();
  what_->setFocus();
  what_->selectAll();
}

bool FindBar::find_next(bool backward) {
  if (what_->text().isEmpty()) return false;
  const QTextDocument::FindFlags flags = backward ? QTextDocument::FindBackward : QTextDocument::FindFlags();
  answer_->clear();
  if (editor_->find(what_->text(), flags)) return true;
  const QTextCursor before = editor_->textCursor();
  QTextCursor from(editor_->document());
  if (backward) from.movePosition(QTextCursor::End);
  editor_->setTextCursor(from);
  if (editor_->find(what_->text(), flags)) {
    answer_->setText(backward ? tr("from the end") : tr("from the beginning"));
    return true;
  }
  editor_->setTextCursor(before);
  answer_->setText(tr("not found"));
  return false;
}

void FindBar::replace_one() {
  QTextCursor cursor = editor_->textCursor();
  if (cursor.selectedText().compare(what_->text(), Qt::CaseInsensitive) == 0 && cursor.hasSelection())
    cursor.insertText(with_->text());
  find_next();
}

int FindBar::replace_all() {
  if (what_->text().isEmpty()) return 0;
  QTextCursor at(editor_->document());
  at.beginEditBlock();
  int count = 0;
  for (at = editor_->document()->find(what_->text(), at); !at.isNull();
       at = editor_->document()->find(what_->text(), at)) {
    at.insertText(with_->text());
    ++count;
  }
  QTextCursor(editor_->document()).endEditBlock();
  answer_->setText(tr("%1 replaced").arg(count));
  return count;
}

bool FindBar::event(QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape) {
    event->accept();  // closes the bar, and nothing else
    return true;
  }
  return QWidget::event(event);
}

void FindBar::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape) {
    hide();
    return editor_->setFocus();
  }
  if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
    if (with_->hasFocus())
      replace_one();
    else
      find_next(event->modifiers().testFlag(Qt::ShiftModifier));
    return;
  }
  QWidget::keyPressEvent(event);
}

}  // namespace planscope
