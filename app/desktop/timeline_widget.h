#pragma once
// A QWidget that hosts the timeline canvas: forwards input to Dear ImGui, shows the rasterised picture, repaints only
// when something happened. No OpenGL, so it works on every platform plug-in.
#include <QWidget>
#include <functional>
#include <memory>
#include <optional>

#include "app/desktop/style.h"
#include "viz/canvas/imgui_host.h"
#include "viz/timeline/draw.h"
#include "viz/timeline/interaction.h"

namespace planscope {

class TimelineWidget : public QWidget {
 public:
  TimelineWidget(viz::FontFiles fonts, QWidget* parent = nullptr);

  // Keeps view and selection where the new timeline has the same blocks.
  void set_timeline(std::shared_ptr<const viz::TimelineModel> timeline);
  void set_theme(Theme theme);
  void set_selection(std::optional<viz::BlockRef> ref);  // and brings it into view; does not call on_select
  void set_show_memory(bool show);
  void apply_key(viz::TimelineKey key);  // as if it had been pressed
  const viz::TimelineView& view() const { return view_; }
  bool settled() const { return !host_.wants_frame(); }

  std::function<void(std::optional<viz::BlockRef>)> on_select;  // the user selected something else

 protected:
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  bool forward(QEvent* event);
  bool forward_key(class QKeyEvent& event);
  void show_tooltip(QPoint at);
  viz::Rect area() const { return {0, 0, double(width()), double(height())}; }

  viz::ImGuiHost host_;
  viz::TimelineTheme theme_ = viz::dark_theme();
  std::shared_ptr<const viz::TimelineModel> timeline_;
  viz::TimelineIndex index_;
  viz::TimelineView view_;
};

}  // namespace planscope
