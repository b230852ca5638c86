#pragma once
// The clusters to choose from: how many nodes, the presets, those of open plans, a file.
#include <QMenu>
#include <functional>

#include "app/session/choices.h"

namespace planscope {

class ClusterMenu : public QMenu {
 public:
  // `choose` is called with a name or a path; `ask_file` where a file is wanted.
  ClusterMenu(const std::vector<session::Choice>& choices, const QString& now,
              std::function<void(const QString&)> choose, std::function<void()> ask_file, QWidget* parent);

  // `dgx-h100`, 4 -> `dgx-h100x4`; names that have a number already stay.
  static QString with_nodes(const QString& name, int nodes);
};

}  // namespace planscope
