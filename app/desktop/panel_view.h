#pragma once
// Shows any panel: what it is decides its kind alone. Above it the reason where it is of an older text, and its
// figures as chips; in its
// place, where there is nothing to show, what it is for and the first step.
#include <QWidget>
#include <functional>
#include <memory>

#include "app/desktop/chips.h"

class QLabel;
class QStackedWidget;

namespace planscope {

class ChartView;
class FormView;
class ScriptView;
class TableView;
class TextView;

class PanelView : public QWidget {
 public:
  PanelView(const QString& id, const QString& title, QWidget* parent = nullptr);

  void show_panel(std::shared_ptr<const session::Panel> panel);
  void set_theme(Theme theme);
  QString id() const { return id_; }
  const session::Panel* panel() const { return panel_.get(); }
  TableView* table() const { return table_; }  // null: it is not of that kind
  ScriptView* script() const { return script_; }
  ChipRow* chips() const { return chips_; }
  bool has_contents() const;  // beside its figures
  QWidget* focus_target() const;

  std::function<void(const std::string& command)> on_activate;
  std::function<void(ScriptView&)> on_script;  // one has been made: a window connects it
  std::function<void(TableView&)> on_table;    // the same

 private:
  void make_body(session::PanelKind kind);

  QString id_, title_;
  std::shared_ptr<const session::Panel> panel_;
  Theme theme_ = Theme::dark;
  ChipRow *chips_, *commands_;
  QLabel *reason_, *empty_;
  QWidget* empty_room_ = nullptr;  // that it is scrolled in
  QStackedWidget* stack_;
  QWidget* body_ = nullptr;
  session::PanelKind kind_ = session::PanelKind::facts;
  TableView* table_ = nullptr;
  ScriptView* script_ = nullptr;
  FormView* form_ = nullptr;
  ChartView* chart_ = nullptr;
  TextView* text_ = nullptr;
};

}  // namespace planscope
