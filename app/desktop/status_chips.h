#pragma once
// The line of chips on top: model, plan, cluster, verdict, step time, peak memory. Good and bad have a sign and a word
// besides their colour.
#include <QLabel>

#include "app/desktop/style.h"
#include "app/workbench/session_view.h"

namespace planscope {

class StatusChips : public QWidget {
 public:
  explicit StatusChips(QWidget* parent = nullptr);
  void show_snapshot(const SessionSnapshot& snapshot, bool modified, bool busy, Theme theme);

 private:
  QLabel* chip(const char* name);

  QLabel *model_, *plan_, *cluster_, *verdict_, *step_, *peak_, *busy_;
};

}  // namespace planscope
