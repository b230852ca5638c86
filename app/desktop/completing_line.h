#pragma once
// A line of text with completion while it is typed, and below it what the text means: for cells of a grid and the
// arguments of a command.
//
//   auto* line = new CompletingLine;
//   line->complete = [](const std::string& text, std::size_t cursor) { … };
//   line->note = [](const std::string& text) { … };   // "12 operators"
#include <QLineEdit>
#include <functional>

#include "app/session/completion.h"

class QCompleter;
class QLabel;
class QStandardItemModel;

namespace planscope {

class CompletingLine : public QLineEdit {
 public:
  explicit CompletingLine(QWidget* parent = nullptr);
  ~CompletingLine() override;

  void show_completions();
  bool completing() const;  // something is offered: Return takes it
  QString note_text() const;
  const QCompleter* completer() const { return completer_; }

  std::function<session::Completion(const std::string& text, std::size_t cursor)> complete;
  std::function<std::string(const std::string& text)> note;

 protected:
  bool event(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  void insert(const QString& text);
  void show_note();

  QCompleter* completer_;
  QStandardItemModel* items_;
  QLabel* note_label_;
  int from_ = 0;  // character
};

}  // namespace planscope
