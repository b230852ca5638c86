#include "app/session/link.h"
#include "app/session/panels/panels.h"

namespace planscope::session {

Panel link_panel(const State& s) {
  Panel p{.id = "link", .title = "Link", .kind = PanelKind::facts};
  p.empty =
      "Gives a link to what is on screen, to be sent: the model, the version of the plan, the cluster, and what is "
      "selected.";
  const Document* d = s.document();
  if (!d) return p;
  p.facts.push_back({"link", "Link", cell(print(link_of(s)))});
  return p;
}

}  // namespace planscope::session
