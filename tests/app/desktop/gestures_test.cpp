// By hand: context menus, cells that are changed, rows that are dragged and pasted, refusals where they were made, and
// what is preferred.
#include <QToolButton>
#include <QAbstractItemView>
#include <QAction>
#include <QClipboard>
#include <QComboBox>
#include <QCompleter>
#include <QDropEvent>
#include <QLineEdit>
#include <QMimeData>
#include <QTest>
#include <catch2/catch.hpp>

#include "app/desktop/completing_line.h"
#include "app/desktop/message_bar.h"
#include "app/desktop/offer_menu.h"
#include "app/desktop/place_note.h"
#include "tests/app/desktop/window_fixture.h"

using namespace planscope;

namespace {

struct Gestures : WindowFixture {
  Gestures() { open_pipeline(); }

  std::string text() const { return document().draft.text(); }

  QModelIndex row(TableView& t, const QString& with) {
    for (int r = 0; r < t.view()->model()->rowCount(); ++r) {
      const QModelIndex first = t.view()->model()->index(r, 0);
      for (int c = 0; c < t.view()->model()->columnCount(); ++c)
        if (first.siblingAtColumn(c).data(PanelModel::text_role).toString() == with) return first.siblingAtColumn(c);
    }
    return {};
  }

  OfferMenu& menu() const {
    auto* m = window->findChild<OfferMenu*>("offers");
    REQUIRE(m != nullptr);
    REQUIRE(m->isVisible());
    return *m;
  }

  // Of the menu or of one of its own.
  static QAction* entry(const OfferMenu& m, const QString& title) {
    const QList<QAction*> all = m.findChildren<QAction*>(title);
    return all.isEmpty() ? nullptr : all.first();
  }

  void choose(const QString& title) {
    QAction* a = entry(menu(), title);
    INFO(title.toStdString());
    REQUIRE(a != nullptr);
    REQUIRE(a->isEnabled());
    menu().close();
    a->trigger();
    settle();
  }

  void point_at(TableView& t, const QModelIndex& index) {
    REQUIRE(index.isValid());
    t.view()->scrollTo(index);
    t.view()->setCurrentIndex(index);
    Q_EMIT t.view()->customContextMenuRequested(t.view()->visualRect(index).center());
    settle();
  }

