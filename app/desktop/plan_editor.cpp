#include "app/desktop/plan_editor.h"

#include <QAbstractItemView>
#include <QCompleter>
#include <QHelpEvent>
#include <QMimeData>
#include <QPainter>
#include <QScrollBar>
#include <QStandardItemModel>
#include <QTextBlock>
#include <QToolTip>
#include <utility>

#include "app/desktop/ghost_layout.h"
#include "app/desktop/plan_highlighter.h"
#include "app/session/text_change.h"

namespace planscope {
namespace {

class Gutter : public QWidget {
 public:
  explicit Gutter(PlanEditor* editor) : QWidget(editor), editor_(editor) {}
  QSize sizeHint() const override { return {editor_->gutter_width(), 0}; }

 protected:
  void paintEvent(QPaintEvent* event) override { editor_->paint_gutter(*event); }

 private:
  PlanEditor* editor_;
};

// Lines that would stand before the first one.
class GhostHead : public QWidget {
 public:
  explicit GhostHead(PlanEditor* editor) : QWidget(editor), editor_(editor) {
    setObjectName("ghosts before");
    setCursor(Qt::PointingHandCursor);
    setToolTip(PlanEditor::tr("The planner proposes these lines. A click accepts one"));
  }

 protected:
  void paintEvent(QPaintEvent*) override { editor_->paint_head(); }
  void mousePressEvent(QMouseEvent* event) override {
    if (event->button() == Qt::LeftButton) editor_->accept_in_head(static_cast<int>(event->position().y()));
  }

