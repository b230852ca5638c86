#include "app/session/notices.h"

#include "app/session/panel.h"

namespace planscope::session {

std::vector<Notice> notices(const State& s) {
  std::vector<Notice> out;
  if (!s.next_cluster.empty())
    out.push_back({.said = "The next model is planned for the cluster '" + s.next_cluster + "': open it, or drop it here.",
                   .offers = {}});
  for (const LostDraft& l : s.lost) {
    const std::string id = std::to_string(l.id);
    Notice n;
    n.said = "A draft of '" + l.name + "' was not kept when planscope ended (" + l.model + ", " +
             time_cell(l.written_us).text + ").";
    n.offers = {{.group = "", .title = "Restore", .command = "restore " + id},
                {.group = "", .title = "Forget", .command = "forget " + id}};
    out.push_back(std::move(n));
  }
  return out;
}

}  // namespace planscope::session
