// Who is let in, which files may be named, and how much one address may ask for.
#include "app/server/access.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "app/server/body.h"
#include "app/server/file_rules.h"
#include "app/server/rate.h"
#include "tests/app/session/scratch.h"

using namespace planscope;
using namespace planscope::server;
using std::chrono::seconds;

namespace {

const Access::Now kStart{};

std::string token_in(const std::string& url) { return url.substr(url.find("token=") + 6); }

std::string cookie_of(const Access& a) { return a.cookie().substr(0, a.cookie().find(';')); }

bool can_open(const FileRules& rules, const std::string& path) { return rules.check({"open", {{"model", path}}}).ok(); }

}  // namespace

TEST_CASE("the token lets in, and nothing that is nearly it") {
  Access a({.port = 8640});
  const auto judged = [&](const std::string& authorization) {
    return a.judge({.host = "127.0.0.1:8640", .authorization = authorization}, kStart);
  };
  CHECK(judged("token " + a.token()) == Admission::allowed);
  CHECK(judged("Bearer " + a.token()) == Admission::allowed);
  CHECK(judged("token " + a.token() + "0") == Admission::unknown);
  CHECK(judged("token " + a.token().substr(1)) == Admission::unknown);
  CHECK(judged(a.token()) == Admission::unknown);
  CHECK(judged("token ") == Admission::unknown);
  CHECK(judged("") == Admission::unknown);
  CHECK(a.token().size() == 64);
  CHECK(Access({.port = 8640}).token() != a.token());
}

TEST_CASE("the token of the link is exchanged for a cookie that scripts of pages cannot read") {
  Access a({.port = 8640});
  CHECK(a.judge({.host = "localhost:8640", .token = a.token()}, kStart) == Admission::enters);
  CHECK(a.cookie().find("; HttpOnly; SameSite=Strict") != std::string::npos);
  CHECK(a.cookie().find("Secure") == std::string::npos);
  CHECK(Access({.port = 1, .tls = true}).cookie().find("; Secure") != std::string::npos);
  CHECK(a.cookie().find(a.token()) == std::string::npos);
  CHECK(a.judge({.host = "localhost:8640", .cookie = "x=1; " + cookie_of(a)}, kStart) == Admission::allowed);
  CHECK(a.judge({.host = "localhost:8640", .cookie = cookie_of(a) + "0"}, kStart) == Admission::unknown);
  CHECK(a.judge({.host = "localhost:8640", .cookie = "planscope_8640=" + a.token()}, kStart) == Admission::unknown);
}

TEST_CASE("a shared link lets one browser in, for a while") {
  Access a({.port = 8640});
  const std::string first = token_in(a.link(kStart)), late = token_in(a.link(kStart));
  CHECK(a.judge({.host = "localhost:8640", .token = first}, kStart + seconds(60)) == Admission::enters);
  CHECK(a.judge({.host = "localhost:8640", .token = first}, kStart + seconds(61)) == Admission::unknown);
  CHECK(a.judge({.host = "localhost:8640", .token = late}, kStart + Access::link_life + seconds(1)) ==
        Admission::unknown);
  CHECK(a.judge({.host = "localhost:8640", .authorization = "token " + late}, kStart) == Admission::unknown);
}

TEST_CASE("other names and pages of other sites get nothing, whatever they carry") {
  Access a({.port = 8640});
  const std::string right = "token " + a.token();
  const auto judged = [&](const std::string& host, const std::string& origin) {
    return a.judge({.host = host, .origin = origin, .authorization = right}, kStart);
  };
  CHECK(judged("evil.example:8640", "") == Admission::foreign);
  CHECK(judged("", "") == Admission::foreign);
  CHECK(judged("127.0.0.1.evil.example:8640", "") == Admission::foreign);
  CHECK(judged("localhost:9000", "") == Admission::allowed);  // through a tunnel
  CHECK(judged("LOCALHOST:8640", "") == Admission::allowed);
  CHECK(judged("[::1]:8640", "") == Admission::allowed);
  CHECK(judged("localhost:8640", "http://localhost:8640") == Admission::allowed);
  CHECK(judged("localhost:8640", "https://localhost:8640") == Admission::foreign);
  CHECK(judged("localhost:8640", "http://localhost:9000") == Admission::foreign);
  CHECK(judged("localhost:8640", "http://evil.example") == Admission::foreign);
  CHECK(judged("localhost:8640", "null") == Admission::foreign);
  CHECK(a.judge({.host = "localhost:8640", .fetch_site = "cross-site", .authorization = right}, kStart) ==
        Admission::foreign);
  CHECK(a.judge({.host = "localhost:8640", .fetch_site = "cross-site", .cookie = cookie_of(a)}, kStart) ==
        Admission::foreign);
  Access everywhere({.address = "0.0.0.0", .port = 8640});
  const std::string its = "token " + everywhere.token();
  CHECK(everywhere.judge({.host = "10.1.2.3:8640", .authorization = its}, kStart) == Admission::allowed);
  CHECK(everywhere.judge({.host = "evil.example:8640", .authorization = its}, kStart) == Admission::foreign);
  Access named({.address = "Node7.cluster", .resolved = "10.0.0.7", .port = 8640});
  for (const auto& [host, admission] : std::map<std::string, Admission>{{"node7.cluster:8640", Admission::allowed},
                                                                        {"10.0.0.7:8640", Admission::allowed},
                                                                        {"10.0.0.8:8640", Admission::foreign},
                                                                        {"node8.cluster:8640", Admission::foreign}})
    CHECK(named.judge({.host = host, .authorization = "token " + named.token()}, kStart) == admission);
}

