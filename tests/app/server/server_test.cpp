// The real server on loopback: who gets an answer, what is answered, and what clients that misbehave cannot do.
#include "app/server/server.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "tests/app/server/fixture.h"

using namespace planscope;
using namespace planscope::server;
using testing::Client;
using testing::Fixture;
using testing::kModel;
using testing::kPlan;
using testing::Reply;

namespace {

std::string simple(const Client& c, const std::string& target, const std::string& more = {}) {
  return "GET " + target + " HTTP/1.1\r\nHost: " + c.host() + "\r\nAuthorization: token " + c.token() +
         "\r\nConnection: close\r\n" + more + "\r\n";
}

std::vector<std::string> names_in(const Json& j, const std::string& member) {
  return j.contains(member) ? j[member].get<std::vector<std::string>>() : std::vector<std::string>{};
}

std::string status_line(const std::string& answer) { return answer.substr(0, answer.find('\r')); }

}  // namespace

TEST_CASE("without the token there is nothing", "[server]") {
  Fixture f;
  for (const char* path :
       {"/", "/index.html", "/api", "/api/panels", "/api/panels/chips", "/api/commands", "/api/events", "/api/canvases",
        "/api/canvases/timeline", "/api/exports/timeline.svg", "/api/selection", "/api/nothing", "/nothing", "/../../etc/passwd"}) {
    INFO(path);
    CHECK(f.client.get(path, {{"Authorization", ""}}).status == 401);
    CHECK(f.client.get(path, {{"Authorization", "token wrong"}}).status == 401);
    CHECK(f.client.get(path, {{"Host", "evil.example"}}).status == 403);
    CHECK(f.client.get(path, {{"Origin", "http://evil.example"}}).status == 403);
  }
  const std::string line = R"({"line": "open model=sample_models/gpt2_tiny.pt2"})";
  for (const testing::Headers& h :
       {testing::Headers{{"Authorization", ""}}, {{"Origin", "http://evil.example"}}, {{"Host", "evil.example"}}}) {
    const Reply r = f.client.send("POST", "/api/commands", line, h);
    CHECK((r.status == 401 || r.status == 403));
    CHECK((f.client.send("PUT", "/api/files/a.plan", kPlan, h).status / 100) == 4);
  }
  CHECK(f.client.panel("documents")["rows"].empty());
  CHECK_FALSE(std::filesystem::exists(f.scratch.file("uploads/a.plan")));
}

TEST_CASE("the link opens the page and leaves a cookie", "[server]") {
  Fixture f;
  const testing::Headers none{{"Authorization", ""}};
  const Reply page = f.client.get("/?token=" + f.client.token(), none);
  REQUIRE(page.status == 200);
  CHECK(page.body.find("planscope") != std::string::npos);
  const std::string cookie = page.header("set-cookie");
  REQUIRE(cookie.find("HttpOnly") != std::string::npos);
  CHECK(page.header("content-security-policy").find("default-src 'self'; script-src 'self' 'wasm-unsafe-eval'") == 0);
  CHECK(page.header("referrer-policy") == "no-referrer");
  CHECK(page.header("x-content-type-options") == "nosniff");
  const std::string pair = cookie.substr(0, cookie.find(';'));
  CHECK(f.client.get("/api/panels/chips", {{"Authorization", ""}, {"Cookie", pair}}).status == 200);
  CHECK(f.client.get("/api/panels/chips", {{"Authorization", ""}, {"Cookie", pair}, {"Sec-Fetch-Site", "cross-site"}})
            .status == 403);
  CHECK(f.client.get("/?token=wrong", none).status == 401);
  const Reply link = f.client.post("/api/links", Json::object());
  const std::string url = link.json()["url"];
  const std::string target = url.substr(url.find("/?"));
  // Nothing but going there lets in: whoever reads the link elsewhere cannot take the cookie and leave the link unspent.
  for (const char* method : {"HEAD", "POST", "OPTIONS", "PUT", "DELETE"}) {
    INFO(method);
    const Reply other = f.client.send(method, target, "", none);
    CHECK(other.status == 401);
    CHECK(other.header("set-cookie").empty());
  }
  const Reply nowhere = f.client.get(target + "&session=nobody", none);
  CHECK(nowhere.status == 404);
  CHECK(nowhere.header("set-cookie").empty());
  const Reply entered = f.client.get(target, none);
  CHECK(entered.status == 200);
  CHECK(entered.header("set-cookie") == cookie);
  CHECK(f.client.get(target, none).status == 401);
}

