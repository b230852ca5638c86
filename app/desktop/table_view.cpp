#include "app/desktop/table_view.h"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QCursor>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLineEdit>
#include <QScrollBar>
#include <QSortFilterProxyModel>
#include <QStyledItemDelegate>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>
#include <vector>

#include "app/desktop/completing_line.h"
#include "app/session/commands.h"

namespace planscope {

namespace {

constexpr int widest_at_100 = 380, most_wrapped_rows = 300, most_lines = 6;

// Texts wrap in tables of a few hundred rows; larger ones keep one line a row and "…".
class CellDelegate : public QStyledItemDelegate {
 public:
  CellDelegate(TableView* table, QTreeView* view, const PanelModel* model)
      : QStyledItemDelegate(view), table_(table), view_(view), model_(model) {}

  QWidget* createEditor(QWidget* parent, const QStyleOptionViewItem&, const QModelIndex& index) const override {
    auto* line = new CompletingLine(parent);
    line->setObjectName("cell.editor");
    table_->set_editing(true);
    connect(line, &QObject::destroyed, table_, [table = table_] { table->set_editing(false); });
    line->setAccessibleName(model_->headerData(index.column(), Qt::Horizontal, Qt::DisplayRole).toString());
    const std::string edit = index.data(PanelModel::edit_role).toString().toStdString();
    if (table_->complete)
      line->complete = [table = table_, edit](const std::string& text, std::size_t cursor) {
        return table->complete(edit, text, cursor);
      };
    if (table_->note) line->note = [table = table_, edit](const std::string& text) { return table->note(edit, text); };
    return line;
  }

  // As wide as what is written needs, over the cells behind it.
  void updateEditorGeometry(QWidget* editor, const QStyleOptionViewItem& option, const QModelIndex&) const override {
    QRect place = option.rect;
    const int wanted = qMin(px(320), view_->viewport()->width() - place.left());
    place.setWidth(qMax(place.width(), wanted));
    editor->setGeometry(place);
  }

  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    QSize size = QStyledItemDelegate::sizeHint(option, index);
    if (!view_->wordWrap() || model_->is_number(index.column())) return size;
    // What lies beyond the edge makes no row higher.
    if (view_->header()->sectionPosition(index.column()) >= view_->viewport()->width()) {
      size.setHeight(qMin(size.height(), option.fontMetrics.lineSpacing() + 6));
      return size;
    }
    const int width = view_->columnWidth(index.column()) - 12;
    if (size.width() <= width && size.height() < 2 * option.fontMetrics.lineSpacing()) return size;  // one line does
    const QRect needed =
        option.fontMetrics.boundingRect(0, 0, qMax(40, width), 10000, Qt::TextWordWrap, index.data().toString());
    size.setHeight(qMax(size.height(), qMin(needed.height(), most_lines * option.fontMetrics.lineSpacing()) + 6));
    return size;
  }

 private:
  TableView* table_;
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
    : QWidget(parent),
      model_(new PanelModel(this)),
      sorted_(new QSortFilterProxyModel(this)),
      view_(new QTreeView),
      filter_(new QLineEdit) {
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
  view_->setItemDelegate(new CellDelegate(this, view_, model_));
  view_->setSelectionBehavior(QAbstractItemView::SelectRows);
  view_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  view_->setAllColumnsShowFocus(true);
  view_->setEditTriggers(QAbstractItemView::DoubleClicked | QAbstractItemView::EditKeyPressed);
  view_->setDragEnabled(true);
  view_->setAcceptDrops(true);
  view_->setDropIndicatorShown(true);
  view_->setDefaultDropAction(Qt::CopyAction);
  const auto at_mouse = [this](const std::string& line) {
    if (on_command_at) on_command_at(line, QCursor::pos());
  };
  model_->on_edit = at_mouse;
  model_->on_drop = [at_mouse](const std::string& what, const std::string& onto, const std::string& side) {
    session::Invocation drag{"drag", {{"what", what}, {"onto", onto}}};
    if (!side.empty()) drag.arguments["side"] = side;
    at_mouse(session::print(drag));
  };
  view_->setIndentation(14);
  view_->setSortingEnabled(true);
  view_->header()->setSortIndicator(-1, Qt::AscendingOrder);
  view_->header()->setSortIndicatorClearable(true);
  view_->header()->setTextElideMode(Qt::ElideRight);
  view_->header()->setMinimumSectionSize(px(36));
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
    if (!fitting_ && view_->wordWrap()) view_->doItemsLayout();
  });
  connect(view_, &QTreeView::customContextMenuRequested, this, [this](const QPoint& at) { show_menu(at); });
  copy_ = new QAction(tr("Copy with headers"), this);
  copy_->setShortcut(QKeySequence::Copy);
  copy_->setShortcutContext(Qt::WidgetShortcut);
  connect(copy_, &QAction::triggered, this, [this] { QApplication::clipboard()->setText(copied_text()); });
  paste_ = new QAction(tr("Paste rows"), this);
  connect(paste_, &QAction::triggered, this, [this] { paste(); });
  all_ = new QAction(tr("Select all"), this);
  connect(all_, &QAction::triggered, view_, &QTreeView::selectAll);
}

