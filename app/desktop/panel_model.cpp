#include "app/desktop/panel_model.h"

#include <QColor>
#include <QMimeData>
#include <algorithm>
#include <unordered_map>

#include "app/desktop/chips.h"
#include "app/session/commands.h"

namespace planscope {

namespace {

QString text(const std::string& s) { return QString::fromStdString(s); }

// A yes or no that can be changed: a box to be checked.
bool is_switch(const session::Cell& c) { return !c.edit.empty() && c.value.is_boolean(); }

bool same_rows(const session::Panel& a, const session::Panel& b) {
  return a.columns == b.columns &&
         std::equal(a.rows.begin(), a.rows.end(), b.rows.begin(), b.rows.end(),
                    [](const auto& x, const auto& y) { return x.id == y.id && x.parent == y.parent; });
}

}  // namespace

void PanelModel::set_panel(std::shared_ptr<const session::Panel> panel) {
  if (panel == panel_) return;
  if (panel_ && panel && same_rows(*panel_, *panel)) {
    panel_ = std::move(panel);
    const int last = columnCount() - 1;
    for (const Item& i : items_) {
      if (i.children.empty() || last < 0) continue;
      const auto at = [&](int child, int column) {
        return createIndex(items_[static_cast<std::size_t>(child)].place, column, static_cast<quintptr>(child));
      };
      Q_EMIT dataChanged(at(i.children.front(), 0), at(i.children.back(), last));
    }
    return;
  }
  beginResetModel();
  panel_ = std::move(panel);
  build();
  endResetModel();
}

void PanelModel::build() {
  columns_.clear();
  items_.assign(1, {});
  if (!panel_) return;
  for (std::size_t c = 0; c < panel_->columns.size(); ++c)
    if (!panel_->columns[c].quiet) columns_.push_back(static_cast<int>(c));
  const bool tree = panel_->kind == session::PanelKind::tree;
  std::unordered_map<std::string, int> by_id;
  items_.reserve(panel_->rows.size() + 1);
  for (std::size_t r = 0; r < panel_->rows.size(); ++r) {
    const session::TableRow& row = panel_->rows[r];
    const auto found = tree && !row.parent.empty() ? by_id.find(row.parent) : by_id.end();
    const int parent = found == by_id.end() ? 0 : found->second, self = static_cast<int>(items_.size());
    std::vector<int>& siblings = items_[static_cast<std::size_t>(parent)].children;
    const int place = static_cast<int>(siblings.size());
    siblings.push_back(self);
    items_.push_back({static_cast<int>(r), parent, place, {}});
    by_id.emplace(row.id, self);
  }
}

void PanelModel::set_theme(Theme theme) {
  theme_ = theme;
  Q_EMIT layoutChanged();
}

const session::TableRow* PanelModel::row_at(const QModelIndex& index) const {
  return index.isValid() ? &panel_->rows[static_cast<std::size_t>(item(index).row)] : nullptr;
}

QModelIndex PanelModel::find(const QString& id) const {
  const std::string wanted = id.toStdString();
  for (std::size_t i = 1; i < items_.size(); ++i)
    if (panel_->rows[static_cast<std::size_t>(items_[i].row)].id == wanted) return createIndex(items_[i].place, 0, i);
  return {};
}

bool PanelModel::is_number(int column) const {
  return panel_ && column < static_cast<int>(columns_.size()) &&
         panel_->columns[static_cast<std::size_t>(columns_[static_cast<std::size_t>(column)])].unit !=
             session::Unit::none;
}

QModelIndex PanelModel::index(int row, int column, const QModelIndex& parent) const {
  const std::vector<int>& children = item(parent).children;
  if (row < 0 || row >= static_cast<int>(children.size()) || column < 0 || column >= columnCount()) return {};
  return createIndex(row, column, static_cast<quintptr>(children[static_cast<std::size_t>(row)]));
}

QModelIndex PanelModel::parent(const QModelIndex& index) const {
  if (!index.isValid() || item(index).parent <= 0) return {};
  const int parent = item(index).parent;
  return createIndex(items_[static_cast<std::size_t>(parent)].place, 0, static_cast<quintptr>(parent));
}

int PanelModel::rowCount(const QModelIndex& parent) const {
  return parent.column() > 0 ? 0 : static_cast<int>(item(parent).children.size());
}

int PanelModel::columnCount(const QModelIndex&) const { return static_cast<int>(columns_.size()); }

const session::Cell* PanelModel::cell(const QModelIndex& index) const {
  const auto column = static_cast<std::size_t>(columns_[static_cast<std::size_t>(index.column())]);
  const session::TableRow& row = *row_at(index);
  return column < row.cells.size() ? &row.cells[column] : nullptr;
}

// A row that is bad or doubtful has its sign in front, if no cell of it has one.
QString PanelModel::shown(const session::TableRow& row, int column) const {
  const session::Cell& c = row.cells[static_cast<std::size_t>(columns_[static_cast<std::size_t>(column)])];
  QString sign = sign_of(c.tone);
  if (column == 0 && sign.isEmpty()) {
    const auto toned = [](const session::Cell& o) { return !sign_of(o.tone).isEmpty(); };
    if (std::none_of(row.cells.begin(), row.cells.end(), toned)) sign = sign_of(row.tone);
  }
  return sign + text(c.text);
}

QVariant PanelModel::data(const QModelIndex& index, int role) const {
  const session::Cell* c = index.isValid() ? cell(index) : nullptr;
  if (!c) return {};
  const session::TableRow& row = *row_at(index);
  switch (role) {
    case Qt::DisplayRole:
      return is_switch(*c) ? QString() : shown(row, index.column());
    case text_role:
      return shown(row, index.column());
    case Qt::EditRole:
      return text(c->text);
    case edit_role:
      return text(c->edit);
    case Qt::CheckStateRole:
      return is_switch(*c) ? QVariant(c->value.get<bool>() ? Qt::Checked : Qt::Unchecked) : QVariant();
    case Qt::ToolTipRole:
      return text(c->text) + (c->tip.empty() || c->tip == c->text ? QString() : '\n' + text(c->tip));
    case Qt::TextAlignmentRole:
      return int(Qt::AlignVCenter | (is_number(index.column()) ? Qt::AlignRight : Qt::AlignLeft));
    case Qt::ForegroundRole:
      return colour_of(c->tone != session::Tone::plain  ? c->tone
                       : row.tone == session::Tone::dim ? row.tone
                                                        : c->tone,
                       theme_);
    case sort_role:
      return c->value.is_number() ? QVariant(c->value.get<double>()) : QVariant(text(c->text));
    case id_role:
      return text(row.id);
    default:
      return {};
  }
}

Qt::ItemFlags PanelModel::flags(const QModelIndex& index) const {
  Qt::ItemFlags out = QAbstractItemModel::flags(index);
  const session::TableRow* row = row_at(index);
  if (!row) return out | Qt::ItemIsDropEnabled;  // between rows
  if (!row->command.empty()) out |= Qt::ItemIsDragEnabled | Qt::ItemIsDropEnabled;
  const session::Cell* c = cell(index);
  if (c && !c->edit.empty()) out |= is_switch(*c) ? Qt::ItemIsUserCheckable : Qt::ItemIsEditable;
  return out;
}

// The cell stays as it is until the session has answered.
bool PanelModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  const session::Cell* c = index.isValid() ? cell(index) : nullptr;
  if (!c || c->edit.empty() || !on_edit) return false;
  if (role == Qt::CheckStateRole && is_switch(*c)) {
    on_edit(c->edit);
    return true;
  }
  const std::string now = value.toString().toStdString();
  if (role != Qt::EditRole || now == c->text) return false;
  on_edit(c->edit + " " + session::quoted(now));
  return true;
}

