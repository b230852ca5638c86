#pragma once
// Find and replace in the plan script: a bar that opens under it (Ctrl+F, Ctrl+H) and closes with Escape.
#include <QWidget>

class QLabel;
class QLineEdit;
class QPlainTextEdit;

namespace planscope {

class FindBar : public QWidget {
 public:
  explicit FindBar(QPlainTextEdit* editor);

  void open(bool replace);  // with the selected text
  bool find_next(bool backward = false);
  void replace_one();
  int replace_all();

  QLineEdit* what() const { return what_; }
  QLineEdit* with() const { return with_; }

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  QPlainTextEdit* editor_;
  QLineEdit *what_, *with_;
  QWidget* replacing_;
  QLabel* answer_;
};

}  // namespace planscope