// By the mouse of the row under it, by the key of the current one.
void TableView::show_menu(const QPoint& at) {
  QModelIndex index = view_->indexAt(at);
  QPoint where = view_->viewport()->mapToGlobal(at);
  if (!view_->viewport()->underMouse() && view_->currentIndex().isValid()) {
    index = view_->currentIndex();
    where = view_->viewport()->mapToGlobal(view_->visualRect(index).bottomLeft());
  }
  const session::TableRow* row = model_->row_at(sorted_->mapToSource(index));
  const session::Panel* panel = model_->panel();
  paste_->setVisible(panel && !panel->paste.empty());
  paste_->setEnabled(!QApplication::clipboard()->text().isEmpty());
  if (on_menu) on_menu(row ? row->command : std::string(), where, {copy_, paste_, all_});
}

// In front of the current row, at the end where there is none.
void TableView::paste() {
  const session::Panel* panel = model_->panel();
  if (!panel || panel->paste.empty() || !on_command_at) return;
  const QString text = QApplication::clipboard()->text();
  const QPoint where = view_->viewport()->mapToGlobal(view_->visualRect(view_->currentIndex()).bottomLeft());
  if (!text.isEmpty()) on_command_at(panel->paste + " " + session::quoted(text.toStdString()), where);
}

void TableView::set_filter_visible(bool visible) { filter_->setVisible(visible); }

TableView::Kept TableView::remember() const {
  Kept k;
  k.scroll = view_->verticalScrollBar()->value();
  k.current = view_->currentIndex().data(PanelModel::id_role).toString();
  k.any = sorted_->rowCount() > 0;
  for_each_row(*sorted_, {}, [&](const QModelIndex& i) {
    if (view_->isExpanded(i) && sorted_->hasChildren(i)) k.open.insert(i.data(PanelModel::id_role).toString());
    if (view_->selectionModel()->isRowSelected(i.row(), i.parent()))
      k.selected.insert(i.data(PanelModel::id_role).toString());
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
    if (!kept.current.isEmpty() && id == kept.current)
      view_->selectionModel()->setCurrentIndex(i, QItemSelectionModel::NoUpdate);
  });
  view_->selectionModel()->select(selection, QItemSelectionModel::Select | QItemSelectionModel::Rows);
  if (!found && model_->panel() && model_->panel()->kind == session::PanelKind::tree) view_->expandToDepth(1);
  view_->verticalScrollBar()->setValue(kept.scroll);
}

// Goes once to the first row that the session selects, or to the current one if that is selected too, and opens what it is in;
// where a person scrolls afterwards stays.
void TableView::show_selected() {
  const std::string current = view_->currentIndex().data(PanelModel::id_role).toString().toStdString();
  std::string selected, first;
  for (const session::TableRow& row : model_->panel() ? model_->panel()->rows : std::vector<session::TableRow>()) {
    if (!row.selected) continue;
    if (first.empty() || row.id == current) first = row.id;
    selected += row.id + "\n";
  }
  if (std::exchange(selected_, selected) == selected || first.empty()) return;
  view_->scrollTo(sorted_->mapFromSource(model_->find(QString::fromStdString(first))));
}

// An editor that is open tells this table when it goes.
TableView::~TableView() {
  pending_.reset();
  delete view_;
}

void TableView::set_editing(bool editing) {
  editing_ = editing;
  if (!editing && pending_) set_panel(std::exchange(pending_, nullptr));
}

