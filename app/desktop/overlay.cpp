#include "app/desktop/overlay.h"

#include <QApplication>
#include <QDockWidget>
#include <QKeyEvent>
#include <QVBoxLayout>
#include <algorithm>

#include "app/desktop/style.h"

namespace planscope {

Overlay::Overlay(QWidget* window, const QString& name, const QSize& size)
    : QFrame(window), wanted_(px(size.width()), px(size.height())), content_(new QVBoxLayout(this)) {
  setObjectName(name);
  setProperty("overlay", true);
  setAutoFillBackground(true);
  setAttribute(Qt::WA_DeleteOnClose);
  content_->setContentsMargins(10, 10, 10, 10);
  window->installEventFilter(this);
  hide();
}

void Overlay::place() {
  const QSize room = parentWidget()->size();
  const QSize size = wanted_.boundedTo(room - QSize(40, 90));
  const QPoint at((room.width() - size.width()) / 2, 60);
  setGeometry(QRect(isWindow() ? parentWidget()->mapToGlobal(at) : at, size));
}

void Overlay::open(QWidget* focus) {
  before_ = QApplication::focusWidget();
  // A floating dock is a window above this one: over it lies only another window, which has to take the keyboard from it.
  const QList<QDockWidget*> docks = parentWidget()->findChildren<QDockWidget*>();
  if (std::any_of(docks.begin(), docks.end(), [](const QDockWidget* d) { return d->isFloating() && d->isVisible(); }))
    setWindowFlags(Qt::Tool | Qt::FramelessWindowHint);
  place();
  show();
  raise();
  if (isWindow()) activateWindow();
  focus->setFocus(Qt::ShortcutFocusReason);
}

void Overlay::leave() {
  if (before_) {
    if (isWindow()) before_->activateWindow();
    before_->setFocus(Qt::OtherFocusReason);
  }
  close();
}

bool Overlay::event(QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape) {
    event->accept();
    return true;
  }
  return QFrame::event(event);
}

void Overlay::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape) return leave();
  QFrame::keyPressEvent(event);
}

bool Overlay::eventFilter(QObject* watched, QEvent* event) {
  if (watched == parentWidget() && event->type() == QEvent::Resize) place();
  return QFrame::eventFilter(watched, event);
}

}  // namespace planscope
