#pragma once
// Says something at a place of the window, where it happened: why what was dropped there cannot be. It goes with the
// next click or key.
//
//   new PlaceNote(&window, "✗ data forbids it", where);   // in pixels of the screen
#include <QLabel>

namespace planscope {

class PlaceNote : public QLabel {
 public:
  PlaceNote(QWidget* window, const QString& text, const QPoint& on_screen);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
};

}  // namespace planscope
