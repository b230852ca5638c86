#pragma once
// The plan script: line numbers, colours, what is wrong under its token and told on hover, completion, a one-key
// fix, and dimmed between the lines those that are proposed. Undo is the
// session's, not this editor's: it goes over every kind of edit, and never over documents.
#include <QPlainTextEdit>
#include <functional>
#include <vector>

#include "app/desktop/style.h"
#include "app/session/completion.h"
#include "app/session/panel.h"

class QCompleter;
class QStandardItemModel;

namespace planscope {

class GhostLayout;
class PlanHighlighter;

class PlanEditor : public QPlainTextEdit {
 public:
  using Complete = std::function<session::Completion(const std::string& text, std::size_t cursor)>;

  explicit PlanEditor(QWidget* parent = nullptr);

  void set_theme(Theme theme);
  void set_marks(std::vector<session::Mark> marks, std::vector<session::LineNote> notes);  // of the text as it is
  void set_ghosts(std::vector<session::Ghost> ghosts);
  QString text() const;
  // Changes what differs alone; the cursor stays in its line, and that on the screen; not told by on_edit.
  void show_text(const QString& text);
  void go_to_line(int line);            // from 1; where the cursor is there already, it stays
  std::uint64_t touched() const { return touched_; }  // how often somebody has typed, or moved the cursor
  void comment_lines();                 // `# ` before the lines of the selection, or away from them
  bool fix_here();  // puts what is proposed in the place of the token; false: nothing is proposed here
  void show_completions();  // because somebody has asked for them

  int gutter_width() const;
  void paint_gutter(QPaintEvent& event);
  void paint_head();
  void accept_in_head(int y);
  const QCompleter* completer() const { return completer_; }

  std::function<void(const QString& before, const QString& text)> on_edit;  // the user has changed the text
  std::function<void(const std::string& line)> on_run;  // of a ghost that was clicked
  Complete complete;                                 // what can be written; empty: nothing is known
  // A key that came while completions were shown, which keep it from the window: whether it is one of its commands.
  std::function<bool(const QKeySequence& keys)> on_shortcut;

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;
  bool focusNextPrevChild(bool next) override;
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void insertFromMimeData(const QMimeData* source) override;

 private:
  void mark_lines();
  std::size_t byte_at(int position) const;  // of the text
  bool is_offered() const;                  // completions are shown, and of the text and the cursor as they are
  void offer(bool asked);
  void take(const QModelIndex& completion);
  const session::Mark* worst_at(int line) const;
  int position_of(const session::Mark& mark, int byte) const;  // in the document
  QString tooltip_at(const QPoint& at) const;
  void each_ghost(const std::function<void(const session::Ghost&, const QRectF&)>& visit) const;  // that is in sight
  const session::Ghost* ghost_at(const QPointF& at) const;
  std::vector<const session::Ghost*> ghosts_before() const;  // of the first line
  void write_ghosts(QPainter& painter) const;                // in their font and colour
  void lay_out();                                            // what is around the text

  Theme theme_ = Theme::dark;
  std::vector<session::Mark> marks_;
  std::vector<session::LineNote> notes_;
  std::vector<session::Ghost> ghosts_;
  GhostLayout* layout_;
  PlanHighlighter* highlighter_;
  QWidget* gutter_;
  QWidget* head_;
  QCompleter* completer_;
  QStandardItemModel* completions_;
  session::Completion offered_;
  std::string marked_;  // the text that the marks are of
  bool showing_ = false;  // what changes is not by whoever types
  std::uint64_t touched_ = 0;
  QString last_;  // the text that was told or shown last
};

}  // namespace planscope