TEST_CASE("commands name files below the folders that are served, and no others") {
  const testing::Scratch served, elsewhere;
  served.write("a.pt2", "");
  const std::string secret = elsewhere.write("secret.pt2", "");
  std::filesystem::create_symlink(secret, served.file("link.pt2"));
  std::filesystem::create_directory(served.file("folder"));
  REQUIRE(::mkfifo(served.file("pipe.pt2").c_str(), 0600) == 0);
  const FileRules rules({served.path()}, {});
  CHECK(can_open(rules, served.file("a.pt2")));
  CHECK(can_open(rules, served.path() + "/folder/../a.pt2"));
  CHECK(can_open(rules, "a model of the workspace"));
  CHECK_FALSE(can_open(rules, secret));
  CHECK_FALSE(can_open(rules, served.file("link.pt2")));
  CHECK_FALSE(can_open(
      rules, served.path() + "/../" + std::filesystem::path(elsewhere.path()).filename().string() + "/secret.pt2"));
  CHECK_FALSE(can_open(rules, served.file("pipe.pt2")));
  CHECK_FALSE(can_open(rules, served.file("folder")));
  served.write("ruled.pt2", "");
  std::filesystem::create_symlink(elsewhere.write("secret.txt", "root:x:0:0"), served.file("ruled.rules"));
  CHECK_FALSE(can_open(rules, served.file("ruled.pt2")));  // NAME.rules is read with it
  served.write("with.pt2", ""), served.write("with.rules", "");
  CHECK(can_open(rules, served.file("with.pt2")));
  CHECK_FALSE(can_open(rules, served.file("a.pt2") + std::string(1, '\0') + "/../x"));
  CHECK_FALSE(can_open(rules, "/dev/null"));
  CHECK_FALSE(can_open(rules, "/nowhere/a.pt2"));
  CHECK_FALSE(can_open(rules, served.path() + "x/a.pt2"));
  CHECK_FALSE(rules.check({"cluster", {{"name", secret}}}).ok());
  CHECK_FALSE(rules.check({"save", {{"path", elsewhere.file("new.plan")}}}).ok());
  CHECK(rules.check({"save", {{"path", served.file("new.plan")}}}).ok());
  CHECK(rules.check({"text", {{"text", secret}}}).ok());
  CHECK(rules.check({"compare", {{"plans", served.file("a.pt2") + "\nrun:1"}}}).ok());
  CHECK_FALSE(rules.check({"compare", {{"plans", served.file("a.pt2") + "\n" + secret}}}).ok());
  CHECK_FALSE(rules.check({"compare", {{"base", secret}, {"plans", "1"}}}).ok());
  CHECK(rules.check({"open", {{"link", "planscope://open?model=" + served.file("a.pt2") + "&plan=3&compare=run:1|2"}}})
            .ok());
  for (const std::string& link :
       {"planscope://open?model=" + secret, "#model=" + served.file("a.pt2") + "&plan=" + secret,
        "#model=" + served.file("a.pt2") + "&cluster=" + secret + ":device.launch_us=1",
        "#model=" + served.file("a.pt2") + "&compare=1|" + secret,
        "#model=" + served.file("a.pt2") + "&compare=1&base=" + secret})
    CHECK_FALSE(rules.check({"open", {{"link", link}}}).ok());
  CHECK(rules.check({"cluster", {{"name", "dgx-h100x2:levels.0.latency_us=5"}}}).ok());
  CHECK_FALSE(rules.check({"cluster", {{"name", secret + ":device.launch_us=1"}}}).ok());
  CHECK_FALSE(
      rules.check({"cluster", {{"name", "CMakeLists.txt:device.launch_us=1"}}}).ok());  // where the program runs
  CHECK(rules.check({"prefer", {{"name", "cluster"}, {"value", "dgx-h100x2"}}}).ok());
  CHECK(rules.check({"prefer", {{"name", "scale"}, {"value", "150 %"}}}).ok());
  CHECK_FALSE(rules.check({"prefer", {{"name", "cluster"}, {"value", secret}}}).ok());
  CHECK_FALSE(rules.check({"prefer", {{"name", "cluster"}, {"value", secret + ":device.launch_us=1"}}}).ok());
  CHECK(rules.check({"delete", {{"kind", "run"}, {"number", "3"}}}).ok());
  // What may be a name is no file where a folder is called so: `app` and `planner` are, where the program runs.
  CHECK(rules.check({"split", {{"factor", "app"}, {"out", "by planner"}}}).ok());
  CHECK(rules.check({"export", {{"what", "planner"}, {"path", served.file("x.csv")}}}).ok());
  CHECK(rules.check({"cluster", {{"name", "planner"}}}).ok());
  CHECK(rules.check({"compare", {{"plans", "app\nrun:1"}}}).ok());
  CHECK_FALSE(rules.check({"cluster", {{"name", served.path() + "/../secret"}}}).ok());
  CHECK_FALSE(rules.check({"export", {{"what", "graph"}, {"path", elsewhere.file("x.svg")}}}).ok());
  CHECK(can_open(FileRules({served.path()}, {secret}), secret));
  // What comes with the program may be read, and is not written to.
  const FileRules with_samples({served.path()}, {}, {elsewhere.path()});
  CHECK(can_open(with_samples, secret));
  for (const session::Invocation& i : {session::Invocation{"save", {{"path", elsewhere.file("x.plan")}}},
                                       {"export", {{"what", "graph"}, {"path", elsewhere.file("x.svg")}}},
                                       {"run", {{"join", elsewhere.file("x.join")}}}})
    CHECK_FALSE(with_samples.check(i).ok());
  CHECK(with_samples.check({"save", {{"path", served.file("x.plan")}}}).ok());
  const std::string said = to_string(rules.check({"open", {{"model", "/etc/passwd"}}}).diagnostics);
  CHECK(said.find("--root") != std::string::npos);
}