TEST_CASE("commands run, and what they change is in the panels", "[server]") {
  Fixture f;
  REQUIRE(f.client.run("open model=" + kModel).status == 200);
  const Reply written = f.client.post("/api/commands", {{"id", "text"}, {"arguments", {{"text", kPlan}}}});
  REQUIRE(written.status == 200);
  CHECK(written.json()["done"] == true);
  const Json chips = f.client.panel("chips");
  CHECK(chips["model"] == "gpt2_tiny");
  CHECK(chips["verdict"] == "equivalent");
  CHECK(chips["current"] == true);
  CHECK(f.client.post("/api/commands", {{"command", "append \"trans transformer.h[*] recompute\""}}).status == 200);
  const Json whole = f.client.get("/api/panels/script?full").json();
  CHECK(whole["kind"] == "script");
  CHECK(whole["text"] == kPlan + "trans transformer.h[*] recompute\n");
  const Json selection = f.client.get("/api/selection").json();
  CHECK(selection["document"] == 1);
}

TEST_CASE("what cannot be done is refused with its reason", "[server]") {
  Fixture f;
  const auto said = [](const Reply& r) { return r.json()["diagnostics"][0]["said"].get<std::string>(); };
  const Reply unknown = f.client.run("opne model=a");
  CHECK(unknown.status == 400);
  CHECK(said(unknown) == "there is no command 'opne'; did you mean 'open'?");
  for (const Reply& r : {f.client.run("wait"), f.client.run("wait 3"), f.client.run("show chips json"),
                         f.client.post("/api/commands", {{"id", "wait"}})}) {
    CHECK(r.status == 400);
    CHECK(said(r).find("is a word of scripts, not a command") != std::string::npos);
    CHECK(said(r).find("GET /api/panels/NAME gives a panel; with ?wait=60 it waits") != std::string::npos);
  }
  for (const char* seconds : {"abc", "-1", "", "1s", "nan"})
    CHECK(f.client.get(std::string("/api/panels/chips?wait=") + seconds).status == 400);
  const Reply early = f.client.run("keep");
  CHECK(early.status == 409);
  CHECK(said(early) == "'keep' cannot be run now; no model is open");
  CHECK(f.client.run("open model=/etc/passwd").status == 409);
  CHECK(f.client.post("/api/commands", {{"id", "append"}}).status == 400);
  CHECK(f.client.post("/api/commands", {{"id", "append"}, {"arguments", {{"statement", Json::array()}}}}).status ==
        400);
  CHECK(f.client.post("/api/commands", {{"line", "undo"}, {"id", "redo"}}).status == 400);
  CHECK(f.client.post("/api/commands", {{"line", "undo"}, {"zzz", 1}}).status == 400);
  const Reply misspelt = f.client.post("/api/commands", {{"id", "save"}, {"arguments", {{"file", "x.plan"}}}});
  CHECK(misspelt.status == 400);
  CHECK(said(misspelt).find("'save' does not take 'file'") != std::string::npos);
  for (const Json& document : {Json("1"), Json(-1), Json(1.5), Json(1e20)})
    CHECK(f.client.post("/api/commands", {{"id", "undo"}, {"document", document}}).status == 400);
  CHECK(said(f.client.post("/api/commands", {{"id", "replace"}, {"arguments", {{"line", 1.5}, {"statement", ""}}}}))
            .find("1.5") != std::string::npos);
  CHECK(f.client.post("/api/commands", Json::array()).status == 400);
  CHECK(f.client.send("POST", "/api/commands", "{", {{"Content-Type", "application/json"}}).status == 400);
  CHECK(f.client.send("POST", "/api/commands", "{}", {{"Content-Type", "text/plain"}}).status == 415);
  CHECK(f.client.get("/api/panels/chip").status == 404);
  CHECK(f.client.get("/api/canvases/timeline").status == 404);  // nothing is open
  CHECK(f.client.get("/api/canvases/none/marks").status == 404);
  CHECK(f.client.send("DELETE", "/api/panels/chips", "").status == 405);
}

