#include "app/desktop/place_note.h"

#include <QApplication>
#include <QKeyEvent>
#include <QLabel>
#include <QToolButton>
#include <QVBoxLayout>

#include "app/desktop/style.h"

namespace planscope {

PlaceNote::PlaceNote(QWidget* window, const QString& text, const std::vector<session::Offer>& offers, Run run,
                     const QPoint& on_screen)
    : QFrame(window), text_(text) {
  for (QWidget* older : window->findChildren<QWidget*>("place.note")) older->deleteLater();
  setObjectName("place.note");
  setProperty("note", true);
  setAccessibleName(text);
  setAutoFillBackground(true);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(px(8), px(8), px(8), px(8));
  auto* label = new QLabel(text);
  label->setWordWrap(true);
  label->setTextFormat(Qt::PlainText);
  layout->addWidget(label);
  for (const session::Offer& o : offers) {
    auto* button = new QToolButton;
    button->setText(QString::fromStdString(o.title));
    button->setObjectName("note.button");
    button->setFocusPolicy(Qt::StrongFocus);
    connect(button, &QToolButton::clicked, this, [this, run, line = o.command] {
      hide();
      deleteLater();
      run(line);
    });
    layout->addWidget(button, 0, Qt::AlignLeft);
  }
  const int most = qMin(px(460), window->width() - 2 * px(8));
  setFixedWidth(qMin(most, qMax(px(160), fontMetrics().horizontalAdvance(text) + 2 * px(8) + 4)));
  resize(width(), layout->heightForWidth(width()));
  const QPoint wanted = window->mapFromGlobal(on_screen) + QPoint(px(8), px(12));
  move(qBound(4, wanted.x(), qMax(4, window->width() - width() - 4)),
       qBound(4, wanted.y(), qMax(4, window->height() - height() - 4)));
  show();
  raise();
  qApp->installEventFilter(this);
}

bool PlaceNote::holds(QObject* o) const {
  const auto* widget = qobject_cast<QWidget*>(o);
  return widget && (widget == this || isAncestorOf(widget));
}

bool PlaceNote::eventFilter(QObject* watched, QEvent* event) {
  const auto type = event->type();
  if (type == QEvent::ShortcutOverride && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape) {
    event->accept();  // puts the note away, and nothing else
    deleteLater();
    return true;
  }
  const bool ends = type == QEvent::MouseButtonPress || type == QEvent::KeyPress || type == QEvent::Wheel;
  // A press reaches the native window first, and then what lies at its place.
  if (ends && qobject_cast<QWidget*>(watched) && !holds(watched)) deleteLater();
  return QFrame::eventFilter(watched, event);
}

}  // namespace planscope
