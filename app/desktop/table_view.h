#pragma once
// A table or a tree of a panel: sorted by a click on a header, filtered by the field above it, copied as text with its
// headers. Selection and what is open survive new rows; activating a row (Enter, double click) runs its command. Cells
// that can be changed are, with completion (F2, double click); rows are dragged onto others, and pasted where the panel
// takes them. What else can be done with a row is its context menu (right click, menu key).
#include <QTreeView>
#include <functional>
#include <set>

#include "app/desktop/panel_model.h"
#include "app/session/completion.h"

class QAction;
class QLineEdit;
class QSortFilterProxyModel;

namespace planscope {

class TableView : public QWidget {
 public:
  explicit TableView(QWidget* parent = nullptr);
  ~TableView() override;

  void set_panel(std::shared_ptr<const session::Panel> panel);
  void set_theme(Theme theme);
  QString copied_text() const;  // the selected rows, all where none is selected; separated by tabs, with headers
  void set_filter_visible(bool visible);
  void set_editing(bool editing);  // a cell is being written: the rows stay as they are until that has ended

  QTreeView* view() const { return view_; }
  QLineEdit* filter() const { return filter_; }
  const PanelModel& model() const { return *model_; }

  // What a cell's editor says while it is typed in; see CompletingLine.
  using Complete =
      std::function<session::Completion(const std::string& line, const std::string& text, std::size_t cursor)>;
  using Note = std::function<std::string(const std::string& line, const std::string& text)>;
  Complete complete;
  Note note;
  std::function<void(const std::string& command)> on_activate;
  // A command at a place of the screen: where it is refused, that is said there.
  std::function<void(const std::string& command, const QPoint& where)> on_command_at;
  // The entries of a row's context menu, to be put in front of the view's own; the line is empty where there is no row.
  std::function<void(const std::string& line, const QPoint& where, const std::vector<QAction*>& own)> on_menu;

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  struct Kept {
    std::set<QString> open, selected;
    QString current;
    int scroll = 0;
    bool any = false;
  };
  Kept remember() const;
  void restore(const Kept& kept);
  void show_selected();
  void fit_columns();
  void fit_soon();  // once, whatever number of times it is asked for until then
  void lay_out();
  void show_menu(const QPoint& at);
  void paste();
  void collect_text(const QModelIndex& parent, bool all, QStringList& lines) const;

  PanelModel* model_;
  std::shared_ptr<const session::Panel> pending_;
  bool editing_ = false;
  QSortFilterProxyModel* sorted_;
  std::string selected_;  // ids of the rows that the session selects
  QTreeView* view_;
  QLineEdit* filter_;
  QAction *copy_, *paste_, *all_;  // of the context menu
  bool fitted_ = false, fitting_ = false, sized_by_hand_ = false;
  bool fit_wanted_ = false, layout_wanted_ = false;  // by what is shown then; while it is hidden, nothing is measured
  bool fit_due_ = false;
  int fitted_width_ = -1;  // of the view, in pixels
};

}  // namespace planscope
