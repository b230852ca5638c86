// Plans side by side.
#include "app/session/comparing.h"
#include "app/session/core.h"
#include "engine/base/text.h"

namespace planscope::session {

namespace {

Result<Done> compare(Core& c, const Invocation& i) {
  Document& d = *c.document();
  CompareRequest r{.model = d.model, .text = d.draft.text(), .name = d.name, .cluster = d.cluster, .workspace = c.settings.workspace,
                   .others = split(i.get("plans"), '\n')};
  Comparison begun{.asked = d.draft.text(), .entries = {}, .diagnostics = {}};
  begun.job = compare_in_background(*c.jobs, std::move(r), [&c, id = d.id](std::shared_ptr<const Comparison> a) {
    c.update(id, [&](Document& o) {
      if (!o.comparison || o.comparison->job <= a->job) o.comparison = a;
    });
  });
  d.comparison = std::make_shared<const Comparison>(std::move(begun));
  return Done{};
}

Result<Done> align(Core& c, const Invocation& i) {
  const std::string by = i.get("by");
  if (by != "time" && by != "share") return error("timelines are not aligned by '" + by + "'", "", "time or share");
  c.state.align = by;
  return Done{};
}

}  // namespace

void add_comparison_handlers(Handlers& all) {
  all["compare"] = compare;
  all["align"] = align;
}

}  // namespace planscope::session
