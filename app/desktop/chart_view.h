#pragma once
// The series of a chart panel over one axis, with a legend; each as a line of its own colour and dashes.
#include <QWidget>
#include <memory>

#include "app/desktop/style.h"
#include "app/session/panel.h"

namespace planscope {

class ChartView : public QWidget {
 public:
  using QWidget::QWidget;
  void set_panel(std::shared_ptr<const session::Panel> panel);
  void set_theme(Theme theme);
  QSize sizeHint() const override { return {320, 180}; }

 protected:
  void paintEvent(QPaintEvent*) override;

 private:
  std::shared_ptr<const session::Panel> panel_;
  Theme theme_ = Theme::dark;
};

}  // namespace planscope
