#include "app/desktop/table_view.h"

#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLineEdit>
#include <QMenu>
#include <QScrollBar>
#include <QSortFilterProxyModel>
#include <QStyledItemDelegate>
#include <QTimer>
#include <QVBoxLayout>

namespace planscope {

namespace {

constexpr int widest = 380, most_wrapped_rows = 300, most_lines = 6;

// Texts wrap in tables of a few hundred rows; larger ones keep one line a row and "…".
class CellDelegate : public QStyledItemDelegate {
 public:
  CellDelegate(QTreeView* view, const PanelModel* model) : QStyledItemDelegate(view), view_(view), model_(model) {}

  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    QSize size = QStyledItemDelegate::sizeHint(option, index);
    if (!view_->wordWrap() || model_->is_number(index.column())) return size;
    const int width = view_->columnWidth(index.column()) - 12;
    const QRect needed = option.fontMetrics.boundingRect(0, 0, qMax(40, width), 10000, Qt::TextWordWrap, index.data().toString());
    size.setHeight(qMax(size.height(), qMin(needed.height(), most_lines * option.fontMetrics.lineSpacing()) + 6));
    return size;
  }

 private:
  QTreeView* view_;
  const PanelModel* model_;
};

template <class F>
void for_each_row(const QAbstractItemModel& model, const QModelIndex& parent, const F& f) {
  for (int r = 0; r < model.rowCount(parent); ++r) {
    const QModelIndex index = model.index(r, 0, parent);
    f(index);
    for_each_row(model, index, f);
  }
}

}  // namespace

TableView::TableView(QWidget* parent)
    : QWidget(parent), model_(new PanelModel(this)), sorted_(new QSortFilterProxyModel(this)), view_(new QTreeView), filter_(new QLineEdit) {
  sorted_->setSourceModel(model_);
  sorted_->setSortRole(PanelModel::sort_role);
  sorted_->setFilterCaseSensitivity(Qt::CaseInsensitive);
  sorted_->setFilterKeyColumn(-1);
  sorted_->setRecursiveFilteringEnabled(true);
  sorted_->setAutoAcceptChildRows(true);
  filter_->setPlaceholderText(tr("Filter"));
  filter_->setAccessibleName(tr("Filter of the rows"));
  filter_->setClearButtonEnabled(true);
  view_->setModel(sorted_);
  view_->setItemDelegate(new CellDelegate(view_, model_));
  view_->setSelectionBehavior(QAbstractItemView::SelectRows);
  view_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  view_->setAllColumnsShowFocus(true);
  view_->setIndentation(14);
  view_->setSortingEnabled(true);
  view_->header()->setSortIndicator(-1, Qt::AscendingOrder);
  view_->header()->setSortIndicatorClearable(true);
  view_->header()->setTextElideMode(Qt::ElideRight);
  view_->header()->setMinimumSectionSize(36);
  view_->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  view_->installEventFilter(this);
  view_->setContextMenuPolicy(Qt::CustomContextMenu);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(filter_);
  layout->addWidget(view_, 1);
  connect(filter_, &QLineEdit::textChanged, this, [this](const QString& text) { sorted_->setFilterFixedString(text); });
  connect(view_, &QTreeView::activated, this, [this](const QModelIndex& index) {
    const session::TableRow* row = model_->row_at(sorted_->mapToSource(index));
    if (row && on_activate && !row->command.empty()) on_activate(row->command);
  });
  connect(view_->header(), &QHeaderView::sectionResized, view_, [this] {
    if (!fitting_ && QApplication::mouseButtons() != Qt::NoButton) sized_by_hand_ = true;
    if (view_->wordWrap()) view_->doItemsLayout();
  });
  connect(view_, &QTreeView::customContextMenuRequested, this, [this](const QPoint& at) {
    QMenu menu(this);
    menu.addAction(tr("Copy with headers"), this, [this] { QApplication::clipboard()->setText(copied_text()); });
    menu.addAction(tr("Select all"), view_, &QTreeView::selectAll);
    menu.exec(view_->viewport()->mapToGlobal(at));
  });
}

void TableView::set_filter_visible(bool visible) { filter_->setVisible(visible); }

TableView::Kept TableView::remember() const {
  Kept k;
  k.scroll = view_->verticalScrollBar()->value();
  k.current = view_->currentIndex().data(PanelModel::id_role).toString();
  k.any = sorted_->rowCount() > 0;
  for_each_row(*sorted_, {}, [&](const QModelIndex& i) {
    if (view_->isExpanded(i) && sorted_->hasChildren(i)) k.open.insert(i.data(PanelModel::id_role).toString());
    if (view_->selectionModel()->isRowSelected(i.row(), i.parent())) k.selected.insert(i.data(PanelModel::id_role).toString());
  });
  return k;
}

