#include "app/desktop/timeline_widget.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QTimer>
#include <QToolTip>
#include <QWheelEvent>
#include <utility>

#include "viz/timeline/imgui_timeline.h"
#include "viz/timeline/model.h"

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
  setAccessibleDescription(tr("Blocks of work of each device class over time. The Timeline table holds the same lanes."));
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAttribute(Qt::WA_OpaquePaintEvent);
  setMinimumSize(200, 100);
}

void TimelineWidget::show_picture(int document, std::shared_ptr<const TimelinePicture> picture, const QString& stale,
                                  const QString& empty) {
  if (document == document_ && picture == picture_ && stale == stale_ && empty == empty_) return;
  stale_ = stale;
  empty_ = empty;
  std::shared_ptr<const TimelinePicture> before = picture_;
  if (document != document_) {
    if (document_ != 0 && picture_) kept_[document_] = {view_, picture_};
    const auto known = kept_.find(document);
    before = known == kept_.end() ? nullptr : known->second.picture;
    const bool memory = view_.show_memory;
    view_ = known == kept_.end() ? viz::TimelineView{} : known->second.view;
    view_.show_memory = memory;
    document_ = document;
  }
  if (picture && picture != before) {
    problem_ = viz::first_problem(picture->timeline.model);
    view_ = before ? viz::carry_over(view_, before->timeline.model, picture->timeline.model)
                   : viz::fit(view_, picture->timeline.model);
  }
  if (!picture) {  // until there is one again, the view is kept for it
    if (before) kept_[document_] = {view_, before};
    view_.hover.reset();
    view_.selection.reset();
  }
  picture_ = std::move(picture);
  update();
}

void TimelineWidget::set_theme(Theme theme) {
  theme_ = theme == Theme::dark ? viz::dark_theme() : viz::light_theme();
  update();
}

void TimelineWidget::set_selection(std::optional<viz::BlockRef> ref) {
  if (!picture_ || ref == view_.selection) return;
  if (ref)
    view_ = viz::select(view_, *model(), *ref, area());
  else
    view_.selection.reset();
  update();
}

void TimelineWidget::set_show_memory(bool show) {
  view_.show_memory = show;
  update();
}

void TimelineWidget::apply_key(viz::TimelineKey key) {
  if (!picture_) return;
  viz::TimelineInput input;
  input.mouse = view_.mouse;
  input.keys = {key};
  const auto before = view_.selection;
  view_ = viz::apply(view_, input, *model(), area());
  if (view_.selection != before && on_select) on_select(view_.selection);
  update();
}

bool TimelineWidget::event(QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride && imgui_key(static_cast<QKeyEvent*>(event)->key()) != ImGuiKey_None &&
      static_cast<QKeyEvent*>(event)->modifiers() == Qt::NoModifier) {
    event->accept();  // letters belong to the canvas while it has the focus
    return true;
  }
  if (event->type() == QEvent::FocusIn || event->type() == QEvent::FocusOut) update();
  if (!forward(event)) return QWidget::event(event);
  event->accept();
  update();
  return true;
}

bool TimelineWidget::forward(QEvent* event) {
  switch (event->type()) {
    case QEvent::MouseMove:
      mouse_moved_ = true;
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
  const bool drawn = picture_ && problem_.empty();
  const viz::Image& image = host_.frame(theme_.background, [&](const viz::FontSet& fonts) {
    if (drawn) viz::timeline_canvas(picture_->timeline.model, picture_->index, view_, theme_, fonts);
  });
  QImage picture(image.rgba.data(), image.width, image.height, image.width * 4, QImage::Format_RGBX8888);
  picture.setDevicePixelRatio(devicePixelRatioF());
  QPainter painter(this);
  painter.drawImage(0, 0, picture);
  if (!drawn) {
    painter.setPen(QColor(theme_.dim.r, theme_.dim.g, theme_.dim.b));
    const QString reason = picture_ ? tr("The timeline cannot be drawn: %1").arg(QString::fromStdString(problem_)) : empty_;
    painter.drawText(rect().adjusted(24, 24, -24, -24), int(Qt::AlignCenter) | int(Qt::TextWordWrap),
                     !picture_ && !stale_.isEmpty() ? reason + "\n\n" + stale_ : reason);
  } else if (!stale_.isEmpty()) {
    paint_stale(painter);
  }
  if (hasFocus()) {
    painter.setPen(QPen(QColor(theme_.accent.r, theme_.accent.g, theme_.accent.b), 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
  }
  if (view_.selection != selected) {
    QTimer::singleShot(0, this, [this] {
      if (on_select) on_select(view_.selection);
    });
  }
  if (view_.hover != hovered && std::exchange(mouse_moved_, false))
    QTimer::singleShot(0, this, [this] { show_tooltip(QCursor::pos()); });
  if (host_.wants_frame()) QTimer::singleShot(0, this, [this] { update(); });
}

// The last good picture, less bright, and why it is not the newest.
void TimelineWidget::paint_stale(QPainter& painter) const {
  QColor veil(theme_.background.r, theme_.background.g, theme_.background.b);
  veil.setAlpha(150);
  painter.fillRect(rect(), veil);
  const QString text = painter.fontMetrics().elidedText(tr("of an older text: %1").arg(stale_), Qt::ElideRight, width() - 40);
  QRect plate = painter.fontMetrics().boundingRect(text).adjusted(-10, -5, 10, 5);
  plate.moveCenter({width() / 2, 0});
  plate.moveTop(30);
  painter.setPen(QColor(theme_.grid.r, theme_.grid.g, theme_.grid.b));
  painter.setBrush(QColor(theme_.panel.r, theme_.panel.g, theme_.panel.b));
  painter.setRenderHint(QPainter::Antialiasing);
  painter.drawRoundedRect(plate, 4, 4);
  painter.setPen(QColor(theme_.text.r, theme_.text.g, theme_.text.b));
  painter.drawText(plate, Qt::AlignCenter, text);
}

void TimelineWidget::show_tooltip(QPoint at) {
  if (!picture_ || !view_.hover) return QToolTip::hideText();
  QStringList lines;
  for (const std::string& line : viz::tooltip(*model(), *view_.hover)) lines << QString::fromStdString(line);
  const viz::Block& block = model()->at(*view_.hover);
  if (block.instruction >= 0) {
    const InstructionDetail& d = picture_->timeline.instructions[static_cast<std::size_t>(block.instruction)];
    lines.insert(0, QString::fromStdString(d.title));
    for (const auto& [name, value] : d.facts) lines << QString::fromStdString(name + ": " + value);
  }
  QToolTip::showText(at, lines.join('\n'), this);
}

}  // namespace planscope
