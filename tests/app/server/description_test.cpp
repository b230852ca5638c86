// GET /api says what the server answers: each path with each status, and no more.
#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "tests/app/server/fixture.h"

using namespace planscope;
using namespace planscope::server;
using testing::Fixture;
using testing::Headers;
using testing::kModel;
using testing::Reply;

namespace {

const Headers kJson{{"Content-Type", "application/json"}};

struct Asked {
  std::string method, path, target;  // as the description has it, and as it is asked for
  unsigned status;
  std::string body = {};
  Headers headers = {};
};

// What every path answers for the same reasons; each is asked for at one path.
const std::set<std::string> kCommon = {"400", "401", "403", "404", "410", "413", "429", "431", "500", "503"};

std::vector<Asked> of_this_path_alone() {
  const std::string refused = R"({"line": "keep"})", unreadable = R"({"line": "kepe"})";
  return {
      {"get", "/api", "/api", 200},
      {"get", "/api/panels", "/api/panels", 200},
      {"get", "/api/panels/{name}", "/api/panels/chips?full", 200},
      {"get", "/api/panels/{name}", "/api/panels/chip", 404},
      {"get", "/api/canvases", "/api/canvases", 200},
      {"get", "/api/canvases/{name}", "/api/canvases/graph", 200},
      {"get", "/api/canvases/{name}", "/api/canvases/none", 404},
      {"get", "/api/canvases/{name}/marks", "/api/canvases/graph/marks", 200},
      {"get", "/api/canvases/{name}/marks", "/api/canvases/none/marks", 404},
      {"get", "/api/exports/{name}", "/api/exports/graph.svg?colours=dark", 200},
      {"get", "/api/exports/{name}", "/api/exports/graph.exe", 409},
      {"get", "/api/commands", "/api/commands", 200},
      {"post", "/api/commands", "/api/commands", 200, R"({"line": "append x"})", kJson},
      {"post", "/api/commands", "/api/commands", 400, unreadable, kJson},
      {"post", "/api/commands", "/api/commands", 400, "{", kJson},
      {"post", "/api/commands", "/api/commands", 409, R"({"line": "version 7"})", kJson},
      {"post", "/api/commands", "/api/commands", 415, refused},
      {"get", "/api/offers", "/api/offers?line=select%20none", 200},
      {"get", "/api/choices", "/api/choices?command=colour&argument=by", 200},
      {"get", "/api/targets", "/api/targets", 200},
      {"get", "/api/selection", "/api/selection", 200},
      {"get", "/api/notices", "/api/notices", 200},
      {"post", "/api/completions", "/api/completions", 200, R"({"text": "de", "cursor": 2})", kJson},
      {"post", "/api/completions", "/api/completions", 400, R"({"text": "de"})", kJson},
      {"post", "/api/completions", "/api/completions", 415, "{}"},
      {"get", "/api/sessions", "/api/sessions", 200},
      {"post", "/api/sessions", "/api/sessions", 200, "{}", kJson},
      {"delete", "/api/sessions/{name}", "/api/sessions/2", 200},
      {"delete", "/api/sessions/{name}", "/api/sessions/main", 409},
      {"post", "/api/refresh", "/api/refresh", 200, "{}", kJson},
      {"post", "/api/links", "/api/links", 200, "{}", kJson},
      {"put", "/api/files/{name}", "/api/files/a.plan", 200, "devices 1\n"},
      {"put", "/api/files/{name}", "/api/files/a.txt", 400, "devices 1\n"},
  };
}

std::vector<Asked> of_any_path() {
  const std::string path = "/api/selection";
  return {{"get", path, path + "?%", 400},
          {"get", path, path, 401, "", {{"Authorization", ""}}},
          {"get", path, path, 403, "", {{"Host", "evil.example"}}},
          {"get", path, path + "?session=nobody", 404},
          {"get", path, path + "?session=2", 410},
          {"get", path, path, 413, std::string(10'000, 'x')},
          {"get", path, path, 431, "", {{"Name", std::string(20'000, 'x')}}}};
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

// Checks a value against a schema of the document; what a schema does not name there may not be.
void check_against(const Json& doc, const Json& schema, const Json& value, const std::string& where) {
  if (schema.contains("$ref")) {
    const std::string name = schema["$ref"].get<std::string>().substr(std::string("#/components/schemas/").size());
    return check_against(doc, doc["components"]["schemas"][name], value, where);
  }
  INFO(where << ": " << value.dump());
  if (schema.contains("enum")) CHECK(std::find(schema["enum"].begin(), schema["enum"].end(), value) != schema["enum"].end());
  const std::string type = schema.value("type", "");
  if (type == "string") CHECK(value.is_string());
  if (type == "boolean") CHECK(value.is_boolean());
  if (type == "integer") CHECK(value.is_number_integer());
  if (type == "number") CHECK(value.is_number());
  if (type == "array") {
    REQUIRE(value.is_array());
    for (const Json& one : value) check_against(doc, schema["items"], one, where + "[]");
  }
  if (type != "object") return;
  REQUIRE(value.is_object());
  for (const Json& name : schema["required"]) CHECK(value.contains(name.get<std::string>()));
  for (const auto& [name, member] : value.items()) {
    if (schema["properties"].contains(name))
      check_against(doc, schema["properties"][name], member, where + "." + name);
    else
      CHECK(schema.contains("additionalProperties"));
  }
}

}  // namespace

TEST_CASE("every path, every status and every refusal that is answered is described, and none else", "[server]") {
  Fixture f({.body_bytes = 4096});
  REQUIRE(f.client.run("open model=" + kModel).status == 200);
  const Json doc = f.client.get("/api").json();
  std::set<std::string> seen;
  const auto ask = [&](const Asked& a) {
    INFO(a.method << " " << a.target << " " << a.status);
    const Reply r = f.client.send(upper(a.method), a.target, a.body, a.headers);
    CHECK(r.status == a.status);
    REQUIRE(doc["paths"].contains(a.path));
    REQUIRE(doc["paths"][a.path].contains(a.method));
    const Json& responses = doc["paths"][a.path][a.method]["responses"];
    REQUIRE(responses.contains(std::to_string(r.status)));
    if (r.status >= 400) {
      const Json& schema = responses[std::to_string(r.status)]["content"]["application/json"]["schema"];
      CHECK(schema["$ref"] == "#/components/schemas/refusal");
      check_against(doc, schema, r.json(), "refusal");
      CHECK_FALSE(r.json()["diagnostics"].empty());
    }
    seen.insert(a.method + " " + a.path + " " + std::to_string(r.status));
    // What has a tag is answered by it.
    if (a.method != "get" || r.status != 200) return;
    std::string tag = r.header("etag");
    Reply again = f.client.get(a.target, {{"If-None-Match", tag}});
    for (int k = 0; k < 100 && again.status == 200; ++k) {  // the plan is still being evaluated: it has changed meanwhile
      tag = again.header("etag");
      again = f.client.get(a.target, {{"If-None-Match", tag}});
    }
    CHECK(again.status == 304);
    CHECK(responses.contains("304"));
    seen.insert(a.method + " " + a.path + " 304");
  };
  for (const Asked& a : of_this_path_alone()) ask(a);
  for (const Asked& a : of_any_path()) ask(a);
  CHECK(f.client.event().find("200 OK") != std::string::npos);
  seen.insert("get /api/events 200");
  seen.insert({"put /api/files/{name} 409", "post /api/sessions 409"});  // other cases provoke these
  for (const auto& [path, operations] : doc["paths"].items()) {
    INFO(path);
    REQUIRE(operations.contains("parameters"));
    CHECK(operations["parameters"][0]["name"] == "session");
    for (const auto& [method, operation] : operations.items()) {
      if (method == "parameters") continue;
      for (const auto& [status, answer] : operation["responses"].items()) {
        INFO(method << " " << status);
        CHECK_FALSE(answer["description"].get<std::string>().empty());
        CHECK((kCommon.contains(status) || seen.contains(method + " " + path + " " + status)));
      }
      for (const std::string& status : kCommon) CHECK(operation["responses"].contains(status));
    }
  }
}

TEST_CASE("every panel is as its kind is described", "[server]") {
  Fixture f;
  REQUIRE(f.client.run("open model=" + kModel).status == 200);
  const std::string text = testing::kPlan + "trans nowhere by data\n";  // an error is marked in the script
  REQUIRE(f.client.post("/api/commands", {{"id", "text"}, {"arguments", {{"text", text}}}}).status == 200);
  const Json doc = f.client.get("/api").json();
  const Json& schemas = doc["components"]["schemas"];
  const Json& get = doc["paths"]["/api/panels/{name}"]["get"];
  std::set<std::string> any;
  for (const Json& one : get["responses"]["200"]["content"]["application/json"]["schema"]["anyOf"])
    any.insert(one["$ref"].get<std::string>());
  for (const Json& id : get["parameters"][0]["schema"]["enum"]) {
    const std::string path = "/api/panels/" + id.get<std::string>();
    const Json whole = f.client.get(path + "?full&wait=60").json();
    const std::string kind = whole["kind"];
    INFO(path << " " << kind);
    REQUIRE(schemas.contains("panel_" + kind));
    CHECK(any.contains("#/components/schemas/panel_" + kind));
    CHECK(any.contains("#/components/schemas/values_" + kind));
    const std::string panels = " " + schemas["panel_" + kind]["description"].get<std::string>() + ",";
    CHECK(panels.find(" " + id.get<std::string>() + ",") != std::string::npos);
    check_against(doc, schemas["panel_" + kind], whole, path);
    check_against(doc, schemas["values_" + kind], f.client.get(path).json(), path);
  }
}

TEST_CASE("arguments of a command may be whole numbers, as described", "[server]") {
  Fixture f;
  REQUIRE(f.client.run("open model=" + kModel).status == 200);
  REQUIRE(f.client.run("open model=" + kModel).status == 200);
  const Json doc = f.client.get("/api").json();
  const Json& body = doc["paths"]["/api/commands"]["post"]["requestBody"]["content"]["application/json"]["schema"];
  CHECK(body["properties"]["arguments"]["additionalProperties"]["type"] == Json::array({"string", "integer"}));
  CHECK(f.client.post("/api/commands", {{"id", "document"}, {"arguments", {{"number", 1}}}}).status == 200);
  CHECK(f.client.get("/api/selection").json()["document"] == 1);
  CHECK(f.client.post("/api/commands", {{"id", "document"}, {"arguments", {{"number", 1.5}}}}).status == 400);
}

TEST_CASE("too many requests of one address are answered as described", "[server]") {
  Fixture f;
  const Json doc = f.client.get("/api").json();
  std::atomic<bool> told = false;
  std::vector<std::thread> guessing;
  for (int k = 0; k < 8; ++k)
    guessing.emplace_back([&] {
      for (int n = 0; n < 2000 && !told; ++n)
        if (f.client.get("/api/selection", {{"Authorization", "token wrong"}}).status == 429) told = true;
    });
  for (std::thread& one : guessing) one.join();
  CHECK(told);
  CHECK(doc["paths"]["/api/selection"]["get"]["responses"].contains("429"));
}

TEST_CASE("without a workspace nothing can be uploaded", "[server]") {
  ServerSettings s;
  s.port = 0;
  const Result<std::unique_ptr<Server>> started = Server::start(s);
  REQUIRE(started.ok());
  CHECK(testing::Client(**started.value).send("PUT", "/api/files/a.plan", "devices 1\n").status == 409);
}
