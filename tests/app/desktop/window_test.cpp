// The window's frame: commands with reasons, palette, forms, sheet, clusters, layout, sizes, the keyboard.
#include <QAction>
#include <QComboBox>
#include <QDockWidget>
#include <QDropEvent>
#include <QFileInfo>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QMenuBar>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QTabBar>
#include <QTest>
#include <QTextBlock>
#include <QUrl>
#include <catch2/catch.hpp>
#include <set>

#include "app/desktop/chips.h"
#include "app/desktop/cluster_menu.h"
#include "app/desktop/overlay.h"
#include "app/session/panels/panels.h"
#include "tests/app/desktop/window_fixture.h"

using namespace planscope;

TEST_CASE_METHOD(WindowFixture,
                 "every command has a name and a tip; shortcuts do not clash; what cannot be done says why") {
  std::set<QString> ids, keys;
  for (const QAction* a : window->actions_list().all()) {
    INFO(a->objectName().toStdString());
    CHECK(ids.insert(a->objectName()).second);
    CHECK_FALSE(a->toolTip().isEmpty());
    for (const QKeySequence& k : a->shortcuts()) CHECK(keys.insert(k.toString()).second);
  }
  for (const session::CommandInfo& c : session::commands()) CHECK(ids.contains(c.id));
  CHECK_FALSE(action("save").isEnabled());
  CHECK(action("save").toolTip().contains("no model is open"));
  CHECK_FALSE(action("canvas.svg").isEnabled());
  CHECK(action("canvas.svg").toolTip().contains("no model is open"));
  open_pipeline();
  CHECK(action("save").isEnabled());
  CHECK(action("canvas.svg").isEnabled());
  CHECK_FALSE(action("redo").isEnabled());
  CHECK(action("redo").toolTip().contains("there is nothing to redo"));
}

TEST_CASE_METHOD(WindowFixture,
                 "the palette finds, ranks and runs commands, and lists what cannot be done with the reason") {
  open_pipeline();
  const double whole = timeline_range().length().value;
  trigger("help.palette");
  QWidget* palette = window->findChild<QWidget*>("palette");
  REQUIRE(palette != nullptr);
  auto* input = palette->findChild<QLineEdit*>();
  auto* list = palette->findChild<QListWidget*>();
  QTest::keyClicks(input, "redo");
  shoot("palette");
  CHECK(list->item(0)->text().contains("there is nothing to redo"));
  input->clear();
  QTest::keyClicks(input, "zoom in");
  REQUIRE(list->count() >= 1);
  QTest::keyClick(input, Qt::Key_Return);
  settle();
  CHECK(timeline_range().length().value < whole);
}

TEST_CASE_METHOD(WindowFixture, "the locator goes to modules and lines") {
  open_pipeline();
  trigger("view.locate");
  QWidget* locator = window->findChild<QWidget*>("locator");
  REQUIRE(locator != nullptr);
  auto* input = locator->findChild<QLineEdit*>();
  QTest::keyClicks(input, "use 1f1b");
  QTest::keyClick(input, Qt::Key_Return);
  settle();
  CHECK(editor().textCursor().block().text() == "use 1f1b(S)");
}

TEST_CASE_METHOD(WindowFixture, "a command with arguments asks for them in one line") {
  open_pipeline();
  trigger("replace");
  QWidget* form = window->findChild<QWidget*>("arguments");
  REQUIRE(form != nullptr);
  auto* line = form->findChild<QComboBox*>("argument.line");
  auto* statement = form->findChild<QComboBox*>("argument.statement");
  CHECK(line->count() == 8);
  line->setCurrentText("four");
  QTest::keyClick(line->lineEdit(), Qt::Key_Return);
  shoot("arguments");
  CHECK(form->isVisible());  // a number is needed
  line->setCurrentText("4");
  statement->setCurrentText("axis mb=4");
  QTest::keyClick(statement->lineEdit(), Qt::Key_Return);
  settle();
  CHECK(document().draft.text().find("axis mb=4\n") != std::string::npos);
}

TEST_CASE_METHOD(WindowFixture, "a command asks for what may be said, and runs where nothing is") {
  open_pipeline();
  const auto form = [&](const QString& id) {
    action(id).trigger();
    auto* found = window->findChild<QWidget*>("arguments");
    REQUIRE(found != nullptr);
    return static_cast<Overlay*>(found);
  };
  Overlay* run_form = form("run");
  for (const char* field : {"procs", "steps", "optimizer", "seed", "inputs", "join"})
    CHECK(run_form->findChild<QComboBox*>(QString("argument.") + field) != nullptr);
  run_form->leave();
  QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
  QComboBox* limit = form("plan")->findChild<QComboBox*>("argument.limit");
  REQUIRE(limit != nullptr);
  QTest::keyClick(limit, Qt::Key_Return);  // the box has the focus, as when a person types
  settle();
  REQUIRE(document().planner);
  REQUIRE(QTest::qWaitFor([&] { return !document().planner->running; }, 120000));  // a search is a job, which nothing waits for
  CHECK(document().planner->status == "complete");
}

