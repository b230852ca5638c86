#pragma once
// The window: docks for the session's panels and canvases, the figures above them, menus from the one list of commands.
// It holds no state of the work itself: it renders what the session says and sends it commands. Closing asks
// nothing and loses nothing:
// drafts are in the workspace, and what was open comes back.
#include <QMainWindow>
#include <QPointer>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "app/desktop/actions.h"
#include "app/desktop/session_bridge.h"
#include "app/desktop/style.h"
#include "app/desktop/system_theme.h"
#include "app/desktop/window_memory.h"

class QDockWidget;
class QLabel;
class QStackedWidget;
class QTabBar;

namespace planscope {

class OfferMenu;

class ChipRow;
class Chip;
class MessageBar;
class PanelView;
class ScriptView;
class StartPage;
class CanvasWidget;

struct WindowSettings {
  session::SessionSettings session;
  QString memory_file;         // empty: the user's own
  bool restore = true;         // what was open, the layout, the colours
  std::optional<Theme> theme;  // none: what is preferred, else the system's
};

class MainWindow : public QMainWindow {
 public:
  MainWindow(WindowSettings settings, viz::FontFiles fonts);
  ~MainWindow() override;

  void run(session::Invocation invocation);
  void open_at_start(session::Invocation invocation);  // behind what was open at the end, and in front of it
  void run_line(const std::string& line);              // of a session script; arguments that are missing are asked for
  void run_at(const std::string& line, const QPoint& where);  // the same; a refusal is shown there, on the screen
  // What can be done with what the line selects, as a menu there; `own`: entries of the view itself.
  void show_offers(const std::string& line, const QPoint& where, const std::vector<QAction*>& own = {});
  void open(const QString& file);            // a model, a plan or a cluster, by its ending
  void reset_layout();
  bool busy() const;  // what is shown is not yet the answer to the last edit

  const Actions& actions_list() const { return *actions_; }
  const Shown& shown() const { return shown_; }
  CanvasWidget* canvas(const QString& id) const;  // null: there is none
  CanvasWidget* current_canvas() const;           // that keys of the menu go to
  MessageBar* messages() const { return messages_; }
  ChipRow* chips() const { return chips_; }
  ScriptView* script() const;
  PanelView* panel_view(const QString& id) const;

  // How files are asked for; tests put their own answers here. Empty: nothing was chosen.
  std::function<QString(const QString& title, const QString& filter)> ask_open_file;
  std::function<QString(const QString& title, const QString& name, const QString& filter)> ask_save_file;

 protected:
  void closeEvent(QCloseEvent* event) override;
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  struct Pane {
    PanelView* view;
    QDockWidget* dock;
  };

  // main_window.cpp
  void show_state(const Shown& shown);
  void show_script(const Shown& shown);
  void show_canvases(const Shown& shown);
  void show_documents(const session::State& state);
  void show_selection(const session::State& state);
  void bring_to_front(const session::Front& front);
  void show_preferences(const session::Preferences& preferences);
  void refused(const session::Invocation& invocation, const std::vector<Diagnostic>& why);
  void remember_documents(const session::State& state);
  void restore_documents();
  void restore_look(session::State state);

  // window_parts.cpp
  void build_docks();
  void build_canvases();
  void reset_canvases();
  void build_centre();
  void build_top();
  void connect_view(PanelView& view);
  void watch_dock(QDockWidget* dock);
  bool is_narrow() const;
  bool is_cramped() const;
  void set_corners(bool wide_bottom);
  void look_at_visible();
  void fit_tabs();
  void tidy_docks();
  void tidy_docks_soon();
  void keep_window();  // its place and layout, for the next start
  void keep_window_soon();

  // window_commands.cpp
  std::vector<WindowCommand> window_commands();
  std::vector<WindowCommand> script_commands();
  std::vector<WindowCommand> canvas_commands();
  void run_command(const session::CommandInfo& info);
  void ask_arguments(const session::CommandInfo& info, session::Invocation begun);
  void ask_open();
  void ask_cluster();
  void save_as();
  void ask_export(const QString& ending);
  void show_palette();
  void show_locator();
  void show_sheet();
  void prefer(const char* name, const char* value);
  struct Look {
    Theme theme = Theme::dark;
    double scale = 1;
    bool operator==(const Look&) const = default;
  };
  Look look_of(const session::Preferences&) const;
  void set_look(const Look&);
  void next_pane(int step);
  QString no_document() const;
  QString no_picture() const;

  WindowMemory memory_;
  bool restore_;
  viz::FontFiles fonts_;
  SystemTheme system_;
  std::optional<Theme> told_theme_;  // by the program's arguments
  Theme theme_ = Theme::dark;
  std::optional<Look> shown_look_;
  session::Preferences preferences_;
  Shown shown_;
  int selections_ = 0;                 // of the session, that the script has followed
  std::uint64_t touched_at_run_ = 0;  // what the script's editor said when the last command was sent
  int front_asked_ = 0;
  QStringList recent_commands_, recent_targets_;
  bool showing_documents_ = false, restoring_ = false, tidying_ = false;
  bool keeping_ = false;       // the window is written down in a moment
  int restoring_current_ = 0;  // -1: what was asked for
  std::optional<session::Invocation> asked_;
  std::uint64_t restored_at_ = 0;  // how many commands have been run when all that was open is back; 0: nothing is restored
  QString look_;  // of the document that will be in front, until it is
  std::map<QString, Pane> panes_;  // by panel
  QMenuBar* menu_bar_ = nullptr;
  ChipRow* chips_ = nullptr;
  MessageBar* messages_ = nullptr;
  QTabBar* tabs_ = nullptr;
  QStackedWidget* centre_ = nullptr;
  StartPage* start_ = nullptr;
  QMainWindow* canvases_ = nullptr;  // docks of their own, in the centre
  struct CanvasPane {
    CanvasWidget* view;
    QDockWidget* dock;
  };
  std::vector<std::pair<QString, CanvasPane>> canvas_panes_;  // by canvas, in the order of the list
  QLabel* status_ = nullptr;
  std::set<QString> in_front_;  // docks that are seen, and not behind another tab
  QPointer<OfferMenu> offer_menu_;
  std::string offered_;                                          // the line that the menu is of
  std::vector<std::pair<std::string, QPoint>> placed_commands_;  // that run, with where their refusal is shown
  std::unique_ptr<Actions> actions_;
  std::unique_ptr<SessionBridge> bridge_;  // last: its threads end before what they report to
};

}  // namespace planscope
