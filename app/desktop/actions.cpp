#include "app/desktop/actions.h"

#include <QMap>
#include <QMenu>
#include <QMenuBar>

#include "app/session/canvases/canvases.h"

namespace planscope {

namespace {

// In this order; a menu that is not among them stands before the last two.
constexpr const char* menus[] = {"File", "Edit", "Plan", "Picture", "View", "Help"};

QString text(const std::string& s) { return QString::fromStdString(s); }

void set_reason(QAction& action, const QString& reason) {
  const QString about = action.property("about").toString();
  const QString tip = reason.isEmpty() ? about : QObject::tr("%1\nNot now: %2").arg(about, reason);
  action.setEnabled(reason.isEmpty());
  action.setToolTip(tip);
  action.setStatusTip(reason.isEmpty() ? about : reason);
}

}  // namespace

Actions::Actions(QMenuBar& bar, QWidget& owner, std::vector<WindowCommand> own, RunSession run) : own_(std::move(own)) {
  QMap<QString, QMenu*> by_name;
  const auto menu_of = [&](const QString& name) {
    QAction* before = by_name.value("Help") ? by_name["View"]->menuAction() : nullptr;
    QMenu*& menu = by_name[name];
    if (menu) return menu;
    menu = new QMenu("&" + name, &bar);
    menu->setToolTipsVisible(true);
    bar.insertMenu(before, menu);
    return menu;
  };
  for (const char* name : menus) menu_of(name);
  for (const session::CommandInfo& c : session::commands()) {
    QAction* action = add(owner, c.id, c.title, c.keys, c.about);
    QObject::connect(action, &QAction::triggered, &owner, [run, &c] { run(c); });
    if (*c.menu) menu_of(c.menu)->addAction(action);
  }
  QMap<QString, bool> begun;
  for (const WindowCommand& c : own_) {
    QAction* action = add(owner, c.id, c.title, c.keys, c.about);
    QObject::connect(action, &QAction::triggered, &owner, [run = c.run] { run(); });
    QMenu* menu = menu_of(c.menu);
    if (!begun[c.menu] && !menu->isEmpty()) menu->addSeparator();
    begun[c.menu] = true;
    menu->addAction(action);
  }
}

QAction* Actions::add(QWidget& owner, const QString& id, const QString& title, const QString& keys,
                      const QString& about) {
  auto* action = new QAction(title, &owner);
  action->setObjectName(id);
  if (!keys.isEmpty()) action->setShortcuts(QKeySequence::listFromString(keys));
  action->setProperty("about", about);
  set_reason(*action, {});
  owner.addAction(action);
  actions_.push_back(action);
  return action;
}

void Actions::refresh(const session::State& state) {
  for (QAction* action : actions_) {
    const std::string id = action->objectName().toStdString();
    if (session::find_command(id)) set_reason(*action, text(session::why_not(state, id)));
  }
  for (const WindowCommand& c : own_)
    if (c.why_not) set_reason(*find(c.id), c.why_not());
}

QAction* Actions::find(const QString& id) const {
  for (QAction* action : actions_)
    if (action->objectName() == id) return action;
  return nullptr;
}

session::Panel Actions::sheet() const {
  using session::cell;
  session::Panel p{.id = "sheet", .title = "Commands and shortcuts", .kind = session::PanelKind::table};
  p.columns = {{"keys", "Keys"}, {"title", "Command"}, {"about", "What it does"}, {"reason", "Not now, because"}};
  for (const QAction* a : actions_) {
    QStringList keys;
    for (const QKeySequence& k : a->shortcuts()) keys << k.toString(QKeySequence::NativeText);
    const QString reason = a->isEnabled() ? QString() : a->statusTip();
    session::TableRow row{.id = a->objectName().toStdString(),
                          .tone = a->isEnabled() ? session::Tone::plain : session::Tone::dim};
    row.cells = {cell(keys.join(", ").toStdString()), cell(a->text().toStdString()),
                 cell(a->property("about").toString().toStdString()), cell(reason.toStdString())};
    row.command = row.id;
    p.rows.push_back(std::move(row));
  }
  const auto add = [&](const std::string& id, const char* keys, const std::string& where, const char* about) {
    session::TableRow row{.id = id};
    row.cells = {cell(keys), cell(where), cell(about), cell("")};
    p.rows.push_back(std::move(row));
  };
  for (const session::CanvasInfo& c : session::canvases())
    for (const session::CanvasKey& k : session::keys_of(c))
      add("canvas " + std::string(c.id) + " " + k.keys, k.keys, std::string("in the picture ") + c.title, k.about);
  add("canvas menu", "right click; Ctrl+drag", "in any picture", "what can be done with a thing; takes it along, onto another thing of any view");
  return p;
}

}  // namespace planscope