TEST_CASE_METHOD(WindowFixture, "another cluster is chosen from the presets, with a number of nodes, or from a file") {
  CHECK(ClusterMenu::with_nodes("dgx-h100", 4) == "dgx-h100x4");
  CHECK(ClusterMenu::with_nodes("dgx-h100x2", 4) == "dgx-h100x2");
  CHECK(ClusterMenu::with_nodes("a/b.json", 4) == "a/b.json");
  open_pipeline();
  const QString before = chip("step_us");
  window->run_line("cluster");
  auto* menu = window->findChild<QMenu*>("clusters");
  REQUIRE(menu != nullptr);
  QAction* preset = menu->findChild<QAction*>("dgx1-v100");
  REQUIRE(preset != nullptr);
  menu->hide();
  preset->trigger();
  settle();
  CHECK(document().cluster == "dgx1-v100x1");
  CHECK(chip("step_us") != before);
}

TEST_CASE_METHOD(WindowFixture,
                 "every panel has a dock; one that was closed and floated is where it was after the reset") {
  for (const session::PanelInfo& p : session::panels()) {
    if (std::string(p.id) == "chips") continue;
    CHECK(window->findChild<QDockWidget*>(QString("dock.") + p.id) != nullptr);
  }
  const QByteArray shipped = window->saveState();
  auto* problems = window->findChild<QDockWidget*>("dock.problems");
  problems->setFloating(true);
  window->findChild<QDockWidget*>("dock.modules")->hide();
  trigger("view.reset");
  CHECK_FALSE(problems->isFloating());
  CHECK(window->findChild<QDockWidget*>("dock.modules")->isVisible());
  CHECK(window->dockWidgetArea(problems) == Qt::BottomDockWidgetArea);
}

TEST_CASE_METHOD(WindowFixture, "from 1024 x 700 up no chip is cut without a tooltip, and none lies outside") {
  start(false, {1024, 700});
  run("open model=" + gpt2 + " plan=" + pipeline + " cluster=dgx-h100x1");
  CHECK(window->minimumSizeHint().width() <= 1024);
  CHECK(window->minimumSizeHint().height() <= 700);
  shoot("1024x700");
  int seen = 0;
  for (Chip* c : window->chips()->findChildren<Chip*>()) {
    if (c->isHidden()) continue;
    ++seen;
    CHECK(window->rect().contains(QRect(c->mapTo(window.get(), QPoint()), c->size())));
    CHECK_FALSE(c->shown_value().endsWith(QStringLiteral("…")));
    CHECK(c->width() >= c->sizeHint().width());
    CHECK(c->toolTip().contains(c->whole_text()));
  }
  CHECK(seen > 6);
  CHECK(window->chips()->height() < 110);
}

TEST_CASE_METHOD(WindowFixture, "no name of a tab is cut, at any scale") {
  struct Look {
    QSize size;
    const char* scale;
    int least;  // tabs that are seen
  };
  const Look looks[] = {{{1024, 700}, "100 %", 9},
                        {{1024, 700}, "300 %", 2},
                        {{1920, 1080}, "100 %", 9},
                        {{1920, 1080}, "200 %", 9},
                        {{1920, 1080}, "300 %", 9}};
  // What is behind another tab lies outside.
  const auto is_on_screen = [this](const char* panel) {
    const PanelView* v = window->panel_view(panel);
    return v->isVisible() && window->rect().contains(QRect(v->mapTo(window.get(), QPoint()), v->size()));
  };
  const auto count_whole_tabs = [this] {
    int seen = 0;
    for (const QTabBar* bar : window->findChildren<QTabBar*>())
      for (int i = 0; bar->isVisible() && bar->count() > 1 && i < bar->count(); ++i) {  // one pane by itself has no tab
        INFO(bar->tabText(i).toStdString());
        ++seen;
        CHECK(bar->rect().contains(bar->tabRect(i)));
      }
    return seen;
  };
  for (const Look& look : looks) {
    INFO(look.size.width() << " at " << look.scale);
    start(false, look.size);
    run("open model=" + gpt2 + " plan=" + pipeline + " cluster=dgx-h100x1");
    run("prefer scale \"" + std::string(look.scale) + "\"");
    trigger("view.reset");
    settle();
    CHECK(count_whole_tabs() >= look.least);
    for (const char* asked : {"constraints", "planner", "jobs"}) {  // whatever is behind the menu
      INFO(asked);
      trigger(QString("view.") + asked);
      CHECK(is_on_screen(asked));
    }
    CHECK_FALSE(is_on_screen("problems"));  // behind "jobs"
    count_whole_tabs();
  }
  run("prefer scale \"100 %\"");
}

