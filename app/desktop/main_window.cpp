#include "app/desktop/main_window.h"

#include <QApplication>
#include <QCloseEvent>
#include <QDockWidget>
#include <QFile>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QMessageBox>
#include <QSplitter>
#include <QStatusBar>
#include <QTabWidget>
#include <QTableView>
#include <QToolButton>
#include <QTreeView>
#include <QVBoxLayout>

#include "app/desktop/block_table_model.h"
#include "app/desktop/command_palette.h"
#include "app/desktop/details_panel.h"
#include "app/desktop/module_tree_model.h"
#include "app/desktop/plan_editor.h"
#include "app/desktop/problems_model.h"
#include "app/desktop/status_chips.h"
#include "app/desktop/timeline_widget.h"
#include "viz/canvas/png.h"
#include "viz/canvas/raster_image.h"
#include "viz/timeline/export.h"

namespace planscope {
namespace {

constexpr int edit_pause_ms = 150;  // of typing, after which the plan is judged

QDockWidget* dock(QMainWindow& window, const QString& name, QWidget* content, Qt::DockWidgetArea area) {
  auto* d = new QDockWidget(name, &window);
  d->setObjectName("dock." + name);
  d->setTitleBarWidget(new QWidget(d));  // the tabs inside are the title
  d->setFeatures(QDockWidget::DockWidgetClosable);
  d->setWidget(content);
  window.addDockWidget(area, d);
  return d;
}

QTabWidget* tabs() {
  auto* t = new QTabWidget;
  t->setDocumentMode(true);
  return t;
}

QTableView* table(QAbstractItemModel* model, const char* name, const QString& accessible_name) {
  auto* view = new QTableView;
  view->setObjectName(name);
  view->setAccessibleName(accessible_name);
  view->setModel(model);
  view->setShowGrid(false);
  view->setSelectionBehavior(QAbstractItemView::SelectRows);
  view->setSelectionMode(QAbstractItemView::SingleSelection);
  view->setTabKeyNavigation(false);
  view->verticalHeader()->hide();
  view->verticalHeader()->setDefaultSectionSize(23);
  view->horizontalHeader()->setHighlightSections(false);
  view->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  return view;
}

QString text(const std::string& s) { return QString::fromStdString(s); }

}  // namespace

MainWindow::MainWindow(std::unique_ptr<Session> session, viz::FontFiles fonts)
    : fonts_(std::move(fonts)), runner_(std::move(session), [this](const SessionSnapshot& s) { show_snapshot(s); }) {
  setObjectName("window");
  setCorner(Qt::BottomLeftCorner, Qt::LeftDockWidgetArea);
  setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);
  build_left();
  build_bottom();
  build_right();
  build_centre();
  std::vector<Command> commands = file_commands();
  for (std::vector<Command> more : {edit_commands(), view_commands()})
    commands.insert(commands.end(), more.begin(), more.end());
  actions_ = build_actions(commands, *menu_bar_, *this);
  connect_parts();
  resizeDocks({findChild<QDockWidget*>("dock.Model"), findChild<QDockWidget*>("dock.Selection")}, {260, 330},
              Qt::Horizontal);
  resizeDocks({findChild<QDockWidget*>("dock.Plan")}, {270}, Qt::Vertical);
  show_snapshot({});
}

void MainWindow::build_left() {
  modules_ = new ModuleTreeModel(this);
  module_view_ = new QTreeView;
  module_view_->setObjectName("modules");
  module_view_->setAccessibleName(tr("Modules of the model"));
  module_view_->setModel(modules_);
  module_view_->setUniformRowHeights(true);
  module_view_->setIndentation(14);
  module_view_->header()->setSectionResizeMode(0, QHeaderView::Stretch);
  module_view_->header()->setSectionResizeMode(1, QHeaderView::ResizeToContents);
  module_view_->header()->setStretchLastSection(false);
  QTabWidget* t = tabs();
  t->addTab(module_view_, tr("Model"));
  dock(*this, "Model", t, Qt::LeftDockWidgetArea);
}

