#pragma once
// The window: lays the parts out, keeps one selection for all of them, and turns commands into calls of the session.
#include <QMainWindow>
#include <QTimer>

#include "app/desktop/commands.h"
#include "app/desktop/session_runner.h"
#include "app/desktop/style.h"

class QTableView;
class QTabWidget;
class QTreeView;

namespace planscope {

class BlockTableModel;
class DetailsPanel;
class ModuleTreeModel;
class PlanEditor;
class ProblemsModel;
class StatusChips;
class TimelineWidget;

class MainWindow : public QMainWindow {
 public:
  MainWindow(std::unique_ptr<Session> session, viz::FontFiles fonts);

  void open_model(const QString& file);
  void open_plan(const QString& file);
  bool export_picture(const QString& file);  // of the timeline; the ending says PNG or SVG
  void set_theme(Theme theme);
  bool busy() const;  // what is shown is not yet the answer to the last edit

  const std::vector<QAction*>& actions_by_command() const { return actions_; }

 protected:
  void closeEvent(QCloseEvent* event) override;

 private:
  std::vector<Command> file_commands();
  std::vector<Command> edit_commands();
  std::vector<Command> view_commands();
  void build_centre();
  void build_left();
  void build_right();
  void build_bottom();
  void connect_parts();

  void show_snapshot(const SessionSnapshot& snapshot);
  void show_plan_text(const SessionSnapshot& snapshot);
  void refresh_chips();
  void select(std::optional<viz::BlockRef> ref);
  void ask_model();
  void ask_plan();
  void ask_export(const QString& ending);
  void save(bool ask_for_name);
  void show_palette();

  viz::FontFiles fonts_;
  Theme theme_ = Theme::dark;
  SessionSnapshot snapshot_;
  bool selecting_ = false, showing_ = false;
  QTimer edit_timer_;
  std::vector<QAction*> actions_;
  QMenuBar* menu_bar_;
  StatusChips* chips_;
  TimelineWidget* timeline_;
  PlanEditor* editor_;
  DetailsPanel* details_;
  ModuleTreeModel* modules_;
  BlockTableModel* blocks_;
  ProblemsModel* problems_;
  QTreeView* module_view_;
  QTableView *block_view_, *problem_view_;
  QTabWidget* bottom_;
  SessionRunner runner_;  // last: its thread ends before what it reports to
};

}  // namespace planscope
