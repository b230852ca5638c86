#include "app/desktop/timeline_widget.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QTimer>
#include <QToolTip>
#include <QWheelEvent>
#include <utility>

#include "viz/timeline/imgui_timeline.h"

namespace planscope {
namespace {

viz::Point point(const QPointF& p) { return {p.x(), p.y()}; }

ImGuiKey imgui_key(int key) {
  switch (key) {
    case Qt::Key_W:
      return ImGuiKey_W;
    case Qt::Key_A:
      return ImGuiKey_A;
    case Qt::Key_S:
      return ImGuiKey_S;
    case Qt::Key_D:
      return ImGuiKey_D;
    case Qt::Key_F:
      return ImGuiKey_F;
    case Qt::Key_Home:
      return ImGuiKey_Home;
    case Qt::Key_Period:
      return ImGuiKey_Period;
    case Qt::Key_Comma:
      return ImGuiKey_Comma;
    case Qt::Key_Up:
      return ImGuiKey_UpArrow;
    case Qt::Key_Down:
      return ImGuiKey_DownArrow;
    case Qt::Key_Left:
      return ImGuiKey_LeftArrow;
    case Qt::Key_Right:
      return ImGuiKey_RightArrow;
    case Qt::Key_Escape:
      return ImGuiKey_Escape;
    default:
      return ImGuiKey_None;
  }
}

}  // namespace

TimelineWidget::TimelineWidget(viz::FontFiles fonts, QWidget* parent) : QWidget(parent), host_(std::move(fonts)) {
  setObjectName("timeline");
  setAccessibleName(tr("Timeline"));
  setAccessibleDescription(tr("Blocks of work of each device class over time. The Blocks table holds the same rows."));
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAttribute(Qt::WA_OpaquePaintEvent);
  setMinimumSize(240, 120);
}

void TimelineWidget::set_timeline(std::shared_ptr<const viz::TimelineModel> timeline) {
  if (timeline == timeline_) return;
  const auto before = std::exchange(timeline_, std::move(timeline));
  const bool same_length = before && timeline_ && before->duration == timeline_->duration;
  const std::optional<viz::BlockRef> selected = view_.selection;
  view_.hover.reset();
  view_.selection.reset();
  index_ = timeline_ ? viz::build_index(*timeline_) : viz::TimelineIndex{};
  if (timeline_ && !same_length) view_ = viz::fit(view_, *timeline_);
  if (timeline_ && before && selected) view_.selection = viz::find_again(*before, *selected, *timeline_);
  update();
}

void TimelineWidget::set_theme(Theme theme) {
  theme_ = theme == Theme::dark ? viz::dark_theme() : viz::light_theme();
  update();
}

void TimelineWidget::set_selection(std::optional<viz::BlockRef> ref) {
  if (!timeline_ || ref == view_.selection) return;
  if (ref)
    view_ = viz::select(view_, *timeline_, *ref, area());
  else
    view_.selection.reset();
  update();
}

void TimelineWidget::set_show_memory(bool show) {
  view_.show_memory = show;
  update();
}

void TimelineWidget::apply_key(viz::TimelineKey key) {
  if (!timeline_) return;
  viz::TimelineInput input;
  input.mouse = view_.mouse;
  input.keys = {key};
  const auto before = view_.selection;
  view_ = viz::apply(view_, input, *timeline_, area());
  if (view_.selection != before && on_select) on_select(view_.selection);
  update();
}

bool TimelineWidget::event(QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride && imgui_key(static_cast<QKeyEvent*>(event)->key()) != ImGuiKey_None &&
      static_cast<QKeyEvent*>(event)->modifiers() == Qt::NoModifier) {
    event->accept();  // letters belong to the canvas while it has the focus
    return true;
  }
  if (!forward(event)) return QWidget::event(event);
  event->accept();
  update();
  return true;
}

bool TimelineWidget::forward(QEvent* event) {
  switch (event->type()) {
    case QEvent::MouseMove:
      host_.mouse_move(point(static_cast<QMouseEvent*>(event)->position()));
      return true;
    case QEvent::MouseButtonPress:
    case QEvent::MouseButtonDblClick:
    case QEvent::MouseButtonRelease: {
      const auto* mouse = static_cast<QMouseEvent*>(event);
      if (mouse->button() != Qt::LeftButton) return false;
      setFocus(Qt::MouseFocusReason);
      host_.mouse_move(point(mouse->position()));
      host_.mouse_button(ImGuiMouseButton_Left, event->type() != QEvent::MouseButtonRelease);
      return true;
    }
    case QEvent::Leave:
      host_.mouse_leave();
      return true;
    case QEvent::Wheel: {
      const auto* wheel = static_cast<QWheelEvent*>(event);
      host_.mouse_move(point(wheel->position()));
      host_.key(ImGuiMod_Shift, wheel->modifiers().testFlag(Qt::ShiftModifier));
      host_.key(ImGuiMod_Ctrl, wheel->modifiers().testFlag(Qt::ControlModifier));
      const QPoint angle = wheel->angleDelta();
      host_.wheel((angle.y() != 0 ? angle.y() : angle.x()) / 120.0);
      return true;
    }
    case QEvent::KeyPress:
      return forward_key(*static_cast<QKeyEvent*>(event));
    default:
      return false;
  }
}

bool TimelineWidget::forward_key(QKeyEvent& event) {
  const ImGuiKey key = imgui_key(event.key());
  if (key == ImGuiKey_None || event.modifiers() != Qt::NoModifier) return false;
  host_.key(key, true);  // repeats come from the window system: each is a press of its own
  host_.key(key, false);
  return true;
}

void TimelineWidget::resizeEvent(QResizeEvent*) { update(); }

void TimelineWidget::paintEvent(QPaintEvent*) {
  host_.resize({double(width()), double(height())}, devicePixelRatioF());
  const std::optional<viz::BlockRef> selected = view_.selection, hovered = view_.hover;
  const viz::Image& image = host_.frame(theme_.background, [&](const viz::FontSet& fonts) {
    if (timeline_) viz::timeline_canvas(*timeline_, index_, view_, theme_, fonts);
  });
  QImage picture(image.rgba.data(), image.width, image.height, image.width * 4, QImage::Format_RGBX8888);
  picture.setDevicePixelRatio(devicePixelRatioF());
  QPainter painter(this);
  painter.drawImage(0, 0, picture);
  if (!timeline_) {
    painter.setPen(QColor(theme_.dim.r, theme_.dim.g, theme_.dim.b));
    painter.drawText(rect(), Qt::AlignCenter,
                     tr("No timeline yet: open a model (Ctrl+O) and write a plan without errors."));
  }
  if (view_.selection != selected) {
    QTimer::singleShot(0, this, [this] {
      if (on_select) on_select(view_.selection);
    });
  }
  if (view_.hover != hovered) QTimer::singleShot(0, this, [this] { show_tooltip(QCursor::pos()); });
  if (host_.wants_frame()) QTimer::singleShot(0, this, [this] { update(); });
}

void TimelineWidget::show_tooltip(QPoint at) {
  if (!timeline_ || !view_.hover) return QToolTip::hideText();
  QStringList lines;
  for (const std::string& line : viz::tooltip(*timeline_, *view_.hover)) lines << QString::fromStdString(line);
  QToolTip::showText(at, lines.join('\n'), this);
}

}  // namespace planscope
