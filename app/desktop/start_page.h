#pragma once
// What the centre shows while nothing is open: the panels that the layout has at the start (lost drafts, what was open
// lately, samples, how to bring a model of one's own), each where it has something to show.
#include <QScrollArea>
#include <deque>
#include <functional>

#include "app/desktop/style.h"
#include "app/session/panel.h"

class QLabel;
class QVBoxLayout;

namespace planscope {

class PanelView;

class StartPage : public QScrollArea {
 public:
  explicit StartPage(QWidget* parent = nullptr);

  void show_panel(std::shared_ptr<const session::Panel> panel);  // below those that were shown before it at first
  void set_theme(Theme theme);

  static QString samples_folder();

  std::function<void(const std::string& command)> on_activate;

 private:
  struct Section {
    QLabel* heading;
    PanelView* view;
  };
  Section& section(const QString& id, const QString& title);
  static void fit(const Section&);

  QVBoxLayout* sections_;
  std::deque<Section> all_;
  Theme theme_ = Theme::dark;
};

}  // namespace planscope
