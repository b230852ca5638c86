// Documents: nothing that was typed is lost, undo never crosses them, files are told by their names, what was open
// comes back.
#include <QDockWidget>
#include <QFile>
#include <QFileInfo>
#include <QProcess>
#include <QTabBar>
#include <QTest>
#include <QToolButton>
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "app/desktop/message_bar.h"
#include "app/session/session.h"
#include "storage/workspace.h"
#include "tests/app/desktop/window_fixture.h"

using namespace planscope;

namespace {

const QString two = "devices 2 as data=2\ntrans * batch by data\n";

}  // namespace

TEST_CASE_METHOD(WindowFixture, "a model and a plan fill the window") {
  open_pipeline();
  CHECK(window->windowTitle().contains("gpt2_tiny · gpt2_tiny-1f1b"));
  CHECK_FALSE(window->isWindowModified());
  CHECK(editor().toPlainText().contains("use 1f1b(S)"));
  CHECK(chip("model") == "Model gpt2_tiny");
  CHECK(chip("verdict") == "Verdict ✓ equivalent");
  CHECK(chip("step_us").startsWith("Step "));
  CHECK(timeline_model().lanes.size() == 4);
}

TEST_CASE_METHOD(WindowFixture, "undo stays in its document, and saving writes the text of its own file") {
  const QString a = write("a.plan", two), b = write("b.plan", "devices 4 as data=4\n");
  run("open model=" + gpt2 + " plan=" + a.toStdString());
  run("open plan=" + b.toStdString());
  REQUIRE(window->shown().state.documents.size() == 2);
  CHECK_FALSE(action("undo").isEnabled());
  QTest::keyClick(window.get(), Qt::Key_Z, Qt::ControlModifier);
  settle();
  type_at_end(editor(), "trans * batch by data");
  settle();
  trigger("save");
  CHECK(read(b) == "devices 4 as data=4\ntrans * batch by data");
  CHECK(read(a) == two);
  QTabBar* tabs = window->findChild<QTabBar*>("documents.tabs");
  REQUIRE(tabs->count() == 2);
  tabs->setCurrentIndex(0);
  settle();
  CHECK(editor().toPlainText() == two);
  tabs->setCurrentIndex(1);
  settle();
  trigger("undo");
  CHECK(editor().toPlainText() == "devices 4 as data=4\n");
  CHECK(read(a) == two);
}

TEST_CASE_METHOD(WindowFixture, "text that is on its way belongs to the document that it was typed in") {
  const QString a = write("a.plan", two), b = write("b.plan", "devices 4 as data=4\n");
  run("open model=" + gpt2 + " plan=" + a.toStdString());
  run("open plan=" + b.toStdString());
  type_at_end(editor(), "# b");
  window->run(*session::parse_invocation("document 1"));
  type_at_end(editor(), "!");  // before the window shows the other document
  settle();
  CHECK(window->shown().state.documents[0].draft.text() == two.toStdString());
  CHECK(window->shown().state.documents[1].draft.text() == "devices 4 as data=4\n# b!");
  CHECK(editor().toPlainText() == two);
}

TEST_CASE_METHOD(WindowFixture, "what a command writes stays, whatever is typed before it is shown") {
  run("open model=" + gpt2 + " plan=" + write("a.plan", two).toStdString());
  type_at_end(editor(), "# one");
  window->run_line("append \"# by the command\"");
  QTest::keyClicks(&editor(), " two");  // into a text without that line
  settle();
  CHECK(document().draft.text() == two.toStdString() + "# one two\n# by the command\n");
  CHECK(editor().toPlainText() == two + "# one two\n# by the command\n");
}

TEST_CASE_METHOD(WindowFixture, "a save that fails leaves the plan modified and says why, with the file's name") {
  const QString a = write("a.plan", two);
  run("open model=" + gpt2 + " plan=" + a.toStdString());
  type_at_end(editor(), "# more");
  settle();
  window->ask_save_file = [](const QString&, const QString&, const QString&) {
    return QString("/no/such/folder/x.plan");
  };
  trigger("window.save_as");
  CHECK(window->isWindowModified());
  CHECK(document().path == a.toStdString());
  REQUIRE(window->messages()->isVisible());
  CHECK(window->messages()->texts().join("\n").contains("/no/such/folder/x.plan"));
  type_at_end(editor(), " x");  // the next key does not take the message away
  settle();
  CHECK(window->messages()->isVisible());
  window->messages()->findChild<QToolButton*>("messages.close")->click();
  settle();
  CHECK_FALSE(window->messages()->isVisible());
}

