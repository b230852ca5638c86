#include "app/desktop/script_view.h"

#include <QVBoxLayout>

namespace planscope {

namespace {

constexpr int pause_ms = 1000;

}  // namespace

ScriptView::ScriptView(QWidget* parent) : QWidget(parent), editor_(new PlanEditor), find_(new FindBar(editor_)) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(editor_, 1);
  layout->addWidget(find_);
  editor_->on_edit = [this](const QString& before, const QString& text) {
    const int line = editor_->textCursor().blockNumber();
    const bool pause = !since_edit_.isValid() || since_edit_.elapsed() > pause_ms || line != last_line_;
    since_edit_.restart();
    last_line_ = line;
    if (on_edit && document_ > 0) on_edit(document_, before, text, pause);
  };
  editor_->on_run = [this](const std::string& line) {
    if (on_run) on_run(line);
  };
}

void ScriptView::show_panel(const session::Panel& panel) {
  editor_->setPlaceholderText(QString::fromStdString(panel.empty));
  // Marks are of the text that the panel holds; where another one has been typed, the next panel brings its own.
  if (editor_->text().toStdString() == panel.text) {
    editor_->set_marks(panel.marks, panel.notes);
    editor_->set_ghosts(panel.ghosts);
  }
}

void ScriptView::show_text(int document, const QString& text) {
  document_ = document;
  if (editor_->text() == text) return;
  editor_->show_text(text);
  since_edit_.invalidate();
}

}  // namespace planscope
