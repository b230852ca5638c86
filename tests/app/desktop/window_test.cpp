// Drives the window without a display: typing, diagnostics, zoom, selection in all views, commands, pictures.
#include <QAbstractItemView>
#include <QDir>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QTemporaryDir>
#include <QTest>
#include <QTextBrowser>
#include <QTreeView>
#include <QWheelEvent>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "app/desktop/main_window.h"
#include "app/desktop/plan_editor.h"
#include "app/desktop/timeline_widget.h"
#include "tests/app/desktop/fake_session.h"
#include "tests/app/desktop/test_application.h"
#include "tests/viz/timeline/sample_timeline.h"

using namespace planscope;

namespace {

struct Fixture {
  std::shared_ptr<SessionLog> log = std::make_shared<SessionLog>();
  QApplication& application = test_application();
  MainWindow window{fake_session(log), find_fonts()};
  PlanEditor* editor = window.findChild<PlanEditor*>("plan");
  TimelineWidget* timeline = static_cast<TimelineWidget*>(window.findChild<QWidget*>("timeline"));
  QTextBrowser* details = window.findChild<QTextBrowser*>("details");
  QAbstractItemView* blocks = window.findChild<QAbstractItemView*>("blocks");
  QAbstractItemView* problems = window.findChild<QAbstractItemView*>("problems");