TEST_CASE_METHOD(WindowFixture, "what another program has written to the file is not overwritten without a word") {
  const QString a = write("a.plan", two);
  run("open model=" + gpt2 + " plan=" + a.toStdString());
  type_at_end(editor(), "# mine");
  settle();
  write("a.plan", "devices 8\n");
  trigger("save");
  CHECK(read(a) == "devices 8\n");
  CHECK(window->isWindowModified());
  shoot("message");
  REQUIRE(window->messages()->texts().join("\n").contains("changed by another program"));
  auto* anyway = window->messages()->findChild<QToolButton*>("message.button");
  REQUIRE(anyway != nullptr);
  anyway->click();
  settle();
  CHECK(read(a) == two + "# mine");
  CHECK_FALSE(window->isWindowModified());
}

TEST_CASE_METHOD(WindowFixture, "opening another plan keeps the edits of the one that is open") {
  const QString a = write("a.plan", two), b = write("b.plan", "devices 4 as data=4\n");
  run("open model=" + gpt2 + " plan=" + a.toStdString());
  type_at_end(editor(), "# kept");
  window->open(b);
  settle();
  CHECK(window->shown().state.documents[0].draft.text() == two.toStdString() + "# kept");
  CHECK(document().path == b.toStdString());
}

TEST_CASE_METHOD(WindowFixture, "a model that cannot be read is told with its name and stays on the screen") {
  const QString broken = write("broken.pt2", "no archive");
  window->open(broken);
  settle();
  REQUIRE(window->messages()->isVisible());
  CHECK(window->messages()->texts().join("\n").contains(broken));
  CHECK(window->findChild<QWidget*>("start")->isVisible());
  window->open(QString::fromStdString(pipeline));  // a plan without a model: told too, and the first message stays
  settle();
  CHECK(window->messages()->texts().join("\n").contains(broken));
  CHECK(window->messages()->texts().size() == 2);
}

TEST_CASE_METHOD(WindowFixture, "closing asks nothing; layout, documents and edits come back") {
  const QString a = write("a.plan", two);
  start(true);
  run("open model=" + llama);
  run("open model=" + gpt2 + " plan=" + a.toStdString() + " cluster=dgx-a100x1");
  type_at_end(editor(), "# not saved");
  trigger("view.history");
  window->resize(1180, 760);
  settle();
  auto* history = window->findChild<QDockWidget*>("dock.history");
  window->addDockWidget(Qt::LeftDockWidgetArea, history);
  window->findChild<QDockWidget*>("dock.jobs")->hide();
  settle();
  REQUIRE(window->close());
  start(true);
  CHECK(window->size() == QSize(1180, 760));
  REQUIRE(window->shown().state.documents.size() == 2);
  CHECK(document().path == a.toStdString());
  CHECK(document().cluster == "dgx-a100x1");
  CHECK(window->dockWidgetArea(window->findChild<QDockWidget*>("dock.history")) == Qt::LeftDockWidgetArea);
  CHECK(window->findChild<QDockWidget*>("dock.jobs")->isHidden());
  CHECK(window->panel_view("problems")->isVisible());
  // The draft belongs to this process, which has not ended, so it is not lost; the program test restarts a real one.
  CHECK(window->shown().state.documents[0].model->model->name == "llama_tiny");
}

TEST_CASE_METHOD(WindowFixture, "the document in front comes back with what was selected, and how it was looked at") {
  start(true);
  run("open model=" + gpt2 + " plan=" + pipeline + " cluster=dgx-h100x1");
  const int first = document().id;
  run("open model=" + llama);
  run("document " + std::to_string(first));
  run("select operators=lm_head");
  run("colour time");
  REQUIRE(window->close());
  for (int times = 0; times < 2; ++times) {
    start(true);
    REQUIRE(window->shown().state.documents.size() == 2);
    CHECK(window->shown().state.current == 0);
    CHECK(document().path == QFileInfo(QString::fromStdString(pipeline)).absoluteFilePath().toStdString());
    CHECK(window->shown().state.selection.operators == "lm_head");
    CHECK(window->shown().state.colour == "time");
  }
}