TEST_CASE("uploads have plain names of files that can be opened") {
  for (const char* name : {"a.pt2", "my plan.plan", "c.json"}) CHECK(check_upload_name(name).ok());
  for (const char* name :
       {"", ".pt2", ".hidden.plan", "../a.pt2", "a/b.plan", "a\\b.plan", "a.exe", "a.pt2.sh", "a\n.plan"})
    CHECK_FALSE(check_upload_name(name).ok());
  CHECK_FALSE(check_upload_name(std::string(200, 'a') + ".plan").ok());
}

TEST_CASE("an address that asks for too much waits, guessing costs more, and keeps nobody out who is let in") {
  Rate rate;
  const auto all = [&](const char* address, Caller caller, Rate::Now now) {
    int taken = 0;
    while (rate.take(address, caller, now)) ++taken;
    return taken;
  };
  CHECK(all("a", Caller::known, kStart) == static_cast<int>(Rate::most));
  CHECK(rate.take("b", Caller::known, kStart));
  CHECK(all("a", Caller::known, kStart + seconds(1)) == static_cast<int>(Rate::a_second));
  CHECK(all("c", Caller::stranger, kStart) == static_cast<int>(Rate::most / Rate::of_a_stranger));
  CHECK(rate.take("c", Caller::known, kStart));
}

TEST_CASE("a body is compressed as gzip, and named by what is in it") {
  const std::string text(10'000, 'x');
  const Body body("text/plain", text), same("text/plain", text), other("text/plain", text + "y");
  CHECK(body.etag() == same.etag());
  CHECK(body.etag() != other.etag());
  CHECK(body.gzip().size() < 200);
  CHECK(body.gzip().substr(0, 2) == "\x1f\x8b");
}

TEST_CASE("a link is spent by what it shows, and takes nothing from who is in already") {
  Access a({.address = "127.0.0.1", .port = 8640});
  const std::string link = a.link(kStart);
  const std::string token = link.substr(link.find("token=") + 6);
  CHECK(a.judge({.host = "localhost:8640", .token = token, .spends = false}, kStart) == Admission::enters);
  CHECK(a.judge({.host = "localhost:8640", .token = token}, kStart) == Admission::enters);
  CHECK(a.judge({.host = "localhost:8640", .token = token}, kStart) == Admission::unknown);
  CHECK(a.judge({.host = "localhost:8640", .cookie = cookie_of(a), .token = token}, kStart) == Admission::allowed);
}
