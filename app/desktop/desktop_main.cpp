#include "app/desktop/desktop_main.h"

#include <QApplication>
#include <QCommandLineParser>
#include <QEvent>
#include <QScreen>
#include <QTextStream>
#include <QTimer>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <optional>

#include "app/desktop/main_window.h"
#include "app/session/link.h"

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

// Qt ends the program where it cannot reach the display: with a sentence, then, and not with a dump.
void on_message(QtMsgType type, const QMessageLogContext&, const QString& message) {
  if (type == QtFatalMsg) {
    std::fprintf(stderr, "planscope-desktop: no window can be opened: %s\n", qPrintable(message.section('\n', 0, 0)));
    std::_Exit(2);
  }
  if (message.contains("propagateSizeHints")) return;  // of the platform that draws into memory
  if (type == QtCriticalMsg || type == QtWarningMsg) std::fprintf(stderr, "%s\n", qPrintable(message));
}

// Says when the window has been painted first, and how many times while nothing happens afterwards, with the processor time
// that this takes, and ends: for `planscope bench interface`.
class StartReport : public QObject {
 public:
  explicit StartReport(MainWindow& window) : window_(window) { qApp->installEventFilter(this); }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override {
    if (event->type() == QEvent::Paint) {
      ++painted_;
      if (!said_ && watched == &window_) {
        said_ = true;
        QTimer::singleShot(0, this, [this] { say("first picture"), wait_until_quiet(0); });
      }
    }
    return QObject::eventFilter(watched, event);
  }

 private:
  static void say(const QString& what) { QTextStream(stdout) << what << Qt::endl; }

  void wait_until_quiet(int quiet) {
    QTimer::singleShot(50, this, [this, quiet] {
      const int now = window_.busy() ? 0 : quiet + 1;
      if (now < 10) return wait_until_quiet(now);
      say("settled");
      painted_ = 0;
      QTimer::singleShot(idle_ms, this, [this, before = std::clock()] {
        say(QString("painted while idle %1").arg(painted_));
        say(QString("busy while idle %1").arg(1000.0 * static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC));
        QCoreApplication::exit(0);
      });
    });
  }

  static constexpr int idle_ms = 1500;
  MainWindow& window_;
  bool said_ = false;
  int painted_ = 0;
};

// Takes the picture once the session has answered and the canvas has settled.
void shoot_when_ready(MainWindow& window, const QString& file, int quiet) {
  QTimer::singleShot(50, &window, [&window, file, quiet] {
    const int now = window.busy() ? 0 : quiet + 1;
    if (now < 3) return shoot_when_ready(window, file, now);
    const bool written = window.grab().save(file, "PNG");
    if (!written) QTextStream(stderr) << "planscope-desktop: cannot write " << file << "\n";
    QCoreApplication::exit(written ? 0 : 1);
  });
}

}  // namespace

std::string no_display(int argc, char** argv) {
  const char* platform = std::getenv("QT_QPA_PLATFORM");
  for (int i = 1; i + 1 < argc; ++i)
    if (std::strcmp(argv[i], "-platform") == 0) platform = argv[i + 1];
  const auto set = [](const char* name) {
    const char* value = std::getenv(name);
    return value && *value;
  };
  const bool needs = !platform || !*platform || std::strstr(platform, "xcb") || std::strstr(platform, "wayland");
  if (!needs || set("DISPLAY") || set("WAYLAND_DISPLAY")) return "";
  return "there is no display (DISPLAY and WAYLAND_DISPLAY are not set): start it in a desktop session, or use the "
         "command line ('planscope "
         "--help')";
}

