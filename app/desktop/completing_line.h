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
class QModelIndex;
class QStandardItemModel;

namespace planscope {

class CompletingLine : public QLineEdit {
 public:
  explicit CompletingLine(QWidget* parent = nullptr);
  ~CompletingLine() override;

  void show_completions();  // because somebody has asked for them
  bool completing() const;  // something is offered for the text and the cursor as they are: Return takes it
  QString note_text() const;
  const QCompleter* completer() const { return completer_; }

  std::function<session::Completion(const std::string& text, std::size_t cursor)> complete;
  std::function<std::string(const std::string& text)> note;

 protected:
  bool event(QEvent* event) override;
  bool focusNextPrevChild(bool next) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  void offer(bool asked);
  void take(const QModelIndex& completion);
  std::size_t byte_at_cursor() const;
  void show_note();

  QCompleter* completer_;
  QStandardItemModel* items_;
  QLabel* note_label_;
  session::Completion offered_;
};

}  // namespace planscope
