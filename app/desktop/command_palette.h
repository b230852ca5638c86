#pragma once
// Ctrl+Shift+P: type a part of any command, Enter runs it. Letters match in order, as in "opmo" for "Open model".
#include <QDialog>
#include <vector>

class QAction;
class QLineEdit;
class QListWidget;

namespace planscope {

bool matches_in_order(const QString& typed, const QString& title);

class CommandPalette : public QDialog {
 public:
  CommandPalette(const std::vector<QAction*>& actions, QWidget* parent);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void refill();
  void run_current();

  std::vector<QAction*> actions_;
  QLineEdit* input_;
  QListWidget* list_;
};

}  // namespace planscope
