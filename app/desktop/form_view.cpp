#include "app/desktop/form_view.h"

#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>

#include "app/desktop/chips.h"
#include "app/session/commands.h"

namespace planscope {

namespace {

QString text(const std::string& s) { return QString::fromStdString(s); }

}  // namespace

FormView::FormView(QWidget* parent) : QScrollArea(parent) {
  auto* fields = new QWidget;
  grid_ = new QGridLayout(fields);
  setWidget(fields);
  setWidgetResizable(true);
  setFrameShape(QFrame::NoFrame);
  setFocusPolicy(Qt::NoFocus);
  viewport()->setAutoFillBackground(false);
  fields->setAutoFillBackground(false);
  grid_->setContentsMargins(10, 8, 10, 8);
  grid_->setColumnStretch(1, 1);
}

void FormView::set_panel(std::shared_ptr<const session::Panel> panel) {
  if (panel == panel_) return;
  panel_ = std::move(panel);
  const QString focused = focusWidget() ? focusWidget()->objectName() : QString();
  while (QLayoutItem* item = grid_->takeAt(0)) {
    if (item->widget()) item->widget()->deleteLater();
    delete item;
  }
  int row = 0;
  for (const session::Field& f : panel_->fields) {
    auto* title = new QLabel(text(f.title));
    QWidget* editor = editor_of(f);
    title->setBuddy(editor);
    grid_->addWidget(title, row, 0);
    grid_->addWidget(editor, row++, 1);
    if (!f.problem.empty()) {
      auto* problem = new QLabel(sign_of(session::Tone::bad) + text(f.problem));
      problem->setWordWrap(true);
      problem->setStyleSheet(QString("color: %1").arg(colours(theme_).bad));
      grid_->addWidget(problem, row++, 1);
    }
    if (editor->objectName() == focused) editor->setFocus();
  }
  grid_->setRowStretch(row, 1);
}

QWidget* FormView::editor_of(const session::Field& f) {
  QWidget* out = nullptr;
  if (f.choices.empty()) {
    auto* line = new QLineEdit(text(f.cell.text));
    line->setReadOnly(f.command.empty());
    connect(line, &QLineEdit::editingFinished, this, [this, line, f] {
      if (line->isModified()) set(f, line->text());
    });
    out = line;
  } else {
    auto* box = new QComboBox;
    for (const std::string& c : f.choices) box->addItem(text(c));
    box->setCurrentText(text(f.cell.text));
    box->setEnabled(!f.command.empty());
    connect(box, &QComboBox::textActivated, this, [this, f](const QString& value) { set(f, value); });
    out = box;
  }
  out->setObjectName("field." + text(f.id));
  out->setAccessibleName(text(f.title));
  out->setToolTip(text(f.cell.tip));
  return out;
}

void FormView::set(const session::Field& f, const QString& value) {
  if (!on_activate || f.command.empty()) return;
  QString quoted = value;
  quoted.replace('\\', "\\\\").replace('"', "\\\"");
  on_activate(f.command + " \"" + quoted.toStdString() + "\"");
}

}  // namespace planscope