void MainWindow::build_right() {
  details_ = new DetailsPanel;
  QTabWidget* t = tabs();
  t->addTab(details_, tr("Selection"));
  dock(*this, "Selection", t, Qt::RightDockWidgetArea);
}

void MainWindow::build_bottom() {
  editor_ = new PlanEditor;
  problems_ = new ProblemsModel(this);
  problem_view_ = table(problems_, "problems", tr("Problems of the plan"));
  problem_view_->horizontalHeader()->setStretchLastSection(true);
  problem_view_->setColumnWidth(0, 78);
  problem_view_->setColumnWidth(1, 52);
  auto* split = new QSplitter(Qt::Horizontal);
  split->setHandleWidth(1);
  split->addWidget(editor_);
  split->addWidget(problem_view_);
  split->setSizes({560, 460});
  split->setChildrenCollapsible(false);
  blocks_ = new BlockTableModel(this);
  block_view_ = table(blocks_, "blocks", tr("Blocks of the timeline"));
  block_view_->setAlternatingRowColors(true);
  block_view_->horizontalHeader()->setDefaultSectionSize(120);
  block_view_->setColumnWidth(3, 220);
  bottom_ = tabs();
  bottom_->addTab(split, tr("Plan script"));
  bottom_->addTab(block_view_, tr("Blocks"));
  dock(*this, "Plan", bottom_, Qt::BottomDockWidgetArea);
}

void MainWindow::build_centre() {
  timeline_ = new TimelineWidget(fonts_);
  chips_ = new StatusChips;
  auto* heading = new QLabel(tr("Timeline"));
  heading->setObjectName("heading");
  auto* hint = new QLabel(tr("wheel zooms · drag pans · W A S D · F fits · , . previous and next block"));
  hint->setObjectName("hint");
  auto* memory = new QToolButton;
  memory->setText(tr("memory"));
  memory->setToolTip(tr("Show the memory in use under each lane"));
  memory->setCheckable(true);
  memory->setChecked(true);
  connect(memory, &QToolButton::toggled, this, [this](bool on) { timeline_->set_show_memory(on); });
  auto* fit = new QToolButton;
  fit->setText(tr("fit"));
  fit->setToolTip(tr("Show the whole step (F)"));
  connect(fit, &QToolButton::clicked, this, [this] { timeline_->apply_key(viz::TimelineKey::fit); });
  auto* bar = new QHBoxLayout;
  bar->setContentsMargins(12, 5, 10, 5);
  bar->setSpacing(8);
  for (QWidget* w : std::initializer_list<QWidget*>{heading, hint}) bar->addWidget(w);
  bar->addStretch(1);
  for (QWidget* w : std::initializer_list<QWidget*>{fit, memory}) bar->addWidget(w);
  auto* centre = new QWidget;
  centre->setObjectName("centre");
  auto* layout = new QVBoxLayout(centre);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addLayout(bar);
  layout->addWidget(timeline_, 1);
  setCentralWidget(centre);

  auto* top = new QWidget;  // menu and chips above the docks
  auto* top_layout = new QVBoxLayout(top);
  top_layout->setContentsMargins(0, 0, 0, 0);
  top_layout->setSpacing(0);
  menu_bar_ = new QMenuBar;
  top_layout->addWidget(menu_bar_);
  top_layout->addWidget(chips_);
  setMenuWidget(top);
  statusBar()->setSizeGripEnabled(false);
  auto* timings = new QLabel;
  timings->setObjectName("timings");
  statusBar()->addWidget(timings);
}