 private:
  PlanEditor* editor_;
};

QColor colour_of(Severity severity, Theme theme) {
  const Colours& c = colours(theme);
  return QColor(severity == Severity::error ? c.bad : severity == Severity::warning ? c.warning : c.accent);
}

// How many characters so many bytes of a line are.
int characters(const QString& line, int bytes) {
  return static_cast<int>(QString::fromUtf8(line.toUtf8().left(bytes)).size());
}

bool may_be_a_command(const QKeyEvent& key) {
  const bool with = key.modifiers().testAnyFlags(Qt::ControlModifier | Qt::AltModifier);
  const bool writes = !key.text().isEmpty() && key.text()[0].isPrint();  // also with AltGr
  return (key.key() >= Qt::Key_F1 && key.key() <= Qt::Key_F35) || (with && !writes);
}

int position_in(const std::string& text, std::size_t byte) {
  return static_cast<int>(QString::fromUtf8(text.data(), static_cast<qsizetype>(byte)).size());
}

}  // namespace

PlanEditor::PlanEditor(QWidget* parent)
    : QPlainTextEdit(parent),
      layout_(new GhostLayout(document())),
      highlighter_(new PlanHighlighter(document())),
      gutter_(new Gutter(this)),
      head_(new GhostHead(this)),
      completer_(new QCompleter(this)),
      completions_(new QStandardItemModel(this)) {
  document()->setDocumentLayout(layout_);
  viewport()->setMouseTracking(true);
  setFont(monospaced_font());
  setUndoRedoEnabled(false);
  setTabChangesFocus(true);
  setLineWrapMode(QPlainTextEdit::NoWrap);
  completer_->setModel(completions_);
  completer_->setWidget(this);
  completer_->setCompletionMode(QCompleter::UnfilteredPopupCompletion);
  completer_->setMaxVisibleItems(10);
  completer_->popup()->setObjectName("completions");
  completer_->popup()->setFont(font());
  completer_->popup()->setAccessibleName(tr("Completions"));
  connect(completer_, qOverload<const QModelIndex&>(&QCompleter::activated), this,
          [this](const QModelIndex& index) { take(index); });
  connect(this, &QPlainTextEdit::blockCountChanged, this, [this] { lay_out(); });
  connect(this, &QPlainTextEdit::updateRequest, this, [this](const QRect& rect, int dy) {
    if (dy != 0)
      gutter_->scroll(0, dy);
    else
      gutter_->update(0, rect.y(), gutter_->width(), rect.height());
  });
  connect(this, &QPlainTextEdit::cursorPositionChanged, this, [this] {
    if (!showing_) ++touched_;
    mark_lines();
  });
  // Colours that change are a change of contents too, but not of the text.
  connect(this, &QPlainTextEdit::textChanged, this, [this] {
    if (showing_) return;
    const QString text = this->text();
    if (text == last_) return;
    ++touched_;
    const QString before = std::exchange(last_, text);
    if (on_edit) on_edit(before, text);
  });
  lay_out();
}

void PlanEditor::set_theme(Theme theme) {
  theme_ = theme;
  setFont(monospaced_font());
  completer_->popup()->setFont(font());
  lay_out();
  highlighter_->set_theme(theme);
  mark_lines();
  gutter_->update();
}

void PlanEditor::set_marks(std::vector<session::Mark> marks, std::vector<session::LineNote> notes) {
  notes_ = std::move(notes);
  marks_ = std::move(marks);
  marked_ = text().toStdString();
  mark_lines();
  gutter_->update();
}

void PlanEditor::set_ghosts(std::vector<session::Ghost> ghosts) {
  if (ghosts == ghosts_) return;
  ghosts_ = std::move(ghosts);
  std::map<int, qreal> rooms;
  for (const session::Ghost& g : ghosts_)
    if (g.after > 0) rooms[g.after] += fontMetrics().lineSpacing();
  layout_->set_rooms(std::move(rooms));
  lay_out();
  head_->update();
  viewport()->update();
  gutter_->update();
}

std::vector<const session::Ghost*> PlanEditor::ghosts_before() const {
  std::vector<const session::Ghost*> out;
  for (const session::Ghost& g : ghosts_)
    if (g.after < 1) out.push_back(&g);
  return out;
}

// The text begins below the lines that would stand before it.
void PlanEditor::lay_out() {
  const QRect r = contentsRect();
  const int head = static_cast<int>(ghosts_before().size()) * fontMetrics().lineSpacing();
  if (const QMargins m(gutter_width(), head, 0, 0); m != viewportMargins()) setViewportMargins(m);
  gutter_->setGeometry(r.left(), r.top() + head, gutter_width(), r.height() - head);
  head_->setGeometry(r.left(), r.top(), r.width(), head);
  head_->setVisible(head > 0);
}

void PlanEditor::paint_head() {
  QPainter painter(head_);
  painter.fillRect(0, 0, gutter_width(), head_->height(), QColor(colours(theme_).panel));
  painter.fillRect(gutter_width(), 0, head_->width(), head_->height(), palette().base());
  write_ghosts(painter);
  const int height = fontMetrics().lineSpacing();
  const int left = gutter_width() + static_cast<int>(document()->documentMargin());
  int top = 0;
  for (const session::Ghost* g : ghosts_before()) {
    painter.drawText(QRect(left, top, head_->width(), height), Qt::AlignLeft | Qt::AlignVCenter,
                     QString::fromStdString(g->text));
    top += height;
  }
}

void PlanEditor::accept_in_head(int y) {
  const std::vector<const session::Ghost*> all = ghosts_before();
  const auto k = static_cast<std::size_t>(qMax(0, y) / qMax(1, fontMetrics().lineSpacing()));
  if (k < all.size() && on_run) on_run(std::string(all[k]->command));
}

void PlanEditor::write_ghosts(QPainter& painter) const {
  QFont slanted = font();
  slanted.setItalic(true);
  painter.setFont(slanted);
  painter.setPen(QColor(colours(theme_).dim));
}

// Each on a line of its own below the line behind which it would stand.
void PlanEditor::each_ghost(const std::function<void(const session::Ghost&, const QRectF&)>& visit) const {
  const qreal height = fontMetrics().lineSpacing();
  for (QTextBlock block = firstVisibleBlock(); block.isValid(); block = block.next()) {
    const QRectF area = blockBoundingGeometry(block).translated(contentOffset());
    if (area.top() > viewport()->height()) return;
    qreal top = area.bottom() - layout_->room_below(block);
    for (const session::Ghost& g : ghosts_) {
      if (g.after != block.blockNumber() + 1) continue;
      visit(g, QRectF(area.left() + document()->documentMargin(), top, viewport()->width(), height));
      top += height;
    }
  }
}

const session::Ghost* PlanEditor::ghost_at(const QPointF& at) const {
  const session::Ghost* found = nullptr;
  each_ghost([&](const session::Ghost& g, const QRectF& area) {
    if (area.contains(at)) found = &g;
  });
  return found;
}

void PlanEditor::paintEvent(QPaintEvent* event) {
  QPlainTextEdit::paintEvent(event);
  if (ghosts_.empty()) return;
  QPainter painter(viewport());
  write_ghosts(painter);
  each_ghost([&](const session::Ghost& g, const QRectF& area) {
    painter.drawText(area, Qt::AlignLeft | Qt::AlignVCenter, QString::fromStdString(g.text));
  });
}

void PlanEditor::mousePressEvent(QMouseEvent* event) {
  const session::Ghost* ghost = event->button() == Qt::LeftButton ? ghost_at(event->position()) : nullptr;
  if (ghost && on_run) return on_run(std::string(ghost->command));
  QPlainTextEdit::mousePressEvent(event);
}

void PlanEditor::mouseMoveEvent(QMouseEvent* event) {
  viewport()->setCursor(ghost_at(event->position()) ? Qt::PointingHandCursor : Qt::IBeamCursor);
  QPlainTextEdit::mouseMoveEvent(event);
}

// As it is, where QPlainTextEdit would make blanks of some of its signs.
QString PlanEditor::text() const {
  return document()->toRawText().replace(QChar::ParagraphSeparator, QLatin1Char('\n'));
}

std::size_t PlanEditor::byte_at(int position) const {
  return static_cast<std::size_t>(text().left(position).toUtf8().size());
}

void PlanEditor::show_text(const QString& text) {
  const std::string before = this->text().toStdString(), after = text.toStdString();
  if (before == after) return;
  const auto moved = [&](int position) {
    return position_in(after, session::place_after(before, after, byte_at(position)));
  };
  const QTextCursor now = textCursor();
  const int anchor = moved(now.anchor()), position = moved(now.position());
  // What is looked at stays where it is on the screen: the line of the cursor, or the first one.
  const bool in_sight = viewport()->rect().intersects(cursorRect());
  const QTextBlock seen = in_sight ? now.block() : firstVisibleBlock();
  const int seen_after = in_sight ? position : moved(seen.position());
  const int above = seen.firstLineNumber() - verticalScrollBar()->value();
  showing_ = true;
  QTextCursor cursor(document());
  const std::vector<session::TextPiece> pieces = session::pieces_between(before, after);
  cursor.beginEditBlock();
  for (auto p = pieces.rbegin(); p != pieces.rend(); ++p) {
    cursor.setPosition(position_in(before, p->from));
    cursor.setPosition(position_in(before, p->to), QTextCursor::KeepAnchor);
    cursor.insertText(QString::fromStdString(p->insert));
  }
  cursor.endEditBlock();
  cursor.setPosition(anchor);
  cursor.setPosition(position, QTextCursor::KeepAnchor);
  setTextCursor(cursor);
  verticalScrollBar()->setValue(document()->findBlock(seen_after).firstLineNumber() - above);
  showing_ = false;
  last_ = text;
  if (!is_offered()) completer_->popup()->hide();
}

void PlanEditor::go_to_line(int line) {
  const QTextBlock block = document()->findBlockByNumber(qBound(0, line - 1, blockCount() - 1));
  showing_ = true;
  if (block != textCursor().block()) setTextCursor(QTextCursor(block));
  ensureCursorVisible();
  showing_ = false;
}

void PlanEditor::comment_lines() {
  QTextCursor cursor = textCursor();
  const int first = document()->findBlock(cursor.selectionStart()).blockNumber();
  const int last =
      document()
          ->findBlock(qMax(cursor.selectionStart(), cursor.selectionEnd() - (cursor.hasSelection() ? 1 : 0)))
          .blockNumber();
  bool all = true;
  for (int b = first; b <= last; ++b) {
    const QString text = document()->findBlockByNumber(b).text().trimmed();
    all = all && (text.isEmpty() || text.startsWith('#'));
  }
  cursor.beginEditBlock();
  for (int b = first; b <= last; ++b) {
    const QTextBlock block = document()->findBlockByNumber(b);
    const QString text = block.text();
    if (text.trimmed().isEmpty()) continue;
    QTextCursor at(block);
    if (!all) {
      at.insertText("# ");
      continue;
    }
    const int from = static_cast<int>(text.indexOf('#'));
    at.setPosition(block.position() + from);
    at.setPosition(block.position() + from + (text.mid(from + 1, 1) == " " ? 2 : 1), QTextCursor::KeepAnchor);
    at.removeSelectedText();
  }
  cursor.endEditBlock();
}

int PlanEditor::position_of(const session::Mark& mark, int byte) const {
  const QTextBlock block = document()->findBlockByNumber(mark.line - 1);
  return block.position() + qMin(characters(block.text(), byte), static_cast<int>(block.text().size()));
}

bool PlanEditor::fix_here() {
  if (text().toStdString() != marked_) return false;  // the words have moved since
  const int line = textCursor().blockNumber() + 1, at = textCursor().position();
  const session::Mark* chosen = nullptr;  // of the token at the cursor, else the first of the line
  for (const session::Mark& m : marks_) {
    if (m.line != line || m.fix.empty()) continue;
    const bool here = at >= position_of(m, m.from) && at <= position_of(m, m.to);
    if (!chosen || here) chosen = &m;
    if (here) break;
  }
  if (!chosen) return false;
  QTextCursor cursor(document());
  cursor.setPosition(position_of(*chosen, chosen->from));
  cursor.setPosition(position_of(*chosen, chosen->to), QTextCursor::KeepAnchor);
  cursor.insertText(QString::fromStdString(chosen->fix));
  setTextCursor(cursor);
  return true;
}

int PlanEditor::gutter_width() const {
  const int digits = static_cast<int>(QString::number(std::max(99, blockCount())).size());
  return 26 + digits * fontMetrics().horizontalAdvance('9');
}

const session::Mark* PlanEditor::worst_at(int line) const {
  const session::Mark* worst = nullptr;
  for (const session::Mark& m : marks_)
    if (m.line == line && (worst == nullptr || m.severity < worst->severity)) worst = &m;
  return worst;
}

void PlanEditor::mark_lines() {
  QList<QTextEdit::ExtraSelection> selections;
  if (!document()->isEmpty()) {  // an empty text shows what could be written, which the colour of the line would hide
    QTextEdit::ExtraSelection current;
    current.format.setBackground(QColor(colours(theme_).raised));
    current.format.setProperty(QTextFormat::FullWidthSelection, true);
    current.cursor = textCursor();
    current.cursor.clearSelection();
    selections.append(current);
  }
  for (const session::Mark& m : marks_) {
    const QTextBlock block = document()->findBlockByNumber(m.line - 1);
    if (!block.isValid()) continue;
    const QString text = block.text();
    int from = block.position(), to = block.position() + static_cast<int>(text.size());
    if (m.to > m.from) {
      from = position_of(m, m.from);
      to = position_of(m, m.to);
    } else {
      while (from < to && text[from - block.position()].isSpace()) ++from;
    }
    QTextEdit::ExtraSelection mark;
    mark.format.setUnderlineStyle(QTextCharFormat::WaveUnderline);
    mark.format.setUnderlineColor(colour_of(m.severity, theme_));
    mark.cursor = QTextCursor(block);
    mark.cursor.setPosition(from);
    mark.cursor.setPosition(to, QTextCursor::KeepAnchor);
    selections.append(mark);
  }
  setExtraSelections(selections);
}

void PlanEditor::paint_gutter(QPaintEvent& event) {
  QPainter painter(gutter_);
  const Colours& c = colours(theme_);
  painter.fillRect(event.rect(), QColor(c.panel));
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setFont(font());
  for (QTextBlock block = firstVisibleBlock(); block.isValid(); block = block.next()) {
    const QRectF area = blockBoundingGeometry(block).translated(contentOffset());
    if (area.top() > event.rect().bottom()) return;
    const int line = block.blockNumber() + 1;
    const qreal height = area.height() - layout_->room_below(block);
    if (const session::Mark* m = worst_at(line)) {
      painter.setPen(Qt::NoPen);
      painter.setBrush(colour_of(m->severity, theme_));
      painter.drawEllipse(QPointF(9, area.top() + height / 2), 3.5, 3.5);
    }
    painter.setPen(QColor(block == textCursor().block() ? c.text : c.dim));
    painter.drawText(QRectF(0, area.top(), gutter_->width() - 10, height), Qt::AlignRight | Qt::AlignVCenter,
                     QString::number(line));
  }
}

void PlanEditor::resizeEvent(QResizeEvent* event) {
  QPlainTextEdit::resizeEvent(event);
  lay_out();
}

void PlanEditor::show_completions() { offer(true); }

void PlanEditor::offer(bool asked) {
  const std::string text = this->text().toStdString();
  offered_ = complete ? complete(text, byte_at(textCursor().position())) : session::Completion{};
  completions_->clear();
  if (offered_.items.empty() || (offered_.whole && !asked)) return completer_->popup()->hide();
  for (const session::CompletionItem& i : offered_.items) {
    const QString value = QString::fromStdString(i.text), about = QString::fromStdString(i.about);
    auto* item = new QStandardItem(about.isEmpty() ? value : value + "   " + about);
    item->setData(value, Qt::UserRole);
    item->setToolTip(item->text());
    completions_->appendRow(item);
  }
  QRect at = cursorRect();
  at.translate(viewport()->pos());
  at.setWidth(qMin(460, completer_->popup()->sizeHintForColumn(0) + 30));
  completer_->complete(at);
  completer_->popup()->setCurrentIndex(completions_->index(0, 0));
}

bool PlanEditor::is_offered() const {
  return completer_->popup()->isVisible() && !textCursor().hasSelection() &&
         offered_.is_of(text().toStdString(), byte_at(textCursor().position()));
}

void PlanEditor::take(const QModelIndex& completion) {
  QTextCursor cursor = textCursor();
  if (!offered_.is_of(text().toStdString(), byte_at(cursor.position()))) return;  // it was of another text, or place
  cursor.setPosition(position_in(offered_.text, offered_.from));
  cursor.setPosition(textCursor().position(), QTextCursor::KeepAnchor);
  cursor.insertText(completion.data(Qt::UserRole).toString());
  setTextCursor(cursor);
}

void PlanEditor::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Space && event->modifiers() == Qt::ControlModifier) return show_completions();
  const bool shown = completer_->popup()->isVisible();
  if (shown && may_be_a_command(*event)) {
    completer_->popup()->hide();
    if (on_shortcut && on_shortcut(QKeySequence(event->keyCombination()))) return;
  }
  const bool open = is_offered();
  if (!open) completer_->popup()->hide();
  if (open && (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter || event->key() == Qt::Key_Tab)) {
    const QModelIndex chosen = completer_->popup()->currentIndex();
    completer_->popup()->hide();
    if (chosen.isValid()) return take(chosen);
  }
  if (open && event->key() == Qt::Key_Escape) return completer_->popup()->hide();
  if (event->matches(QKeySequence::InsertLineSeparator)) {  // a line like every other one
    if (!isReadOnly()) textCursor().insertBlock();
    return ensureCursorVisible();
  }
  QPlainTextEdit::keyPressEvent(event);
  const QString typed = event->text();
  const bool letter = typed.size() == 1 && (typed[0].isLetterOrNumber() || typed[0] == '.' || typed[0] == '_');
  if (!isReadOnly() && (letter || (open && event->key() == Qt::Key_Backspace)))
    offer(false);
  else if (!is_offered())
    completer_->popup()->hide();
}

