#pragma once
// A text that is there to be copied as it stands, with a button that does so.
#include <QPlainTextEdit>

#include "app/desktop/style.h"

class QPushButton;

namespace planscope {

class TextView : public QWidget {
 public:
  explicit TextView(QWidget* parent = nullptr);

  void show_text(const QString& text);
  void set_theme(Theme theme);  // fonts follow the scale
  QPlainTextEdit* text() const { return text_; }

 private:
  QPlainTextEdit* text_;
  QPushButton* copy_;
};

}  // namespace planscope
