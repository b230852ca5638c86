#pragma once
// The rows of a table or a tree panel as an item model. Cells are changed as the session says, rows are dragged and
// dropped by the lines that they run. Rows are distinguished by their ids: a new panel with the same rows in the same
// places only changes their texts, so that views keep what is selected and open.
#include <QAbstractItemModel>
#include <functional>
#include <memory>
#include <vector>

#include "app/desktop/style.h"
#include "app/session/panel.h"

namespace planscope {

class PanelModel : public QAbstractItemModel {
 public:
  static constexpr int sort_role = Qt::UserRole + 1, id_role = Qt::UserRole + 2, text_role = Qt::UserRole + 3,
                       edit_role = Qt::UserRole + 4;
  static constexpr const char* line_type =
      "application/x-planscope-line";  // of what is dragged: the line that selects it

  using QAbstractItemModel::QAbstractItemModel;

  void set_panel(std::shared_ptr<const session::Panel> panel);
  void set_theme(Theme theme);
  const session::Panel* panel() const { return panel_.get(); }
  const session::TableRow* row_at(const QModelIndex& index) const;
  QModelIndex find(const QString& id) const;  // invalid: there is no such row
  bool is_number(int column) const;

  QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
  QModelIndex parent(const QModelIndex& index) const override;
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;
  QStringList mimeTypes() const override { return {line_type}; }
  QMimeData* mimeData(const QModelIndexList& indexes) const override;
  Qt::DropActions supportedDropActions() const override { return Qt::CopyAction; }
  bool dropMimeData(const QMimeData* data, Qt::DropAction action, int row, int column,
                    const QModelIndex& parent) override;

  std::function<void(const std::string& line)> on_edit;  // a cell has been changed
  // `side`: before or after a row, where it was dropped between rows; empty: on the row.
  std::function<void(const std::string& what, const std::string& onto, const std::string& side)> on_drop;

 private:
  struct Item {
    int row = -1;  // of the panel; -1: the root
    int parent = -1, place = 0;
    std::vector<int> children;
  };

  void build();
  const Item& item(const QModelIndex& index) const { return items_[index.isValid() ? index.internalId() : 0]; }
  const session::Cell* cell(const QModelIndex& index) const;
  QString shown(const session::TableRow& row, int column) const;

  std::shared_ptr<const session::Panel> panel_;
  std::vector<int> columns_;  // that are shown, of the panel's
  std::vector<Item> items_ = std::vector<Item>(1);
  Theme theme_ = Theme::dark;
};

}  // namespace planscope
