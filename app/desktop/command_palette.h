#pragma once
// Any command by a part of its name (Ctrl+Shift+P): what begins so first, then words that begin so, then letters in order, each with
// those that were used lately in front. What cannot be done now is listed with the reason.
#include <functional>
#include <vector>

#include "app/desktop/overlay.h"

class QAction;
class QLineEdit;
class QListWidget;

namespace planscope {

// How well a title fits what is typed: 0 not at all, more is better.
int match_of(const QString& typed, const QString& title);

class CommandPalette : public Overlay {
 public:
  // `recent`: ids, the latest first; the one that is run is put in front.
  CommandPalette(QWidget* window, const std::vector<QAction*>& actions, QStringList& recent);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void refill();
  void run_current();

  std::vector<QAction*> actions_;
  QStringList& recent_;
  QLineEdit* input_;
  QListWidget* list_;
};

}  // namespace planscope
