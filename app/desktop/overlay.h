#pragma once
// A panel that lies over the window near its top until it is used or left: nothing waits for it. Escape closes it. It is a window of
// its own only over docks that float.
#include <QFrame>
#include <QPointer>

class QVBoxLayout;

namespace planscope {

class Overlay : public QFrame {
 public:
  Overlay(QWidget* window, const QString& name, const QSize& size);

  QVBoxLayout* content() const { return content_; }
  void open(QWidget* focus);
  void leave();  // closes, and gives the focus back

 protected:
  bool event(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void place();

  QSize wanted_;
  QVBoxLayout* content_;
  QPointer<QWidget> before_;  // had the keyboard
};

}  // namespace planscope
