#pragma once
// The fields of a form panel: a name, an editor (a list where there are choices), and why a value is not valid. What does not fit is
// scrolled to.
#include <QScrollArea>
#include <functional>
#include <memory>

#include "app/desktop/style.h"
#include "app/session/panel.h"

class QGridLayout;

namespace planscope {

class FormView : public QScrollArea {
 public:
  explicit FormView(QWidget* parent = nullptr);
  void set_panel(std::shared_ptr<const session::Panel> panel);
  void set_theme(Theme theme) { theme_ = theme; }

  std::function<void(const std::string& command)> on_activate;  // a field's command, with the value behind it

 private:
  QWidget* editor_of(const session::Field& field);
  void set(const session::Field& field, const QString& value);

  std::shared_ptr<const session::Panel> panel_;
  QGridLayout* grid_ = nullptr;
  Theme theme_ = Theme::dark;
};

}  // namespace planscope
