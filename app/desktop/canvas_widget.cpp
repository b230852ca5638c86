#include "app/desktop/canvas_widget.h"

#include <QApplication>
#include <QContextMenuEvent>
#include <QDrag>
#include <QDropEvent>
#include <QFile>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QMimeData>
#include <QPainter>
#include <QToolTip>
#include <QWheelEvent>
#include <utility>

#include "app/desktop/panel_model.h"
#include "viz/scenes/picture.h"
#include "viz/scenes/scenes.h"

namespace planscope {
namespace {

QColor colour(viz::Colour c) { return QColor(c.r, c.g, c.b, c.a); }

std::optional<viz::Key> key_of(int key) {
  using viz::Key;
  static const std::map<int, Key> known = {
      {Qt::Key_A, Key::a}, {Qt::Key_C, Key::c}, {Qt::Key_D, Key::d}, {Qt::Key_E, Key::e}, {Qt::Key_F, Key::f}, {Qt::Key_M, Key::m},
      {Qt::Key_N, Key::n}, {Qt::Key_O, Key::o}, {Qt::Key_P, Key::p}, {Qt::Key_S, Key::s}, {Qt::Key_W, Key::w}, {Qt::Key_X, Key::x},
      {Qt::Key_Z, Key::z}, {Qt::Key_Home, Key::home}, {Qt::Key_End, Key::end},
      {Qt::Key_Period, Key::period}, {Qt::Key_Comma, Key::comma}, {Qt::Key_Slash, Key::slash}, {Qt::Key_Plus, Key::plus},
      {Qt::Key_Equal, Key::plus}, {Qt::Key_Minus, Key::minus}, {Qt::Key_Up, Key::up}, {Qt::Key_Down, Key::down},
      {Qt::Key_Left, Key::left}, {Qt::Key_Right, Key::right}, {Qt::Key_PageUp, Key::page_up}, {Qt::Key_PageDown, Key::page_down},
      {Qt::Key_Return, Key::enter}, {Qt::Key_Enter, Key::enter}, {Qt::Key_Space, Key::space}, {Qt::Key_Escape, Key::escape}};
  const auto found = known.find(key);
  return found == known.end() ? std::nullopt : std::optional(found->second);
}

bool is_plain(const QKeyEvent& e) {
  return (e.modifiers() & ~(Qt::KeypadModifier | Qt::ShiftModifier)) == Qt::NoModifier && key_of(e.key());
}

QString said_of_all() { return CanvasWidget::tr("A picture; a table in the panels holds the same rows."); }

}  // namespace

CanvasWidget::CanvasWidget(const QString& id, const QString& title, std::string scene, viz::FontFiles fonts, QWidget* parent)
    : QWidget(parent), id_(id), kind_(std::move(scene)), host_(std::move(fonts)), scene_(viz::make_scene(kind_)) {
  setObjectName("canvas." + id);
  setAccessibleName(title);
  setAccessibleDescription(said_of_all());
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAttribute(Qt::WA_OpaquePaintEvent);
  setAcceptDrops(true);
  setMinimumSize(160, 100);
}

void CanvasWidget::show_picture(int document, const CanvasPicture& picture, const QString& stale, const QString& empty) {
  if (document == document_ && picture == picture_ && stale == stale_ && empty == empty_) return;
  stale_ = stale;
  empty_ = empty;
  bool load = picture.model && picture.model != picture_.model;
  if (document != document_) {
    if (document_ != 0) views_[document_] = scene_->view();
    scene_ = viz::make_scene(kind_);  // what it remembers is of the other document
    setAccessibleDescription(said_of_all());
    if (const auto known = views_.find(document); known != views_.end()) scene_->set_view(known->second);
    document_ = document;
    load = picture.model != nullptr;
  }
  if (load) damaged_ = !scene_->load(*picture.model);
  if (load || picture.marks != picture_.marks) scene_->mark(picture.marks);
  if (!picture.view.empty() && picture.view != picture_.view) scene_->set_view(picture.view);
  picture_ = picture;
  update();
}

void CanvasWidget::set_theme(Theme theme) {
  colours_ = theme == Theme::dark ? viz::dark_theme() : viz::light_theme();
  scale_ = applied_scale();
  update();
}

void CanvasWidget::apply_key(viz::Key key) { apply({.mouse = mouse_, .keys = {key}}); }

void CanvasWidget::apply(viz::Input input) {
  if (!picture_.model || damaged_) return;
  const std::vector<std::string> before = scene_->selected();
  const std::vector<std::string> commands = scene_->apply(input, area());
  update();
  if (const std::vector<std::string> now = scene_->selected(); now != before && on_about) {
    QStringList facts;
    for (const std::string& fact : now) facts << QString::fromStdString(fact);
    setAccessibleDescription(facts.empty() ? said_of_all() : facts.join(", "));
    on_about(facts);
  }
  for (const std::string& c : commands)
    if (on_command) on_command(c);
}

bool CanvasWidget::event(QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride && is_plain(*static_cast<QKeyEvent*>(event))) {
    event->accept();  // letters belong to the canvas while it has the focus
    return true;
  }
  if (event->type() == QEvent::FocusIn || event->type() == QEvent::FocusOut || event->type() == QEvent::Resize) update();
  if (event->type() == QEvent::ContextMenu) {
    show_menu(*static_cast<QContextMenuEvent*>(event));
    event->accept();
    return true;
  }
  if (!forward_drag(event) && !forward(event)) return QWidget::event(event);
  event->accept();
  return true;
}

