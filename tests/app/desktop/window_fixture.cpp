#include "tests/app/desktop/window_fixture.h"

#include <QDir>
#include <QDockWidget>
#include <QFile>
#include <QTest>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "app/desktop/chips.h"
#include "tests/app/desktop/test_application.h"
#include "viz/timeline/wire.h"

namespace planscope {

WindowFixture::WindowFixture() {
  test_application();
  start();
}

void WindowFixture::start(bool restore, const QSize& size) {
  window.reset();
  WindowSettings settings;
  settings.session.workspace = path("w.planscope").toStdString();
  settings.memory_file = path("memory.ini");
  settings.restore = restore;
  window = std::make_unique<MainWindow>(std::move(settings), find_fonts());
  if (!restore) {
    window->resize(size);
    window->reset_layout();
  }
  window->show();
  if (!restore) trigger("canvas.timeline");
  settle();
}

void WindowFixture::settle() {
  for (int quiet = 0; quiet < 3;) {
    QTest::qWait(10);
    REQUIRE(QTest::qWaitFor([&] { return !window->busy(); }, 60000));
    quiet = window->busy() ? 0 : quiet + 1;
  }
}

void WindowFixture::run(const std::string& line) {
  window->run_line(line);
  settle();
}

void WindowFixture::open_pipeline() { run("open model=" + gpt2 + " plan=" + pipeline + " cluster=dgx-h100x1"); }

viz::TimelineModel WindowFixture::timeline_model() const {
  REQUIRE(timeline().has_picture());
  std::optional<viz::TimelineModel> m = viz::decode_timeline(*timeline().picture().model);
  REQUIRE(m);
  return std::move(*m);
}

viz::TimeRange WindowFixture::timeline_range() const {
  const auto j = nlohmann::json::parse(timeline().scene().view());
  return {viz::Microseconds{j["from_us"]}, viz::Microseconds{j["to_us"]}};
}

bool WindowFixture::timeline_shows_all() const {
  return timeline_range() == viz::TimeRange{viz::Microseconds{0}, timeline_model().duration};
}

QAction& WindowFixture::action(const QString& id) const {
  QAction* a = window->actions_list().find(id);
  INFO(id.toStdString());
  REQUIRE(a != nullptr);
  return *a;
}

void WindowFixture::trigger(const QString& id) {
  QAction& a = action(id);
  INFO(id.toStdString() << ": " << a.statusTip().toStdString());
  REQUIRE(a.isEnabled());
  a.trigger();
  settle();
}

TableView& WindowFixture::table(const QString& panel) {
  trigger("view." + panel);
  PanelView* view = window->panel_view(panel);
  REQUIRE(view != nullptr);
  REQUIRE(view->table() != nullptr);
  return *view->table();
}

QString WindowFixture::chip(const QString& id) const {
  const Chip* c = window->chips()->findChild<Chip*>("chip." + id);
  return c && !c->isHidden() ? c->whole_text() : QString();
}

QString WindowFixture::write(const QString& name, const QString& text) const {
  QFile file(path(name));
  REQUIRE(file.open(QIODevice::WriteOnly));
  file.write(text.toUtf8());
  return path(name);
}

void WindowFixture::shoot(const QString& name) const {
  QDir().mkpath(PLANSCOPE_PICTURE_DIR);
  REQUIRE(window->grab().save(QString(PLANSCOPE_PICTURE_DIR "/desktop-") + name + ".png"));
}

QString WindowFixture::read(const QString& name) const {
  QFile file(name);
  REQUIRE(file.open(QIODevice::ReadOnly));
  return QString::fromUtf8(file.readAll());
}

void type_at_end(PlanEditor& editor, const QString& text) {
  editor.setFocus();
  editor.moveCursor(QTextCursor::End);
  QTest::keyClicks(&editor, text);
}

}  // namespace planscope
