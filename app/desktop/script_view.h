#pragma once
// A script panel: its text in an editor with a find bar. What the user types is reported with whether it begins
// another step of undo (after
// a pause, or elsewhere); texts of the session are shown unless newer ones are still on their way to it.
#include <QElapsedTimer>
#include <QWidget>
#include <functional>

#include "app/desktop/find_bar.h"
#include "app/desktop/plan_editor.h"

namespace planscope {

class ScriptView : public QWidget {
 public:
  explicit ScriptView(QWidget* parent = nullptr);

  void show_panel(const session::Panel& panel);
  void show_text(int document, const QString& text);  // that the session holds; nothing newer has been typed
  void set_theme(Theme theme) { editor_->set_theme(theme); }
  void set_writable(bool writable) {
    if (writable == editor_->isReadOnly()) editor_->setReadOnly(!writable);  // which begins the input method anew
  }
  PlanEditor* editor() const { return editor_; }
  FindBar* find() const { return find_; }

  // `document`: whose text was shown last, whichever is the current one by now.
  std::function<void(int document, const QString& before, const QString& text, bool new_step)> on_edit;
  std::function<void(const std::string& line)> on_run;

 private:
  PlanEditor* editor_;
  FindBar* find_;
  QElapsedTimer since_edit_;
  int document_ = 0, last_line_ = -1;
};

}  // namespace planscope
