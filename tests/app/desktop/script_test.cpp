// The script editor on a real session: what is typed is evaluated at once, what was good stays, marks, completion,
// fixes, find.
#include <QAbstractItemView>
#include <QCompleter>
#include <QLineEdit>
#include <QTest>
#include <QTextBlock>
#include <catch2/catch.hpp>

#include <QHelpEvent>
#include <QToolTip>

#include "app/desktop/chips.h"
#include "app/desktop/message_bar.h"
#include "app/desktop/plan_editor.h"
#include "tests/app/desktop/window_fixture.h"

using namespace planscope;

namespace {

const std::string two = "devices 2 as data=2\\ntrans * batch by data\\n";

}  // namespace

TEST_CASE_METHOD(WindowFixture, "while a line is being typed the last good picture stays, dimmed, with the reason") {
  open_pipeline();
  const std::size_t lanes = timeline_model().lanes.size();
  const QString step = chip("step_us");
  type_at_end(editor(), "tran");
  settle();
  REQUIRE(timeline().has_picture());
  CHECK(timeline_model().lanes.size() == lanes);
  shoot("stale");
  CHECK(timeline().stale().contains("line "));
  CHECK(chip("step_us") == step);
  for (const Chip* c : window->chips()->findChildren<Chip*>())
    if (!c->isHidden()) CHECK(c->is_dimmed());
  CHECK(chip("verdict") == "Verdict ✗ refused");
  CHECK(table("problems").model().rowCount() >= 1);
  editor().setFocus();
  for (int i = 0; i < 4; ++i) QTest::keyClick(&editor(), Qt::Key_Backspace);
  settle();
  CHECK(timeline().stale().isEmpty());
  CHECK(chip("verdict") == "Verdict ✓ equivalent");
}

