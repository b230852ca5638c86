#include "app/desktop/main_window.h"

#include <QApplication>
#include <QCloseEvent>
#include <QDir>
#include <QTimer>
#include <QDockWidget>
#include <QDropEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QMimeData>
#include <QRegularExpression>
#include <QStackedWidget>
#include <QTabBar>
#include <QUrl>
#include <algorithm>
#include <utility>

#include "app/desktop/canvas_widget.h"
#include "app/desktop/chips.h"
#include "app/desktop/message_bar.h"
#include "app/desktop/offer_menu.h"
#include "app/desktop/panel_view.h"
#include "app/desktop/place_note.h"
#include "app/desktop/script_view.h"
#include "app/desktop/start_page.h"
#include "app/session/canvases/canvases.h"
#include "app/session/layout.h"
#include "app/session/link.h"
#include "app/session/panels/panels.h"

namespace planscope {

namespace {

constexpr int layout_version = 2;

QString text(const std::string& s) { return QString::fromStdString(s); }

// A link to the document in front, without its text: that is a draft, and comes back as one.
QString link_to(const session::State& state) {
  if (!state.document()) return {};
  session::Link link = session::link_of(state);
  link.text.clear();
  return text(session::print(link));
}

std::string absolute(const std::string& path) { return QFileInfo(text(path)).absoluteFilePath().toStdString(); }

// How a document is opened again: a line of a session script.
session::Invocation to_open(const session::Document& d) {
  session::Invocation i{"open", {{"model", absolute(d.model->model->path)}, {"cluster", d.cluster}}};
  if (!d.path.empty())
    i.arguments["plan"] = absolute(d.path);
  else if (d.version)
    i.arguments["plan"] = std::to_string(*d.version);
  return i;
}

}  // namespace

MainWindow::MainWindow(WindowSettings settings, viz::FontFiles fonts)
    : memory_(settings.memory_file),
      restore_(settings.restore),
      fonts_(std::move(fonts)),
      system_([this](Theme) { show_preferences(preferences_); }),
      told_theme_(settings.theme) {
  setObjectName("window");
  setAcceptDrops(true);
  setDockOptions(AnimatedDocks | AllowTabbedDocks | AllowNestedDocks | GroupedDragging);
  setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
  ask_open_file = [this](const QString& title, const QString& filter) {
    return QFileDialog::getOpenFileName(this, title, {}, filter);
  };
  ask_save_file = [this](const QString& title, const QString& name, const QString& filter) {
    return QFileDialog::getSaveFileName(this, title, name, filter);
  };
  resize(1400, 900);
  // Before there are widgets: those that are not shown yet do not follow a later change of the application's font.
  std::vector<Diagnostic> told;  // the session says it
  const Look first = look_of(session::read_preferences(settings.session.workspace, told));
  apply_style(*qApp, first.theme, first.scale);
  build_top();
  build_docks();
  build_centre();
  actions_ = std::make_unique<Actions>(*menu_bar_, *this, window_commands(),
                                       [this](const session::CommandInfo& c) { run_command(c); });
  settings.session.samples = StartPage::samples_folder().toStdString();
  bridge_ = std::make_unique<SessionBridge>(
      std::move(settings.session), [this](const Shown& s) { show_state(s); },
      [this](const session::Invocation& i, const std::vector<Diagnostic>& why) { refused(i, why); });
  show_preferences(bridge_->state().preferences);
  reset_layout();
  if (restore_) {
    recent_commands_ = memory_.recent_commands();
    restoreGeometry(memory_.geometry());
    if (!memory_.layout().isEmpty()) set_corners(memory_.wide_bottom());
    if (!memory_.layout().isEmpty()) restoreState(memory_.layout(), layout_version);
    if (!memory_.canvases().isEmpty()) canvases_->restoreState(memory_.canvases(), layout_version);
    restoring_ = !memory_.open().isEmpty() && preferences_.get("restore") == "yes";
  }
  actions_->refresh(shown_.state);
  show_documents(shown_.state);
  auto* others = new QTimer(this);  // that write to the workspace
  connect(others, &QTimer::timeout, this, [this] { bridge_->refresh(); });
  others->start(std::chrono::seconds(2));
}

// Docks that go with the window still say that they are hidden: nobody listens any more.
MainWindow::~MainWindow() {
  bridge_.reset();
  for (const auto& [id, pane] : panes_) pane.dock->disconnect(this);
  for (const auto& [id, pane] : canvas_panes_) pane.dock->disconnect(this);
}

void MainWindow::run(session::Invocation invocation) {
  std::erase_if(placed_commands_, [&](const auto& c) { return c.first == session::print(invocation); });
  if (script()) touched_at_run_ = script()->editor()->touched();
  bridge_->run(std::move(invocation));
}

void MainWindow::open(const QString& file) {
  const std::string path = file.toStdString();
  if (file.endsWith(".json", Qt::CaseInsensitive)) return run({"cluster", {{"name", absolute(path)}}});
  if (file.endsWith(".plan", Qt::CaseInsensitive)) return run({"open", {{"plan", path}}});
  run({"open", {{"model", path}}});
}

bool MainWindow::busy() const { return bridge_->busy() || restoring_; }

void MainWindow::show_state(const Shown& shown) {
  shown_ = shown;
  if (restoring_) restore_documents();
  show_script(shown);
  for (const auto& [id, panel] : shown.panels)
    if (PanelView* view = panel_view(text(id))) view->show_panel(panel);
  for (const session::PanelPlace& p : session::shipped_layout()) {
    const auto found = shown.panels.find(p.panel);
    if (found == shown.panels.end()) continue;
    const session::Panel& panel = *found->second;
    if (p.side == session::Side::top) chips_->show_facts(panel.facts, panel.current, text(panel.reason));
    if (p.side == session::Side::start) start_->show_panel(found->second);
  }
  show_canvases(shown);
  show_documents(shown.state);
  show_selection(shown.state);
  bring_to_front(shown.state.front);
  messages_->show_state(shown.state);
  actions_->refresh(shown.state);
  if (!(shown.state.preferences == preferences_)) show_preferences(shown.state.preferences);
  if (offer_menu_) offer_menu_->refresh(session::offers(shown.state, offered_));
  if (!restoring_) remember_documents(shown.state);
  if (restored_at_ > 0 && shown.answered >= restored_at_) restore_look(shown.state);
}

// What the user has typed stays until the session has it.
void MainWindow::show_script(const Shown& shown) {
  for (const auto& [id, pane] : panes_) {
    const auto found = shown.panels.find(id.toStdString());
    if (found != shown.panels.end()) pane.view->show_panel(found->second);
    ScriptView* view = pane.view->script();
    if (!view) continue;
    const session::Document* d = shown.state.document();
    view->set_writable(d != nullptr);
    if (shown.typed == bridge_->typed()) view->show_text(d ? d->id : 0, d ? text(d->draft.text()) : QString());
    if (found != shown.panels.end()) view->show_panel(*found->second);
  }
}

void MainWindow::show_canvases(const Shown& shown) {
  const session::Document* d = shown.state.document();
  for (const session::CanvasInfo& info : session::canvases()) {
    CanvasWidget* view = canvas(info.id);
    const auto words = shown.words.find(info.id);
    const session::CanvasWords said = words == shown.words.end() ? session::CanvasWords{} : words->second;
    const auto found = shown.canvases.find(info.id);
    view->show_picture(d ? d->id : 0, found == shown.canvases.end() ? CanvasPicture{} : found->second,
                       text(said.stale), text(said.empty));
  }
}

void MainWindow::show_documents(const session::State& state) {
  showing_documents_ = true;
  while (tabs_->count() > static_cast<int>(state.documents.size())) tabs_->removeTab(tabs_->count() - 1);
  for (int i = 0; i < static_cast<int>(state.documents.size()); ++i) {
    const session::Document& d = state.documents[static_cast<std::size_t>(i)];
    const QString title = text(d.model->model->name + " · " + d.name) + (d.modified() ? " •" : "");
    if (i == tabs_->count()) tabs_->addTab(title);
    tabs_->setTabText(i, title);
    tabs_->setTabToolTip(i, text(d.model->model->path + (d.path.empty() ? "" : "\n" + d.path) + "\n" + d.cluster));
    tabs_->setTabData(i, QString::number(d.id));
  }
  tabs_->setCurrentIndex(state.current);
  tabs_->setVisible(state.documents.size() > 1);
  showing_documents_ = false;
  const session::Document* d = state.document();
  centre_->setCurrentWidget(d ? static_cast<QWidget*>(canvases_) : start_);
  setWindowTitle((d ? text(d->model->model->name + " · " + d->name) + "[*] · " : QString()) + "planscope");
  setWindowModified(d && d->modified());
}

// A selection that comes late does not move the cursor of a person who types by then.
void MainWindow::show_selection(const session::State& state) {
  if (state.selections == selections_) return;
  selections_ = state.selections;
  ScriptView* view = script();
  if (view && state.selection.statement > 0 && view->editor()->touched() == touched_at_run_)
    view->editor()->go_to_line(state.selection.statement);
}

// A panel above everything is in sight already: it takes the focus alone.
void MainWindow::bring_to_front(const session::Front& front) {
  if (front.asked == front_asked_) return;
  front_asked_ = front.asked;
  const std::string id = front.canvas.empty() ? "view." + front.panel : "canvas." + front.canvas;
  if (QAction* action = actions_->find(text(id))) return action->trigger();
  if (Chip* first = chips_->findChild<Chip*>()) first->setFocus(Qt::ShortcutFocusReason);
}

void MainWindow::remember_documents(const session::State& state) {
  if (!restore_ || restored_at_ > 0) return;
  QStringList lines;
  for (const session::Document& d : state.documents) lines << text(session::print(to_open(d)));
  memory_.keep_open(lines, state.current);
  memory_.keep_look(link_to(state));
}

// What was open at the end; a draft of it that was not kept comes back as it was.
void MainWindow::restore_documents() {
  restoring_ = false;
  const QStringList lines = memory_.open();
  restoring_current_ = memory_.current();
  look_ = memory_.look();
  std::vector<session::LostDraft> lost = shown_.state.lost;
  for (const QString& line : lines) {
    const Result<session::Invocation> i = session::parse_invocation(line.toStdString());
    if (!i.ok() || !QFileInfo::exists(text(i->get("model")))) continue;
    const auto is = [&](const session::LostDraft& l) {
      if (absolute(l.model) != i->get("model")) return false;
      return l.path.empty() ? !i->has("plan") || i->get("plan").find('/') == std::string::npos
                            : absolute(l.path) == i->get("plan");
    };
    const auto draft = std::find_if(lost.begin(), lost.end(), is);
    run(draft == lost.end() ? *i : session::Invocation{"restore", {{"draft", std::to_string(draft->id)}}});
    if (draft != lost.end()) lost.erase(draft);
    restored_at_ = bridge_->asked();
  }
  if (!asked_) return;
  run(*asked_);
  restored_at_ = bridge_->asked();
  restoring_current_ = -1;
}

// All documents that can be are back: the one that was in front comes there, and is looked at as it was. One that was asked
// for stays in front.
void MainWindow::restore_look(session::State state) {
  restored_at_ = 0;
  if (restoring_current_ < 0 || state.documents.empty()) return;
  state.current = std::min(restoring_current_, static_cast<int>(state.documents.size()) - 1);
  run({"document", {{"number", std::to_string(state.document()->id)}}});
  Result<session::Link> look = session::parse_link(std::exchange(look_, {}).toStdString());
  if (!look.ok()) return;
  session::Link its = session::link_of(state);  // its plan may be another version by now
  look->model = its.model, look->digest = its.digest, look->plan = its.plan, look->name = its.name, look->cluster = its.cluster;
  run({"open", {{"link", session::print(*look)}}});
}

void MainWindow::open_at_start(session::Invocation invocation) {
  if (restoring_)
    asked_ = std::move(invocation);
  else
    run(std::move(invocation));
}

// What is preferred; the program's arguments go before it.
void MainWindow::show_preferences(const session::Preferences& preferences) {
  preferences_ = preferences;
  set_look(look_of(preferences));
}

MainWindow::Look MainWindow::look_of(const session::Preferences& preferences) const {
  const std::string theme = preferences.get("theme");
  const Theme preferred = theme == "dark" ? Theme::dark : theme == "light" ? Theme::light : system_.now();
  const double percent = text(preferences.get("scale")).section(' ', 0, 0).toDouble();
  return {told_theme_.value_or(preferred), percent >= 100 ? percent / 100 : 1};
}

// Where a gesture was made, if it was one; else above everything.
void MainWindow::refused(const session::Invocation& invocation, const std::vector<Diagnostic>& why) {
  const std::string line = session::print(invocation);
  const auto at =
      std::find_if(placed_commands_.begin(), placed_commands_.end(), [&](const auto& c) { return c.first == line; });
  const session::State now = bridge_->state();
  const std::uint64_t seen = now.document() ? now.document()->seen.newest() : 0;
  if (at == placed_commands_.end()) return messages_->add_refusal(invocation, why, seen);
  std::vector<session::Offer> offers;
  for (const Diagnostic& d : why)
    for (session::Offer& o : session::ways_out(invocation, d, seen)) offers.push_back(std::move(o));
  new PlaceNote(this, QStringLiteral("✗ ") + text(to_string(why)), offers, [this](const std::string& l) { run_line(l); },
                at->second);
  placed_commands_.erase(at);
}

void MainWindow::closeEvent(QCloseEvent* event) {
  keep_window();
  event->accept();
}

void MainWindow::keep_window() {
  if (!restore_) return;
  memory_.keep_wide_bottom(corner(Qt::BottomLeftCorner) == Qt::BottomDockWidgetArea);
  memory_.keep_recent_commands(recent_commands_);
  memory_.keep_window(saveGeometry(), saveState(layout_version), canvases_->saveState(layout_version));
}

// Also who ends the program by force finds the window as it was.
void MainWindow::keep_window_soon() {
  if (std::exchange(keeping_, true)) return;
  QTimer::singleShot(1000, this, [this] {
    keeping_ = false;
    if (!restoring_) keep_window();
  });
}

void MainWindow::changeEvent(QEvent* event) {
  if (event->type() == QEvent::ActivationChange && isActiveWindow() && bridge_) bridge_->refresh();
  QMainWindow::changeEvent(event);
}

void MainWindow::resizeEvent(QResizeEvent* event) {
  QMainWindow::resizeEvent(event);
  tidy_docks_soon();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

// Models first: a plan is for the model that comes with it.
void MainWindow::dropEvent(QDropEvent* event) {
  QStringList files;
  for (const QUrl& url : event->mimeData()->urls())
    if (url.isLocalFile()) files << url.toLocalFile();
  const auto models = files.filter(QRegularExpression("\\.pt2$")), plans = files.filter(QRegularExpression("\\.plan$"));
  if (models.size() == 1 && plans.size() == 1) {
    run({"open", {{"model", models[0].toStdString()}, {"plan", plans[0].toStdString()}}});
    files.removeAll(models[0]);
    files.removeAll(plans[0]);
  }
  std::stable_sort(files.begin(), files.end(),
                   [](const QString& a, const QString& b) { return a.endsWith(".pt2") && !b.endsWith(".pt2"); });
  for (const QString& file : files) open(file);
  event->acceptProposedAction();
}

}  // namespace planscope
