// What of every canvas is looked at.
#include "app/session/views.h"
#include "app/session/panels/panels.h"

namespace planscope::session {

Panel views_panel(const State& s) {
  Panel p{.id = "views", .title = "Views", .kind = PanelKind::table};
  p.empty = "Lists what of the canvases is looked at, where that was set. As: view graph zoom=0.8";
  p.columns = {{"canvas", "Canvas"}, {"view", "View"}};
  const Document* d = s.document();
  if (!d) return p;
  for (const auto& [canvas, view] : d->views) {
    TableRow row{.id = canvas};
    row.cells = {cell(canvas), {Json::parse(view), view}};
    p.rows.push_back(std::move(row));
  }
  return p;
}

}  // namespace planscope::session