TEST_CASE_METHOD(WindowFixture, "the keyboard goes from pane to pane, and every view has a name") {
  open_pipeline();
  trigger("view.runs");
  timeline().setFocus();
  std::set<QWidget*> visited;
  for (int i = 0; i < 40; ++i) {
    trigger("view.next");
    visited.insert(window->focusWidget());
  }
  for (const QWidget* w : visited)
    UNSCOPED_INFO((w ? (w->objectName() + " " + w->metaObject()->className()).toStdString() : std::string("none")));
  CHECK(visited.contains(&timeline()));
  CHECK(visited.size() >= 4);
  for (const char* seen : {"modules", "script", "runs"}) {
    INFO(seen);
    CHECK(std::any_of(visited.begin(), visited.end(), [&](const QWidget* w) { return window->panel_view(seen)->isAncestorOf(w); }));
  }
  for (const session::PanelInfo& p : session::panels())
    if (const PanelView* v = window->panel_view(p.id)) CHECK_FALSE(v->accessibleName().isEmpty());
  CHECK_FALSE(timeline().accessibleName().isEmpty());
  CHECK_FALSE(editor().accessibleName().isEmpty());
}

TEST_CASE_METHOD(WindowFixture, "the start page opens a sample with a plan, and the sheet lists every command") {
  PanelView* samples = window->findChild<PanelView*>("panel.start.samples");
  REQUIRE(samples != nullptr);
  REQUIRE(samples->isVisible());
  const auto& rows = samples->panel()->rows;
  const auto row =
      std::find_if(rows.begin(), rows.end(), [](const auto& r) { return r.id.ends_with("gpt2_tiny-1f1b.plan"); });
  REQUIRE(row != rows.end());
  const std::string open = row->command;
  run(open);
  CHECK(chip("verdict") == "Verdict ✓ equivalent");
  run("close");
  const PanelView* recent = window->findChild<PanelView*>("panel.start.recent");
  REQUIRE(recent != nullptr);
  CHECK(recent->isVisible());
  CHECK(recent->panel()->rows[0].cells[1].text == "gpt2_tiny-1f1b.plan");
  const PanelView* drafts = window->findChild<PanelView*>("panel.start.drafts");
  REQUIRE(drafts != nullptr);
  CHECK_FALSE(drafts->isVisible());
  const auto* program = window->findChild<QPlainTextEdit*>("start.own_model");
  REQUIRE(program != nullptr);
  CHECK(program->isVisible());
  CHECK(program->toPlainText().contains("torch.export.save(program, "));
  run(open);
  CHECK(window->actions_list().sheet().rows.size() >= window->actions_list().all().size());
  trigger("help.sheet");
  QWidget* sheet = window->findChild<QWidget*>("sheet");
  REQUIRE(sheet != nullptr);
  shoot("sheet");
  CHECK(sheet->isVisible());
}

TEST_CASE_METHOD(WindowFixture, "a model and a plan that are dropped together are opened together") {
  QMimeData data;
  const auto url = [](const std::string& file) {
    return QUrl::fromLocalFile(QFileInfo(QString::fromStdString(file)).absoluteFilePath());
  };
  data.setUrls({url(pipeline), url(gpt2)});
  QDragEnterEvent enter({400, 300}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(window.get(), &enter);
  CHECK(enter.isAccepted());
  QDropEvent drop({400, 300}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(window.get(), &drop);
  settle();
  REQUIRE(window->shown().state.documents.size() == 1);
  CHECK(document().model->model->name == "gpt2_tiny");
  CHECK(document().name == "gpt2_tiny-1f1b");
}

TEST_CASE_METHOD(WindowFixture, "the window can be made small, and nothing of it is cut off") {
  open_pipeline();
  window->resize(700, 500);
  settle();
  CHECK(window->width() <= 760);
  for (const Chip* c : window->chips()->findChildren<Chip*>())
    if (!c->isHidden()) CHECK(c->geometry().right() <= window->chips()->width());
}

TEST_CASE_METHOD(WindowFixture, "at 200 % the window is not higher than a small screen, and its menu has that size") {
  open_pipeline();
  run("prefer scale \"200 %\"");
  start(true, {1280, 800});
  CHECK(window->minimumSizeHint().height() <= 780);
  CHECK(window->findChild<QMenuBar*>()->font().pixelSize() == 24);
  run("prefer scale \"100 %\"");
}
