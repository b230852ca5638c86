#pragma once
// What is known about the selection, as text that can be read aloud, selected and copied.
#include <QTextBrowser>
#include <functional>

#include "app/desktop/style.h"
#include "app/workbench/session_view.h"

namespace planscope {

class DetailsPanel : public QTextBrowser {
 public:
  explicit DetailsPanel(QWidget* parent = nullptr);

  void set_theme(Theme theme) { theme_ = theme; }
  void show_nothing();
  void show_block(const SessionSnapshot& snapshot, const viz::BlockRef& ref);
  void show_module(const ModuleNode& node);

  std::function<void(int line)> on_line;  // the user followed a link to a line of the plan

 private:
  using Facts = std::vector<std::pair<std::string, std::string>>;
  QString table(const Facts& facts) const;
  QString heading(const std::string& title, const std::string& subtitle) const;

  Theme theme_ = Theme::dark;
};

}  // namespace planscope
