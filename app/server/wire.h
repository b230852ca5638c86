#pragma once
// What the server says, as JSON.
#include <string>
#include <vector>

#include "app/server/body.h"
#include "app/session/commands.h"
#include "app/session/notices.h"
#include "app/session/panel.h"
#include "app/session/state.h"

namespace planscope::server {

using session::Json;

std::string random_name();  // 16 digits
BodyPtr json_body(const Json&);
Json commands_json(const session::State&);          // the one list, with what can be run now and why not
// {"done": false, "diagnostics": [{"severity", "said", "what", …, "offers": [{"title", "command"}]}]}; `refused`: what was to be run.
Json refusal_json(const std::vector<Diagnostic>&, const session::Invocation& refused = {},
                  std::uint64_t seen = 0);  // seen: the number of the text that was refused
Json notice_json(const session::Notice&);           // {"severity", "said", "offers"}
Json open_api(const std::string& version);          // the document of GET /api
Json panel_schemas();                               // of it: what panels are, by their kind, and their parts
Json panel_schema();                                // of it: any panel, in either form

// What a browser gets that has come without the link.
BodyPtr how_to_enter();

}  // namespace planscope::server
