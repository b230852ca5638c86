// What the server answers, described by itself (OpenAPI 3.1).
#include "app/server/wire.h"
#include "app/session/canvases/canvases.h"
#include "app/session/panels/panels.h"

namespace planscope::server {

namespace {

Json text_of(const char* about) { return {{"description", about}}; }

Json json_answer(const char* about, Json schema = {{"type", "object"}}) {
  return {{"description", about}, {"content", {{"application/json", {{"schema", std::move(schema)}}}}}};
}

Json parameter(const char* name, const char* in, const char* about, Json schema) {
  Json out = {{"name", name}, {"in", in}, {"description", about}, {"schema", std::move(schema)}};
  if (std::string(in) == "path") out["required"] = true;
  return out;
}

// That every path may answer.
Json refusals() {
  return {{"400", "the address or a header of the request cannot be read"},
          {"401", "without the token"},
          {"403", "under another name, or from a page of another site"},
          {"404", "there is no session of that name"},
          {"410", "the session of that name has ended"},
          {"413", "the body is too large"},
          {"429", "more than one address may ask for"},
          {"431", "the header is too large"},
          {"500", "a fault of the server"},
          {"503", "too many connections"}};
}

// Of every refusal, as refusal_json() of app/server/wire.h writes it.
Json refusal_schema() {
  const Json text = {{"type", "string"}};
  const Json offer = {{"type", "object"},
                      {"required", {"title", "command"}},
                      {"properties", {{"title", text}, {"command", text}}}};
  const Json diagnostic = {{"type", "object"},
                           {"required", {"severity", "said", "what", "offers"}},
                           {"properties",
                            {{"severity", {{"type", "string"}, {"enum", {"error", "warning", "note"}}}},
                             {"said", {{"type", "string"}, {"description", "all of it in one line"}}},
                             {"what", text},
                             {"why", text},
                             {"hint", {{"type", "string"}, {"description", "how it is mended"}}},
                             {"file", text},
                             {"line", {{"type", "integer"}}},
                             {"subject", text},
                             {"offers",
                              {{"type", "array"},
                               {"items", offer},
                               {"description", "commands that do it after all, in another way"}}}}}};
  return {{"type", "object"},
          {"required", {"done", "diagnostics"}},
          {"properties",
           {{"done", {{"type", "boolean"}, {"const", false}}},
            {"diagnostics", {{"type", "array"}, {"items", diagnostic}, {"minItems", 1}}}}}};
}

// With what every path may answer.
Json answers(Json own) {
  const Json common = refusals();
  for (const auto& [status, about] : common.items()) {
    if (!own.contains(status)) own[status] = Json::object();
    const std::string before = own[status].value("description", "");
    own[status]["description"] = (before.empty() ? "" : before + "; or ") + about.get<std::string>();
  }
  for (auto& [status, answer] : own.items())
    if (status >= "400") answer["content"] = {{"application/json", {{"schema", {{"$ref", "#/components/schemas/refusal"}}}}}};
  return own;
}

// What is the same as the client has it (If-None-Match) is not sent again.
Json tagged(Json answers) {
  answers["304"] = text_of("as before (If-None-Match)");
  return answers;
}

Json operation(const char* about, Json responses, Json parameters = Json::array()) {
  Json out = {{"summary", about}};
  if (!parameters.empty()) out["parameters"] = std::move(parameters);
  out["responses"] = answers(std::move(responses));
  return out;
}

Json strings(std::vector<std::string> all) { return {{"type", "string"}, {"enum", std::move(all)}}; }

Json array_in(const char* name, Json of) {
  return {{"type", "object"},
          {"required", {name}},
          {"properties", {{name, {{"type", "array"}, {"items", std::move(of)}}}}}};
}

Json command_body() {
  const Json properties = {
      {"line", {{"type", "string"}, {"description", "one line of a session script"}}},
      {"command", {{"type", "string"}, {"description", "the same"}}},
      {"id", {{"type", "string"}, {"description", "of the command, instead of a line"}}},
      {"arguments",
       {{"type", "object"},
        {"description", "by name; a whole number is taken as its digits are"},
        {"additionalProperties", {{"type", {"string", "integer"}}}}}},
      {"document", {{"type", "integer"}, {"description", "that it is for, whichever is the current one"}}}};
  return {{"required", true},
          {"content", {{"application/json", {{"schema", {{"type", "object"}, {"properties", properties}}}}}}}};
}

Json with_body(Json operation, Json body) {
  operation["requestBody"] = std::move(body);
  return operation;
}

Json panel_paths() {
  std::vector<std::string> ids;
  for (const session::PanelInfo& p : session::panels()) ids.push_back(p.id);
  const Json parameters = {
      parameter("name", "path", "of the panel", strings(ids)),
      parameter("full", "query", "with it: the whole panel, as renderers need it; without: the values",
                {{"type", "boolean"}}),
      parameter("wait", "query", "seconds, at most 600, to wait until nothing runs any more", {{"type", "number"}})};
  const Json info = {{"type", "object"}, {"required", {"id", "title", "side", "group", "shown", "menu", "keys"}}};
  return {{"/api/panels",
           {{"get", operation("The panels that there are",
                              tagged({{"200", json_answer("their ids and titles, and where they have their place", array_in("panels", info))}}))}}},
          {"/api/panels/{name}",
           {{"get", operation("One panel of the session, as `show NAME json` prints it; the header Planscope-Revision "
                              "names the state that it is of",
                              tagged({{"200", json_answer("the panel, by its kind", panel_schema())}, {"404", text_of("there is no such panel")}}),
                              parameters)}}}};
}

Json canvas_paths() {
  std::vector<std::string> ids;
  for (const session::CanvasInfo& c : session::canvases()) ids.push_back(c.id);
  const Json name = Json::array({parameter("name", "path", "of the canvas", strings(ids))});
  const Json info = {{"type", "object"}, {"required", {"id", "scene", "title", "twin", "empty", "keys", "model"}}};
  const Json bytes = {{"description", "the model, in the binary form of viz"},
                      {"content", {{"application/octet-stream", Json::object()}}}};
  return {{"/api/canvases",
           {{"get", operation("The canvases, with the tag of what each draws; null: nothing",
                              tagged({{"200", json_answer("the list", array_in("canvases", info))}}))}}},
          {"/api/canvases/{name}",
           {{"get", operation("What a canvas draws",
                              tagged({{"200", bytes}, {"404", text_of("there is nothing to draw")}}),
                              name)}}},
          {"/api/canvases/{name}/marks",
           {{"get", operation("Ids of what is selected on a canvas",
                              tagged({{"200", json_answer("the ids", array_in("marks", {{"type", "string"}}))},
                                      {"404", text_of("there is no such canvas")}}),
                              name)}}}};
}

Json export_paths() {
  const Json parameters = {
      parameter("name", "path", "of the file: a canvas or a panel with an ending that `export` takes, as timeline.svg",
                {{"type", "string"}}),
      parameter("view", "query", "yes: what the command `view` has set; or a view as JSON; without it, the whole",
                {{"type", "string"}}),
      parameter("size", "query", "of a view, in pixels, as 1200x700", {{"type", "string"}}),
      parameter("colours", "query", "of pictures", strings({"light", "dark"}))};
  const Json file = {{"description", "the file, as an attachment"}, {"content", {{"*/*", Json::object()}}}};
  return {{"/api/exports/{name}",
           {{"get", operation("What the command `export` would write, without writing it",
                              tagged({{"200", file}, {"409", text_of("it is refused, with the reasons")}}),
                              parameters)}}}};
}

Json command_paths() {
  const Json info = {{"type", "object"},
                     {"required", {"id", "title", "menu", "keys", "arguments", "enabled", "reason"}}};
  const Json choice = {{"type", "object"}, {"required", {"value", "about"}}};
  const Json offer = {{"type", "object"}, {"required", {"group", "title", "command", "beside", "reason", "asks"}}};
  const Json run = operation(
      "Runs one command", {{"200", json_answer("it is done", {{"type", "object"}, {"required", {"done", "revision"}}})},
                           {"400", text_of("it cannot be read")},
                           {"409", text_of("it is refused, with the reasons")},
                           {"415", text_of("the body is not application/json")}});
  return {{"/api/commands",
           {{"get", operation("The commands, with what can be run now and why not",
                              tagged({{"200", json_answer("the list", array_in("commands", info))}}))},
            {"post", with_body(run, command_body())}}},
          {"/api/offers",
           {{"get", operation("What can be done with a thing, as commands: the entries of its context menu",
                              tagged({{"200", json_answer("the offers", array_in("offers", offer))}}),
                              Json::array({parameter("line", "query", "of a session script, that selects it",
                                                     {{"type", "string"}})}))}}},
          {"/api/choices",
           {{"get", operation("What an argument can be; empty: anything of its kind. And what it is `now`; empty: nothing",
                              tagged({{"200", json_answer("the choices", array_in("choices", choice))}}),
                              Json::array({parameter("command", "query", "its id", {{"type", "string"}}),
                                           parameter("argument", "query", "its name", {{"type", "string"}})}))}}}};
}

Json other_paths() {
  const Json text = {
      {"type", "object"},
      {"required", {"text", "cursor"}},
      {"properties",
       {{"text", {{"type", "string"}}}, {"cursor", {{"type", "integer"}, {"description", "a byte of the text"}}}}}};
  const Json events = {
      {"description", "an event `revision` with {\"revision\": N} after every change; resumable by Last-Event-ID"},
      {"content", {{"text/event-stream", Json::object()}}}};
  const Json one = {{"type", "object"}, {"required", {"session", "documents", "pages"}}};
  const Json notice = {{"type", "object"}, {"required", {"severity", "said", "offers"}}};
  const Json session = Json::array({parameter("name", "path", "of the session", {{"type", "string"}})});
  const Json file = {{"required", true}, {"content", {{"application/octet-stream", Json::object()}}}};
  const Json name =
      Json::array({parameter("name", "path", "of a .pt2, a .plan or a cluster's .json", {{"type", "string"}})});
  return {
      {"/api", {{"get", operation("This document", tagged({{"200", json_answer("OpenAPI 3.1")}}))}}},
      {"/api/events", {{"get", operation("Changes of the session as they come", {{"200", events}})}}},
      {"/api/targets",
       {{"get", operation("Everything that one can go to by its name, with the command that goes there",
                          tagged({{"200", json_answer("the targets")}}))}}},
      {"/api/selection",
       {{"get", operation("The current document, what is selected in all views, and what was asked to the front last",
                          tagged({{"200", json_answer("the selection",
                                                      {{"type", "object"},
                                                       {"required", {"document", "operators", "tensor", "place",
                                                                     "statement", "communicator", "asked", "time", "theme", "front"}}})}}))}}},
      {"/api/notices",
       {{"get", operation("Notices that do not depend on the view, such as drafts that were not kept, with the commands that act on them",
                          tagged({{"200", json_answer("the notices", array_in("notices", notice))}}))}}},
      {"/api/completions",
       {{"post",
         with_body(
             operation("What can be written at a place of a plan",
                       {{"200", json_answer("the texts that may replace what is between `from` and the cursor")},
                        {"400", text_of("the body has no text and cursor")},
                        {"415", text_of("the body is not application/json")}}),
             {{"required", true}, {"content", {{"application/json", {{"schema", text}}}}}})}}},
      {"/api/sessions",
       {{"get", operation("The sessions of the server, each with the documents that are open in it",
                          tagged({{"200", json_answer("the sessions", array_in("sessions", one))}}))},
        {"post", operation("Begins a session with documents, a selection and jobs of its own on the same workspace; the "
                           "parameter `session` of every path names it",
                           {{"200", json_answer("its name", {{"type", "object"}, {"required", {"session"}}})},
                            {"409", text_of("there are too many")}})}}},
      {"/api/sessions/{name}",
       {{"delete", operation("Ends a session and its jobs; its edits that are not kept stay in the workspace as drafts",
                             {{"200", json_answer("it has ended")},
                              {"409", text_of("there is none of that name, or it is the first")}},
                             session)}}},
      {"/api/refresh",
       {{"post", operation("Looks at what other programs have done to the workspace",
                           {{"200", json_answer("the revision")}})}}},
      {"/api/links",
       {{"post", operation("Makes a link that lets one more browser in, once, within ten minutes",
                           {{"200", json_answer("the link", {{"type", "object"}, {"required", {"url"}}})}})}}},
      {"/api/files/{name}",
       {{"put",
         with_body(operation("Uploads a file into the folder of the workspace; `open` takes the path that is answered",
                             {{"200", json_answer("its path", {{"type", "object"}, {"required", {"path"}}})},
                              {"400", text_of("no plain name of such a file, or it has not come as a whole")},
                              {"409", text_of("there is no workspace")},
                              {"413", text_of("the file is too large")},
                              {"500", text_of("it cannot be written")}},
                             name),
                   file)}}},
  };
}

}  // namespace

Json open_api(const std::string& version) {
  Json schemas = panel_schemas();
  schemas["refusal"] = refusal_schema();
  Json out = {{"openapi", "3.1.0"},
              {"info",
               {{"title", "planscope"},
                {"version", version},
                {"description", "Sessions of planscope: commands, panels, canvases, events."}}},
              {"security", Json::array({{{"token", Json::array()}}, {{"cookie", Json::array()}}})},
              {"components",
               {{"schemas", std::move(schemas)},
                {"securitySchemes",
                 {{"token",
                   {{"type", "apiKey"},
                    {"in", "header"},
                    {"name", "Authorization"},
                    {"description", "`token T`, with the T of the link that is printed at the start"}}},
                  {"cookie", {{"type", "apiKey"}, {"in", "cookie"}, {"name", "planscope_PORT"}}}}}}},
              {"paths", Json::object()}};
  for (const Json& some : {other_paths(), panel_paths(), canvas_paths(), export_paths(), command_paths()})
    for (const auto& [path, operations] : some.items()) {
      out["paths"][path] = operations;
      out["paths"][path]["parameters"] = Json::array({parameter(
          "session", "query", "the session that is meant; main, the first one, unless said", {{"type", "string"}})});
    }
  return out;
}

}  // namespace planscope::server