void MainWindow::connect_parts() {
  edit_timer_.setSingleShot(true);
  edit_timer_.setInterval(edit_pause_ms);
  connect(&edit_timer_, &QTimer::timeout, this, [this] {
    runner_.set_plan(editor_->toPlainText().toStdString());
    refresh_chips();
  });
  connect(editor_, &QPlainTextEdit::textChanged, this, [this] {
    if (!showing_) edit_timer_.start();
  });
  connect(editor_->document(), &QTextDocument::modificationChanged, this, [this](bool changed) {
    setWindowModified(changed);
    refresh_chips();
  });
  timeline_->on_select = [this](std::optional<viz::BlockRef> ref) { select(ref); };
  details_->on_line = [this](int line) {
    bottom_->setCurrentIndex(0);
    editor_->go_to_line(line);
    editor_->setFocus();
  };
  connect(block_view_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& now) {
    if (!selecting_ && now.isValid()) select(blocks_->ref(now.row()));
  });
  connect(module_view_->selectionModel(), &QItemSelectionModel::currentChanged, this, [this](const QModelIndex& now) {
    if (const ModuleNode* node = modules_->node(now)) details_->show_module(*node);
  });
  const auto go_to_problem = [this](const QModelIndex& index) {
    if (const int line = problems_->at(index.row()).line; line > 0) details_->on_line(line);
  };
  connect(problem_view_, &QTableView::clicked, this, go_to_problem);
  connect(problem_view_, &QTableView::activated, this, go_to_problem);
}

std::vector<Command> MainWindow::file_commands() {
  const QString menu = tr("&File");
  return {
      {"file.open_model", menu, tr("Open model …"), QKeySequence::Open,
       tr("Load a model exported by torch.export (.pt2)"), [this] { ask_model(); }},
      {"file.open_plan", menu, tr("Open plan …"), QKeySequence("Ctrl+Shift+O"), tr("Load a plan script"),
       [this] { ask_plan(); }},
      {"file.save", menu, tr("Save plan"), QKeySequence::Save, tr("Write the plan script to its file"),
       [this] { save(false); }, true},
      {"file.save_as", menu, tr("Save plan as …"), QKeySequence("Ctrl+Shift+S"),
       tr("Write the plan script to another file"), [this] { save(true); }},
      {"file.export_png",
       menu,
       tr("Export timeline as PNG …"),
       {},
       tr("A picture of the whole step"),
       [this] { ask_export("png"); },
       true},
      {"file.export_svg",
       menu,
       tr("Export timeline as SVG …"),
       {},
       tr("A vector picture of the whole step"),
       [this] { ask_export("svg"); }},
      {"file.quit", menu, tr("Quit"), QKeySequence("Ctrl+Q"), tr("Close the window"), [this] { close(); }, true},
  };
}

std::vector<Command> MainWindow::edit_commands() {
  const QString menu = tr("&Edit"), view = tr("&Timeline");
  const auto key = [this](viz::TimelineKey k) { return [this, k] { timeline_->apply_key(k); }; };
  return {
      {"edit.undo", menu, tr("Undo"), QKeySequence::Undo, tr("Take the last change of the plan back"),
       [this] { editor_->undo(); }},
      {"edit.redo", menu, tr("Redo"), QKeySequence("Ctrl+Shift+Z"), tr("Make the change again"),
       [this] { editor_->redo(); }},
      {"edit.plan", menu, tr("Go to the plan script"), QKeySequence("Ctrl+1"), tr("Type in the plan"),
       [this] { bottom_->setCurrentIndex(0), editor_->setFocus(); }, true},
      {"timeline.focus", view, tr("Go to the timeline"), QKeySequence("Ctrl+2"), tr("Use the keys of the canvas"),
       [this] { timeline_->setFocus(); }},
      {"timeline.table", view, tr("Show blocks as a table"), QKeySequence("Ctrl+3"),
       tr("The same rows for keyboard and screen reader"),
       [this] { bottom_->setCurrentIndex(1), block_view_->setFocus(); }},
      {"timeline.fit", view, tr("Fit the whole step"), QKeySequence("Ctrl+0"), tr("Show everything"),
       key(viz::TimelineKey::fit), true},
      {"timeline.zoom_in", view, tr("Zoom in"), QKeySequence::ZoomIn, tr("Closer, about the mouse"),
       key(viz::TimelineKey::zoom_in)},
      {"timeline.zoom_out", view, tr("Zoom out"), QKeySequence::ZoomOut, tr("Farther"),
       key(viz::TimelineKey::zoom_out)},
      {"timeline.next", view, tr("Next block"), QKeySequence("Alt+Right"), tr("Select the next block of the lane"),
       key(viz::TimelineKey::next)},
      {"timeline.previous", view, tr("Previous block"), QKeySequence("Alt+Left"), tr("Select the block before"),
       key(viz::TimelineKey::previous)},
  };
}