  static void drop(QWidget* onto, const QPoint& at, const std::string& line) {
    QMimeData data;
    data.setData(PanelModel::line_type, QByteArray::fromStdString(line));
    QDragEnterEvent enter(at, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(onto, &enter);
    CHECK(enter.isAccepted());
    QDragMoveEvent over(at, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(onto, &over);
    QDropEvent drop(at, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(onto, &drop);
  }
};

}  // namespace

TEST_CASE_METHOD(Gestures, "the context menu of a row is what the session offers, and each entry is one edit") {
  TableView& grid = table("constraints");
  const std::string before = text();
  point_at(grid, row(grid, "axis mb=8"));
  shoot("row-menu");
  CHECK(entry(menu(), "Switch it off") != nullptr);
  choose("Duplicate it");
  CHECK(text().find("axis mb=8\naxis mb=8\n") != std::string::npos);
  trigger("undo");
  CHECK(text() == before);
  point_at(grid, row(grid, "axis mb=8"));
  choose("Change the line…");
  auto* form = window->findChild<QWidget*>("arguments");
  REQUIRE(form != nullptr);
  auto* statement = form->findChild<QComboBox*>("argument.statement");
  CHECK(statement->currentText() == "axis mb=8");
  statement->setCurrentText("axis mb=4");
  QTest::keyClick(statement->lineEdit(), Qt::Key_Return);
  settle();
  CHECK(text().find("axis mb=4\n") != std::string::npos);
}

TEST_CASE_METHOD(Gestures, "the menu of a module shows what each choice changes, as soon as that is known") {
  TableView& modules = table("modules");
  const QModelIndex mlp = modules.view()
                              ->model()
                              ->match(modules.view()->model()->index(0, 0), PanelModel::id_role, "transformer.h[*].mlp",
                                      1, Qt::MatchExactly | Qt::MatchRecursive)
                              .value(0);
  point_at(modules, mlp);
  REQUIRE(QTest::qWaitFor([&] { return entry(menu(), "Recompute")->text().contains("step +"); }, 60000));
  shoot("module-menu");
  const std::string before = text();
  choose("Recompute");
  CHECK(text() == before + "trans transformer.h[*].mlp recompute\n");
  CHECK(chip("preview").contains("step +"));
}

TEST_CASE_METHOD(Gestures, "a picture offers what its table does for the thing under the mouse") {
  trigger("canvas.graph");
  CanvasWidget& graph = *window->canvas("graph");
  std::string line;
  QPoint where;
  for (int y = 60; y < graph.height() && line.empty(); y += 12)
    for (int x = 20; x < graph.width() && line.empty(); x += 24) {
      const std::string found = graph.line_at({double(x), double(y)});
      if (found.find("operators") != std::string::npos) line = found, where = {x, y};
    }
  REQUIRE_FALSE(line.empty());
  CHECK(window->shown().state.selection.none());  // asking selects nothing
  QContextMenuEvent event(QContextMenuEvent::Mouse, where, graph.mapToGlobal(where));
  QApplication::sendEvent(&graph, &event);
  settle();
  CHECK(entry(menu(), "Recompute") != nullptr);
  CHECK_FALSE(window->shown().state.selection.none());
  shoot("canvas-menu");
  menu().close();
}

TEST_CASE_METHOD(Gestures,
                 "a cell is changed where it stands, with completion and what it means; the rest of the plan stays") {
  TableView& grid = table("constraints");
  const std::string before = text();
  const QModelIndex cell = row(grid, "batch by mb");
  REQUIRE(cell.isValid());
  grid.view()->setCurrentIndex(cell);
  grid.view()->edit(cell);
  auto* editor = grid.view()->findChild<CompletingLine*>("cell.editor");
  REQUIRE(editor != nullptr);
  editor->selectAll();
  QTest::keyClicks(editor, "batch by m");
  CHECK(editor->completing());
  shoot("cell");
  QTest::keyClick(editor->completer()->popup(), Qt::Key_Return);  // takes what is offered
  CHECK(editor->text() == "batch by mb");
  editor->selectAll();
  QTest::keyClicks(editor, "none by mb");
  if (editor->completing()) QTest::keyClick(editor->completer()->popup(), Qt::Key_Escape);
  QTest::keyClick(editor, Qt::Key_Return);
  settle();
  std::string wanted = before;
  wanted.replace(wanted.find("batch by mb"), 11, "none by mb");
  CHECK(text() == wanted);
  trigger("undo");

  // A selector says how much it means.
  const QModelIndex operators = row(grid, "S[i]");
  grid.view()->edit(operators);
  editor = grid.view()->findChild<CompletingLine*>("cell.editor");
  REQUIRE(editor != nullptr);
  editor->setText("transformer.h[*].mlp");
  CHECK(editor->note_text().endsWith(" operators"));
  editor->setText("transformer.h[*].mpl");
  CHECK(editor->note_text().startsWith(QStringLiteral("✗ ")));
}

TEST_CASE_METHOD(Gestures, "boxes of the grid switch lines off and on") {
  TableView& grid = table("constraints");
  const std::string before = text();
  const QModelIndex line = row(grid, "use 1f1b(S)");
  int switched = -1;
  for (int c = 0; c < grid.view()->model()->columnCount(); ++c)
    if (line.siblingAtColumn(c).data(PanelModel::edit_role).toString().startsWith("toggle")) switched = c;
  REQUIRE(switched >= 0);
  grid.view()->model()->setData(line.siblingAtColumn(switched), Qt::Unchecked, Qt::CheckStateRole);
  settle();
  CHECK(text().find("# use 1f1b(S)\n") != std::string::npos);
  grid.view()->model()->setData(row(grid, "# use 1f1b(S)").siblingAtColumn(switched), Qt::Checked, Qt::CheckStateRole);
  settle();
  CHECK(text() == before);
}

TEST_CASE_METHOD(Gestures,
                 "rows are dragged to another place, and operators onto places; what cannot be says so there") {
  TableView& grid = table("constraints");
  const std::string before = text();
  const QModelIndex target = row(grid, "axis mb=8");
  const QPoint above = grid.view()->visualRect(target).center();
  drop(grid.view()->viewport(), above, "select statement=6");
  settle();
  CHECK(text().find("trans * batch by mb\naxis mb=8\n") != std::string::npos);
  trigger("undo");
  CHECK(text() == before);

  drop(grid.view()->viewport(), above, "select operators=lm_head");  // onto a line of the plan
  settle();
  CHECK(text() == before);
  auto* note = window->findChild<PlaceNote*>("place.note");
  REQUIRE(note != nullptr);
  CHECK(note->text().contains("cannot be dropped"));
  CHECK_FALSE(window->messages()->isVisible());
  shoot("refused");
  QTest::keyClick(window.get(), Qt::Key_Shift);
  CHECK(QTest::qWaitFor([&] { return window->findChild<PlaceNote*>("place.note") == nullptr; }, 5000));

  window->run_at("drag what=\"select operators=lm_head\" onto=\"select place=pipe=1\"", {300, 300});
  settle();
  CHECK(text() == before + "assign lm_head to pipe=1\n");
}

TEST_CASE_METHOD(Gestures, "rows that are copied from one plan are pasted into another") {
  TableView& grid = table("constraints");
  grid.view()->setCurrentIndex(row(grid, "axis mb=8"));
  grid.view()->selectionModel()->select(row(grid, "use 1f1b(S)"),
                                        QItemSelectionModel::Select | QItemSelectionModel::Rows);
  QTest::keyClick(grid.view(), Qt::Key_C, Qt::ControlModifier);
  CHECK(QApplication::clipboard()->text().startsWith("Line\t"));
  run("open model=" + gpt2 + " plan=" + write("b.plan", "devices 4 as pipe=4\n").toStdString());
  QTest::keyClick(table("constraints").view(), Qt::Key_V, Qt::ControlModifier);
  settle();
  CHECK(text() == "devices 4 as pipe=4\naxis mb=8\nuse 1f1b(S)\n");
  QApplication::clipboard()->setText("this is no plan");
  QTest::keyClick(grid.view(), Qt::Key_V, Qt::ControlModifier);
  settle();
  CHECK(text() == "devices 4 as pipe=4\naxis mb=8\nuse 1f1b(S)\n");
  CHECK(window->findChild<PlaceNote*>("place.note") != nullptr);
}

TEST_CASE_METHOD(Gestures, "what is preferred is on the screen at once, and at the next start") {
  const auto ground = [&] { return window->palette().color(QPalette::Window).lightness(); };
  run("prefer theme light");
  CHECK(ground() > 200);
  run("prefer scale \"200 %\"");
  CHECK(window->font().pixelSize() == 24);
  CHECK(editor().font().pixelSize() == 24);
  shoot("200-percent");
  start(true);
  CHECK(ground() > 200);
  CHECK(window->font().pixelSize() == 24);
  run("prefer scale \"100 %\"");
  trigger("view.theme");
  CHECK(ground() < 60);
  CHECK(window->font().pixelSize() == 12);
  trigger("view.preferences");
  PanelView* form = window->panel_view("preferences");
  auto* theme = form->findChild<QComboBox*>("field.theme");
  REQUIRE(theme != nullptr);
  CHECK(theme->currentText() == "dark");
  Q_EMIT theme->textActivated("light");
  settle();
  CHECK(ground() > 200);
  run("prefer theme dark");
}

TEST_CASE_METHOD(Gestures, "a window in which nothing happens is not painted") {
  timeline().setFocus();
  settle();
  struct Counter : QObject {
    int painted = 0;
    bool eventFilter(QObject* o, QEvent* e) override {
      painted += e->type() == QEvent::Paint;
      return QObject::eventFilter(o, e);
    }
  } counter;
  QTest::qWait(300);  // for what is still under way
  qApp->installEventFilter(&counter);
  QTest::qWait(1000);
  CHECK(counter.painted == 0);
  timeline().update();
  QTest::qWait(100);
  CHECK(counter.painted > 0);  // it does count
}

TEST_CASE_METHOD(Gestures, "a refusal at a place has a button for each line that is in the way") {
  run("append \"order f(S[1])[3] < b(S[1])[1]\"");
  const std::string before = text();
  window->run_at("order \"b(S[1])[1]\" before=\"f(S[1])[3]\"", {300, 300});
  settle();
  CHECK(text() == before);
  auto* note = window->findChild<PlaceNote*>("place.note");
  REQUIRE(note != nullptr);
  shoot("ways_out");
  QToolButton* relax = nullptr;
  for (QToolButton* b : note->findChildren<QToolButton*>("note.button"))
    if (!relax) relax = b;
  REQUIRE(relax != nullptr);
  CHECK(relax->text().startsWith("Relax line "));
  QTest::mouseClick(relax, Qt::LeftButton);
  settle();
  CHECK(text() != before);
}
