// Random keys in the real editor, on a real session, against a plain text: no key is lost, none lands elsewhere.
#include <QAbstractItemView>
#include <QClipboard>
#include <QCompleter>
#include <QLineEdit>
#include <QScrollBar>
#include <QTest>
#include <QTextBlock>
#include <catch2/catch.hpp>
#include <random>

#include "app/desktop/completing_line.h"
#include "app/session/lines.h"
#include "tests/app/desktop/window_fixture.h"

using namespace planscope;

namespace {

const std::string begin = "devices 4 as data=2 tensor=2\nlet L = transformer.h[*]\ntrans * batch by data\n";

std::string quoted(const std::string& text) { return session::quoted(text); }

// What the keys should have made: a text with a cursor, and what is selected between it and the anchor.
struct Model {
  QString text;
  int cursor = 0, anchor = 0;

  int from() const { return qMin(cursor, anchor); }
  int to() const { return qMax(cursor, anchor); }
  int line() const { return static_cast<int>(text.left(cursor).count('\n')); }
  int line_begin() const { return static_cast<int>(text.left(cursor).lastIndexOf('\n')) + 1; }
  int line_end() const {
    const auto end = text.indexOf('\n', cursor);
    return static_cast<int>(end < 0 ? text.size() : end);
  }
  QString line_text() const { return text.mid(line_begin(), line_end() - line_begin()); }
  void go(int to, bool select = false) {
    cursor = qBound(0, to, static_cast<int>(text.size()));
    if (!select) anchor = cursor;
  }
  void put(int begin, int end, const QString& written) {
    text.replace(begin, end - begin, written);
    go(begin + static_cast<int>(written.size()));
  }
};

struct Typist : WindowFixture {
  Model model;
  std::mt19937 random;
  std::string keys;  // that were pressed since the last check with the session

  void begin_with(const std::string& text, unsigned seed) {
    random.seed(seed);
    run("open model=" + gpt2);
    run("text " + quoted(text));
    editor().setFocus();
    editor().moveCursor(QTextCursor::End);
    look();
  }

  void look() {
    model.text = editor().text();
    model.cursor = editor().textCursor().position();
    model.anchor = editor().textCursor().anchor();
  }

  int pick(int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }

  QAbstractItemView& list() { return *editor().completer()->popup(); }
  // What Enter takes, as it stands there, and from where; nothing: there is nothing to take.
  std::optional<std::pair<QString, int>> offered() {
    if (!list().isVisible() || !list().currentIndex().isValid()) return std::nullopt;
    const std::string text = model.text.toStdString();
    const auto at = static_cast<std::size_t>(model.text.left(model.cursor).toUtf8().size());
    const session::Completion known = session::complete(document(), text, at);
    const QString word = list().currentIndex().data(Qt::UserRole).toString();
    const auto is = [&](const session::CompletionItem& i) { return i.text == word.toStdString(); };
    if (model.anchor != model.cursor || std::none_of(known.items.begin(), known.items.end(), is)) return std::nullopt;
    return std::pair(word, static_cast<int>(QString::fromUtf8(text.data(), static_cast<qsizetype>(known.from)).size()));
  }

  // As the system hands keys out: to the list, while it is there.
  void press(Qt::Key key, Qt::KeyboardModifiers with = {}, QChar text = {}) {
    keys += text.isNull() ? " " + QKeySequence(static_cast<int>(key) | static_cast<int>(with)).toString().toStdString()
                          : " '" + QString(text).toStdString() + "'";
    QWidget* to = &editor();
    if (list().isVisible()) to = &list();
    if (text.isNull())
      QTest::keyClick(to, key, with);
    else
      QTest::keyClick(to, text.toLatin1(), with);
    if (!editor().hasFocus()) editor().setFocus();
  }

  void check() {
    INFO(keys);
    REQUIRE(quoted(editor().text().toStdString()) == quoted(model.text.toStdString()));
    REQUIRE(editor().textCursor().position() == model.cursor);
    REQUIRE(editor().textCursor().anchor() == model.anchor);
  }

  void check_session() {
    settle();
    check();
    INFO(keys);
    REQUIRE(quoted(document().draft.text()) == quoted(model.text.toStdString()));
    keys.clear();
  }

  void letter() {
    static const QString letters = "ttrrraannssdeeviiccbyyLLuseeh..__==  ##0124[]*";
    const QChar c = letters[pick(static_cast<int>(letters.size()))];
    press(Qt::Key_A, {}, c);
    model.put(model.from(), model.to(), c);
  }

  void enter(Qt::Key key, Qt::KeyboardModifiers with = {}) {
    const auto taken = offered();
    press(key, with);
    if (taken)
      model.put(taken->second, model.cursor, taken->first);
    else if (key != Qt::Key_Tab)
      model.put(model.from(), model.to(), "\n");
  }

  void erase(Qt::Key key) {
    const bool any = model.from() != model.to();
    press(key);
    const int from = any || key == Qt::Key_Delete ? model.from() : qMax(0, model.cursor - 1);
    const int end = static_cast<int>(model.text.size());
    const int to = any || key == Qt::Key_Backspace ? model.to() : qMin(end, model.cursor + 1);
    model.put(from, to, "");
  }

