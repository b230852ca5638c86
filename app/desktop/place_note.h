#pragma once
// Says something at a place of the window, where it happened: why what was dropped there cannot be, with a button for each
// thing that takes the reason away. It goes with the next click beside it, or a key that none of its buttons takes.
//
//   new PlaceNote(&window, "✗ data forbids it", ways_out(refused, why), run, where);   // in pixels of the screen
#include <QFrame>
#include <functional>
#include <vector>

#include "app/session/offers.h"

namespace planscope {

class PlaceNote : public QFrame {
 public:
  using Run = std::function<void(const std::string& line)>;
  PlaceNote(QWidget* window, const QString& text, const std::vector<session::Offer>& offers, Run run,
            const QPoint& on_screen);

  QString text() const { return text_; }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  bool holds(QObject* widget) const;

  const QString text_;
};

}  // namespace planscope
