#include "app/desktop/command_palette.h"

#include <QAction>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QVBoxLayout>
#include <algorithm>

namespace planscope {

int match_of(const QString& typed, const QString& title) {
  const QString t = typed.simplified();
  if (t.isEmpty()) return 1;
  if (title.compare(t, Qt::CaseInsensitive) == 0) return 5;
  if (title.startsWith(t, Qt::CaseInsensitive)) return 4;
  if (title.contains(' ' + t, Qt::CaseInsensitive)) return 3;
  if (title.contains(t, Qt::CaseInsensitive)) return 2;
  int at = 0;
  for (const QChar c : t) {
    if (c.isSpace()) continue;
    at = static_cast<int>(title.indexOf(c, at, Qt::CaseInsensitive));
    if (at < 0) return 0;
    ++at;
  }
  return 1;
}

std::vector<PaletteItem> palette_items(const std::vector<QAction*>& actions) {
  std::vector<PaletteItem> out;
  for (QAction* a : actions)
    out.push_back({a->objectName(), a->text(), a->shortcut().toString(QKeySequence::NativeText),
                   a->isEnabled() ? QString() : a->statusTip(), a->toolTip(), [a] { a->trigger(); }});
  return out;
}

CommandPalette::CommandPalette(QWidget* window, const QString& name, const QString& hint,
                               std::vector<PaletteItem> items, QStringList& recent)
    : Overlay(window, name, {620, 420}),
      items_(std::move(items)),
      recent_(recent),
      input_(new QLineEdit),
      list_(new QListWidget) {
  input_->setPlaceholderText(hint);
  input_->setAccessibleName(hint);
  list_->setAccessibleName(hint);
  list_->setTextElideMode(Qt::ElideRight);
  list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  content()->addWidget(input_);
  content()->addWidget(list_);
  connect(input_, &QLineEdit::textChanged, this, [this] { refill(); });
  connect(list_, &QListWidget::itemActivated, this, [this] { run_current(); });
  input_->installEventFilter(this);
  refill();
  open(input_);
}

void CommandPalette::refill() {
  constexpr std::size_t most = 300;
  struct Hit {
    int item, match;
    qsizetype recent;
  };
  std::vector<Hit> hits;
  for (int i = 0; i < static_cast<int>(items_.size()); ++i) {
    const PaletteItem& item = items_[static_cast<std::size_t>(i)];
    const qsizetype used = recent_.indexOf(item.id);
    if (const int m = match_of(input_->text(), item.title)) hits.push_back({i, m, used < 0 ? 1000 : used});
  }
  const auto possible = [&](const Hit& h) { return items_[static_cast<std::size_t>(h.item)].reason.isEmpty(); };
  std::stable_sort(hits.begin(), hits.end(), [&](const Hit& a, const Hit& b) {
    if (a.match != b.match) return a.match > b.match;
    if (possible(a) != possible(b)) return possible(a);
    return a.recent < b.recent;
  });
  if (hits.size() > most) hits.resize(most);
  list_->clear();
  for (const Hit& h : hits) {
    const PaletteItem& i = items_[static_cast<std::size_t>(h.item)];
    auto* item = new QListWidgetItem(
        i.title + (i.beside.isEmpty() ? "" : "    " + i.beside) + (i.reason.isEmpty() ? "" : "    – " + i.reason),
        list_);
    item->setData(Qt::UserRole, h.item);
    item->setToolTip(i.tip.isEmpty() ? item->text() : i.tip);
    if (!i.reason.isEmpty()) item->setForeground(palette().color(QPalette::PlaceholderText));
  }
  list_->setCurrentRow(0);
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
  if (watched != input_ || event->type() != QEvent::KeyPress) return Overlay::eventFilter(watched, event);
  const int key = static_cast<QKeyEvent*>(event)->key();
  const int step = key == Qt::Key_Down       ? 1
                   : key == Qt::Key_Up       ? -1
                   : key == Qt::Key_PageDown ? 10
                   : key == Qt::Key_PageUp   ? -10
                                             : 0;
  if (step != 0)
    list_->setCurrentRow(qBound(0, list_->currentRow() + step, list_->count() - 1));
  else if (key == Qt::Key_Return || key == Qt::Key_Enter)
    run_current();
  else
    return Overlay::eventFilter(watched, event);
  return true;
}

void CommandPalette::run_current() {
  const QListWidgetItem* current = list_->currentItem();
  if (!current) return;
  const PaletteItem item = items_[static_cast<std::size_t>(current->data(Qt::UserRole).toInt())];
  if (!item.reason.isEmpty()) return;
  recent_.removeAll(item.id);
  recent_.prepend(item.id);
  while (recent_.size() > 20) recent_.removeLast();
  leave();
  item.run();
}

}  // namespace planscope
