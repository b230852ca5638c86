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
#include "app/session/canvases/canvases.h"
#include "app/session/panels/panels.h"

namespace planscope {

namespace {

// The shipped layout. Panels that are not named here are the last tabs at the bottom.
struct Placement {
  const char* panel;
  Qt::DockWidgetArea area;
  int group;  // panels of one group are tabs of each other, the first one in front
  bool shown = true;
};
constexpr Placement placements[] = {
    {"modules", Qt::LeftDockWidgetArea, 0},    {"documents", Qt::LeftDockWidgetArea, 0}, {"workspace", Qt::LeftDockWidgetArea, 0},
    {"operator", Qt::RightDockWidgetArea, 1},  {"verify", Qt::RightDockWidgetArea, 1},   {"planner", Qt::RightDockWidgetArea, 1},
    {"history", Qt::RightDockWidgetArea, 1},   {"drafts", Qt::RightDockWidgetArea, 1, false},
    {"commands", Qt::RightDockWidgetArea, 1, false},
    {"script", Qt::BottomDockWidgetArea, 2},   {"constraints", Qt::BottomDockWidgetArea, 2},
    {"templates", Qt::BottomDockWidgetArea, 2}, {"problems", Qt::BottomDockWidgetArea, 3},
    {"runs", Qt::BottomDockWidgetArea, 3},     {"trial", Qt::BottomDockWidgetArea, 3},   {"compare", Qt::BottomDockWidgetArea, 3},
    {"jobs", Qt::BottomDockWidgetArea, 3},
};
// As high as what is in it needs at its width, no more.
class TopArea : public QWidget {
 protected:
  bool event(QEvent* event) override {
    const bool done = QWidget::event(event);
    if (layout() && (event->type() == QEvent::LayoutRequest || event->type() == QEvent::Resize || event->type() == QEvent::Show)) {
      layout()->activate();
      const int wanted = layout()->totalHeightForWidth(width());
      if (wanted > 0 && wanted != height()) setFixedHeight(wanted);
    }
    return done;
  }
};

constexpr Placement elsewhere{"", Qt::BottomDockWidgetArea, 3};
constexpr const char* above_the_centre = "chips";

const Placement& placement_of(const QString& panel) {
  for (const Placement& p : placements)
    if (panel == p.panel) return p;
  return elsewhere;
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
  view.on_script = [this](ScriptView& script) {
    script.on_edit = [this](const QString& text, bool new_step) {
      const session::Document* d = shown_.state.document();
      if (d) bridge_->type(d->id, text.toStdString(), new_step);
    };
    script.editor()->complete = [this](const std::string& text, std::size_t cursor) {
      const session::Document* d = shown_.state.document();
      return d ? session::complete(*d, text, cursor) : session::Completion{};
    };
  };
}

void MainWindow::build_docks() {
  for (const session::PanelInfo& info : session::panels()) {
    const QString id = info.id;
    if (id == above_the_centre) continue;
    auto* view = new PanelView(id, info.title);
    connect_view(*view);
    auto* dock = new QDockWidget(info.title, this);
    dock->setObjectName("dock." + id);
    dock->setAccessibleName(info.title);
    dock->setWidget(view);
    panes_[id] = {view, dock};
    connect(dock, &QDockWidget::visibilityChanged, this, [this] { look_at_visible(), tidy_docks_soon(); });
    connect(dock, &QDockWidget::topLevelChanged, this, [this] { tidy_docks_soon(); });
    connect(dock, &QDockWidget::dockLocationChanged, this, [this] { tidy_docks_soon(); });
  }
}

void MainWindow::reset_layout() {
  std::map<int, QDockWidget*> first;
  QDockWidget* bottom = nullptr;
  for (const session::PanelInfo& info : session::panels()) {
    const auto pane = panes_.find(info.id);
    if (pane == panes_.end()) continue;
    pane->second.dock->setFloating(false);
    removeDockWidget(pane->second.dock);
  }
  const auto place = [&](const QString& id) {
    const Placement& p = placement_of(id);
    QDockWidget* dock = panes_.at(id).dock;
    addDockWidget(p.area, dock);
    QDockWidget*& front = first[p.group];
    if (front)
      tabifyDockWidget(front, dock);
    else if (p.area == Qt::BottomDockWidgetArea && bottom)
      splitDockWidget(bottom, dock, Qt::Horizontal);
    if (!front) front = dock;
    if (p.area == Qt::BottomDockWidgetArea && !bottom) bottom = dock;
    dock->setVisible(p.shown);
  };
  for (const Placement& p : placements)  // the groups side by side before there are tabs, which cannot be split any more
    if (panes_.contains(p.panel) && !first[p.group]) place(p.panel);
  for (const Placement& p : placements)
    if (panes_.contains(p.panel) && first[p.group] != panes_.at(p.panel).dock) place(p.panel);
  for (const auto& [id, pane] : panes_)
    if (*placement_of(id).panel == 0) place(id);
  for (const auto& [group, dock] : first) dock->raise();
  const int side = width() < 1300 ? 235 : 290;
  resizeDocks({first[0], first[1]}, {side, side + 20}, Qt::Horizontal);
  resizeDocks({first[2], first[3]}, {width() / 2, width() / 2}, Qt::Horizontal);
  resizeDocks({first[2]}, {qBound(170, height() * 3 / 10, 300)}, Qt::Vertical);
  reset_canvases();
  look_at_visible();
}

void MainWindow::tidy_docks_soon() {
  if (std::exchange(tidying_, true)) return;
  QTimer::singleShot(0, this, [this] {
    tidying_ = false;
    tidy_docks();
  });
}

// A dock that is one of several tabs has its title there, and is dragged by it; by itself it has a title bar.
void MainWindow::tidy_docks() {
  const auto tidy = [](const QMainWindow& window, QDockWidget* dock) {
    const QList<QDockWidget*> beside = window.tabifiedDockWidgets(dock);
    const bool tab = !dock->isFloating() && std::any_of(beside.begin(), beside.end(), [](const auto* d) { return !d->isHidden(); });
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
  std::set<std::string> wanted{above_the_centre, "drafts"};
  for (const auto& [id, pane] : panes_) {
    const bool on_screen = pane.dock->isVisible() && !pane.view->visibleRegion().isEmpty();
    if (on_screen || (pane.dock->isVisible() && pane.dock->isFloating()) || pane.view->isVisible()) wanted.insert(id.toStdString());
  }
  for (const auto& [id, pane] : canvas_panes_)
    if (!pane.view->visibleRegion().isEmpty() || pane.view->isVisible()) wanted.insert("canvas." + id.toStdString());
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
    if (!pane.view->visibleRegion().isEmpty()) return pane.view;
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
    view->on_command = [this](const std::string& line) { run_line(line); };
    view->on_about = [this](const QStringList& facts) {
      status_->setText(facts.join("   ·   "));
      status_->setToolTip(facts.join('\n'));
    };
    auto* dock = new QDockWidget(info.title, canvases_);
    dock->setObjectName(QString("dock.canvas.") + info.id);
    dock->setAccessibleName(info.title);
    dock->setWidget(view);
    canvas_panes_.push_back({info.id, {view, dock}});
    connect(dock, &QDockWidget::visibilityChanged, this, [this] { look_at_visible(), tidy_docks_soon(); });
    connect(dock, &QDockWidget::topLevelChanged, this, [this] { tidy_docks_soon(); });
    connect(dock, &QDockWidget::dockLocationChanged, this, [this] { tidy_docks_soon(); });
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