  void move(Qt::Key key, bool select) {
    const bool from_selection = model.from() != model.to() && !select;  // where that goes is the editor's
    const bool by_list = list().isVisible() && (key == Qt::Key_Up || key == Qt::Key_Down);
    const int line = model.line(), last = static_cast<int>(model.text.count('\n'));
    press(key, select ? Qt::ShiftModifier : Qt::NoModifier);
    if (by_list) return;
    if (from_selection) {  // it may stay, as on the last line
      model.cursor = editor().textCursor().position(), model.anchor = editor().textCursor().anchor();
      return;
    }
    switch (key) {
      case Qt::Key_Left: return model.go(model.cursor - 1, select);
      case Qt::Key_Right: return model.go(model.cursor + 1, select);
      case Qt::Key_Home: return model.go(model.line_begin(), select);
      case Qt::Key_End: return model.go(model.line_end(), select);
      default: break;
    }
    const int wanted = key == Qt::Key_Up ? line - 1 : line + 1;
    const int cursor = editor().textCursor().position();
    INFO(keys);
    if (wanted >= 0 && wanted <= last) REQUIRE(editor().textCursor().blockNumber() == wanted);
    model.go(cursor, select);
  }

  void paste() {
    static const QStringList all = {"x", "trans * batch by data\n", "two\r\nlines", "\u00a0\u2028", "\r", "tensor"};
    const QString text = all[pick(static_cast<int>(all.size()))];
    QApplication::clipboard()->setText(text);
    press(Qt::Key_V, Qt::ControlModifier);
    QString pasted = text;
    pasted.replace("\r\n", "\n").replace('\r', '\n').replace(QChar(0x2028), ' ');
    model.put(model.from(), model.to(), pasted);
  }

  // Undo, redo, an edit of another surface: the cursor stays in its line, where that is still there.
  void change_elsewhere() {
    check_session();
    const Model before = model;
    const int lines = static_cast<int>(before.text.count('\n')) + 1;
    const std::string n = std::to_string(1 + pick(lines)), m = std::to_string(1 + pick(lines));
    switch (pick(6)) {
      case 0: press(Qt::Key_Z, Qt::ControlModifier); break;
      case 1: press(Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier); break;
      case 2: window->run({"append", {{"statement", "# by another " + n}}}); break;
      case 3: window->run({"move", {{"line", n}, {"to", m}}}); break;
      case 4: window->run({"replace", {{"line", n}, {"statement", pick(2) ? "" : "# replaced " + m}}}); break;
      case 5: window->run({"duplicate", {{"line", n}}}); break;
    }
    settle();
    INFO(keys);
    REQUIRE(quoted(editor().text().toStdString()) == quoted(document().draft.text()));
    look();
    const auto count = [](const QString& text, const QString& line) { return text.split('\n').count(line); };
    const QString line = before.line_text();
    if (!line.trimmed().isEmpty() && count(before.text, line) == 1 && count(model.text, line) == 1) {
      REQUIRE(model.line_text() == line);
      REQUIRE(model.cursor - model.line_begin() == before.cursor - before.line_begin());
    }
  }

  void step() {
    const int what = pick(100);
    if (what < 55) return letter();
    if (what < 62) return enter(Qt::Key_Return);
    if (what < 64) return enter(Qt::Key_Tab);
    if (what < 65) return enter(Qt::Key_Return, Qt::ShiftModifier);
    if (what < 72) return erase(Qt::Key_Backspace);
    if (what < 74) return erase(Qt::Key_Delete);
    if (what < 90) {
      static constexpr Qt::Key moves[] = {Qt::Key_Left, Qt::Key_Right, Qt::Key_Up,
                                          Qt::Key_Down, Qt::Key_Home,  Qt::Key_End};
      return move(moves[pick(6)], pick(6) == 0);
    }
    if (what < 93) return press(Qt::Key_Space, Qt::ControlModifier);
    if (what < 95) return list().isVisible() ? press(Qt::Key_Escape) : void();
    if (what < 97) return paste();
    if (what < 98) return QTest::qWait(pick(20));
    change_elsewhere();
  }

  void type(int steps) {
    for (int k = 0; k < steps; ++k) {
      step();
      check();
      if (model.text.size() > 600) {  // texts stay short, so that many of their places are come to
        editor().selectAll();
        look();
        erase(Qt::Key_Backspace);
      }
    }
    check_session();
  }
};

}  // namespace

TEST_CASE_METHOD(Typist, "what is typed is what stands there, with completion and whatever happens meanwhile") {
  begin_with(begin, 1);
  type(300);
}

TEST_CASE_METHOD(Typist, "what is typed for long is what stands there", "[.][slow]") {
  begin_with(begin, 20261127);
  type(40000);
}

TEST_CASE_METHOD(Typist, "nothing that is typed is lost while others edit other lines") {
  begin_with(begin, 5);
  std::vector<QString> written;
  for (int line = 0; line < 30; ++line) {
    editor().moveCursor(QTextCursor::End);
    const QString text = QString("# written %1 by hand").arg(line);
    if (line > 0) QTest::keyClick(&editor(), Qt::Key_Return);
    for (const QChar c : text) {
      QTest::keyClick(&editor(), c.toLatin1());
      if (pick(4) > 0) continue;
      const std::string n = std::to_string(1 + pick(3)), m = std::to_string(1 + pick(3));
      if (pick(2))
        window->run({"move", {{"line", n}, {"to", m}}});
      else
        window->run({"toggle", {{"line", n}}});
      QTest::qWait(pick(6));
    }
    written.push_back(text);
  }
  settle();
  const QString now = editor().text();
  CHECK(quoted(document().draft.text()) == quoted(now.toStdString()));
  const QStringList lines = now.split('\n', Qt::SkipEmptyParts);
  CHECK(lines.size() == 3 + static_cast<int>(written.size()));
  for (const QString& text : written) CHECK(lines.contains(text));
}
