// What the window does itself, and how the arguments of the session's commands are asked for.
#include <QAbstractItemView>
#include <QApplication>
#include <QClipboard>
#include <QCursor>
#include <QDockWidget>
#include <QFile>
#include <QFileInfo>
#include <QMessageBox>
#include <QStackedWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "app/desktop/argument_form.h"
#include "app/desktop/canvas_widget.h"
#include "app/desktop/chips.h"
#include "app/desktop/cluster_menu.h"
#include "app/desktop/command_palette.h"
#include "app/desktop/main_window.h"
#include "app/desktop/message_bar.h"
#include "app/desktop/offer_menu.h"
#include "app/desktop/panel_view.h"
#include "app/desktop/script_view.h"
#include "app/desktop/start_page.h"
#include "app/desktop/table_view.h"
#include "app/session/link.h"
#include "app/session/locator.h"
#include "app/session/panels/panels.h"

namespace planscope {

QString MainWindow::no_document() const { return shown_.state.document() ? QString() : tr("no model is open"); }

QString MainWindow::no_picture() const {
  if (current_canvas() && current_canvas()->has_picture()) return {};
  return shown_.state.document() ? tr("there is no picture: the plan has errors, or is not written yet")
                                 : tr("no model is open");
}

std::vector<WindowCommand> MainWindow::script_commands() {
  const auto need = [this] { return no_document(); };
  return {
      {"script.find", "Edit", tr("Find"), "Ctrl+F", tr("Finds text in the plan script"),
       [this] { script()->find()->open(false); }, need},
      {"script.replace", "Edit", tr("Find and replace"), "Ctrl+H", tr("Replaces text in the plan script"),
       [this] { script()->find()->open(true); }, need},
      {"script.comment", "Edit", tr("Comment lines"), "Ctrl+/",
       tr("Makes comments of the lines, or lines of the comments"), [this] { script()->editor()->comment_lines(); },
       need},
      {"script.fix", "Edit", tr("Take what is proposed"), "Alt+Return",
       tr("Puts what 'did you mean' proposes in the place of the word"), [this] { script()->editor()->fix_here(); },
       need},
      {"script.complete", "Edit", tr("Complete"), "", tr("What can be written here (Ctrl+Space in the script)"),
       [this] { script()->editor()->setFocus(), script()->editor()->show_completions(); }, need},
  };
}

std::vector<WindowCommand> MainWindow::canvas_commands() {
  const auto key = [this](viz::Key k) { return [this, k] { current_canvas()->apply_key(k); }; };
  const auto need = [this] { return no_picture(); };
  std::vector<WindowCommand> out;
  for (std::size_t i = 0; i < canvas_panes_.size(); ++i) {
    const auto& [id, pane] = canvas_panes_[i];
    out.push_back({"canvas." + id, "Picture", tr("Go to %1").arg(pane.dock->windowTitle()),
                   QString("Ctrl+%1").arg(i + 2), tr("Shows the picture, for its keys"),
                   [p = pane] { p.dock->show(), p.dock->raise(), p.view->setFocus(); }});
  }
  const std::vector<WindowCommand> keys = {
      {"canvas.fit", "Picture", tr("Fit the selection, then everything"), "", tr("F on the picture"), key(viz::Key::f),
       need},
      {"canvas.fit_all", "Picture", tr("Fit the whole"), "Ctrl+0", tr("Shows everything"), key(viz::Key::home), need},
      {"canvas.zoom_in", "Picture", tr("Zoom in"), "Ctrl++; Ctrl+=", tr("Closer, about the selection"),
       key(viz::Key::plus), need},
      {"canvas.zoom_out", "Picture", tr("Zoom out"), "Ctrl+-", tr("Farther"), key(viz::Key::minus), need},
      {"canvas.next", "Picture", tr("Next"), "Alt+Right", tr("Selects what comes next"), key(viz::Key::period), need},
      {"canvas.previous", "Picture", tr("Previous"), "Alt+Left", tr("Selects what comes before"), key(viz::Key::comma),
       need},
      {"canvas.png", "Picture", tr("Export as PNG…"), "", tr("A picture of the whole"), [this] { ask_export("png"); },
       need},
      {"canvas.svg", "Picture", tr("Export as SVG…"), "", tr("A vector picture of the whole"),
       [this] { ask_export("svg"); }, need},
  };
  out.insert(out.end(), keys.begin(), keys.end());
  return out;
}

std::vector<WindowCommand> MainWindow::window_commands() {
  std::vector<WindowCommand> out = {
      {"window.save_as", "File", tr("Save plan as…"), "Ctrl+Shift+S", tr("Writes the plan's text to another file"),
       [this] { save_as(); }, [this] { return no_document(); }},
      {"window.copy_link", "File", tr("Copy link"), "",
       tr("To what is on the screen, to be sent: model, plan, cluster, selection, what pictures show"),
       [this] {
         session::Link link = session::link_of(shown_.state);
         for (const auto& [id, pane] : canvas_panes_)
           if (pane.view->has_picture()) link.views[id.toStdString()] = pane.view->scene().view();
         QApplication::clipboard()->setText(QString::fromStdString(session::print(link)));
       },
       [this] { return no_document(); }},
      {"window.open_link", "File", tr("Open link…"), "", tr("Opens what somebody has sent"),
       [this] {
         const QString copied = QApplication::clipboard()->text().trimmed();
         const std::string link = copied.startsWith(session::link_scheme) ? copied.toStdString() : "";
         ask_arguments(*session::find_command("open"), {"open", {{"link", link}}});
       }},
      {"window.quit", "File", tr("Quit"), "Ctrl+Q", tr("Closes the window; what is open comes back, drafts are kept"),
       [this] { close(); }},
  };
  for (std::vector<WindowCommand> more : {script_commands(), canvas_commands()})
    out.insert(out.end(), more.begin(), more.end());
  for (const session::PanelInfo& info : session::panels()) {
    const auto pane = panes_.find(info.id);
    if (pane == panes_.end()) continue;
    out.push_back({"view." + pane->first, info.menu, tr("Go to %1").arg(info.title), info.keys,
                   tr("Shows the panel and goes into it"), [p = pane->second] {
                     p.dock->show(), p.dock->raise(), p.view->focus_target()->setFocus(Qt::ShortcutFocusReason);
                   }});
  }
  const std::vector<WindowCommand> views = {
      {"view.next", "View", tr("Next pane"), "F6", tr("Goes on to the next panel"), [this] { next_pane(1); }},
      {"view.previous", "View", tr("Previous pane"), "Shift+F6", tr("Goes back to the panel before"),
       [this] { next_pane(-1); }},
      {"view.reset", "View", tr("Reset layout"), "", tr("Puts every panel where it was at first"),
       [this] { reset_layout(); }},
      {"view.theme", "View", tr("Dark or light colours"), "Ctrl+Shift+T", tr("Changes between the two"),
       [this] { prefer("theme", theme_ == Theme::dark ? "light" : "dark"); }},
      {"view.system_theme", "View", tr("Colours of the system"), "", tr("Dark or light as the system is"),
       [this] { prefer("theme", "system"); }},
      {"help.palette", "Help", tr("Any command…"), "Ctrl+Shift+P", tr("Finds a command by its name"),
       [this] { show_palette(); }},
      {"view.locate", "View", tr("Go to…"), "Ctrl+K",
       tr("Finds modules, lines, documents, versions and plans by their names"), [this] { show_locator(); },
       [this] { return no_document(); }},
      {"help.sheet", "Help", tr("Commands and shortcuts"), "F1; ?", tr("The list of everything that can be done"),
       [this] { show_sheet(); }},
      {"help.about", "Help", tr("About planscope"), "", tr("Version"),
       [this] {
         QMessageBox::about(this, tr("About planscope"),
                            tr("planscope %1\nParallelization plans for the training of large models.")
                                .arg(QApplication::applicationVersion()));
       }},
  };
  out.insert(out.end(), views.begin(), views.end());
  return out;
}

void MainWindow::run_line(const std::string& line) {
  const Result<session::Invocation> i = session::parse_invocation(line);
  if (i.ok() && (!i->arguments.empty() || session::find_command(i->id)->arguments.empty())) return run(*i);
  const Result<session::Invocation> begun = session::parse_begun(line);
  if (!begun.ok()) return messages_->add_refusal({}, begun.diagnostics);
  const session::CommandInfo& info = *session::find_command(begun->id);
  if (begun->arguments.empty()) return run_command(info);
  ask_arguments(info, *begun);
}

void MainWindow::run_at(const std::string& line, const QPoint& where) {
  const Result<session::Invocation> i = session::parse_invocation(line);
  if (!i.ok()) return run_line(line);
  run(*i);
  if (placed_commands_.size() > 20) placed_commands_.erase(placed_commands_.begin());
  placed_commands_.emplace_back(session::print(*i), where);
}

void MainWindow::show_offers(const std::string& line, const QPoint& where, const std::vector<QAction*>& own) {
  const std::string of = line.empty() ? "select none" : line;
  const session::Offers offers = session::offers(shown_.state, of);
  if (offers.select) run_line(of);
  const auto choose = [this, where](const session::Offer& o) {
    const Result<session::Invocation> begun = session::parse_begun(o.command);
    if (o.asks && begun.ok()) return ask_arguments(*session::find_command(begun->id), *begun);
    run_at(o.command, where);
  };
  delete offer_menu_;
  offer_menu_ = new OfferMenu(offers, choose, this);
  offered_ = of;
  offer_menu_->addActions(QList<QAction*>(own.begin(), own.end()));
  if (!offers.all.empty() || !own.empty()) offer_menu_->popup(where);
}

// Runs it, once what it needs has been asked for in its own way.
void MainWindow::run_command(const session::CommandInfo& info) {
  const std::string id = info.id;
  const std::string reason = session::why_not(shown_.state, id);
  if (!reason.empty())
    return messages_->add_message(note("'" + std::string(info.title) + "' cannot be done now", reason));
  const session::Document* d = shown_.state.document();
  if (id == "open") return ask_open();
  if (id == "save" && d->path.empty()) return save_as();
  if (id == "cluster") return ask_cluster();
  if (session::asks(shown_.state, info)) return ask_arguments(info, {});
  run({id, {}});
}

void MainWindow::ask_arguments(const session::CommandInfo& info, session::Invocation begun) {
  new ArgumentForm(this, info, shown_.state, std::move(begun), [this](session::Invocation i) { run(std::move(i)); });
}

void MainWindow::ask_open() {
  const QString file =
      ask_open_file(tr("Open a model or a plan"), tr("Models and plans (*.pt2 *.plan);;All files (*)"));
  if (!file.isEmpty()) open(file);
}

void MainWindow::save_as() {
  const session::Document* d = shown_.state.document();
  if (!d) return;
  const QString name = QString::fromStdString(d->path.empty() ? d->name + ".plan" : d->path);
  const QString file = ask_save_file(tr("Save plan"), name, tr("Plan scripts (*.plan);;All files (*)"));
  if (!file.isEmpty()) run({"save", {{"path", file.toStdString()}, {"overwrite", "yes"}}});  // the dialog has asked
}

void MainWindow::ask_cluster() {
  const session::Document* d = shown_.state.document();
  const std::string now = d ? d->cluster : shown_.state.next_cluster;
  const auto choose = [this](const QString& name) { run({"cluster", {{"name", name.toStdString()}}}); };
  auto* menu = new ClusterMenu(
      session::choices(shown_.state, "cluster", "name"), QString::fromStdString(now), choose,
      [this, choose] {
        const QString file = ask_open_file(tr("Open a cluster"), tr("Clusters (*.json);;All files (*)"));
        if (!file.isEmpty()) choose(file);
      },
      this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  const Chip* chip = chips_->findChild<Chip*>("chip.cluster");
  menu->popup(chip ? chip->mapToGlobal(QPoint(0, chip->height())) : mapToGlobal(QPoint(40, 60)));
}

void MainWindow::ask_export(const QString& ending) {
  const QString what = current_canvas()->id();
  const QString file = ask_save_file(tr("Export picture"), what + "." + ending, "*." + ending);
  if (file.isEmpty()) return;
  const char* colours = theme_ == Theme::dark ? "dark" : "light";
  run({"export",  // the dialog has asked whether a file that is there is to go
       {{"what", what.toStdString()}, {"path", file.toStdString()}, {"colours", colours}, {"overwrite", "yes"}}});
}

void MainWindow::show_palette() {
  new CommandPalette(this, "palette", tr("Any command"), palette_items(actions_->all()), recent_commands_);
}

void MainWindow::show_locator() {
  std::vector<PaletteItem> items;
  for (const session::Target& t : session::targets(shown_.state))
    items.push_back({QString::fromStdString(t.command),
                     QString::fromStdString(t.title),
                     QString::fromStdString(t.about),
                     {},
                     {},
                     [this, command = t.command] { run_line(command); }});
  new CommandPalette(this, "locator", tr("Go to an operator, a tensor, a line, a document, a version, a plan"),
                     std::move(items), recent_targets_);
}

void MainWindow::show_sheet() {
  auto* sheet = new Overlay(this, "sheet", {900, 620});
  auto* view = new PanelView("sheet", tr("Commands and shortcuts"));
  view->set_theme(theme_);
  view->show_panel(std::make_shared<const session::Panel>(actions_->sheet()));
  view->on_activate = [this, sheet](const std::string& id) {
    QAction* action = actions_->find(QString::fromStdString(id));
    if (!action || !action->isEnabled()) return;
    sheet->leave();
    action->trigger();
  };
  sheet->content()->addWidget(view);
  sheet->open(view->focus_target());
}

void MainWindow::prefer(const char* name, const char* value) {
  told_theme_.reset();  // whoever chooses has seen what the arguments said
  run({"prefer", {{"name", name}, {"value", value}}});
  if (preferences_.get(name) == value) show_preferences(preferences_);
}

void MainWindow::set_look(const Look& look) {
  if (shown_look_ == look) return;
  shown_look_ = look;
  const Theme theme = theme_ = look.theme;
  apply_style(*qApp, theme, look.scale);
  for (const auto& [id, pane] : canvas_panes_) pane.view->set_theme(theme);
  chips_->set_theme(theme);
  messages_->set_theme(theme);
  start_->set_theme(theme);
  for (const auto& [id, pane] : panes_) pane.view->set_theme(theme);
  tidy_docks_soon();  // names of tabs have another width
}

// Figures, canvas or start page, then the panels that are on the screen.
void MainWindow::next_pane(int step) {
  std::vector<QWidget*> panes;
  if (const auto chip = chips_->findChildren<Chip*>(); !chip.isEmpty() && chips_->isVisible())
    panes.push_back(chip.first());
  if (centre_->currentWidget() == canvases_)
    panes.push_back(current_canvas());
  else
    for (QAbstractItemView* part : start_->widget()->findChildren<QAbstractItemView*>()) panes.push_back(part);
  for (const auto& [id, pane] : panes_)
    if (pane.view->isVisible() && in_front_.contains(pane.dock->objectName())) panes.push_back(pane.view->focus_target());
  std::erase(panes, nullptr);
  int at = -1;
  for (int i = 0; i < static_cast<int>(panes.size()); ++i) {
    QWidget* p = panes[static_cast<std::size_t>(i)];
    if (p->hasFocus() || p->isAncestorOf(focusWidget())) at = i;
  }
  const int count = static_cast<int>(panes.size());
  if (at < 0 && step < 0) at = 0;
  for (int k = 1; k <= count; ++k) {  // on to the first that takes the focus
    QWidget* next = panes[static_cast<std::size_t>(((at + k * step) % count + count) % count)];
    next->setFocus(Qt::TabFocusReason);
    if (next->hasFocus() || next->isAncestorOf(focusWidget())) return;
  }
}

}  // namespace planscope
