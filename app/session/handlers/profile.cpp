// Measuring operators on this machine.
#include "app/session/core.h"
#include "app/session/profiling.h"

namespace planscope::session {

namespace {

Result<Done> profile(Core& c, const Invocation& i) {
  Document& d = *c.document();
  if (c.settings.workspace.empty()) return error("a profile is kept in a workspace, and there is none");
  if (i.has("what") && i.get("what") != "links")
    return error("'profile' does not take '" + i.get("what") + "'", "", "links, or nothing");
  ProfileRequest r{.model = d.model,
                   .text = d.draft.text(),
                   .name = d.path.empty() ? d.name : d.path,
                   .cluster = d.cluster,
                   .workspace = c.settings.workspace,
                   .programs = c.settings.programs,
                   .links = i.get("what") == "links"};
  ProfileAnswer begun;
  begun.job = profile_in_background(*c.jobs, std::move(r), [&c, id = d.id](std::shared_ptr<const ProfileAnswer> a) {
    c.update(id, [&](Document& o) {
      if (!o.profile || o.profile->job <= a->job) o.profile = a;
      if (a->running) return;
      c.look_around();
      c.look_at_measurements();
    });
  });
  d.profile = std::make_shared<const ProfileAnswer>(std::move(begun));
  return Done{};
}

}  // namespace

void add_profile_handlers(Handlers& all) { all["profile"] = profile; }

}  // namespace planscope::session
