#pragma once
// Hosts any canvas of viz/scenes: gives it its model and input, shows the rasterised picture, passes on the
// commands that it answers
// with, and repaints only when something happened. No OpenGL, so that it works on every platform plug-in. Each
// document has its own
// view: zoom and scroll stay as they are over any edit, and come back with the document. A picture of an older
// text is dimmed, with the
// reason over it. A right click offers what can be done with a thing; Ctrl and drag takes it along, onto another
// thing of
// any view.
#include <QWidget>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "app/desktop/presenter.h"
#include "app/desktop/style.h"
#include "viz/canvas/imgui_host.h"
#include "viz/canvas/scene.h"

class QContextMenuEvent;
class QKeyEvent;
class QPainter;

namespace planscope {

class CanvasWidget : public QWidget {
 public:
  CanvasWidget(const QString& id, const QString& title, std::string scene, viz::FontFiles fonts,
               QWidget* parent = nullptr);

  // `empty`: what to say where there is no picture; `stale`: what it is of instead of the plan as it stands, and why.
  void show_picture(int document, const CanvasPicture& picture, const QString& stale, const QString& empty);
  void set_theme(Theme theme);
  void apply_key(viz::Key key);  // as if it had been pressed
  QString id() const { return id_; }
  bool has_picture() const { return picture_.model != nullptr; }
  const CanvasPicture& picture() const { return picture_; }
  viz::Scene& scene() const { return *scene_; }
  QString stale() const { return stale_; }
  // The whole, with a caption; the file's ending says PNG or SVG.

  std::function<void(const std::string& command)> on_command;
  std::function<void(const QStringList& facts)> on_about;  // what is selected here now
  // What was pointed at, for its context menu: the line that selects it; empty: nothing.
  std::function<void(const std::string& line, const QPoint& where)> on_menu;
  std::function<void(const QPoint& where)> on_menu_of_selection;  // by the keyboard
  std::function<void(const std::string& what, const std::string& onto, const QPoint& where)> on_drop;

  // The line of a session script that a click there runs; empty: none.
  std::string line_at(const viz::Point& at) const;

 protected:
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  bool forward(QEvent* event);
  bool forward_key(const QKeyEvent& event);
  bool forward_drag(QEvent* event);
  void show_menu(const QContextMenuEvent& event);
  viz::Point in_picture(const QPointF& p) const { return {p.x() / scale_, p.y() / scale_}; }
  void apply(viz::Input input);
  void paint_stale(QPainter& painter) const;
  viz::Rect area() const { return {0, 0, width() / scale_, height() / scale_}; }
  const viz::Theme& colours() const { return colours_; }

  const QString id_;
  const std::string kind_;  // of the scene
  viz::ImGuiHost host_;
  viz::Canvas canvas_;  // of the last frame
  std::unique_ptr<viz::Scene> scene_;
  viz::Theme colours_ = viz::dark_theme();
  std::optional<viz::Point> mouse_;
  double scale_ = 1;                    // of the window, beside what the screen asks for
  std::optional<QPoint> carried_from_;  // Ctrl and the button went down there: what is there is to be taken along
  int document_ = 0;
  CanvasPicture picture_;
  bool damaged_ = false;  // the scene does not take the model
  QString stale_, empty_;
  std::map<int, std::string> views_;  // of the other documents
};

}  // namespace planscope