TEST_CASE_METHOD(WindowFixture, "undo and redo are the session's, a pause makes another step") {
  run("open model=" + gpt2);
  run("text \"" + two + "\"");
  type_at_end(editor(), "# one");
  QTest::qWait(1100);
  QTest::keyClicks(&editor(), " two");
  settle();
  CHECK(editor().toPlainText().endsWith("# one two"));
  trigger("undo");
  CHECK(editor().toPlainText().endsWith("# one"));
  trigger("undo");
  CHECK(editor().toPlainText().endsWith("data\n"));
  QTest::keyClick(&editor(), Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
  settle();
  CHECK(editor().toPlainText().endsWith("# one"));
}

TEST_CASE_METHOD(WindowFixture,
                 "a mark lies under its token, is told on the line, and one key takes what is proposed") {
  run("open model=" + gpt2);
  run("text \"devices 2 as data=2\\ntrans * batch by dta\\n\"");
  const session::Panel& panel = *window->panel_view("script")->panel();
  REQUIRE(panel.marks.size() == 1);
  CHECK(panel.marks[0].from == 17);
  CHECK(panel.marks[0].to == 20);
  CHECK(panel.marks[0].fix == "data");
  bool under_token = false;
  for (const QTextEdit::ExtraSelection& s : editor().extraSelections())
    under_token = under_token || s.cursor.selectedText() == "dta";
  CHECK(under_token);
  editor().go_to_line(2);
  editor().setFocus();
  trigger("script.fix");
  CHECK(editor().toPlainText() == "devices 2 as data=2\ntrans * batch by data\n");
  CHECK(chip("verdict") == "Verdict ✓ equivalent");
}

TEST_CASE_METHOD(WindowFixture, "completion offers statements, axes, modules and templates") {
  run("open model=" + gpt2);
  run("text \"" + two + "\"");
  const auto offered = [&](const QString& line) {
    type_at_end(editor(), "");
    editor().moveCursor(QTextCursor::End);
    editor().insertPlainText(line);
    editor().show_completions();
    QStringList out;
    const QAbstractItemModel* m = editor().completer()->model();
    for (int r = 0; r < m->rowCount(); ++r) out << m->index(r, 0).data(Qt::UserRole).toString();
    settle();
    trigger("undo");
    return out;
  };
  CHECK(offered("tra") == QStringList{"trans"});
  CHECK(offered("trans * batch by da") == QStringList{"data"});
  CHECK(offered("trans transformer.h").contains("transformer.h[*]"));
  CHECK(offered("use 1f").contains("1f1b("));
  type_at_end(editor(), "tra");
  QTest::keyClick(&editor(), Qt::Key_Return);  // takes the first
  settle();
  CHECK(editor().toPlainText().endsWith("data\ntrans"));
}

TEST_CASE_METHOD(WindowFixture, "a list of completions that is out of date takes no key") {
  run("open model=" + gpt2);
  run("text \"" + two + "\"");
  QAbstractItemView& list = *editor().completer()->popup();
  type_at_end(editor(), "tra");
  REQUIRE(list.isVisible());
  QTest::keyClick(&list, Qt::Key_Left);
  CHECK_FALSE(list.isVisible());
  QTest::keyClick(&editor(), Qt::Key_Return);
  CHECK(editor().text().endsWith("data\ntr\na"));
  QTest::keyClick(&editor(), Qt::Key_Backspace);
  QTest::keyClick(&editor(), Qt::Key_A, Qt::ControlModifier);
  type_at_end(editor(), "n");
  REQUIRE(list.isVisible());
  run("replace 1 \"devices 4 as data=4\"");  // by somebody else
  QTest::keyClick(list.isVisible() ? &list : static_cast<QWidget*>(&editor()), Qt::Key_Return);
  settle();
  CHECK(editor().text().toStdString() == "devices 4 as data=4\ntrans * batch by data\ntran\n\n");
  type_at_end(editor(), "trans");  // is a word as it stands
  CHECK_FALSE(list.isVisible());
}

TEST_CASE_METHOD(WindowFixture, "a command is run by its key while completions are shown") {
  run("open model=" + gpt2);
  run("text \"" + two + "\"");
  type_at_end(editor(), "tra");
  QAbstractItemView& list = *editor().completer()->popup();
  REQUIRE(list.isVisible());
  QTest::keyClick(&list, Qt::Key_Z, Qt::ControlModifier);
  settle();
  CHECK(editor().text().toStdString() == "devices 2 as data=2\ntrans * batch by data\n");
  type_at_end(editor(), "tra");
  REQUIRE(list.isVisible());
  QTest::keyClick(&list, Qt::Key_Return, Qt::ControlModifier);  // keeps
  settle();
  CHECK(document().draft.kept() == "devices 2 as data=2\ntrans * batch by data\ntra");
}

TEST_CASE_METHOD(WindowFixture, "a selection that comes while somebody types moves no cursor, and no view") {
  run("open model=" + gpt2);
  run("text \"" + two + "# three\\n# four\\n\"");
  editor().setFocus();
  editor().go_to_line(4);
  window->run_line("select statement=1");
  QTest::keyClick(&editor(), 'x');
  settle();
  CHECK(document().draft.text().ends_with("# three\nx# four\n"));
  CHECK(editor().textCursor().blockNumber() == 3);
  CHECK(window->shown().state.selection.statement == 1);
  run("select statement=2");
  CHECK(editor().textCursor().blockNumber() == 1);
}

TEST_CASE_METHOD(WindowFixture, "every line ends in one way, and what an editor shows is what is there") {
  const QString file = write("crlf.plan", "devices 2 as data=2\r\n# a\u00a0b\r\n");
  run("open model=" + gpt2 + " plan=" + file.toStdString());
  CHECK(editor().text() == "devices 2 as data=2\n# a\u00a0b\n");
  type_at_end(editor(), "# x");
  QTest::keyClick(&editor(), Qt::Key_Return, Qt::ShiftModifier);
  QTest::keyClicks(&editor(), "# y");
  settle();
  CHECK(document().draft.text() == "devices 2 as data=2\n# a\u00a0b\n# x\n# y");
  CHECK(editor().blockCount() == 4);
  CHECK(window->panel_view("script")->panel()->text == document().draft.text());
  editor().moveCursor(QTextCursor::Start);
  QTest::keyClick(&editor(), Qt::Key_K, Qt::ControlModifier);  // goes somewhere, and takes no line away
  settle();
  CHECK(document().draft.text() == "devices 2 as data=2\n# a\u00a0b\n# x\n# y");
}

TEST_CASE_METHOD(WindowFixture, "lines that others write above leave what is looked at where it is") {
  run("open model=" + gpt2);
  std::string text;
  for (int k = 0; k < 200; ++k) text += "# line " + std::to_string(k) + "\\n";
  run("text \"" + text + "\"");
  editor().setFocus();
  editor().go_to_line(150);
  const int top = editor().cursorRect().top();
  run("paste \"# new\\n# new\\n# new\" before=2");
  CHECK(editor().textCursor().block().text() == "# line 149");
  CHECK(editor().cursorRect().top() == top);
  run("move 153 to=1");
  CHECK(editor().textCursor().block().text() == "# line 149");
}

TEST_CASE_METHOD(WindowFixture, "find, replace and comments change the draft") {
  run("open model=" + gpt2);
  run("text \"" + two + "\"");
  editor().setFocus();
  trigger("script.replace");
  FindBar& bar = *window->script()->find();
  REQUIRE(bar.isVisible());
  bar.what()->setText("data");
  bar.with()->setText("dp");
  CHECK(bar.replace_all() == 2);
  settle();
  CHECK(document().draft.text() == "devices 2 as dp=2\ntrans * batch by dp\n");
  QTest::keyClick(bar.what(), Qt::Key_Escape);
  CHECK_FALSE(bar.isVisible());
  editor().go_to_line(2);
  trigger("script.comment");
  CHECK(document().draft.text() == "devices 2 as dp=2\n# trans * batch by dp\n");
  trigger("script.comment");
  CHECK(document().draft.text() == "devices 2 as dp=2\ntrans * batch by dp\n");
}

TEST_CASE_METHOD(WindowFixture, "memory rows are judged, and a plan that is open is no error") {
  run("open model=" + gpt2);
  run("text \"" + two + "require memory(all) <= 1MiB\\n\"");
  REQUIRE(table("problems").model().rowCount() == 1);
  CHECK(window->panel_view("problems")->panel()->rows[0].cells[1].text == "3");
  run("open model=" + gpt2 + " plan=sample_models/plans/gpt2_tiny-open.plan");
  CHECK(chip("verdict") == "Verdict ! open");
  for (const session::TableRow& row : window->panel_view("problems")->panel()->rows)
    CHECK(row.cells[0].text != "error");
}

TEST_CASE_METHOD(WindowFixture, "an empty script shows what could be written, not hidden by the line's colour") {
  run("open model=" + gpt2);
  CHECK(editor().placeholderText().contains("devices 4 as data=4"));
  CHECK(editor().extraSelections().isEmpty());
}

TEST_CASE_METHOD(WindowFixture, "the theme evaluates nothing again and takes no message away") {
  window->open(write("broken.pt2", "x"));
  open_pipeline();
  const auto picture = document().shown;
  trigger("view.theme");
  settle();
  CHECK(document().shown == picture);
  CHECK_FALSE(window->isWindowModified());
  CHECK(window->messages()->isVisible());
  trigger("view.theme");
}

TEST_CASE_METHOD(WindowFixture, "pointing at a line says what it decides") {
  run("open model=" + gpt2);
  run("text \"" + two + "\"");
  editor().go_to_line(2);
  const QPoint at = editor().cursorRect().center() + editor().viewport()->pos();
  QHelpEvent help(QEvent::ToolTip, at, editor().mapToGlobal(at));
  QApplication::sendEvent(&editor(), &help);
  CHECK(QToolTip::text().startsWith("decides "));
  CHECK(QToolTip::text().endsWith(" operators"));
  QToolTip::hideText();
}

TEST_CASE_METHOD(WindowFixture, "what the planner proposes stands dimmed at its place, and a click accepts it") {
  run("open model=" + gpt2 + " cluster=dgx-h100x1");
  run("text \"devices 8 as data=?d tensor=?t where ?d * ?t = 8\\ntrans * batch by data\\nrequire ?t <= 2\\n\"");
  run("plan limit=60");
  const QString before = editor().toPlainText();
  REQUIRE(QTest::qWaitFor([&] { return window->panel_view("script")->panel()->ghosts.size() == 2; }, 60000));
  editor().go_to_line(1);
  const QRect first = editor().cursorRect();
  editor().go_to_line(2);
  CHECK(editor().cursorRect().top() - first.top() > 2 * first.height());  // there is room between the lines
  shoot("proposed");
  QTest::mouseClick(editor().viewport(), Qt::LeftButton, {}, {first.left() + 20, first.bottom() + first.height() / 2});
  settle();
  CHECK(editor().toPlainText() != before);
  CHECK(editor().toPlainText().contains("= 8\nauto require ?d = 4\ntrans"));
  CHECK(window->panel_view("script")->panel()->ghosts.size() == 1);
}

TEST_CASE_METHOD(WindowFixture, "a line that the planner proposes before the first one stands above it") {
  PlanEditor editor;
  editor.resize(400, 200);
  editor.show_text("devices 2 as data=2\n");
  editor.set_ghosts({{0, "axis c=2", "accept line=1"}, {1, "require ?c = 2", "accept line=3"}});
  std::string run;
  editor.on_run = [&](const std::string& line) { run = line; };
  editor.show();
  settle();
  auto* before = editor.findChild<QWidget*>("ghosts before");
  REQUIRE(before);
  CHECK(before->isVisible());
  CHECK(before->geometry().bottom() < editor.viewport()->geometry().top() + 2);
  QTest::mouseClick(before, Qt::LeftButton, {}, {60, before->height() / 2});
  CHECK(run == "accept line=1");
  editor.set_ghosts({{1, "require ?c = 2", "accept line=3"}});
  CHECK(!before->isVisible());
}
