#pragma once
// The plan script: line numbers, colours, the problems of each line underlined and told on hover. Undo is the
// document's.
#include <QPlainTextEdit>
#include <vector>

#include "app/desktop/style.h"
#include "engine/base/diagnostic.h"

namespace planscope {

class PlanHighlighter;

class PlanEditor : public QPlainTextEdit {
 public:
  explicit PlanEditor(QWidget* parent = nullptr);

  void set_theme(Theme theme);
  void set_diagnostics(std::vector<Diagnostic> diagnostics);
  void replace_text(const QString& text);  // one step of undo; keeps the cursor's line
  void go_to_line(int line);               // from 1

  int gutter_width() const;
  void paint_gutter(QPaintEvent& event);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  bool event(QEvent* event) override;

 private:
  void mark_lines();
  const Diagnostic* worst_at(int line) const;

  Theme theme_ = Theme::dark;
  std::vector<Diagnostic> diagnostics_;
  PlanHighlighter* highlighter_;
  QWidget* gutter_;
};

}  // namespace planscope