TEST_CASE("a text is typed into the document that it is of", "[server]") {
  Fixture f;
  f.client.run("open model=" + kModel);
  f.client.run("open model=" + kModel);
  REQUIRE(f.client.get("/api/selection").json()["document"] == 2);
  CHECK(f.client.post("/api/commands", {{"id", "type"}, {"arguments", {{"text", "devices 1\n"}}}, {"document", 1}})
            .status == 200);
  CHECK(f.client.get("/api/selection").json()["document"] == 2);
  CHECK(f.client.get("/api/panels/script").json()["text"] == "");
  f.client.run("document 1");
  CHECK(f.client.get("/api/panels/script").json()["text"] == "devices 1\n");
  CHECK(f.client.post("/api/commands", {{"id", "type"}, {"arguments", {{"text", "x"}}}, {"document", 7}}).status ==
        409);
}

TEST_CASE("canvas models have a tag, and are sent again only when they have changed", "[server]") {
  Fixture f;
  f.client.run("open model=" + kModel);
  f.client.post("/api/commands", {{"id", "text"}, {"arguments", {{"text", kPlan}}}});
  f.client.panel("chips");
  const Json listed = f.client.get("/api/canvases").json()["canvases"];
  REQUIRE(!listed.empty());
  for (const Json& c : listed) {
    const std::string path = "/api/canvases/" + c["id"].get<std::string>();
    INFO(path);
    if (c["model"].is_null()) continue;
    const Reply model = f.client.get(path);
    REQUIRE(model.status == 200);
    CHECK(model.header("etag") == "\"" + c["model"].get<std::string>() + "\"");
    CHECK(f.client.get(path, {{"If-None-Match", model.header("etag")}}).status == 304);
    const Reply zipped = f.client.get(path, {{"Accept-Encoding", "gzip, br"}});
    if (zipped.header("content-encoding") == "gzip") CHECK(zipped.body.size() < model.body.size());
    CHECK(f.client.get(path + "/marks").json()["marks"].is_array());
  }
  CHECK(listed[0]["model"].is_string());
  f.client.run("append \"trans transformer.h[*] recompute\"");
  f.client.panel("chips");
  CHECK(f.client.get("/api/canvases").json()["canvases"][0]["model"] != listed[0]["model"]);
}

