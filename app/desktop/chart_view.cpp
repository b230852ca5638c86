#include "app/desktop/chart_view.h"

#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <limits>

namespace planscope {

namespace {

constexpr const char* line_colours[] = {"#4ea1f3", "#58b368", "#d9a441", "#a87bd1", "#e0645c", "#5ab4ac"};

QString shown(double value, session::Unit unit) { return QString::fromStdString(session::cell(value, unit).text); }

}  // namespace

void ChartView::set_panel(std::shared_ptr<const session::Panel> panel) {
  panel_ = std::move(panel);
  QStringList said;
  for (const session::Series& s : panel_->series)
    if (!s.points.empty()) said << QString::fromStdString(session::said(s));
  setAccessibleDescription(said.join(", "));
  setToolTip(said.join('\n'));
  update();
}

void ChartView::set_theme(Theme theme) {
  theme_ = theme;
  update();
}

void ChartView::paintEvent(QPaintEvent*) {
  QPainter p(this);
  const Colours& c = colours(theme_);
  p.fillRect(rect(), QColor(c.panel));
  if (!panel_) return;
  double left = std::numeric_limits<double>::max(), right = -left, low = 0, high = 0;
  bool any = false;
  for (const session::Series& s : panel_->series)
    for (const auto& [x, y] : s.points) {
      left = std::min(left, x), right = std::max(right, x), high = any ? std::max(high, y) : y,
      low = any ? std::min(low, y) : y;
      any = true;
    }
  if (!any) return;
  if (right <= left) right = left + 1;
  if (low > 0 && low > high / 2) low = high - 2 * (high - low);
  if (high <= low) high = low + 1;
  const session::Unit unit = panel_->series.front().unit, along = panel_->series.front().along;
  const auto along_it = [&](double x) {
    return along == session::Unit::none ? QString::number(x) : shown(x, along);
  };
  const QFontMetrics metrics(font());
  const int margin =
      qMax(metrics.horizontalAdvance(shown(high, unit)), metrics.horizontalAdvance(shown(low, unit))) + 10;
  const QRectF area = QRectF(rect()).adjusted(margin, metrics.height() + 8, -12, -metrics.height() - 4);
  p.setPen(QColor(c.line));
  p.drawRect(area);
  p.setPen(QColor(c.dim));
  p.drawText(QRectF(0, area.top() - 8, margin - 6, 16), int(Qt::AlignRight | Qt::AlignVCenter), shown(high, unit));
  p.drawText(QRectF(0, area.bottom() - 8, margin - 6, 16), int(Qt::AlignRight | Qt::AlignVCenter), shown(low, unit));
  p.drawText(QRectF(area.left(), area.bottom() + 2, area.width(), metrics.height()), int(Qt::AlignLeft),
             along_it(left));
  p.drawText(QRectF(area.left(), area.bottom() + 2, area.width(), metrics.height()), int(Qt::AlignRight),
             along_it(right));
  p.setRenderHint(QPainter::Antialiasing);
  const auto at = [&](const std::pair<double, double>& point) {
    return QPointF(area.left() + (point.first - left) / (right - left) * area.width(),
                   area.bottom() - (point.second - low) / (high - low) * area.height());
  };
  double legend = area.left();
  for (std::size_t i = 0; i < panel_->series.size(); ++i) {
    const session::Series& s = panel_->series[i];
    QPen pen(QColor(line_colours[i % std::size(line_colours)]), 1.5, static_cast<Qt::PenStyle>(1 + i % 4));
    p.setPen(pen);
    QPainterPath path;
    for (std::size_t k = 0; k < s.points.size(); ++k)
      k == 0 ? path.moveTo(at(s.points[k])) : path.lineTo(at(s.points[k]));
    p.drawPath(path);
    p.drawLine(QPointF(legend, metrics.height() / 2.0 + 2), QPointF(legend + 18, metrics.height() / 2.0 + 2));
    p.setPen(QColor(c.text));
    const QString name = QString::fromStdString(s.name);
    p.drawText(QPointF(legend + 23, metrics.ascent() + 2), name);
    legend += 40 + metrics.horizontalAdvance(name);
  }
}

}  // namespace planscope
