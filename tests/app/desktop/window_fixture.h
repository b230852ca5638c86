#pragma once
// A window without a display, on a real session with a workspace and a memory of its own.
#include <QString>
#include <QTemporaryDir>
#include <memory>

#include "app/desktop/main_window.h"
#include "app/desktop/panel_view.h"
#include "app/desktop/script_view.h"
#include "app/desktop/table_view.h"
#include "app/desktop/canvas_widget.h"
#include "viz/timeline/model.h"

namespace planscope {

inline const std::string gpt2 = "sample_models/gpt2_tiny.pt2", llama = "sample_models/llama_tiny.pt2";
inline const std::string pipeline = "sample_models/plans/gpt2_tiny-1f1b.plan";

struct WindowFixture {
  QTemporaryDir folder;
  std::unique_ptr<MainWindow> window;

  WindowFixture();
  void start(bool restore = false, const QSize& size = {1600, 1000});
  void settle();  // until everything that was asked for is shown
  void run(const std::string& line);  // of a session script, and settles
  void open_pipeline();
  QAction& action(const QString& id) const;
  void trigger(const QString& id);

  PlanEditor& editor() const { return *window->script()->editor(); }
  CanvasWidget& timeline() const { return *window->canvas("timeline"); }
  viz::TimelineModel timeline_model() const;
  viz::TimeRange timeline_range() const;
  bool timeline_shows_all() const;
  const session::Document& document() const { return *window->shown().state.document(); }
  TableView& table(const QString& panel);  // brought to the front
  QString chip(const QString& id) const;   // its whole text; empty: it is not shown
  QString path(const QString& name) const { return folder.filePath(name); }
  QString write(const QString& name, const QString& text) const;
  QString read(const QString& file) const;
  void shoot(const QString& name) const;  // a picture to look at, in build/…/pictures
};

// Types at the end of the script.
void type_at_end(PlanEditor& editor, const QString& text);

}  // namespace planscope