int desktop_main(int argc, char** argv, const std::string& default_workspace) {
  // Asked before Qt, which would abort. Help and version need no display.
  bool only_words = false;
  for (int i = 1; i < argc; ++i)
    for (const char* word : {"--help", "-h", "--version", "-v"})
      only_words = only_words || std::strcmp(argv[i], word) == 0;
  if (const std::string reason = no_display(argc, argv); !reason.empty()) {
    if (!only_words) return refuse(QString::fromStdString(reason));
    qputenv("QT_QPA_PLATFORM", "offscreen");
  }
  qInstallMessageHandler(on_message);
  QApplication application(argc, argv);
  QApplication::setApplicationName("planscope");
  QApplication::setApplicationVersion(PLANSCOPE_VERSION);
  QCommandLineParser parser;
  parser.setApplicationDescription("Look at a model, write a plan, see what it does.");
  parser.addHelpOption();
  parser.addVersionOption();
  const QCommandLineOption model("model", "Open this model.", "file"), plan("plan", "Open this plan script.", "file");
  const QCommandLineOption cluster("cluster", "Plan for this cluster: a preset or a file.", "name");
  const QCommandLineOption workspace("workspace", "Plans, drafts and what was measured and run are kept here.", "file",
                                     QString::fromStdString(default_workspace));
  const QCommandLineOption settings("settings", "The window's layout and what was open are kept here.", "file",
                                    qEnvironmentVariable("PLANSCOPE_SETTINGS"));
  const QCommandLineOption screenshot("screenshot", "Write a picture of the window and end.", "file");
  const QCommandLineOption size("size", "Size of the window.", "WIDTHxHEIGHT"), light("light", "Light colours."),
      dark("dark", "Dark colours.");
  const QCommandLineOption report("report-start",
                                  "Say when the window is there, how often it is painted while idle, and end.");
  parser.addOptions({model, plan, cluster, workspace, settings, screenshot, size, light, dark, report});
  parser.addPositionalArgument("model", "Open this model, or what a link (planscope://…) names.", "[model]");
  parser.process(application);
  const QStringList positional = parser.positionalArguments();
  if (positional.size() > 1) return refuse("one model at most: " + positional.join(' '));
  const bool shoot = parser.isSet(screenshot), measure = parser.isSet(report);
  QSize window_size(1600, 1000);
  if (parser.isSet(size)) {
    window_size = parsed_size(parser.value(size));
    if (window_size.width() < 400 || window_size.height() < 300)
      return refuse("--size needs WIDTHxHEIGHT, at least 400x300: " + parser.value(size));
  }
  if (!shoot) window_size = window_size.boundedTo(QApplication::primaryScreen()->availableSize());

  WindowSettings window_settings;
  // A picture shows what the arguments say, whatever was open; it leaves no draft behind.
  window_settings.session.workspace =
      (shoot || measure) && !parser.isSet(workspace) ? std::string() : parser.value(workspace).toStdString();
  window_settings.session.programs = QCoreApplication::applicationDirPath().toStdString();
  if (parser.isSet(cluster)) window_settings.session.cluster = parser.value(cluster).toStdString();
  window_settings.memory_file = parser.value(settings);
  window_settings.restore = !shoot && !measure;
  if (parser.isSet(light)) window_settings.theme = Theme::light;
  if (parser.isSet(dark)) window_settings.theme = Theme::dark;
  MainWindow window(std::move(window_settings), find_fonts());
  if (parser.isSet(size) || shoot) {
    window.resize(window_size);
    window.reset_layout();
  } else {
    window.resize(window.size().boundedTo(window_size));
  }
  const QString model_file = parser.isSet(model) ? parser.value(model) : positional.value(0);
  if (!model_file.isEmpty() || parser.isSet(plan)) {
    session::Invocation open{"open", {}};
    if (model_file.startsWith(session::link_scheme))
      open.arguments["link"] = model_file.toStdString();
    else if (!model_file.isEmpty())
      open.arguments["model"] = model_file.toStdString();
    if (parser.isSet(plan)) open.arguments["plan"] = parser.value(plan).toStdString();
    window.open_at_start(std::move(open));
  }
  std::optional<StartReport> told;
  if (measure) told.emplace(window);
  window.show();
  if (shoot) shoot_when_ready(window, parser.value(screenshot), 0);
  return QApplication::exec();
}

}  // namespace planscope
