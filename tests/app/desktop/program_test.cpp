// The program as a user starts it: arguments, exit status, the picture that it writes, what is lost when it is killed.
#include <QImage>
#include <QProcess>
#include <QTemporaryDir>
#include <catch2/catch.hpp>
#include <map>

#include "tests/app/desktop/test_application.h"

namespace {

struct Outcome {
  int status;
  QString errors;
};

Outcome start(const QStringList& arguments,
              const QProcessEnvironment& environment = QProcessEnvironment::systemEnvironment()) {
  QProcess process;
  process.setProcessEnvironment(environment);
  process.start(PLANSCOPE_BIN_DIR "/planscope-desktop", arguments);
  REQUIRE(process.waitForFinished(60000));
  REQUIRE(process.exitStatus() == QProcess::NormalExit);
  return {process.exitCode(), QString::fromUtf8(process.readAllStandardError())};
}

}  // namespace

TEST_CASE("--screenshot writes the window with model, plan and cluster and ends") {
  planscope::test_application();
  const QTemporaryDir folder;
  const QString file = folder.filePath("window.png");
  const Outcome o =
      start({"--screenshot", file, "--dark", "--size", "1200x800", "--model", "sample_models/gpt2_tiny.pt2", "--plan",
             "sample_models/plans/gpt2_tiny-1f1b.plan", "--cluster", "dgx-h100x1"});
  CHECK(o.status == 0);
  const QImage image(file);
  REQUIRE(image.size() == QSize(1200, 800));
  std::map<QString, int> seen;
  for (int x = 0; x < image.width(); ++x)
    for (int y = 0; y < image.height(); ++y) ++seen[image.pixelColor(x, y).name()];
  for (const char* place : {"#e69f00", "#56b4e9", "#2fae86", "#f0e442"}) {  // of the four stages, in the graph
    INFO(place);
    CHECK(seen[place] > 50);
  }
}

TEST_CASE("a picture that cannot be written and arguments that make no sense end with their status") {
  planscope::test_application();
  const Outcome unwritable = start({"--screenshot", "/no/such/folder/x.png"});
  CHECK(unwritable.status == 1);
  CHECK(unwritable.errors.contains("cannot write /no/such/folder/x.png"));
  const Outcome size = start({"--size", "10x10"});
  CHECK(size.status == 2);
  CHECK(size.errors.contains("--size needs WIDTHxHEIGHT, at least 400x300: 10x10"));
  const Outcome models = start({"a.pt2", "b.pt2"});
  CHECK(models.status == 2);
  CHECK(models.errors.contains("one model at most: a.pt2 b.pt2"));
}

TEST_CASE("without a display it says so and ends with 2") {
  planscope::test_application();
  QProcessEnvironment none = QProcessEnvironment::systemEnvironment();
  for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"}) none.remove(name);
  const Outcome o = start({}, none);
  CHECK(o.status == 2);
  CHECK(o.errors.contains("there is no display"));
  none.insert("DISPLAY", ":4711");  // nobody answers there
  none.insert("QT_QPA_PLATFORM", "xcb");
  const Outcome wrong = start({}, none);
  CHECK(wrong.status == 2);
  CHECK(wrong.errors.contains("no window can be opened"));
}
