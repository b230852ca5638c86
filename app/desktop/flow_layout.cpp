#include "app/desktop/flow_layout.h"

#include <QWidget>

namespace planscope {

FlowLayout::FlowLayout(QWidget* parent, int spacing) : QLayout(parent), spacing_(spacing) {}

FlowLayout::~FlowLayout() { qDeleteAll(items_); }

QSize FlowLayout::minimumSize() const {
  int height = 0;
  for (const QLayoutItem* item : items_)
    if (!item->isEmpty()) height = qMax(height, item->sizeHint().height());
  const QMargins m = contentsMargins();
  return {60, height == 0 ? 0 : height + m.top() + m.bottom()};
}

void FlowLayout::setGeometry(const QRect& rect) {
  QLayout::setGeometry(rect);
  lay_out(rect, true);
}

int FlowLayout::lay_out(const QRect& rect, bool move) const {
  const QMargins m = contentsMargins();
  const QRect area = rect.adjusted(m.left(), m.top(), -m.right(), -m.bottom());
  int x = area.x(), y = area.y(), line = 0;
  for (QLayoutItem* item : items_) {
    if (item->isEmpty()) continue;
    const QSize wanted = item->sizeHint();
    const int width = qMin(wanted.width(), qMax(1, area.width()));
    if (x > area.x() && x + width > area.x() + area.width()) {
      x = area.x();
      y += line + spacing_;
      line = 0;
    }
    if (move) item->setGeometry(QRect(x, y, width, wanted.height()));
    x += width + spacing_;
    line = qMax(line, wanted.height());
  }
  return line == 0 ? 0 : y + line - rect.y() + m.bottom();
}

}  // namespace planscope
