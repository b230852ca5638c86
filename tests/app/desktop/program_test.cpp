// The program as a user starts it: arguments, exit status, the picture that it writes.
#include <QImage>
#include <QProcess>
#include <QTemporaryDir>
#include <catch2/catch.hpp>

#include "tests/app/desktop/test_application.h"

namespace {

struct Outcome {
  int status;
  QString errors;
};

Outcome start(const QStringList& arguments) {
  planscope::test_application();  // sets the platform that the child inherits
  QProcess process;
  process.start(PLANSCOPE_BIN_DIR "/desktop_with_fake_session", arguments);
  REQUIRE(process.waitForFinished(30000));
  REQUIRE(process.exitStatus() == QProcess::NormalExit);
  return {process.exitCode(), QString::fromUtf8(process.readAllStandardError())};
}

}  // namespace

TEST_CASE("--screenshot writes the window with model and plan and ends") {
  const QTemporaryDir folder;
  const QString file = folder.filePath("window.png");
  CHECK(start({"--screenshot", file, "--model", "m.pt2", "--plan", "p.plan", "--size", "1200x800"}).status == 0);
  const QImage image(file);
  REQUIRE(image.size() == QSize(1200, 800));
  int forward = 0;
  for (int x = 0; x < image.width(); ++x) {
    for (int y = 0; y < image.height(); ++y) forward += image.pixelColor(x, y).name() == "#4c8fd6";
  }
  CHECK(forward > 2000);  // the forward blocks of the plan's timeline
}

TEST_CASE("a picture that cannot be written and arguments that make no sense end with their status") {
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
