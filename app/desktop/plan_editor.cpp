#include "app/desktop/plan_editor.h"

#include <QHelpEvent>
#include <QPainter>
#include <QTextBlock>
#include <QToolTip>

#include "app/desktop/plan_highlighter.h"

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

QColor colour_of(Severity severity, Theme theme) {
  const Colours& c = colours(theme);
  return QColor(severity == Severity::error ? c.bad : severity == Severity::warning ? c.warning : c.accent);
}

}  // namespace

PlanEditor::PlanEditor(QWidget* parent)
    : QPlainTextEdit(parent), highlighter_(new PlanHighlighter(document())), gutter_(new Gutter(this)) {
  setObjectName("plan");
  setAccessibleName(tr("Plan script"));
  QFont font("DejaVu Sans Mono");
  font.setStyleHint(QFont::Monospace);
  font.setPixelSize(12);
  setFont(font);
  setStyleSheet("font-family: 'DejaVu Sans Mono', monospace; font-size: 12px;");
  setTabChangesFocus(true);
  setLineWrapMode(QPlainTextEdit::NoWrap);
  setPlaceholderText(tr("devices 4 as data=4\ntrans * batch by data"));
  connect(this, &QPlainTextEdit::blockCountChanged, this, [this] { setViewportMargins(gutter_width(), 0, 0, 0); });
  connect(this, &QPlainTextEdit::updateRequest, this, [this](const QRect& rect, int dy) {
    if (dy != 0)
      gutter_->scroll(0, dy);
    else
      gutter_->update(0, rect.y(), gutter_->width(), rect.height());
  });
  connect(this, &QPlainTextEdit::cursorPositionChanged, this, [this] { mark_lines(); });
  setViewportMargins(gutter_width(), 0, 0, 0);
}

void PlanEditor::set_theme(Theme theme) {
  theme_ = theme;
  highlighter_->set_theme(theme);
  mark_lines();
  gutter_->update();
}

void PlanEditor::set_diagnostics(std::vector<Diagnostic> diagnostics) {
  diagnostics_ = std::move(diagnostics);
  mark_lines();
  gutter_->update();
}

void PlanEditor::replace_text(const QString& text) {
  if (text == toPlainText()) return;
  const int line = textCursor().blockNumber();
  QTextCursor cursor(document());
  cursor.beginEditBlock();
  cursor.select(QTextCursor::Document);
  cursor.insertText(text);
  cursor.endEditBlock();
  go_to_line(line + 1);
}

void PlanEditor::go_to_line(int line) {
  const QTextBlock block = document()->findBlockByNumber(qBound(0, line - 1, blockCount() - 1));
  setTextCursor(QTextCursor(block));
  ensureCursorVisible();
}

int PlanEditor::gutter_width() const {
  const int digits = static_cast<int>(QString::number(std::max(99, blockCount())).size());
  return 26 + digits * fontMetrics().horizontalAdvance('9');
}

const Diagnostic* PlanEditor::worst_at(int line) const {
  const Diagnostic* worst = nullptr;
  for (const Diagnostic& d : diagnostics_) {
    if (d.line == line && (worst == nullptr || d.severity < worst->severity)) worst = &d;
  }
  return worst;
}

void PlanEditor::mark_lines() {
  QList<QTextEdit::ExtraSelection> marks;
  QTextEdit::ExtraSelection current;
  current.format.setBackground(QColor(colours(theme_).raised));
  current.format.setProperty(QTextFormat::FullWidthSelection, true);
  current.cursor = textCursor();
  current.cursor.clearSelection();
  marks.append(current);
  for (QTextBlock block = document()->begin(); block.isValid(); block = block.next()) {
    const Diagnostic* d = worst_at(block.blockNumber() + 1);
    if (d == nullptr) continue;
    const QString text = block.text();
    QTextEdit::ExtraSelection mark;
    mark.format.setUnderlineStyle(QTextCharFormat::WaveUnderline);
    mark.format.setUnderlineColor(colour_of(d->severity, theme_));
    mark.cursor = QTextCursor(block);
    mark.cursor.setPosition(block.position() +
                            static_cast<int>(text.size() - text.trimmed().size()) * (text.startsWith(' ') ? 1 : 0));
    mark.cursor.setPosition(block.position() + static_cast<int>(text.size()), QTextCursor::KeepAnchor);
    marks.append(mark);
  }
  setExtraSelections(marks);
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
    if (const Diagnostic* d = worst_at(line)) {
      painter.setPen(Qt::NoPen);
      painter.setBrush(colour_of(d->severity, theme_));
      painter.drawEllipse(QPointF(9, area.center().y()), 3.5, 3.5);
    }
    painter.setPen(QColor(block == textCursor().block() ? c.text : c.dim));
    painter.drawText(QRectF(0, area.top(), gutter_->width() - 10, area.height()), Qt::AlignRight | Qt::AlignVCenter,
                     QString::number(line));
  }
}

void PlanEditor::resizeEvent(QResizeEvent* event) {
  QPlainTextEdit::resizeEvent(event);
  const QRect r = contentsRect();
  gutter_->setGeometry(r.left(), r.top(), gutter_width(), r.height());
}

bool PlanEditor::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QPlainTextEdit::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const QPoint in_text(help->pos().x() - viewport()->x(), help->pos().y());
  const int line = cursorForPosition(in_text).blockNumber() + 1;
  QStringList texts;
  for (const Diagnostic& d : diagnostics_) {
    if (d.line == line) texts << QString::fromStdString(to_string(d));
  }
  QToolTip::showText(help->globalPos(), texts.join('\n'), this);
  return true;
}

}  // namespace planscope
