#include "app/desktop/desktop_main.h"

#include <QApplication>
#include <QCommandLineParser>
#include <QTextStream>
#include <QTimer>

#include "app/desktop/main_window.h"
#include "app/desktop/style.h"

namespace planscope {
namespace {

int refuse(const QString& message) {
  QTextStream(stderr) << "planscope-desktop: " << message << "\n";
  return 2;
}

QSize parsed_size(const QString& text) {
  const QStringList parts = text.split('x');
  if (parts.size() != 2) return {};
  return {parts[0].toInt(), parts[1].toInt()};
}

// Takes the picture once the session has answered and the canvas has settled.
void shoot_when_ready(MainWindow& window, const QString& file) {
  QTimer::singleShot(50, &window, [&window, file] {
    if (window.busy()) return shoot_when_ready(window, file);
    const bool written = window.grab().save(file, "PNG");
    if (!written) QTextStream(stderr) << "planscope-desktop: cannot write " << file << "\n";
    QCoreApplication::exit(written ? 0 : 1);
  });
}

}  // namespace

int desktop_main(int argc, char** argv, const std::string& default_workspace, const MakeSession& make_session) {
  QApplication application(argc, argv);
  QApplication::setApplicationName("planscope");
  QApplication::setApplicationVersion(PLANSCOPE_VERSION);
  QCommandLineParser parser;
  parser.setApplicationDescription("Look at a model, write a plan, see what it does.");
  parser.addHelpOption();
  parser.addVersionOption();
  const QCommandLineOption model("model", "Open this model.", "file"), plan("plan", "Open this plan script.", "file");
  const QCommandLineOption workspace("workspace", "What was measured and run is kept here.", "file",
                                     QString::fromStdString(default_workspace));
  const QCommandLineOption screenshot("screenshot", "Write a picture of the window and end.", "file");
  const QCommandLineOption size("size", "Size of the window.", "WIDTHxHEIGHT", "1600x1000"),
      light("light", "Light colours.");
  parser.addOptions({model, plan, workspace, screenshot, size, light});
  parser.addPositionalArgument("model", "Open this model.", "[model]");
  parser.process(application);
  const QStringList positional = parser.positionalArguments();
  if (positional.size() > 1) return refuse("one model at most: " + positional.join(' '));
  const QSize window_size = parsed_size(parser.value(size));
  if (window_size.width() < 400 || window_size.height() < 300)
    return refuse("--size needs WIDTHxHEIGHT, at least 400x300: " + parser.value(size));

  apply_style(application, parser.isSet(light) ? Theme::light : Theme::dark);
  MainWindow window(make_session(parser.value(workspace).toStdString()), find_fonts());
  window.set_theme(parser.isSet(light) ? Theme::light : Theme::dark);
  window.resize(window_size);
  const QString model_file = parser.isSet(model) ? parser.value(model) : positional.value(0);
  if (!model_file.isEmpty()) window.open_model(model_file);
  if (parser.isSet(plan)) window.open_plan(parser.value(plan));
  window.show();
  if (parser.isSet(screenshot)) shoot_when_ready(window, parser.value(screenshot));
  return QApplication::exec();
}

}  // namespace planscope