void TableView::set_panel(std::shared_ptr<const session::Panel> panel) {
  if (editing_) {
    pending_ = std::move(panel);
    return;
  }
  if (panel.get() == model_->panel()) return;
  const Kept kept = remember();
  bool reset = false;
  const auto watch = connect(model_, &QAbstractItemModel::modelReset, this, [&] { reset = true; });
  model_->set_panel(std::move(panel));
  disconnect(watch);
  const session::Panel* p = model_->panel();
  const bool wrap = p && p->rows.size() <= most_wrapped_rows;
  view_->setRootIsDecorated(p && p->kind == session::PanelKind::tree);
  view_->setWordWrap(wrap);
  view_->setUniformRowHeights(!wrap);
  if (reset) restore(kept);
  show_selected();
  if (p && !p->rows.empty() && (!fitted_ || !kept.any))
    fit_wanted_ = true;
  else if (wrap)
    layout_wanted_ = true;
  if (isVisible()) lay_out();
}

void TableView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  lay_out();
}

void TableView::lay_out() {
  const bool fit = std::exchange(fit_wanted_, false), rows = std::exchange(layout_wanted_, false);
  if (fit)
    fit_columns();
  else if (rows)
    view_->doItemsLayout();
}

void TableView::fit_soon() {
  if (std::exchange(fit_due_, true)) return;
  QTimer::singleShot(0, this, [this] {
    fit_due_ = false;
    fit_wanted_ = true;
    if (isVisible()) lay_out();
  });
}

// As wide as what is in them, within reason; the last column takes the rest. Where they do not fit, the one at the
// edge ends in "…"
// there rather than in the middle of a word.
void TableView::fit_columns() {
  fitted_ = true;
  fitting_ = true;
  fitted_width_ = view_->width();
  const bool wrap = view_->wordWrap();
  view_->setUniformRowHeights(true);  // else each width lays all rows out anew
  const int room = view_->viewport()->width(), last = sorted_->columnCount() - 1;
  const QAbstractItemView* contents = view_;
  std::vector<int> needed, with_header;
  int used = 0, all = 0;
  for (int c = 0; c <= last; ++c) {
    needed.push_back(contents->sizeHintForColumn(c));
    with_header.push_back(qMax(needed.back(), view_->header()->sectionSizeHint(c)));
    all += qMin(with_header.back(), px(widest_at_100));
  }
  for (int c = 0; c <= last; ++c) {
    const std::size_t k = static_cast<std::size_t>(c);
    const int header =
        view_->header()->fontMetrics().horizontalAdvance(sorted_->headerData(c, Qt::Horizontal).toString()) +
        px(38);  // its padding and the sign of the order
    int width = qMin(all > room ? qMax(header, needed[k] + 8) : with_header[k], px(widest_at_100));
    const int rest = room - used;
    if (c > 0 && width > rest && rest > 0) {
      if (!model_->is_number(c) && rest >= std::max({px(60), header, width / 2})) {
        width = rest;
      } else if (!model_->is_number(c - 1)) {  // begins behind the edge
        view_->setColumnWidth(c - 1, view_->columnWidth(c - 1) + rest);
        used += rest;
      }
    }
    view_->setColumnWidth(c, width);
    used += width;
  }
  view_->setUniformRowHeights(!wrap);
  if (wrap) view_->doItemsLayout();
  fitting_ = false;
}

void TableView::set_theme(Theme theme) {
  model_->set_theme(theme);
  if (fitted_ && !sized_by_hand_) fit_soon();  // texts may be larger
}

void TableView::collect_text(const QModelIndex& parent, bool all, QStringList& lines) const {
  for_each_row(*sorted_, parent, [&](const QModelIndex& i) {
    if (!all && !view_->selectionModel()->isRowSelected(i.row(), i.parent())) return;
    QStringList cells;
    for (int c = 0; c < sorted_->columnCount(); ++c)
      cells << i.siblingAtColumn(c).data(PanelModel::text_role).toString();
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
  if (watched == view_ && event->type() == QEvent::Resize && fitted_ && !sized_by_hand_ && view_->width() != fitted_width_)
    fit_soon();
  if (watched == view_ && (event->type() == QEvent::KeyPress || event->type() == QEvent::ShortcutOverride)) {
    auto* key = static_cast<QKeyEvent*>(event);
    if (key->matches(QKeySequence::Paste) && model_->panel() && !model_->panel()->paste.empty()) {
      if (event->type() == QEvent::KeyPress) paste();
      event->accept();
      return true;
    }
    if (key->matches(QKeySequence::Copy)) {
      if (event->type() == QEvent::KeyPress) QApplication::clipboard()->setText(copied_text());
      event->accept();
      return true;
    }
  }
  return QWidget::eventFilter(watched, event);
}

}  // namespace planscope
