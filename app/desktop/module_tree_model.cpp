#include "app/desktop/module_tree_model.h"

#include <QColor>

namespace planscope {

void ModuleTreeModel::reset(std::shared_ptr<const std::vector<ModuleNode>> modules) {
  if (modules == modules_) return;
  beginResetModel();
  modules_ = std::move(modules);
  rows_.clear();
  top_.clear();
  if (modules_) {
    for (const ModuleNode& node : *modules_) top_.push_back(add(node, -1, static_cast<int>(top_.size())));
  }
  endResetModel();
}

int ModuleTreeModel::add(const ModuleNode& node, int parent, int position) {
  const int id = static_cast<int>(rows_.size());
  rows_.push_back({&node, parent, position, {}});
  for (const ModuleNode& child : node.children) {
    const int child_id = add(child, id, static_cast<int>(rows_[id].children.size()));
    rows_[id].children.push_back(child_id);
  }
  return id;
}

const ModuleNode* ModuleTreeModel::node(const QModelIndex& index) const {
  return index.isValid() ? rows_[index.internalId()].node : nullptr;
}

QModelIndex ModuleTreeModel::index(int row, int column, const QModelIndex& parent) const {
  const std::vector<int>& children = parent.isValid() ? rows_[parent.internalId()].children : top_;
  if (row < 0 || row >= static_cast<int>(children.size()) || column < 0 || column > 1) return {};
  return createIndex(row, column, static_cast<quintptr>(children[row]));
}

QModelIndex ModuleTreeModel::parent(const QModelIndex& child) const {
  if (!child.isValid()) return {};
  const int id = rows_[child.internalId()].parent;
  return id < 0 ? QModelIndex() : createIndex(rows_[id].position, 0, static_cast<quintptr>(id));
}

int ModuleTreeModel::rowCount(const QModelIndex& parent) const {
  if (parent.column() > 0) return 0;
  return static_cast<int>(parent.isValid() ? rows_[parent.internalId()].children.size() : top_.size());
}

QVariant ModuleTreeModel::data(const QModelIndex& index, int role) const {
  const ModuleNode* n = node(index);
  if (n == nullptr) return {};
  if (role == Qt::DisplayRole) return QString::fromStdString(index.column() == 0 ? n->name : n->note);
  if (role == Qt::ToolTipRole) return QString::fromStdString(n->path);
  if (role == Qt::ForegroundRole && index.column() == 1) return QColor(0x8d, 0x97, 0xa3);
  return {};
}

QVariant ModuleTreeModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  return section == 0 ? tr("module") : tr("size or kind");
}

}  // namespace planscope
