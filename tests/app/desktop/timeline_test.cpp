// The canvas in the window: its view is kept over edits and by document, keys stay with the selection, pictures
// are exported.
#include <QClipboard>
#include <QFile>
#include <QImage>
#include <QTest>
#include <QToolTip>
#include <QWheelEvent>
#include <catch2/catch.hpp>
#include <set>

#include "app/desktop/message_bar.h"
#include "tests/app/desktop/window_fixture.h"

using namespace planscope;

namespace {

void wheel(WindowFixture& f, QPoint at, int notches) {
  QWheelEvent event(at, f.timeline().mapToGlobal(at), {}, {0, notches * 120}, Qt::NoButton, Qt::NoModifier,
                    Qt::NoScrollPhase, false);
  QApplication::sendEvent(&f.timeline(), &event);
  f.settle();
}

void key(WindowFixture& f, Qt::Key k) {
  f.timeline().setFocus();
  QTest::keyClick(&f.timeline(), k);
  f.settle();
}

}  // namespace

TEST_CASE_METHOD(WindowFixture, "zoom and scroll are kept over an edit that changes the step, and by document") {
  open_pipeline();
  for (int i = 0; i < 5; ++i) wheel(*this, {500, 60}, 1);
  const viz::TimeRange range = timeline_range();
  REQUIRE_FALSE(timeline_shows_all());
  const double before = timeline_model().duration.value;
  run("append \"trans transformer.h[*] recompute\"");
  REQUIRE(timeline_model().duration.value != before);
  CHECK(timeline_range() == range);
  run("open model=" + llama + " plan=sample_models/plans/llama_tiny-data.plan");
  CHECK(timeline_shows_all());
  run("document 1");
  CHECK(timeline_range() == range);
}

TEST_CASE_METHOD(WindowFixture, "a link that is copied leads back to what the picture showed") {
  open_pipeline();
  for (int i = 0; i < 5; ++i) wheel(*this, {500, 60}, 1);
  const viz::TimeRange range = timeline_range();
  REQUIRE_FALSE(timeline_shows_all());
  trigger("window.copy_link");
  const std::string link = QApplication::clipboard()->text().toStdString();
  key(*this, Qt::Key_Home);
  REQUIRE(timeline_shows_all());
  run("open link=" + link);
  CHECK(timeline_range().begin.value == Approx(range.begin.value));
  CHECK(timeline_range().end.value == Approx(range.end.value));
}

TEST_CASE_METHOD(WindowFixture, "the whole step stays the whole step") {
  open_pipeline();
  run("append \"trans transformer.h[*] recompute\"");
  CHECK(timeline_shows_all());
}

TEST_CASE_METHOD(WindowFixture, "keys select and zoom about the selection, F fits it and then everything") {
  open_pipeline();
  key(*this, Qt::Key_Period);
  REQUIRE_FALSE(timeline().scene().selected().empty());
  const double whole = timeline_range().length().value;
  for (int i = 0; i < 25; ++i) key(*this, Qt::Key_W);
  CHECK(timeline_range().length().value < whole / 100);
  key(*this, Qt::Key_F);
  CHECK_FALSE(timeline_shows_all());
  key(*this, Qt::Key_F);
  CHECK(timeline_shows_all());
}

TEST_CASE_METHOD(WindowFixture, "a tooltip comes with the mouse, not with an answer") {
  open_pipeline();
  QTest::mouseMove(&timeline(), {300, 60});
  settle();
  QToolTip::hideText();
  QTest::qWait(400);
  run("append \"trans transformer.h[*] recompute\"");
  QTest::qWait(50);
  CHECK_FALSE(QToolTip::isVisible());
}

TEST_CASE_METHOD(WindowFixture, "communication says its kind, its bytes and who takes part") {
  run("open model=" + gpt2 + " plan=sample_models/plans/gpt2_tiny-data-tensor.plan cluster=dgx-h100x1");
  const viz::TimelineModel t = timeline_model();
  int told = 0;
  for (const viz::Stream& s : t.lanes[0].streams)
    for (const viz::Block& b : s.blocks) {
      if (b.kind != viz::BlockKind::communication) continue;
      CHECK_FALSE(b.label.empty());
      const std::string& title = t.details[static_cast<std::size_t>(b.instruction)].title;
      CHECK(title.find(" among ") != std::string::npos);
      CHECK(title.find("B") != std::string::npos);
      ++told;
    }
  CHECK(told > 0);
}

TEST_CASE_METHOD(WindowFixture, "the table of blocks has the canvas's rows, communication named") {
  run("open model=" + gpt2 + " plan=sample_models/plans/gpt2_tiny-data-tensor.plan cluster=dgx-h100x1");
  TableView& blocks = table("blocks");
  std::size_t count = 0;
  for (const viz::Lane& lane : timeline_model().lanes)
    for (const viz::Stream& s : lane.streams) count += s.blocks.size();
  CHECK(static_cast<std::size_t>(blocks.model().rowCount()) == count);
  bool found = false;
  for (const session::TableRow& row : blocks.model().panel()->rows) found = found || row.cells[2].text == "all_reduce";
  CHECK(found);
}

TEST_CASE_METHOD(WindowFixture, "the picture has the colours of its kinds, in the window and as files") {
  open_pipeline();
  const QImage image = window->grab().toImage();
  std::map<QString, int> seen;
  for (int y = 0; y < image.height(); y += 2)
    for (int x = 0; x < image.width(); x += 2) ++seen[image.pixelColor(x, y).name()];
  CHECK(seen["#4c8fd6"] > 100);
  CHECK(seen["#d9a441"] > 100);
  const QString png = path("t.png"), svg = path("t.svg");
  run("export timeline " + png.toStdString());
  CHECK(QImage(png).width() == 2400);
  run("export timeline " + svg.toStdString());
  const QString text = read(svg);
  CHECK(text.contains("gpt2_tiny · gpt2_tiny-1f1b on dgx-h100x1 · step "));
  run("export timeline " + path("no/such/folder/t.png").toStdString());
  CHECK(window->messages()->texts().join("\n").contains("no/such/folder/t.png"));
}