TEST_CASE("an export is answered as the command writes it, and no file is written", "[server]") {
  Fixture f;
  CHECK(f.client.get("/api/exports/timeline.svg").status == 409);  // nothing is open
  REQUIRE(f.client.run("open model=" + kModel).status == 200);
  f.client.post("/api/commands", {{"id", "text"}, {"arguments", {{"text", kPlan}}}});
  CHECK(f.client.panel("chips")["verdict"] == "equivalent");
  const auto exported = [&](const std::string& name, const std::string& how) {
    const std::string file = f.scratch.file("uploads/" + name);
    const std::string what = name.substr(0, name.find('.'));
    std::filesystem::create_directories(f.scratch.file("uploads"));
    REQUIRE(f.client.run("export " + what + " \"" + file + "\" overwrite=yes" + how).status == 200);
    return testing::read_file_text(file);
  };
  const Reply svg = f.client.get("/api/exports/timeline.svg");
  REQUIRE(svg.status == 200);
  CHECK(svg.header("content-type") == "image/svg+xml");
  CHECK(svg.header("content-disposition") == "attachment; filename=\"timeline.svg\"");
  CHECK(svg.body.find("gpt2_tiny · plan on dgx-h100x1 · step ") != std::string::npos);
  CHECK(svg.body == exported("timeline.svg", ""));
  CHECK(f.client.get("/api/exports/graph.png?colours=dark").body == exported("graph.png", " colours=dark"));
  CHECK(f.client.get("/api/exports/timeline.csv").body == exported("timeline.csv", ""));
  CHECK(f.client.get("/api/exports/cluster.json").body == exported("cluster.json", ""));
  // What one page looks at is its own: the session's view stays.
  const std::string looked = "/api/exports/timeline.svg?size=900x400&view=";
  const Reply mine = f.client.get(looked + "%7B%22from_us%22%3A10%2C%22to_us%22%3A20%7D");
  REQUIRE(mine.status == 200);
  CHECK(mine.body != f.client.get(looked + "yes").body);
  REQUIRE(f.client.run("view timeline from_us=10 to_us=20").status == 200);
  CHECK(mine.body == f.client.get(looked + "yes").body);
  const Reply broken = f.client.get(looked + "%7Bno+view");
  CHECK(broken.status == 409);
  CHECK(broken.body.find("the view '{no view' is no JSON object") != std::string::npos);
  CHECK(f.client.get("/api/exports/timeline.svg?size=1x1&view=yes").status == 409);
  for (const char* name : {"timelin.svg", "timeline", "..%2f..%2fa.svg", ""})
    CHECK(f.client.get(std::string("/api/exports/") + name).status == 409);
}

TEST_CASE("what is shown does not wait for exports", "[server]") {
  constexpr int count = 12;
  Fixture f;
  REQUIRE(f.client.run("open model=" + kModel).status == 200);
  f.client.post("/api/commands", {{"id", "text"}, {"arguments", {{"text", kPlan}}}});
  CHECK(f.client.panel("chips")["verdict"] == "equivalent");
  std::atomic<int> done = 0, right = 0;
  std::vector<std::thread> exports;
  for (int k = 0; k < count; ++k)
    exports.emplace_back([&] {
      right += f.client.get("/api/exports/graph.png").status == 200;
      ++done;
    });
  while (done == 0) std::this_thread::yield();
  CHECK(f.client.get("/api/selection").status == 200);
  CHECK(done <= count / 2);  // most are still being made
  for (std::thread& one : exports) one.join();
  CHECK(right == count);
}

TEST_CASE("events tell of changes, and of those that a client has missed", "[server]") {
  Fixture f;
  const std::string now = f.client.event();
  const std::size_t id = now.find("id: ");
  REQUIRE(id != std::string::npos);
  CHECK(now.find("Content-Type: text/event-stream") != std::string::npos);
  CHECK(now.find("event: revision\ndata: {\"revision\": ") != std::string::npos);
  const std::string seen = now.substr(id + 4, now.find('\n', id) - id - 4);
  std::string later;
  std::thread waiting([&] { later = f.client.event(seen); });
  f.client.run("open model=" + kModel);
  waiting.join();
  const std::size_t next = later.find("id: ");
  REQUIRE(next != std::string::npos);
  CHECK(std::stoull(later.substr(next + 4)) > std::stoull(seen));
}

TEST_CASE("a page that is closed is gone at once, not at the next heartbeat", "[server]") {
  Fixture f;
  const auto pages = [&] { return f.client.get("/api/sessions").json()["sessions"][0]["pages"].get<int>(); };
  const auto becomes = [&](int wanted) {
    for (int k = 0; k < 200 && pages() != wanted; ++k) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return pages() == wanted;
  };
  std::shared_ptr<void> listens = f.client.listen();
  CHECK(becomes(1));
  listens.reset();
  CHECK(becomes(0));
}