QMimeData* PanelModel::mimeData(const QModelIndexList& indexes) const {
  if (indexes.isEmpty()) return nullptr;
  const session::TableRow& row = *row_at(indexes.first());
  auto* out = new QMimeData;
  out->setData(line_type, QByteArray::fromStdString(row.command));
  return out;
}

bool PanelModel::dropMimeData(const QMimeData* data, Qt::DropAction, int row, int, const QModelIndex& parent) {
  if (!data->hasFormat(line_type) || !on_drop) return false;
  const int count = rowCount(parent);
  const bool between = row >= 0, behind = row >= count;
  const QModelIndex onto = between ? index(qBound(0, behind ? count - 1 : row, qMax(0, count - 1)), 0, parent) : parent;
  const session::TableRow* target = row_at(onto);
  if (!target) return false;
  on_drop(data->data(line_type).toStdString(), target->command, !between ? "" : behind ? "after" : "before");
  return true;
}

QVariant PanelModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section >= static_cast<int>(columns_.size())) return {};
  const QString title =
      text(panel_->columns[static_cast<std::size_t>(columns_[static_cast<std::size_t>(section)])].title);
  if (role == Qt::DisplayRole || role == Qt::ToolTipRole) return title;
  if (role == Qt::TextAlignmentRole)
    return int(Qt::AlignVCenter | (is_number(section) ? Qt::AlignRight : Qt::AlignLeft));
  return {};
}

}  // namespace planscope