void TableView::restore(const Kept& kept) {
  QItemSelection selection;
  bool found = false;
  for_each_row(*sorted_, {}, [&](const QModelIndex& i) {
    const QString id = i.data(PanelModel::id_role).toString();
    if (kept.open.contains(id)) {
      view_->setExpanded(i, true);
      found = true;
    }
    if (kept.selected.contains(id)) selection.select(i, i);
    if (!kept.current.isEmpty() && id == kept.current) view_->selectionModel()->setCurrentIndex(i, QItemSelectionModel::NoUpdate);
  });
  view_->selectionModel()->select(selection, QItemSelectionModel::Select | QItemSelectionModel::Rows);
  if (!found && model_->panel() && model_->panel()->kind == session::PanelKind::tree) view_->expandToDepth(1);
  view_->verticalScrollBar()->setValue(kept.scroll);
}

void TableView::set_panel(std::shared_ptr<const session::Panel> panel) {
  if (panel.get() == model_->panel()) return;
  const Kept kept = remember();
  bool reset = false;
  const auto watch = connect(model_, &QAbstractItemModel::modelReset, this, [&] { reset = true; });
  model_->set_panel(std::move(panel));
  disconnect(watch);
  const session::Panel* p = model_->panel();
  const bool wrap = p && p->kind == session::PanelKind::table && p->rows.size() <= most_wrapped_rows;
  view_->setRootIsDecorated(p && p->kind == session::PanelKind::tree);
  view_->setWordWrap(wrap);
  view_->setUniformRowHeights(!wrap);
  if (reset) restore(kept);
  if (p && !p->rows.empty() && (!fitted_ || !kept.any)) fit_columns();
  if (wrap) view_->doItemsLayout();
}

// As wide as what is in them, within reason; the last column takes the rest. Where they do not fit, the one at the edge ends in "…"
// there rather than in the middle of a word.
void TableView::fit_columns() {
  fitted_ = true;
  fitting_ = true;
  const int room = view_->viewport()->width(), last = sorted_->columnCount() - 1;
  const QAbstractItemView* contents = view_;
  int used = 0, all = 0;
  for (int c = 0; c <= last; ++c) {
    view_->resizeColumnToContents(c);
    all += qMin(view_->columnWidth(c), widest);
  }
  for (int c = 0; c <= last; ++c) {
    const int header = view_->header()->fontMetrics().horizontalAdvance(sorted_->headerData(c, Qt::Horizontal).toString()) + 38;  // its padding and the sign of the order
    int width = qMin(all > room ? qMax(header, contents->sizeHintForColumn(c) + 8) : view_->columnWidth(c), widest);
    const int rest = room - used;
    if (c > 0 && width > rest && rest > 0) {
      if (!model_->is_number(c) && rest >= qMax(60, header)) {
        width = rest;
      } else if (!model_->is_number(c - 1)) {  // begins behind the edge
        view_->setColumnWidth(c - 1, view_->columnWidth(c - 1) + rest);
        used += rest;
      }
    }
    view_->setColumnWidth(c, width);
    used += width;
  }
  fitting_ = false;
}

void TableView::set_theme(Theme theme) { model_->set_theme(theme); }

void TableView::collect_text(const QModelIndex& parent, bool all, QStringList& lines) const {
  for_each_row(*sorted_, parent, [&](const QModelIndex& i) {
    if (!all && !view_->selectionModel()->isRowSelected(i.row(), i.parent())) return;
    QStringList cells;
    for (int c = 0; c < sorted_->columnCount(); ++c) cells << i.siblingAtColumn(c).data().toString();
    lines << cells.join('\t');
  });
}

QString TableView::copied_text() const {
  QStringList headers, lines;
  for (int c = 0; c < sorted_->columnCount(); ++c) headers << sorted_->headerData(c, Qt::Horizontal).toString();
  collect_text({}, !view_->selectionModel()->hasSelection(), lines);
  return headers.join('\t') + '\n' + lines.join('\n') + '\n';
}

bool TableView::eventFilter(QObject* watched, QEvent* event) {
  if (watched == view_ && event->type() == QEvent::Resize && fitted_ && !sized_by_hand_) QTimer::singleShot(0, this, [this] { fit_columns(); });
  if (watched == view_ && (event->type() == QEvent::KeyPress || event->type() == QEvent::ShortcutOverride)) {
    auto* key = static_cast<QKeyEvent*>(event);
    if (key->matches(QKeySequence::Copy)) {
      if (event->type() == QEvent::KeyPress) QApplication::clipboard()->setText(copied_text());
      event->accept();
      return true;
    }
  }
  return QWidget::eventFilter(watched, event);
}

}  // namespace planscope
