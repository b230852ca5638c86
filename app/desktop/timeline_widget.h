#pragma once
// A QWidget that hosts the timeline canvas: forwards input to Dear ImGui, shows the rasterised picture, repaints only
// when something happened. No OpenGL, so it works on every platform plug-in. Each document has its own view: zoom and scroll
// stay as they are over any edit, and come back with the document. A picture of an older text is dimmed, with the reason over it.
#include <QWidget>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "app/desktop/presenter.h"
#include "app/desktop/style.h"
#include "viz/canvas/imgui_host.h"
#include "viz/timeline/draw.h"
#include "viz/timeline/interaction.h"

class QKeyEvent;
class QPainter;

namespace planscope {

class TimelineWidget : public QWidget {
 public:
  TimelineWidget(viz::FontFiles fonts, QWidget* parent = nullptr);

  // `empty`: what to say where there is no picture; `stale`: why the picture is not of the text as it stands.
  void show_picture(int document, std::shared_ptr<const TimelinePicture> picture, const QString& stale, const QString& empty);
  void set_theme(Theme theme);
  void set_selection(std::optional<viz::BlockRef> ref);  // and brings it into view; does not call on_select
  void set_show_memory(bool show);
  void apply_key(viz::TimelineKey key);  // as if it had been pressed
  const viz::TimelineView& view() const { return view_; }
  const viz::TimelineModel* model() const { return picture_ ? &picture_->timeline.model : nullptr; }
  const Timeline* timeline() const { return picture_ ? &picture_->timeline : nullptr; }
  QString stale() const { return stale_; }
  bool settled() const { return !host_.wants_frame(); }

  std::function<void(std::optional<viz::BlockRef>)> on_select;  // the user selected something else

 protected:
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  bool forward(QEvent* event);
  bool forward_key(QKeyEvent& event);
  void show_tooltip(QPoint at);
  viz::Rect area() const { return {0, 0, double(width()), double(height())}; }

  viz::ImGuiHost host_;
  viz::Theme theme_ = viz::dark_theme();
  void paint_stale(QPainter& painter) const;

  int document_ = 0;
  std::shared_ptr<const TimelinePicture> picture_;
  std::string problem_;  // of the picture, which is then not drawn
  QString stale_, empty_;
  viz::TimelineView view_;
  bool mouse_moved_ = false;  // since the last frame: tooltips come with the mouse alone
  struct Kept {
    viz::TimelineView view;
    std::shared_ptr<const TimelinePicture> picture;
  };
  std::map<int, Kept> kept_;  // of the other documents
};

}  // namespace planscope
