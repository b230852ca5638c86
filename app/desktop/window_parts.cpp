// How the window is put together: where each panel has its place, the centre, what is above it.
#include <QDockWidget>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenuBar>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTabBar>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "app/desktop/canvas_widget.h"
#include "app/desktop/main_window.h"
#include "app/desktop/message_bar.h"
#include "app/desktop/panel_view.h"
#include "app/desktop/script_view.h"
#include "app/desktop/start_page.h"
#include "app/desktop/table_view.h"
#include "app/session/canvases/canvases.h"
#include "app/session/layout.h"
#include "app/session/panels/panels.h"
#include "app/session/value_help.h"

namespace planscope {

namespace {

// As high as what is in it needs at its width, no more.
class TopArea : public QWidget {
 protected:
  bool event(QEvent* event) override {
    const bool done = QWidget::event(event);
    if (layout() &&
        (event->type() == QEvent::LayoutRequest || event->type() == QEvent::Resize || event->type() == QEvent::Show)) {
      layout()->activate();
      const int wanted = layout()->totalHeightForWidth(width());
      if (wanted > 0 && wanted != height()) setFixedHeight(wanted);
    }
    return done;
  }
};

constexpr const char* kNoRoom = "noRoom";  // a property of docks that `fit_tabs` has hidden

// The width of a tab bar that shows the whole titles of these docks.
int width_of_tabs(const QList<QDockWidget*>& docks) {
  QTabBar bar;
  bar.setElideMode(Qt::ElideNone);
  bar.setExpanding(false);
  for (const QDockWidget* d : docks) bar.addTab(d->windowTitle());
  return bar.sizeHint().width();
}

Qt::DockWidgetArea area_of(session::Side side) {
  switch (side) {
    case session::Side::left:
      return Qt::LeftDockWidgetArea;
    case session::Side::right:
    case session::Side::start:
      return Qt::RightDockWidgetArea;
    default:
      return Qt::BottomDockWidgetArea;
  }
}

}  // namespace

PanelView* MainWindow::panel_view(const QString& id) const {
  const auto found = panes_.find(id);
  return found == panes_.end() ? nullptr : found->second.view;
}

ScriptView* MainWindow::script() const {
  for (const auto& [id, pane] : panes_)
    if (pane.view->script()) return pane.view->script();
  return nullptr;
}

void MainWindow::connect_view(PanelView& view) {
  view.on_activate = [this](const std::string& command) { run_line(command); };
  view.on_table = [this](TableView& table) {
    table.on_command_at = [this](const std::string& line, const QPoint& where) { run_at(line, where); };
    table.on_menu = [this](const std::string& line, const QPoint& where, const std::vector<QAction*>& own) {
      show_offers(line, where, own);
    };
    table.complete = [this](const std::string& line, const std::string& text, std::size_t cursor) {
      const Result<session::Invocation> begun = session::parse_begun(line);
      return begun.ok() ? session::complete_value(shown_.state, *begun, session::last_argument(*begun), text, cursor)
                        : session::Completion{};
    };
    table.note = [this](const std::string& line, const std::string& text) {
      const Result<session::Invocation> begun = session::parse_begun(line);
      return begun.ok() ? session::value_note(shown_.state, *begun, session::last_argument(*begun), text) : "";
    };
  };
  view.on_script = [this](ScriptView& script) {
    script.on_run = [this](const std::string& line) { run_line(line); };
    script.on_edit = [this](int document, const QString& before, const QString& text, bool new_step) {
      bridge_->type(document, before.toStdString(), text.toStdString(), new_step);
    };
    script.editor()->on_shortcut = [this](const QKeySequence& keys) {
      const auto has = [&](const QAction* a) { return a->isEnabled() && a->shortcuts().contains(keys); };
      const auto found = std::find_if(actions_->all().begin(), actions_->all().end(), has);
      if (found != actions_->all().end()) (*found)->trigger();
      return found != actions_->all().end();
    };
    script.editor()->complete = [this](const std::string& text, std::size_t cursor) {
      const session::Document* d = shown_.state.document();
      return d ? session::complete(*d, text, cursor) : session::Completion{};
    };
  };
}

void MainWindow::build_docks() {
  for (const session::PanelPlace& place : session::shipped_layout()) {
    const QString id = QString::fromStdString(place.panel);
    const auto info =
        std::find_if(session::panels().begin(), session::panels().end(), [&](const auto& p) { return id == p.id; });
    if (place.side == session::Side::top || info == session::panels().end()) continue;
    auto* view = new PanelView(id, info->title);
    connect_view(*view);
    auto* dock = new QDockWidget(info->title, this);
    dock->setObjectName("dock." + id);
    dock->setAccessibleName(info->title);
    dock->setWidget(view);
    panes_[id] = {view, dock};
    watch_dock(dock);
  }
}

// What is behind another tab costs nothing.
void MainWindow::watch_dock(QDockWidget* dock) {
  connect(dock, &QDockWidget::visibilityChanged, this, [this, dock](bool visible) {
    if (visible)
      in_front_.insert(dock->objectName());
    else
      in_front_.erase(dock->objectName());
    look_at_visible();
    tidy_docks_soon();
  });
  connect(dock, &QDockWidget::topLevelChanged, this, [this] { tidy_docks_soon(); });
  connect(dock, &QDockWidget::dockLocationChanged, this, [this] { tidy_docks_soon(); });
}

bool MainWindow::is_narrow() const { return width() < px(1300); }

bool MainWindow::is_cramped() const { return width() < px(800); }

// Whether the lower docks have the whole width, or stand between those at the sides.
void MainWindow::set_corners(bool wide_bottom) {
  setCorner(Qt::BottomLeftCorner, wide_bottom ? Qt::BottomDockWidgetArea : Qt::LeftDockWidgetArea);
  setCorner(Qt::BottomRightCorner, wide_bottom ? Qt::BottomDockWidgetArea : Qt::RightDockWidgetArea);
}

// The names of tabs are never cut: in a cramped window those at the sides behind the first are behind the menu, and so is what has
// no room elsewhere (fit_tabs).
void MainWindow::reset_layout() {
  const bool cramped = is_cramped();
  set_corners(is_narrow());  // in a narrow window the names of their tabs would be cut
  std::map<int, QDockWidget*> first;
  std::map<Qt::DockWidgetArea, QDockWidget*> beside;
  for (const auto& [id, pane] : panes_) {
    pane.dock->setFloating(false);
    removeDockWidget(pane.dock);
  }
  const auto place = [&](const session::PanelPlace& p) {
    const auto pane = panes_.find(QString::fromStdString(p.panel));
    if (pane == panes_.end()) return;
    QDockWidget *dock = pane->second.dock, *&front = first[p.group];
    const Qt::DockWidgetArea area = area_of(p.side);
    addDockWidget(area, dock);
    if (front)
      tabifyDockWidget(front, dock);
    else if (beside[area])
      splitDockWidget(beside[area], dock, area == Qt::BottomDockWidgetArea ? Qt::Horizontal : Qt::Vertical);
    if (!front) front = beside[area] = dock;
    dock->setVisible(p.shown && (front == dock || !cramped || area == Qt::BottomDockWidgetArea));
  };
  const std::span<const session::PanelPlace> all = session::shipped_layout();
  std::set<int> begun;
  for (const session::PanelPlace& p :
       all)  // the groups side by side before there are tabs, which cannot be split any more
    if (begun.insert(p.group).second) place(p);
  for (const session::PanelPlace& p : all)
    if (const auto pane = panes_.find(QString::fromStdString(p.panel));
        pane != panes_.end() && first[p.group] != pane->second.dock)
      place(p);
  QList<QDockWidget*> sides, bottom;
  QList<int> widths, halves;
  const int side = px(is_narrow() ? 235 : 290), more = px(20);
  for (const auto& [group, dock] : first) {
    if (!dock) continue;
    dock->raise();
    if (dockWidgetArea(dock) == Qt::BottomDockWidgetArea)
      bottom << dock, halves << (!cramped ? width() / 2 : bottom.size() == 1 ? width() * 2 / 5 : width() * 3 / 5);
    else
      sides << dock, widths << (cramped ? width() / 4 : side + (dockWidgetArea(dock) == Qt::RightDockWidgetArea ? more : 0));
  }
  resizeDocks(sides, widths, Qt::Horizontal);
  resizeDocks(bottom, halves, Qt::Horizontal);
  if (!bottom.isEmpty()) resizeDocks({bottom.first()}, {qBound(px(170), height() * 3 / 10, px(300))}, Qt::Vertical);
  reset_canvases();
  look_at_visible();
}

// In a cramped window the tabs that have no room beside the one in front go behind the menu: their names would be cut.
void MainWindow::fit_tabs() {
  layout()->activate();
  canvases_->layout()->activate();
  const auto fit = [this](const QMainWindow& window, QDockWidget* front) {
    if (!front->isVisible() || front->isFloating() || !in_front_.contains(front->objectName())) return;
    QList<QDockWidget*> tabs = window.tabifiedDockWidgets(front);
    tabs.removeIf([](const QDockWidget* d) { return d->isHidden(); });
    for (; !tabs.isEmpty() && width_of_tabs(QList<QDockWidget*>{front} + tabs) > front->width(); tabs.removeLast()) {
      tabs.last()->setProperty(kNoRoom, true);
      tabs.last()->hide();
    }
  };
  for (const auto& [id, pane] : panes_) fit(*this, pane.dock);
  for (const auto& [id, pane] : canvas_panes_) fit(*canvases_, pane.dock);
}

void MainWindow::tidy_docks_soon() {
  if (std::exchange(tidying_, true)) return;
  QTimer::singleShot(0, this, [this] {
    tidying_ = false;
    tidy_docks();
    keep_window_soon();
  });
}

// A dock that is one of several tabs has its title there, and is dragged by it; by itself it has a title bar.
void MainWindow::tidy_docks() {
  if (is_cramped())
    fit_tabs();
  else
    for (QDockWidget* dock : findChildren<QDockWidget*>())  // there is room again
      if (dock->property(kNoRoom).toBool()) dock->setProperty(kNoRoom, QVariant()), dock->show();
  const auto tidy = [](const QMainWindow& window, QDockWidget* dock) {
    const QList<QDockWidget*> beside = window.tabifiedDockWidgets(dock);
    const bool tab =
        !dock->isFloating() && std::any_of(beside.begin(), beside.end(), [](const auto* d) { return !d->isHidden(); });
    if (tab == (dock->titleBarWidget() != nullptr)) return;
    QWidget* before = dock->titleBarWidget();
    dock->setTitleBarWidget(tab ? new QWidget : nullptr);
    delete before;
  };
  for (const auto& [id, pane] : panes_) tidy(*this, pane.dock);
  for (const auto& [id, pane] : canvas_panes_) tidy(*canvases_, pane.dock);
  for (QTabBar* bar : findChildren<QTabBar*>()) {
    bar->setDrawBase(false);
    bar->setElideMode(Qt::ElideNone);
    bar->setUsesScrollButtons(true);
    bar->setExpanding(false);
  }
}

void MainWindow::look_at_visible() {
  if (!bridge_) return;
  std::set<std::string> wanted;
  for (const session::PanelPlace& p : session::shipped_layout()) {
    const auto pane = panes_.find(QString::fromStdString(p.panel));
    const bool always = pane == panes_.end() || p.side == session::Side::start;
    // Once each, so that it is known what kind it is; a script always, since commands go to it.
    if (always || !pane->second.view->panel() || pane->second.view->script() ||
        in_front_.contains(pane->second.dock->objectName()))
      wanted.insert(p.panel);
  }
  for (const auto& [id, pane] : canvas_panes_)
    if (in_front_.contains(pane.dock->objectName())) wanted.insert("canvas." + id.toStdString());
  bridge_->look_at(std::move(wanted));
}

CanvasWidget* MainWindow::canvas(const QString& id) const {
  for (const auto& [known, pane] : canvas_panes_)
    if (known == id) return pane.view;
  return nullptr;
}

CanvasWidget* MainWindow::current_canvas() const {
  for (const auto& [id, pane] : canvas_panes_)
    if (pane.view->hasFocus()) return pane.view;
  for (const auto& [id, pane] : canvas_panes_)
    if (in_front_.contains(pane.dock->objectName())) return pane.view;
  return canvas_panes_.empty() ? nullptr : canvas_panes_.front().second.view;
}

void MainWindow::build_canvases() {
  canvases_ = new QMainWindow;
  canvases_->setObjectName("centre");
  canvases_->setWindowFlags(Qt::Widget);
  canvases_->setDockNestingEnabled(true);
  canvases_->setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
  for (const session::CanvasInfo& info : session::canvases()) {
    auto* view = new CanvasWidget(info.id, info.title, info.scene, fonts_);
    view->on_command = [this](const std::string& line) { run_at(line, QCursor::pos()); };
    view->on_menu = [this](const std::string& line, const QPoint& where) { show_offers(line, where); };
    view->on_menu_of_selection = [this](const QPoint& where) {
      show_offers(session::print(session::select_command(shown_.state.selection)), where);
    };
    view->on_drop = [this](const std::string& what, const std::string& onto, const QPoint& where) {
      run_at(session::print({"drag", {{"what", what}, {"onto", onto}}}), where);
    };
    view->on_about = [this](const QStringList& facts) {
      status_->setText(facts.join("   ·   "));
      status_->setToolTip(facts.join('\n'));
    };
    auto* dock = new QDockWidget(info.title, canvases_);
    dock->setObjectName(QString("dock.canvas.") + info.id);
    dock->setAccessibleName(info.title);
    dock->setWidget(view);
    canvas_panes_.push_back({info.id, {view, dock}});
    watch_dock(dock);
  }
}

// All are tabs of each other, the first in front.
void MainWindow::reset_canvases() {
  QDockWidget* front = nullptr;
  for (const auto& [id, pane] : canvas_panes_) {
    pane.dock->setFloating(false);
    canvases_->addDockWidget(Qt::TopDockWidgetArea, pane.dock);
    if (front) canvases_->tabifyDockWidget(front, pane.dock);
    if (!front) front = pane.dock;
    pane.dock->show();
  }
  if (front) front->raise();
}

void MainWindow::build_centre() {
  build_canvases();
  start_ = new StartPage;
  start_->on_activate = [this](const std::string& command) { run_line(command); };
  centre_ = new QStackedWidget;
  centre_->addWidget(start_);
  centre_->addWidget(canvases_);
  setCentralWidget(centre_);
}

void MainWindow::build_top() {
  auto* top = new TopArea;  // above the docks
  auto* layout = new QVBoxLayout(top);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  menu_bar_ = new QMenuBar;
  tabs_ = new QTabBar;
  tabs_->setObjectName("documents.tabs");
  tabs_->setAccessibleName(tr("Open documents"));
  tabs_->setExpanding(false);
  tabs_->setDrawBase(false);
  tabs_->setElideMode(Qt::ElideMiddle);
  tabs_->setTabsClosable(true);
  tabs_->hide();
  connect(tabs_, &QTabBar::currentChanged, this, [this](int at) {
    if (!showing_documents_ && at >= 0) run({"document", {{"number", tabs_->tabData(at).toString().toStdString()}}});
  });
  connect(tabs_, &QTabBar::tabCloseRequested, this, [this](int at) {
    run({"document", {{"number", tabs_->tabData(at).toString().toStdString()}}});
    run({"close", {}});
  });
  chips_ = new ChipRow;
  chips_->setObjectName("chips");
  chips_->setAccessibleName(tr("Figures"));
  chips_->on_activate = [this](const Chip& chip) { run_line(chip.fact().command); };
  messages_ = new MessageBar;
  messages_->on_run = [this](session::Invocation i) { run(std::move(i)); };
  for (QWidget* w : std::initializer_list<QWidget*>{menu_bar_, tabs_, chips_, messages_}) layout->addWidget(w);
  setMenuWidget(top);
  statusBar()->setSizeGripEnabled(false);
  status_ = new QLabel;
  status_->setObjectName("status");
  status_->setMinimumWidth(50);
  status_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  statusBar()->addWidget(status_, 1);
}

}  // namespace planscope