// Lines end in one way, however they end where they come from.
void PlanEditor::insertFromMimeData(const QMimeData* source) {
  textCursor().insertText(QString::fromStdString(session::plan_text(source->text().toStdString())));
  ensureCursorVisible();
}

QString PlanEditor::tooltip_at(const QPoint& at) const {
  if (ghost_at(at)) return tr("The planner proposes this line. A click accepts it");
  const int line = cursorForPosition(at).blockNumber() + 1;
  QStringList texts;
  for (const session::Mark& m : marks_) {
    if (m.line != line) continue;
    texts << QString::fromStdString(m.text + (m.hint.empty() ? "" : "\n" + m.hint));
    if (!m.fix.empty()) texts.last() += tr("\nAlt+Return puts %1 there").arg(QString::fromStdString(m.fix));
  }
  for (const session::LineNote& n : notes_)
    if (n.line == line) texts << QString::fromStdString(n.text);
  return texts.join("\n\n");
}

// Tab takes what is chosen in the list, and goes to the next widget where nothing is.
bool PlanEditor::focusNextPrevChild(bool next) {
  const bool chosen = is_offered() && completer_->popup()->currentIndex().isValid();
  return !chosen && QPlainTextEdit::focusNextPrevChild(next);
}

bool PlanEditor::event(QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride) {
    auto* key = static_cast<QKeyEvent*>(event);
    // Undo and redo are commands of the session; Ctrl+K is one of the window, where some systems take a line away.
    if (key->matches(QKeySequence::Undo) || key->matches(QKeySequence::Redo) ||
        key->matches(QKeySequence::DeleteEndOfLine) ||
        (key->key() == Qt::Key_Z && key->modifiers() == (Qt::ControlModifier | Qt::ShiftModifier))) {
      event->ignore();
      return true;
    }
    if (key->key() == Qt::Key_Escape && completer_->popup()->isVisible()) {
      event->accept();
      return true;
    }
  }
  if (event->type() != QEvent::ToolTip) return QPlainTextEdit::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const QPoint in_text(help->pos().x() - viewport()->x(), help->pos().y());
  QToolTip::showText(help->globalPos(), tooltip_at(in_text), this);
  return true;
}

}  // namespace planscope