std::vector<Command> MainWindow::view_commands() {
  const QString menu = tr("&View"), help = tr("&Help");
  const auto toggle = [this](const char* name) {
    return [this, name] {
      auto* d = findChild<QDockWidget*>(name);
      d->setVisible(!d->isVisible());
    };
  };
  return {
      {"view.model", menu, tr("Show or hide the model"), QKeySequence("Ctrl+Shift+M"),
       tr("The module tree at the left"), toggle("dock.Model")},
      {"view.selection", menu, tr("Show or hide the selection"), QKeySequence("Ctrl+Shift+D"),
       tr("The details at the right"), toggle("dock.Selection")},
      {"view.plan", menu, tr("Show or hide plan and tables"), QKeySequence("Ctrl+Shift+L"),
       tr("The panel at the bottom"), toggle("dock.Plan")},
      {"view.theme", menu, tr("Dark or light colours"), QKeySequence("Ctrl+Shift+T"),
       tr("Change between the two themes"),
       [this] {
         const Theme other = theme_ == Theme::dark ? Theme::light : Theme::dark;
         apply_style(*qApp, other);
         set_theme(other);
       },
       true},
      {"view.palette", help, tr("Any command …"), QKeySequence("Ctrl+Shift+P"), tr("Find a command by its name"),
       [this] { show_palette(); }},
      {"help.about",
       help,
       tr("About planscope"),
       {},
       tr("Version"),
       [this] {
         QMessageBox::about(
             this, tr("About planscope"),
             tr("planscope %1\nA workbench for parallelization plans.").arg(QApplication::applicationVersion()));
       }},
  };
}

void MainWindow::open_model(const QString& file) {
  runner_.open_model(file.toStdString());
  refresh_chips();
}

void MainWindow::open_plan(const QString& file) {
  edit_timer_.stop();
  runner_.open_plan(file.toStdString());
  refresh_chips();
}

void MainWindow::set_theme(Theme theme) {
  theme_ = theme;
  timeline_->set_theme(theme);
  editor_->set_theme(theme);
  details_->set_theme(theme);
  problems_->set_theme(theme);
  select(timeline_->view().selection);
  refresh_chips();
}

bool MainWindow::busy() const { return edit_timer_.isActive() || runner_.busy() || !timeline_->settled(); }

void MainWindow::show_snapshot(const SessionSnapshot& snapshot) {
  snapshot_ = snapshot;
  const bool new_modules = snapshot.modules != nullptr && modules_->rowCount() == 0;
  modules_->reset(snapshot.modules);
  if (new_modules) module_view_->expandToDepth(1);
  show_plan_text(snapshot);
  editor_->set_diagnostics(snapshot.diagnostics);
  problems_->reset(snapshot.diagnostics);
  problem_view_->resizeRowsToContents();
  blocks_->reset(snapshot.timeline);
  timeline_->set_timeline(snapshot.timeline);
  select(timeline_->view().selection);
  QStringList timings;
  for (const Timing& t : snapshot.timings) timings << text(t.name) + ' ' + text(viz::format_time(t.time));
  findChild<QLabel*>("timings")->setText(timings.join("      "));
  const QString plan = snapshot.plan_name.empty() ? tr("untitled") : text(snapshot.plan_name);
  setWindowTitle((snapshot.model_name.empty() ? plan : text(snapshot.model_name) + " · " + plan) + "[*] · planscope");
  refresh_chips();
}