bool CanvasWidget::forward(QEvent* event) {
  switch (event->type()) {
    case QEvent::MouseMove: {
      mouse_ = in_picture(static_cast<QMouseEvent*>(event)->position());
      apply({.mouse = mouse_});
      QStringList lines;
      if (has_picture())
        for (const std::string& line : scene_->tooltip()) lines << QString::fromStdString(line);
      if (lines.empty())
        QToolTip::hideText();
      else
        QToolTip::showText(static_cast<QMouseEvent*>(event)->globalPosition().toPoint(), lines.join('\n'), this);
      return true;
    }
    case QEvent::MouseButtonPress:
    case QEvent::MouseButtonDblClick:
    case QEvent::MouseButtonRelease: {
      const auto* mouse = static_cast<QMouseEvent*>(event);
      if (mouse->button() != Qt::LeftButton) return false;
      setFocus(Qt::MouseFocusReason);
      mouse_ = in_picture(mouse->position());
      const bool up = event->type() == QEvent::MouseButtonRelease;
      apply({.mouse = mouse_, .pressed = !up, .released = up, .double_click = event->type() == QEvent::MouseButtonDblClick,
             .shift = mouse->modifiers().testFlag(Qt::ShiftModifier), .control = mouse->modifiers().testFlag(Qt::ControlModifier)});
      return true;
    }
    case QEvent::Leave:
      mouse_.reset();
      apply({});
      return true;
    case QEvent::Wheel: {
      const auto* wheel = static_cast<QWheelEvent*>(event);
      mouse_ = in_picture(wheel->position());
      const QPoint angle = wheel->angleDelta();
      apply({.mouse = mouse_, .wheel = (angle.y() != 0 ? angle.y() : angle.x()) / 120.0,
             .shift = wheel->modifiers().testFlag(Qt::ShiftModifier), .control = wheel->modifiers().testFlag(Qt::ControlModifier)});
      return true;
    }
    case QEvent::KeyPress:
      return forward_key(*static_cast<QKeyEvent*>(event));
    default:
      return false;
  }
}

// Asked of a scene of its own, so that nothing is selected here.
std::string CanvasWidget::line_at(const viz::Point& at) const {
  if (!has_picture() || damaged_) return "";
  return viz::line_at(kind_, *picture_.model, scene_->view(), at, area());
}

void CanvasWidget::show_menu(const QContextMenuEvent& event) {
  const bool by_key = event.reason() == QContextMenuEvent::Keyboard;
  if (by_key && on_menu_of_selection) on_menu_of_selection(mapToGlobal(rect().center()));
  if (!by_key && on_menu) on_menu(line_at(in_picture(event.pos())), event.globalPos());
}