  Fixture() {
    window.resize(1600, 1000);
    window.show();
    window.open_model("llama.pt2");
    window.open_plan("pp4.plan");
    settle();
  }
  void settle() {
    REQUIRE(QTest::qWaitFor([&] { return !window.busy(); }));
    QTest::qWait(30);
    REQUIRE(QTest::qWaitFor([&] { return !window.busy(); }));
  }
  QString chip(const char* name) const {
    const QLabel* label = window.findChild<QLabel*>(name);
    return label->isVisible() ? label->text() : QString();
  }
  QPoint centre(const viz::TimelineModel& model, const viz::BlockRef& ref) const {
    const viz::TimelineLayout layout =
        viz::lay_out(model, timeline->view(), {0, 0, double(timeline->width()), double(timeline->height())});
    const viz::Block& b = model.at(ref);
    return {int(layout.scale.to_x(b.start + b.duration * 0.5).value),
            int(layout.lanes[ref.lane].streams[ref.stream].y) + 3};
  }
  void wheel(QPoint at, int notches) {
    QWheelEvent event(at, timeline->mapToGlobal(at), {}, {0, notches * 120}, Qt::NoButton, Qt::NoModifier,
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(timeline, &event);
    settle();
  }
  void trigger(const QString& id) {
    for (QAction* action : window.actions_by_command()) {
      if (action->objectName() == id) return action->trigger();
    }
    FAIL("no command " << id.toStdString());
  }
  void shoot(const QString& name) {
    QDir().mkpath(PLANSCOPE_PICTURE_DIR);
    REQUIRE(window.grab().save(QString(PLANSCOPE_PICTURE_DIR "/") + name));
  }
};

int colours_in(const QImage& image) {
  std::set<QRgb> seen;
  for (int y = 0; y < image.height(); y += 2) {
    for (int x = 0; x < image.width(); x += 2) seen.insert(image.pixel(x, y));
  }
  return static_cast<int>(seen.size());
}

}  // namespace

TEST_CASE_METHOD(Fixture, "a model and a plan fill every part of the window") {
  CHECK(chip("chip.model").contains("llama-3-8b"));
  CHECK(chip("chip.verdict").contains("✓ equivalent"));
  CHECK(chip("chip.step").contains("350 ms"));
  CHECK(chip("chip.peak").contains("56 GiB"));
  CHECK(editor->toPlainText() == "stages 4\nmicro_batches 8\n");
  CHECK(window.findChild<QTreeView*>("modules")->model()->rowCount() == 2);
  CHECK(blocks->model()->rowCount() > 64);
  CHECK_FALSE(window.isWindowModified());

  const viz::TimelineModel model = viz::pipeline_timeline(4, 8);
  const QImage image = window.grab().toImage();
  const auto pixel = [&](const viz::BlockRef& ref) {
    return image.pixelColor(timeline->mapTo(&window, centre(model, ref))).name();
  };
  CHECK(pixel({0, 0, 0}) == "#4c8fd6");
  CHECK(pixel({0, 0, 5}) == "#d9a441");
  CHECK(colours_in(image) > 40);
  shoot("desktop.png");
}

TEST_CASE_METHOD(Fixture, "typing shows problems at their line and mending them brings the timeline back") {
  editor->setFocus();
  editor->moveCursor(QTextCursor::End);
  QTest::keyClicks(editor, "stagez 3");
  settle();
  REQUIRE(problems->model()->rowCount() == 1);
  CHECK(problems->model()->index(0, 0).data().toString() == "error");
  CHECK(problems->model()->index(0, 1).data().toInt() == 3);
  CHECK(problems->model()->index(0, 2).data().toString() ==
        "stagez 3: 'stagez' is no statement; Write stages or micro_batches");
  CHECK(editor->extraSelections().size() == 2);  // the current line and the problem
  CHECK(chip("chip.verdict").contains("✗ the plan has errors"));
  CHECK(window.isWindowModified());
  shoot("desktop_problem.png");

  trigger("edit.undo");
  settle();
  CHECK(editor->toPlainText() == "stages 4\nmicro_batches 8\n");
  CHECK(problems->model()->rowCount() == 0);
  CHECK(chip("chip.verdict").contains("✓ equivalent"));
  trigger("edit.redo");
  settle();
  CHECK(problems->model()->rowCount() == 1);
}

TEST_CASE_METHOD(Fixture,
                 "a click on a block selects it in the details and in the table, and the table selects on the canvas") {
  const viz::TimelineModel model = viz::pipeline_timeline(4, 8);
  const viz::BlockRef b0{1, 0, 5};
  QTest::mouseClick(timeline, Qt::LeftButton, Qt::NoModifier, centre(model, b0));
  settle();
  REQUIRE(timeline->view().selection == b0);
  CHECK(details->toPlainText().contains("backward of 8 layers"));
  CHECK(details->toPlainText().contains("20 ms"));
  CHECK(details->toPlainText().contains("line 1 of the plan"));
  CHECK(blocks->currentIndex().siblingAtColumn(2).data().toString() == QString::fromStdString(model.at(b0).label));
  shoot("desktop_selected.png");

  blocks->setCurrentIndex(blocks->model()->index(0, 0));
  CHECK(timeline->view().selection == viz::BlockRef{0, 0, 0});
  CHECK(details->toPlainText().contains("forward of 8 layers"));
  timeline->setFocus();
  QTest::keyClick(timeline, Qt::Key_Period);
  settle();
  CHECK(blocks->currentIndex().row() == 1);

  editor->moveCursor(QTextCursor::End);
  QTest::keyClicks(editor, "# the selection survives an edit");
  settle();
  CHECK(timeline->view().selection == viz::BlockRef{0, 0, 1});
}

TEST_CASE_METHOD(Fixture, "the wheel zooms about the mouse and F fits again") {
  const double whole = timeline->view().range.length().value;
  for (int i = 0; i < 5; ++i) wheel({500, 60}, 1);
  CHECK(timeline->view().range.length().value / whole == Approx(std::pow(0.8, 5)));
  QTest::keyClick(timeline, Qt::Key_F);
  settle();
  CHECK(timeline->view().range.length().value == whole);
}

TEST_CASE_METHOD(Fixture,
                 "every command has a name of its own and shortcuts do not clash; the palette finds and runs them") {
  std::set<QString> ids, shortcuts;
  for (const QAction* action : window.actions_by_command()) {
    CHECK(ids.insert(action->objectName()).second);
    CHECK_FALSE(action->toolTip().isEmpty());
    if (!action->shortcut().isEmpty()) CHECK(shortcuts.insert(action->shortcut().toString()).second);
  }
  const double whole = timeline->view().range.length().value;
  trigger("view.palette");
  QWidget* palette = window.findChild<QWidget*>("palette");
  REQUIRE(palette != nullptr);
  auto* input = palette->findChild<QLineEdit*>();
  QTest::keyClicks(input, "zoom in");
  REQUIRE(palette->findChild<QListWidget*>()->count() == 1);
  QTest::keyClick(input, Qt::Key_Return);
  settle();
  CHECK(timeline->view().range.length().value < whole);
}

TEST_CASE_METHOD(Fixture, "pictures of the timeline are exported, an impossible file is refused") {
  const QTemporaryDir folder;
  const QString png = folder.filePath("t.png"), svg = folder.filePath("t.svg");
  REQUIRE(window.export_picture(png));
  const QImage image(png);
  CHECK(image.width() == 2400);
  CHECK(colours_in(image) > 10);
  REQUIRE(window.export_picture(svg));
  QFile file(svg);
  REQUIRE(file.open(QIODevice::ReadOnly));
  CHECK(file.readAll().contains("llama-3-8b · pp4-1f1b"));
  CHECK_FALSE(window.export_picture(folder.filePath("no/such/folder/t.png")));
}

TEST_CASE_METHOD(Fixture, "the light theme reaches the canvas") {
  trigger("view.theme");
  settle();
  CHECK(timeline->grab().toImage().pixelColor(2, timeline->height() - 2).name() == "#ffffff");
  shoot("desktop_light.png");
  apply_style(application, Theme::dark);
}
