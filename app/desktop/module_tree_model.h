#pragma once
// The module tree of a snapshot as rows of a tree view: name, and what is to be said beside it.
#include <QAbstractItemModel>
#include <memory>
#include <vector>

#include "app/workbench/session_view.h"

namespace planscope {

class ModuleTreeModel : public QAbstractItemModel {
 public:
  using QAbstractItemModel::QAbstractItemModel;

  void reset(std::shared_ptr<const std::vector<ModuleNode>> modules);
  const ModuleNode* node(const QModelIndex& index) const;

  QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
  QModelIndex parent(const QModelIndex& child) const override;
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex&) const override { return 2; }
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  struct Row {
    const ModuleNode* node;
    int parent, position;
    std::vector<int> children;
  };
  int add(const ModuleNode& node, int parent, int position);

  std::shared_ptr<const std::vector<ModuleNode>> modules_;
  std::vector<Row> rows_;
  std::vector<int> top_;
};

}  // namespace planscope
