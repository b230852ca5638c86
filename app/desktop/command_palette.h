#pragma once
// One of many by a part of its name: commands (Ctrl+Shift+P), and everything that one can go to (Ctrl+K). What
// begins so comes first,
// then words that begin so, then letters in order, each with those that were used lately in front. What cannot be
// done now is listed
// with the reason.
#include <functional>
#include <vector>

#include "app/desktop/overlay.h"

class QAction;
class QLineEdit;
class QListWidget;

namespace planscope {

// How well a title fits what is typed: 0 not at all, more is better.
int match_of(const QString& typed, const QString& title);

struct PaletteItem {
  QString id, title, beside;  // beside: keys, or what it is
  QString reason;             // why it cannot be chosen now; empty: it can
  QString tip;
  std::function<void()> run;
};
std::vector<PaletteItem> palette_items(const std::vector<QAction*>& actions);

class CommandPalette : public Overlay {
 public:
  // `recent`: ids, the latest first; the one that is chosen is put in front.
  CommandPalette(QWidget* window, const QString& name, const QString& hint, std::vector<PaletteItem> items,
                 QStringList& recent);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void refill();
  void run_current();

  std::vector<PaletteItem> items_;
  QStringList& recent_;
  QLineEdit* input_;
  QListWidget* list_;
};

}  // namespace planscope
