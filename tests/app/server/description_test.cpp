// GET /api says what the server answers: each path with each status, and no more.
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

}  // namespace

TEST_CASE("every path and every status that is answered is described, and none else", "[server]") {
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
    CHECK(doc["paths"][a.path][a.method]["responses"].contains(std::to_string(r.status)));
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
    CHECK(doc["paths"][a.path][a.method]["responses"].contains("304"));
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

TEST_CASE("without a workspace nothing can be uploaded", "[server]") {
  ServerSettings s;
  s.port = 0;
  const Result<std::unique_ptr<Server>> started = Server::start(s);
  REQUIRE(started.ok());
  CHECK(testing::Client(**started.value).send("PUT", "/api/files/a.plan", "devices 1\n").status == 409);
}
