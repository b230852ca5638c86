// What of the canvases is looked at.
#include "app/session/views.h"
#include "app/session/core.h"
#include "engine/base/text.h"

namespace planscope::session {

namespace {

Result<Done> view(Core& c, const Invocation& i) {
  const std::string canvas = i.get("canvas");
  std::vector<std::string> settings;
  for (const std::string& line : split(i.get("settings"), '\n'))
    for (std::string& word : split(line, ' ')) {  // a word without `=` goes on with the value before it
      if (word.empty()) continue;
      if (settings.empty() || word.find('=') != std::string::npos)
        settings.push_back(std::move(word));
      else
        settings.back() += " " + word;
    }
  const Result<std::string> next = changed_view(c.state, canvas, settings);
  if (!next.ok()) return next.diagnostics;
  if (settings.empty())
    c.document()->views.erase(canvas);
  else
    c.document()->views[canvas] = *next;
  return Done{};
}

}  // namespace

void add_view_handlers(Handlers& all) {
  all["view"] = view;
}

}  // namespace planscope::session
