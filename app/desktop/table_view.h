#pragma once
// A table or a tree of a panel: sorted by a click on a header, filtered by the field above it, copied as text with its headers.
// Selection and what is open survive new rows; activating a row (Enter, double click) runs its command.
#include <QTreeView>
#include <functional>
#include <set>

#include "app/desktop/panel_model.h"

class QLineEdit;
class QSortFilterProxyModel;

namespace planscope {

class TableView : public QWidget {
 public:
  explicit TableView(QWidget* parent = nullptr);

  void set_panel(std::shared_ptr<const session::Panel> panel);
  void set_theme(Theme theme);
  QString copied_text() const;  // the selected rows, all where none is selected; separated by tabs, with headers
  void set_filter_visible(bool visible);

  QTreeView* view() const { return view_; }
  QLineEdit* filter() const { return filter_; }
  const PanelModel& model() const { return *model_; }

  std::function<void(const std::string& command)> on_activate;

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  struct Kept {
    std::set<QString> open, selected;
    QString current;
    int scroll = 0;
    bool any = false;
  };
  Kept remember() const;
  void restore(const Kept& kept);
  void fit_columns();
  void collect_text(const QModelIndex& parent, bool all, QStringList& lines) const;

  PanelModel* model_;
  QSortFilterProxyModel* sorted_;
  QTreeView* view_;
  QLineEdit* filter_;
  bool fitted_ = false, fitting_ = false, sized_by_hand_ = false;
};

}  // namespace planscope
