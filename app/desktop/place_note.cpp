#include "app/desktop/place_note.h"

#include <QApplication>
#include <QKeyEvent>

#include "app/desktop/style.h"

namespace planscope {

PlaceNote::PlaceNote(QWidget* window, const QString& text, const QPoint& on_screen) : QLabel(text, window) {
  for (QLabel* older : window->findChildren<QLabel*>("place.note")) older->deleteLater();
  setObjectName("place.note");
  setProperty("note", true);
  setAccessibleName(text);
  setAutoFillBackground(true);
  setWordWrap(true);
  setTextFormat(Qt::PlainText);
  setMargin(px(8));
  const int most = qMin(px(460), window->width() - 2 * px(8));
  setFixedWidth(qMin(most, fontMetrics().horizontalAdvance(text) + 2 * px(8) + 4));
  resize(width(), heightForWidth(width()));
  const QPoint wanted = window->mapFromGlobal(on_screen) + QPoint(px(8), px(12));
  move(qBound(4, wanted.x(), qMax(4, window->width() - width() - 4)),
       qBound(4, wanted.y(), qMax(4, window->height() - height() - 4)));
  show();
  raise();
  qApp->installEventFilter(this);
}

bool PlaceNote::eventFilter(QObject* watched, QEvent* event) {
  const auto type = event->type();
  if (type == QEvent::ShortcutOverride && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape) {
    event->accept();  // puts the note away, and nothing else
    deleteLater();
    return true;
  }
  if (type == QEvent::MouseButtonPress || type == QEvent::KeyPress || type == QEvent::Wheel) deleteLater();
  return QLabel::eventFilter(watched, event);
}

}  // namespace planscope