TEST_CASE_METHOD(WindowFixture, "what was typed into a document when the program ended is in it at the next start") {
  const QString a = write("a.plan", two);
  start(true);
  run("open model=" + gpt2 + " plan=" + a.toStdString());
  REQUIRE(window->close());
  window.reset();
  {
    SystemClock clock;
    Result<Workspace> w = Workspace::open(path("w.planscope").toStdString(), clock);
    REQUIRE(w.ok());
    const DraftRow draft{.model = QFileInfo(QString::fromStdString(gpt2)).absoluteFilePath().toStdString(),
                         .name = "a",
                         .path = a.toStdString(),
                         .cluster = "local",
                         .text = two.toStdString() + "# typed",
                         .process = {"nowhere", 1, 1}};
    REQUIRE(w->put_draft(draft).ok());
  }
  start(true);
  REQUIRE(window->shown().state.documents.size() == 1);
  CHECK(editor().toPlainText() == two + "# typed");
  CHECK(document().path == a.toStdString());
  CHECK(window->isWindowModified());
}

TEST_CASE_METHOD(WindowFixture, "a program that is killed while it edits leaves its draft to the next window") {
  window.reset();
  QProcess other;
  other.start(PLANSCOPE_BIN_DIR "/planscope", {"session", "--workspace", path("w.planscope"), "-"});
  REQUIRE(other.waitForStarted());
  other.write(("open model=" + gpt2 + "\nappend \"devices 3 as data=3\"\nshow script\n").c_str());
  QByteArray said;
  REQUIRE(QTest::qWaitFor([&] { return (said += other.readAllStandardOutput()).contains("devices 3"); }, 60000));
  other.kill();
  REQUIRE(other.waitForFinished());
  start();
  CHECK(window->messages()->texts().join("\n").contains("was not kept"));
  REQUIRE(window->shown().state.lost.size() == 1);
  run("restore " + std::to_string(window->shown().state.lost[0].id));
  CHECK(editor().toPlainText() == "devices 3 as data=3\n");
}

TEST_CASE_METHOD(WindowFixture, "a draft of a program that ended is offered, and restored") {
  window.reset();
  {
    SystemClock clock;
    Result<Workspace> w = Workspace::open(path("w.planscope").toStdString(), clock);
    REQUIRE(w.ok());
    REQUIRE(w->put_draft({.model = gpt2,
                          .name = "lost",
                          .cluster = "local",
                          .text = "devices 1 # typed",
                          .process = {"nowhere", 1, 1}})
                .ok());
  }
  start();
  REQUIRE(window->messages()->texts().join("\n").contains("'lost' was not kept"));
  window->messages()->findChild<QToolButton*>("message.button")->click();
  settle();
  CHECK(editor().toPlainText() == "devices 1 # typed");
  CHECK(window->isWindowModified());
}

TEST_CASE_METHOD(WindowFixture, "no key is lost while another program writes to the workspace") {
  const QString a = write("a.plan", two);
  run("open model=" + gpt2 + " plan=" + a.toStdString());
  std::atomic<bool> ended = false;
  std::thread other([&] {
    session::Session s({.workspace = path("w.planscope").toStdString()});
    s.apply({"open", {{"model", gpt2}, {"plan", a.toStdString()}}});
    for (int n = 0; !ended; ++n) {
      s.apply({"append", {{"text", "# of the other program " + std::to_string(n)}}});
      s.apply({"keep", {}});
    }
  });
  QString typed = two;
  editor().setFocus();
  editor().moveCursor(QTextCursor::End);
  QTest::qWait(100);
  for (int line = 0; line < 40; ++line) {
    const QString text = QString("# line %1").arg(line);
    for (const QChar c : text) {
      QTest::keyClick(&editor(), c.toLatin1());
      QTest::qWait(2 + line % 5 * 4);
    }
    QTest::keyClick(&editor(), Qt::Key_Return);
    typed += text + "\n";
  }
  ended = true;
  other.join();
  settle();
  CHECK(editor().toPlainText() == typed);
  CHECK(document().draft.text() == typed.toStdString());
}