// The text of the user stays, unless the session opened another one or it is the first.
void MainWindow::show_plan_text(const SessionSnapshot& snapshot) {
  if (edit_timer_.isActive() || editor_->toPlainText() == text(snapshot.plan_text)) return;
  showing_ = true;
  editor_->replace_text(text(snapshot.plan_text));
  editor_->document()->setModified(false);
  showing_ = false;
}

void MainWindow::refresh_chips() {
  chips_->show_snapshot(snapshot_, editor_->document()->isModified(), runner_.busy(), theme_);
}

void MainWindow::select(std::optional<viz::BlockRef> ref) {
  if (selecting_) return;
  selecting_ = true;
  timeline_->set_selection(ref);
  if (ref && snapshot_.timeline) {
    details_->show_block(snapshot_, *ref);
    const QModelIndex row = blocks_->index(blocks_->row(*ref), 0);
    block_view_->setCurrentIndex(row);
    block_view_->scrollTo(row);
  } else {
    details_->show_nothing();
    block_view_->clearSelection();
  }
  selecting_ = false;
}

void MainWindow::ask_model() {
  const QString file =
      QFileDialog::getOpenFileName(this, tr("Open model"), {}, tr("Exported models (*.pt2);;All files (*)"));
  if (!file.isEmpty()) open_model(file);
}

void MainWindow::ask_plan() {
  const QString file =
      QFileDialog::getOpenFileName(this, tr("Open plan"), {}, tr("Plan scripts (*.plan);;All files (*)"));
  if (!file.isEmpty()) open_plan(file);
}

void MainWindow::save(bool ask_for_name) {
  QString file = text(snapshot_.plan_path);
  if (ask_for_name || file.isEmpty())
    file = QFileDialog::getSaveFileName(this, tr("Save plan"), file, tr("Plan scripts (*.plan)"));
  if (file.isEmpty()) return;
  if (edit_timer_.isActive()) {
    edit_timer_.stop();
    runner_.set_plan(editor_->toPlainText().toStdString());
  }
  runner_.save_plan(file.toStdString());
  editor_->document()->setModified(false);
  refresh_chips();
}

void MainWindow::ask_export(const QString& ending) {
  const QString file = QFileDialog::getSaveFileName(this, tr("Export timeline"), "timeline." + ending, "*." + ending);
  if (!file.isEmpty() && !export_picture(file))
    QMessageBox::warning(this, tr("Export timeline"), tr("%1 could not be written.").arg(file));
}

bool MainWindow::export_picture(const QString& file) {
  if (!snapshot_.timeline) return false;
  viz::TimelinePictureOptions options;
  options.title = snapshot_.model_name + " · " + (snapshot_.plan_name.empty() ? "untitled" : snapshot_.plan_name);
  std::string bytes;
  if (file.endsWith(".svg", Qt::CaseInsensitive)) {
    bytes = viz::to_svg(*snapshot_.timeline, options);
  } else {
    const viz::TimelinePicture picture = viz::timeline_picture(*snapshot_.timeline, options);
    bytes = viz::encode_png(viz::raster_image(picture.list, picture.size, {options.theme.background, 2, fonts_}));
  }
  QFile out(file);
  const auto size = static_cast<qint64>(bytes.size());
  return out.open(QIODevice::WriteOnly) && out.write(bytes.data(), size) == size && out.flush();
}

void MainWindow::show_palette() {
  auto* palette = new CommandPalette(actions_, this);
  palette->setAttribute(Qt::WA_DeleteOnClose);
  palette->move(mapToGlobal(QPoint((width() - palette->width()) / 2, 70)));
  palette->show();
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (!editor_->document()->isModified()) return event->accept();
  const auto answer =
      QMessageBox::question(this, tr("Close"), tr("The plan has changes that are not saved. Close anyway?"),
                            QMessageBox::Discard | QMessageBox::Cancel, QMessageBox::Cancel);
  if (answer == QMessageBox::Discard)
    event->accept();
  else
    event->ignore();
}

}  // namespace planscope
