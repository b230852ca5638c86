#include "app/desktop/chips.h"

#include <QPainter>

#include "app/desktop/flow_layout.h"

namespace planscope {

namespace {

// At 100 %.
constexpr int side_at_100 = 9, gap_at_100 = 5, most_at_100 = 420;

int side() { return px(side_at_100); }
int gap() { return px(gap_at_100); }

QString shown_text(const std::string& s) { return QString::fromStdString(s); }

// People need no chip for what is not known, or is not so.
bool worth_showing(const session::Fact& f) {
  if (f.quiet || f.cell.value.is_null() || f.cell.value == session::Json(false)) return false;
  return f.cell.value == session::Json(true) || !f.cell.text.empty();
}

}  // namespace

QString sign_of(session::Tone tone) {
  switch (tone) {
    case session::Tone::good:
      return QStringLiteral("✓ ");
    case session::Tone::bad:
      return QStringLiteral("✗ ");
    case session::Tone::warning:
      return QStringLiteral("! ");
    default:
      return {};
  }
}

QColor colour_of(session::Tone tone, Theme theme) {
  const Colours& c = colours(theme);
  switch (tone) {
    case session::Tone::good:
      return c.ok;
    case session::Tone::bad:
      return c.bad;
    case session::Tone::warning:
      return c.warning;
    case session::Tone::dim:
      return c.dim;
    default:
      return c.text;
  }
}

Chip::Chip(QWidget* parent) : QAbstractButton(parent) { setFocusPolicy(Qt::NoFocus); }

void Chip::show_fact(const session::Fact& fact, bool current, const QString& reason) {
  fact_ = fact;
  current_ = current;
  const bool active = !fact.command.empty();
  setObjectName("chip." + shown_text(fact.id));
  setFocusPolicy(active ? Qt::TabFocus : Qt::NoFocus);
  setCursor(active ? Qt::PointingHandCursor : Qt::ArrowCursor);
  QStringList lines{whole_text()};
  if (!fact.cell.tip.empty()) lines << shown_text(fact.cell.tip);
  if (!current && !reason.isEmpty()) lines << reason;
  setToolTip(lines.join('\n'));
  setAccessibleName(lines.join(", "));
  updateGeometry();
  update();
}

void Chip::set_theme(Theme theme) {
  theme_ = theme;
  update();
}

QString Chip::whole_text() const {
  const QString title = shown_text(fact_.title);
  if (fact_.cell.value == session::Json(true)) return title;
  return title + ' ' + sign_of(fact_.cell.tone) + shown_text(fact_.cell.text).simplified();
}

QFont Chip::strong() const {
  QFont f = font();
  f.setWeight(QFont::DemiBold);
  return f;
}

int Chip::title_width() const { return QFontMetrics(font()).horizontalAdvance(shown_text(fact_.title)); }

QString Chip::shown_value() const {
  if (fact_.cell.value == session::Json(true)) return {};
  const QString value = sign_of(fact_.cell.tone) + shown_text(fact_.cell.text).simplified();
  return QFontMetrics(strong()).elidedText(value, Qt::ElideRight, width() - 2 * side() - title_width() - gap());
}

QSize Chip::sizeHint() const {
  const QFontMetrics strong_metrics(strong());
  int width = 2 * side() + title_width() + 4;  // widths of texts are rounded
  if (fact_.cell.value != session::Json(true))
    width += gap() +
             strong_metrics.horizontalAdvance(sign_of(fact_.cell.tone) + shown_text(fact_.cell.text).simplified()) + 2;
  return {qMin(width, px(most_at_100)), strong_metrics.height() + 8};
}

void Chip::paintEvent(QPaintEvent*) {
  const Colours& c = colours(theme_);
  QPainter p(this);
  p.setRenderHint(QPainter::Antialiasing);
  const bool active = !fact_.command.empty();
  p.setPen(QPen(QColor(hasFocus() ? c.accent : c.line), hasFocus() ? 2 : 1));
  p.setBrush(QColor(active && underMouse() ? c.selection : active ? c.raised : c.panel));
  p.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 10, 10);
  p.setPen(QColor(fact_.cell.value == session::Json(true) ? c.text : c.dim));
  p.drawText(QRect(side(), 0, width() - 2 * side(), height()), Qt::AlignVCenter | Qt::AlignLeft,
             QFontMetrics(font()).elidedText(shown_text(fact_.title), Qt::ElideRight, width() - 2 * side()));
  p.setFont(strong());
  p.setPen(current_ ? colour_of(fact_.cell.tone, theme_) : QColor(c.dim));
  const int left = side() + title_width() + gap();
  p.drawText(QRect(left, 0, width() - left - side() + 2, height()), Qt::AlignVCenter | Qt::AlignLeft, shown_value());
}

ChipRow::ChipRow(QWidget* parent) : QWidget(parent) {
  auto* layout = new FlowLayout(this);
  layout->setContentsMargins(8, 5, 8, 5);
  QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Minimum);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
}

void ChipRow::show_facts(const std::vector<session::Fact>& facts, bool current, const QString& reason) {
  std::size_t used = 0;
  for (const session::Fact& f : facts) {
    if (!worth_showing(f)) continue;
    if (used == chips_.size()) {
      auto* chip = new Chip(this);
      chip->set_theme(theme_);
      connect(chip, &QAbstractButton::clicked, this, [this, chip] {
        if (on_activate && !chip->fact().command.empty()) on_activate(*chip);
      });
      layout()->addWidget(chip);
      chips_.push_back(chip);
    }
    chips_[used]->show_fact(f, current, reason);
    chips_[used++]->show();
  }
  for (std::size_t i = used; i < chips_.size(); ++i) {
    chips_[i]->setObjectName({});
    chips_[i]->hide();
  }
  setVisible(used > 0);
  layout()->invalidate();
  updateGeometry();
}

void ChipRow::set_theme(Theme theme) {
  theme_ = theme;
  for (Chip* chip : chips_) chip->set_theme(theme);
}

}  // namespace planscope