TEST_CASE("files are uploaded whole or not at all", "[server]") {
  Limits limits;
  limits.upload_bytes = 100'000;
  Fixture f(limits);
  const Reply sent = f.client.send("PUT", "/api/files/my%20plan.plan", kPlan);
  REQUIRE(sent.status == 200);
  const std::string path = sent.json()["path"];
  CHECK(testing::read_file_text(path) == kPlan);
  CHECK(f.client.send("PUT", "/api/files/my%20plan.plan", kPlan).json()["path"] == path);  // the same file
  const std::string other = f.client.send("PUT", "/api/files/my%20plan.plan", "# other\n").json()["path"];
  CHECK(other.ends_with("/my plan-2.plan"));
  CHECK(testing::read_file_text(other) == "# other\n");
  CHECK(testing::read_file_text(path) == kPlan);  // no file of that name is replaced
  f.client.run("open model=" + kModel);
  CHECK(f.client.run("open plan=\"" + path + "\"").status == 200);
  for (const char* name : {"..%2fa.plan", "%2fetc%2fa.plan", "..", "a.exe", "a%00.plan", ".a.plan"})
    CHECK(f.client.send("PUT", std::string("/api/files/") + name, "x").status == 400);
  CHECK(f.client.send("PUT", "/api/files/large.pt2", std::string(200'000, 'x')).status == 413);
  f.client.raw("PUT /api/files/cut.plan HTTP/1.1\r\nHost: " + f.client.host() + "\r\nAuthorization: token " +
                   f.client.token() + "\r\nContent-Length: 100\r\n\r\nhalf",
               300);
  f.server.reset();
  std::vector<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(f.scratch.file("uploads")))
    left.push_back(entry.path().filename().string());
  std::erase_if(
      left, [](const std::string& name) { return name.ends_with(".part"); });  // of a connection that the end has cut
  std::sort(left.begin(), left.end());
  CHECK(left == std::vector<std::string>{"my plan-2.plan", "my plan.plan"});
}

TEST_CASE("a plan alone opens no model that may not be named", "[server]") {
  Fixture f;
  const testing::Scratch outside;
  std::filesystem::copy(kModel, outside.file("m.pt2"));
  const std::string path = f.client.send("PUT", "/api/files/a.plan", kPlan).json()["path"];
  REQUIRE(f.server->run({"open", {{"model", outside.file("m.pt2")}, {"plan", path}}}).ok());
  REQUIRE(f.client.run("close").status == 200);
  const Reply refused = f.client.run("open plan=\"" + path + "\"");
  CHECK(refused.status == 409);
  CHECK(refused.body.find("is not below a folder that is served") != std::string::npos);
}

TEST_CASE("requests that are none, and too large ones, are answered and end the connection", "[server]") {
  Limits limits;
  limits.body_bytes = 10'000;
  Fixture f(limits);
  CHECK(status_line(f.client.raw("nonsense\r\n\r\n")) == "HTTP/1.1 400 Bad Request");
  CHECK(status_line(f.client.raw(simple(f.client, "/api", "X: " + std::string(100'000, 'x') + "\r\n"))) ==
        "HTTP/1.1 431 Request Header Fields Too Large");
  CHECK(status_line(f.client.raw(simple(f.client, "/%zz"))) == "HTTP/1.1 400 Bad Request");
  CHECK(status_line(f.client.raw(simple(f.client, "/%00"))) == "HTTP/1.1 400 Bad Request");
  CHECK(status_line(f.client.raw(simple(f.client, "/..%2f..%2fetc/passwd"))) == "HTTP/1.1 404 Not Found");
  const Json large = {{"id", "text"}, {"arguments", {{"text", std::string(20'000, '#')}}}};
  CHECK(f.client.post("/api/commands", large).status == 413);
  std::mt19937 random(7);
  const std::string seed = simple(f.client, "/api/panels/chips?full&wait=0");
  for (int i = 0; i < 200; ++i) {
    std::string bytes = seed;
    for (int k = 0; k < 4; ++k) bytes[random() % bytes.size()] = static_cast<char>(random());
    f.client.raw(bytes.substr(0, 1 + random() % bytes.size()), 20);
  }
  CHECK(f.client.get("/api/panels/chips").status == 200);
}

TEST_CASE("clients that send or read slowly hold nobody up, and do not stay", "[server]") {
  Limits limits;
  limits.header_time = std::chrono::seconds(4);
  limits.connections_of_an_address = 20;
  Fixture f(limits);
  std::vector<std::thread> slow;
  std::vector<std::string> answers(8);
  for (std::string& a : answers) slow.emplace_back([&] { a = f.client.raw("GET / HTTP/1.1\r\nHost: ", 20'000); });
  for (int i = 0; i < 50; ++i) CHECK(f.client.get("/api/panels/chips").status == 200);
  for (std::thread& t : slow) t.join();
  CHECK(answers == std::vector<std::string>(8));  // closed without an answer
}

TEST_CASE("connections that say nothing lock nobody out", "[server]") {
  Limits limits;
  limits.strangers = 6;
  limits.header_time = std::chrono::seconds(20);
  Fixture f(limits);
  std::vector<std::thread> silent;
  std::vector<std::string> answers(40);
  for (std::string& a : answers) silent.emplace_back([&] { a = f.client.raw("GET / HTTP/1.1\r\nHost: ", 1'000); });
  // Until it has said who it is, an asker is a stranger too, and may have to go for one of these: each is in the way once at most.
  int answered = 0;
  for (int asked = 0; asked < 50 + 40 && answered < 50; ++asked) answered += f.client.get("/api/panels/chips").status == 200;
  CHECK(answered == 50);
  for (std::thread& t : silent) t.join();
  CHECK(answers == std::vector<std::string>(40));
}

TEST_CASE("one address has so many connections, no more", "[server]") {
  Limits limits;
  limits.connections_of_an_address = 4;
  Fixture f(limits);
  REQUIRE(f.server->run(*session::parse_invocation("open model=" + kModel)).ok());
  const auto ask_until = [&](unsigned status) {
    Reply r;
    for (int i = 0; i < 500 && r.status != status; ++i) {
      f.server->run(
          {"select", {{"none", "none"}}});  // the server sees that a client has gone when it has something to say
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      r = f.client.get("/api/panels/chips");
    }
    return r.status;
  };
  std::vector<std::shared_ptr<void>> held;
  for (int i = 0; i < 4; ++i) held.push_back(f.client.listen());
  CHECK(ask_until(503) == 503);
  held.clear();
  CHECK(ask_until(200) == 200);
}

TEST_CASE("what the server says of itself is so", "[server]") {
  Fixture f;
  f.client.run("open model=" + kModel);
  f.client.post("/api/commands", {{"id", "text"}, {"arguments", {{"text", kPlan}}}});
  f.client.panel("chips");
  const Json doc = f.client.get("/api").json();
  CHECK(doc["openapi"] == "3.1.0");
  std::size_t asked = 0;
  const auto check = [&](const std::string& path, const Json& schema) {
    INFO(path);
    const Reply r = f.client.get(path);
    REQUIRE(r.status == 200);
    const Json answer = r.json();
    REQUIRE(answer.is_object());
    for (const std::string& name : names_in(schema, "required")) CHECK(answer.contains(name));
    const Json properties = schema.value("properties", Json::object());
    for (const auto& [name, of] : properties.items()) {
      if (of.value("type", "") != "array") continue;
      REQUIRE(answer[name].is_array());
      for (const Json& one : answer[name])
        for (const std::string& field : names_in(of["items"], "required")) CHECK(one.contains(field));
    }
    ++asked;
  };
  for (const auto& [path, operations] : doc["paths"].items()) {
    if (!operations.contains("get") || path == "/api/events") continue;
    const Json& ok = operations["get"]["responses"]["200"];
    if (!ok.contains("content") || !ok["content"].contains("application/json")) continue;
    std::vector<std::string> names{""};
    const Json parameters = operations["get"].value("parameters", Json::array());
    for (const Json& p : parameters)
      if (p["in"] == "path") names = names_in(p["schema"], "enum");
    for (const std::string& name : names) {
      std::string one = path;
      if (const std::size_t at = one.find("{name}"); at != std::string::npos) one.replace(at, 6, name);
      check(one, ok["content"]["application/json"]["schema"]);
    }
  }
  CHECK(asked > 15);
}

TEST_CASE("the server starts only where that is safe", "[server]") {
  ServerSettings s;
  s.port = 0;
  s.address = "0.0.0.0";
  CHECK_FALSE(Server::start(s).ok());
  s.address = "nowhere.invalid";
  const Result<std::unique_ptr<Server>> nowhere = Server::start(s);
  REQUIRE_FALSE(nowhere.ok());
  CHECK(to_string(nowhere.diagnostics).find("'nowhere.invalid' is no address, and no name of one") != std::string::npos);
  s.address = "127.0.0.1";
  s.certificate = s.key = "no such file";
  CHECK_FALSE(Server::start(s).ok());
}

TEST_CASE("a server is reached by the name that it was told to listen at", "[server]") {
  ServerSettings s;
  s.port = 0;
  s.address = "LocalHost";  // no address: it is looked up
  const Result<std::unique_ptr<Server>> started = Server::start(s);
  INFO(to_string(started.diagnostics));
  REQUIRE(started.ok());
  CHECK((*started.value)->base().starts_with("http://LocalHost:"));
  const Client client(**started.value);
  CHECK(client.get("/api").status == 200);
  CHECK(client.get("/api", {{"Host", "localhost:1"}}).status == 200);
  CHECK(client.get("/api", {{"Host", "other.example"}}).status == 403);
}

TEST_CASE("a port that is taken is left for the next one", "[server]") {
  ServerSettings s;
  s.port = 18640;
  const Result<std::unique_ptr<Server>> first = Server::start(s), second = Server::start(s);
  REQUIRE(first.ok());
  REQUIRE(second.ok());
  CHECK((*first.value)->base() != (*second.value)->base());
}

TEST_CASE("sessions of one server have documents, selections and events of their own", "[server]") {
  Fixture f;
  REQUIRE(f.client.run("open model=" + kModel).status == 200);
  const Reply begun = f.client.post("/api/sessions", Json::object());
  REQUIRE(begun.status == 200);
  const std::string other = "?session=" + begun.json()["session"].get<std::string>();
  CHECK(f.client.get("/api/panels/documents" + other).json()["rows"].empty());
  const Json open = {{"id", "open"}, {"arguments", {{"model", "sample_models/llama_tiny.pt2"}}}};
  REQUIRE(f.client.post("/api/commands" + other, open).status == 200);
  const Json select = {{"line", "select operators=\"model.layers[*]\""}};
  REQUIRE(f.client.post("/api/commands" + other, select).status == 200);
  CHECK(f.client.get("/api/selection" + other).json()["operators"] == "model.layers[*]");
  CHECK(f.client.get("/api/selection").json()["operators"] == "");
  CHECK(f.client.panel("chips")["model"] == "gpt2_tiny");
  CHECK(f.client.get("/api/panels/chips" + other).json()["model"] == "llama_tiny");
  const Json all = f.client.get("/api/sessions").json()["sessions"];
  REQUIRE(all.size() == 2);
  CHECK(all[0] == Json{{"session", "2"}, {"documents", {"llama_tiny · plan"}}, {"pages", 0}});
  CHECK(all[1] == Json{{"session", "main"}, {"documents", {"gpt2_tiny · plan"}}, {"pages", 0}});
  CHECK(f.client.get("/api/panels/chips?session=nobody").status == 404);
  CHECK(f.client.get("/api/events?session=nobody").status == 404);
  // What is kept in one is in the workspace for the other.
  REQUIRE(f.client.run("text \"" "devices 1\"").status == 200);
  REQUIRE(f.client.run("keep").status == 200);
  const auto kept = [&] { return f.client.get("/api/panels/workspace" + other).json()["plans"].size(); };
  for (int k = 0; k < 1000 && kept() == 0; ++k) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(kept() == 1);  // no page listens, but somebody asks
  const auto remove = [&](const std::string& name) { return f.client.send("DELETE", "/api/sessions/" + name, ""); };
  for (std::size_t k = 2; k < Sessions::most; ++k) REQUIRE(f.client.post("/api/sessions", Json::object()).status == 200);
  CHECK(f.client.post("/api/sessions", Json::object()).status == 409);
  CHECK(remove("2").status == 200);
  CHECK(f.client.post("/api/sessions", Json::object()).status == 200);
}

TEST_CASE("a session that is ended is gone, and what was not kept in it is offered in the others", "[server]") {
  Fixture f;
  const auto remove = [&](const std::string& name) { return f.client.send("DELETE", "/api/sessions/" + name, ""); };
  REQUIRE(f.client.post("/api/sessions", Json::object()).status == 200);
  REQUIRE(f.client.post("/api/commands?session=2", {{"line", "open model=" + kModel}}).status == 200);
  REQUIRE(f.client.post("/api/commands?session=2", {{"line", "text \"devices 2 as data=2\""}}).status == 200);
  const std::shared_ptr<void> listens = f.client.listen("2");
  const auto pages = [&] { return f.client.get("/api/sessions").json()["sessions"][0]["pages"].get<int>(); };
  for (int k = 0; k < 200 && pages() == 0; ++k) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(pages() == 1);
  CHECK(f.client.panel("drafts")["rows"].empty());
  CHECK(remove("main").status == 409);
  CHECK(remove("3").status == 409);
  CHECK(f.client.send("DELETE", "/api/sessions/2", "", {{"Authorization", ""}}).status == 401);
  CHECK(f.client.send("DELETE", "/api/sessions/2", "", {{"Origin", "http://evil.example"}}).status == 403);
  REQUIRE(remove("2").status == 200);
  CHECK(remove("2").status == 409);
  CHECK(f.client.get("/api/panels/chips?session=2").status == 410);
  CHECK(f.client.get("/api/events?session=2").status == 410);
  CHECK(f.client.get("/api/sessions").json()["sessions"].size() == 1);
  REQUIRE(f.client.post("/api/refresh", Json::object()).status == 200);
  const Json told = f.client.get("/api/notices").json()["notices"];
  REQUIRE(told.size() == 1);
  CHECK(told[0]["severity"] == "note");
  CHECK(told[0]["offers"].size() == 2);
  const Json left = f.client.panel("drafts")["rows"];
  REQUIRE(left.size() == 1);
  REQUIRE(f.client.run("restore " + left[0]["draft"].dump()).status == 200);
  CHECK(f.client.panel("script")["text"] == "devices 2 as data=2");
}

TEST_CASE("sessions end while they are at work", "[server]") {
  Fixture f;
  for (int k = 2; k < 8; ++k) {
    const std::string name = std::to_string(k), session = "?session=" + name;
    REQUIRE(f.client.post("/api/sessions", Json::object()).status == 200);
    REQUIRE(f.client.post("/api/commands" + session, {{"line", "open model=" + kModel}}).status == 200);
    REQUIRE(f.client.post("/api/commands" + session, {{"id", "text"}, {"arguments", {{"text", kPlan}}}}).status == 200);
    std::vector<std::thread> asking;
    for (const std::string panel : {"chips?wait=60&", "timeline?", "operator?"})
      asking.emplace_back([&f, panel, name] { f.client.get("/api/panels/" + panel + "session=" + name); });
    CHECK(f.client.send("DELETE", "/api/sessions/" + name, "").status == 200);
    for (std::thread& one : asking) one.join();
  }
  CHECK(f.client.get("/api/sessions").json()["sessions"].size() == 1);
}
