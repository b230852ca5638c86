#include "app/desktop/style.h"

#include <QApplication>
#include <QFile>
#include <QFont>
#include <QFontDatabase>
#include <QPalette>
#include <QRegularExpression>
#include <QStyleFactory>
#include <optional>

#include "viz/canvas/theme.h"

namespace planscope {

const Colours& colours(Theme theme) {
  static const auto of = [](const viz::Theme& t) {
    const auto text = [](viz::Colour c) { return QString::fromStdString(viz::hex_text(c)); };
    const viz::ScriptColours& s = t.script;
    return Colours{text(t.ground),    text(t.background), text(t.raised), text(t.line),    text(t.text),
                   text(t.dim),       text(t.accent),     text(t.selection), text(t.good), text(t.bad),
                   text(t.warning),   text(t.code),       text(s.word),   text(s.policy),  text(s.task),
                   text(s.open),      text(s.figure),     text(s.comment)};
  };
  static const Colours dark = of(viz::dark_theme()), light = of(viz::light_theme());
  return theme == Theme::dark ? dark : light;
}

namespace {

QString style_sheet(const Colours& c) {
  QString s = R"(
QMainWindow, QDialog { background: @background; }
QWidget { color: @text; }
QMenuBar { background: @raised; padding: 1px 6px; }
QMenuBar::item { padding: 4px 8px; background: transparent; border-radius: 3px; }
QMenuBar::item:selected { background: @selection; }
QMenu { background: @raised; border: 1px solid @line; padding: 4px; }
QMenu::item { padding: 4px 28px 4px 14px; border-radius: 3px; }
QMenu::item:selected { background: @selection; }
QMenu::separator { height: 1px; background: @line; margin: 4px 6px; }
QStatusBar { background: @raised; color: @dim; }
QStatusBar::item { border: 0; }
QStatusBar QLabel { color: @dim; padding: 1px 8px; }
#chips { background: @panel; border-bottom: 1px solid @line; }
QTabWidget::pane { border: 0; border-top: 1px solid @line; background: @panel; }
QTabWidget { background: @panel; }
QTabBar { background: @panel; qproperty-drawBase: 0; }
QTabBar::tab { background: @panel; color: @dim; padding: 4px 3px 4px 3px; margin: 0 6px; }
QTabBar::tab { border-bottom: 2px solid transparent; }
QDockWidget { color: @dim; }
QDockWidget::title { background: @panel; padding: 5px 9px; border-bottom: 1px solid @line; text-align: left; }
#centre QLabel#heading { padding: 2px 0; }
QFrame[overlay="true"] { background: @panel; border: 1px solid @accent; border-radius: 6px; }
QLabel#reason { color: @dim; background: @raised; padding: 3px 10px; border-bottom: 1px solid @line; }
QLabel#empty { color: @dim; }
QLabel#problem { color: @bad; }
#messages { background: @raised; border-bottom: 1px solid @line; }
QPushButton { background: @raised; border: 1px solid @line; border-radius: 4px; padding: 4px 12px; }
QPushButton:hover, QPushButton:focus { border-color: @accent; }
QTreeView:focus, QPlainTextEdit:focus, QListWidget:focus { border: 1px solid @accent; }
QTreeView, QPlainTextEdit, QListWidget { border: 1px solid transparent; }
QComboBox, QSpinBox { background: @raised; border: 1px solid @line; border-radius: 4px; padding: 3px 6px; }
QComboBox QLineEdit { border: none; padding: 0; background: transparent; }
QComboBox QAbstractItemView { background: @panel; border: 1px solid @line; }
QTabBar::tab:selected { color: @text; border-bottom: 2px solid @accent; }
QTabBar::tab:hover { color: @text; }
QTreeView, QPlainTextEdit, QListWidget { background: @panel; outline: 0; }
QTreeView, QPlainTextEdit, QListWidget { selection-background-color: @selection; selection-color: @text; }
QTreeView::item { padding: 2px 0; }
QTreeView::item:selected, QListWidget::item:selected { background: @selection; color: @text; }
QHeaderView { background: @panel; }
QHeaderView::section { background: @panel; color: @dim; border: 0; border-bottom: 1px solid @line; padding: 4px 8px; }
QLineEdit { background: @raised; border: 1px solid @line; border-radius: 4px; padding: 3px 8px; }
QLineEdit { selection-background-color: @selection; }
QSplitter::handle, QMainWindow::separator { background: @line; width: 1px; height: 1px; }
QToolButton { background: transparent; border: 1px solid transparent; border-radius: 4px; color: @dim; }
QToolButton { padding: 2px 7px; }
QToolButton:hover, QToolButton:focus { border-color: @line; color: @text; }
QTabBar QToolButton { padding: 0; background: @raised; border: 1px solid @line; border-radius: 0; }
QTabBar::scroller { width: 40px; }
QToolButton:checked { color: @text; background: @raised; border-color: @line; }
QFrame[note="true"] { background: @raised; color: @text; border: 1px solid @accent; border-radius: 4px; }
QToolTip { background: @raised; color: @text; border: 1px solid @line; padding: 5px; }
QScrollBar:vertical { background: @panel; width: 10px; margin: 0; }
QScrollBar:horizontal { background: @panel; height: 10px; margin: 0; }
QScrollBar::handle { background: @line; border-radius: 4px; min-height: 24px; min-width: 24px; margin: 1px; }
QScrollBar::handle:hover { background: @dim; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
#centre, #panel { background: @panel; }
#heading { color: @text; font-weight: 600; }
#hint { color: @dim; }
)";
  const std::pair<const char*, QString> names[] = {{"@background", c.background},
                                                       {"@panel", c.panel},
                                                       {"@raised", c.raised},
                                                       {"@line", c.line},
                                                       {"@text", c.text},
                                                       {"@dim", c.dim},
                                                       {"@accent", c.accent},
                                                       {"@selection", c.selection}};
  for (const auto& [name, value] : names) s.replace(name, value);
  if (applied_scale() == 1) return s;
  static const QRegularExpression pixels("(\\d+)px");
  QString out;
  qsizetype from = 0;
  for (auto i = pixels.globalMatch(s); i.hasNext();) {
    const QRegularExpressionMatch m = i.next();
    const int n = m.captured(1).toInt();
    out += s.mid(from, m.capturedStart() - from) + QString::number(n <= 1 ? n : px(n)) + "px";  // lines stay thin
    from = m.capturedEnd();
  }
  return out + s.mid(from);
}

QString first_existing(const QStringList& folders, const QString& file) {
  for (const QString& folder : folders) {
    if (QFile::exists(folder + '/' + file)) return folder + '/' + file;
  }
  return {};
}

}  // namespace

viz::FontFiles find_fonts() {
  const QStringList folders{PLANSCOPE_FONT_DIR, "/usr/share/fonts/truetype/dejavu", "/usr/share/fonts/dejavu",
                            "/usr/share/fonts/TTF", "/usr/share/fonts/dejavu-sans-fonts"};
  return {first_existing(folders, "DejaVuSans.ttf").toStdString(),
          first_existing(folders, "DejaVuSans-Bold.ttf").toStdString()};
}

QFont monospaced_font() {
  QFont font("DejaVu Sans Mono");
  font.setStyleHint(QFont::Monospace);
  font.setPixelSize(px(12));
  return font;
}

// The font of the application is what tells the scale: it is the same for every widget, and there from the beginning.
double applied_scale() { return qApp && qApp->font().pixelSize() > 0 ? qApp->font().pixelSize() / 12.0 : 1; }

int px(int pixels) { return qRound(pixels * applied_scale()); }

void apply_style(QApplication& application, Theme theme, double scale) {
  static std::optional<std::pair<Theme, double>> applied;
  if (applied == std::pair(theme, scale)) return;
  applied = {theme, scale};
  const viz::FontFiles files = find_fonts();
  static const bool loaded = [&] {
    for (const std::string& file : {files.regular, files.bold}) {
      if (!file.empty()) QFontDatabase::addApplicationFont(QString::fromStdString(file));
    }
    return true;
  }();
  (void)loaded;
  application.setStyle(QStyleFactory::create("Fusion"));
  QFont font("DejaVu Sans");
  font.setPixelSize(qRound(12 * scale));
  application.setFont(font);
  const Colours& c = colours(theme);
  QPalette palette;
  const auto set = [&](QPalette::ColorRole role, const QString& colour) { palette.setColor(role, QColor(colour)); };
  set(QPalette::Window, c.panel), set(QPalette::Base, c.panel), set(QPalette::AlternateBase, c.raised),
      set(QPalette::Button, c.raised);
  set(QPalette::WindowText, c.text), set(QPalette::Text, c.text), set(QPalette::ButtonText, c.text),
      set(QPalette::ToolTipText, c.text);
  set(QPalette::ToolTipBase, c.raised), set(QPalette::Highlight, c.selection), set(QPalette::HighlightedText, c.text);
  set(QPalette::PlaceholderText, c.dim), set(QPalette::Link, c.accent), set(QPalette::Mid, c.line),
      set(QPalette::Dark, c.line);
  application.setPalette(palette);
  application.setStyleSheet(style_sheet(c));
}

}  // namespace planscope