bool CanvasWidget::forward_drag(QEvent* event) {
  switch (event->type()) {
    case QEvent::MouseButtonPress: {
      const auto* mouse = static_cast<QMouseEvent*>(event);
      const bool takes = mouse->button() == Qt::LeftButton && mouse->modifiers() == Qt::ControlModifier &&
                         !(has_picture() && scene_->moves_what_is_at(in_picture(mouse->position()), area()));
      carried_from_ = takes ? std::optional(mouse->pos()) : std::nullopt;
      if (takes) setFocus(Qt::MouseFocusReason);
      return takes;
    }
    case QEvent::MouseMove: {
      if (!carried_from_) return false;
      const QPoint now = static_cast<QMouseEvent*>(event)->pos();
      if ((now - *carried_from_).manhattanLength() < QApplication::startDragDistance()) return true;
      const std::string line = line_at(in_picture(*carried_from_));
      carried_from_.reset();
      if (line.empty()) return true;
      auto* data = new QMimeData;
      data->setData(PanelModel::line_type, QByteArray::fromStdString(line));
      auto* drag = new QDrag(this);
      drag->setMimeData(data);
      drag->exec(Qt::CopyAction);
      return true;
    }
    case QEvent::MouseButtonRelease: {
      if (!carried_from_) return false;
      const QPoint at = *carried_from_;  // a click after all
      carried_from_.reset();
      apply({.mouse = in_picture(at), .pressed = true, .control = true});
      apply({.mouse = in_picture(at), .released = true, .control = true});
      return true;
    }
    case QEvent::DragEnter:
    case QEvent::DragMove: {
      auto* drag = static_cast<QDragMoveEvent*>(event);
      if (!drag->mimeData()->hasFormat(PanelModel::line_type)) return false;
      drag->acceptProposedAction();
      return true;
    }
    case QEvent::Drop: {
      auto* drop = static_cast<QDropEvent*>(event);
      if (!drop->mimeData()->hasFormat(PanelModel::line_type)) return false;
      drop->acceptProposedAction();
      const std::string what = drop->mimeData()->data(PanelModel::line_type).toStdString();
      const QPoint where = mapToGlobal(drop->position().toPoint());
      if (on_drop) on_drop(what, line_at(in_picture(drop->position())), where);
      return true;
    }
    default: return false;
  }
}

bool CanvasWidget::forward_key(const QKeyEvent& event) {
  if (!is_plain(event)) return false;
  apply({.mouse = mouse_, .shift = event.modifiers().testFlag(Qt::ShiftModifier), .keys = {*key_of(event.key())}});
  return true;
}

void CanvasWidget::paintEvent(QPaintEvent*) {
  const bool drawn = picture_.model && !damaged_;
  host_.resize({area().width, area().height}, devicePixelRatioF() * scale_);
  canvas_.clear();
  if (drawn) scene_->draw(canvas_, area(), colours());
  const viz::Image& image = host_.frame(canvas_.list(), colours().background);
  QImage picture(image.rgba.data(), image.width, image.height, image.width * 4, QImage::Format_RGBX8888);
  picture.setDevicePixelRatio(devicePixelRatioF());
  QPainter painter(this);
  painter.drawImage(0, 0, picture);
  if (!drawn) {
    painter.setPen(colour(colours().dim));
    const QString reason = damaged_ ? tr("The picture cannot be drawn: its data is damaged.") : empty_;
    painter.drawText(rect().adjusted(24, 24, -24, -24), int(Qt::AlignCenter) | int(Qt::TextWordWrap), reason);
  } else if (!stale_.isEmpty()) {
    paint_stale(painter);
  }
  if (hasFocus()) {
    painter.setPen(QPen(colour(colours().accent), 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
  }
}

// The last good picture, less bright, and why it is not the newest.
void CanvasWidget::paint_stale(QPainter& painter) const {
  QColor veil = colour(colours().background);
  veil.setAlpha(150);
  painter.fillRect(rect(), veil);
  const QString text = painter.fontMetrics().elidedText(stale_, Qt::ElideRight, width() - 40);
  QRect plate = painter.fontMetrics().boundingRect(text).adjusted(-10, -5, 10, 5);
  plate.moveCenter({width() / 2, 0});
  plate.moveTop(30);
  painter.setPen(colour(colours().grid));
  painter.setBrush(colour(colours().panel));
  painter.setRenderHint(QPainter::Antialiasing);
  painter.drawRoundedRect(plate, 4, 4);
  painter.setPen(colour(colours().text));
  painter.drawText(plate, Qt::AlignCenter, text);
}

}  // namespace planscope
