#include "app/server/routes.h"

#include <algorithm>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <utility>

#include "app/server/on_pool.h"
#include "app/session/layout.h"
#include "app/session/panel_wire.h"
#include "engine/base/text.h"

namespace planscope::server {

namespace asio = boost::asio;

namespace {

constexpr double kLongestWait = 600;  // seconds

Answer made(const Made& m) {
  if (!m.body) return failure(404, "there is nothing here");
  return {200, m.body, {{"Planscope-Revision", std::to_string(m.revision)}}};
}

Answer panel_list() {
  Json all = Json::array();
  for (const session::PanelPlace& place : session::shipped_layout())
    for (const session::PanelInfo& p : session::panels())
      if (place.panel == p.id)
        all.push_back({{"id", p.id}, {"title", p.title}, {"side", to_string(place.side)}, {"group", place.group},
                       {"shown", place.shown}, {"menu", p.menu}, {"keys", p.keys}});
  return answer_of(200, {{"panels", std::move(all)}});
}

std::string value_of(const Request& r, const std::string& name) {
  const auto found = r.query.find(name);
  return found == r.query.end() ? "" : found->second;
}

int digit(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

std::optional<std::string> decoded(std::string_view text, bool plus_is_space) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      out += ' ';
    } else if (text[i] == '%') {
      if (i + 2 >= text.size() || digit(text[i + 1]) < 0 || digit(text[i + 2]) < 0) return std::nullopt;
      out += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
    if (out.back() == '\0') return std::nullopt;
  }
  return out;
}

std::string text_of(const Json& j, const char* name) {
  return j.contains(name) && j[name].is_string() ? j[name].get<std::string>() : std::string();
}

// What is behind `prefix`; empty: another path.
std::string behind(const std::string& path, std::string_view prefix) {
  return path.starts_with(prefix) ? path.substr(prefix.size()) : std::string();
}

// Words of a script that are no commands: what gives the same here.
std::optional<Diagnostic> word_of_scripts(const std::string& line) {
  const std::string word = line.substr(0, line.find(' '));
  if (word != "wait" && word != "show") return std::nullopt;
  return error("'" + word + "' is a word of scripts, not a command", "a command is answered at once",
               "GET /api/panels/NAME gives a panel; with ?wait=60 it waits until nothing runs any more");
}

Result<session::Invocation> invocation_of(const Json& j) {
  if (!j.is_object()) return error("the body is no JSON object");
  if (j.contains("line") && j.contains("id"))
    return error("there are two commands", "the body has a 'line' and an 'id'", "send one of them");
  for (const auto& [name, value] : j.items())
    if (name != "line" && name != "command" && name != "id" && name != "arguments" && name != "document")
      return error("the body has '" + printable(name) + "'", "", "GET /api describes what it may have");
  const std::string line = j.contains("line") ? text_of(j, "line") : text_of(j, "command");
  if (const auto word = word_of_scripts(line.empty() ? text_of(j, "id") : line)) return *word;
  if (!line.empty()) return session::parse_invocation(line);
  session::Invocation i{text_of(j, "id"), {}};
  if (i.id.empty())
    return error("there is no command", "",
                 R"(send {"line": "append \"devices 2\""} or {"id": "append", "arguments": {…}})");
  if (j.contains("arguments")) {
    if (!j["arguments"].is_object()) return error("'arguments' is no object");
    const session::CommandInfo* info = session::find_command(i.id);
    for (const auto& [name, value] : j["arguments"].items()) {
      const auto is_it = [&](const session::ArgumentInfo& a) { return name == a.name; };
      if (info && std::none_of(info->arguments.begin(), info->arguments.end(), is_it))
        return error("'" + i.id + "' does not take '" + printable(name) + "'", "", "GET /api/commands lists what it takes");
      if (!value.is_string() && !value.is_number())
        return error("the argument '" + printable(name) + "' is neither text nor a number");
      i.arguments[name] = value.is_string() ? value.get<std::string>() : value.dump();
    }
  }
  return session::parse_invocation(session::print(i));  // checks what it needs and takes
}

}  // namespace

Answer answer_of(unsigned status, const Json& json) { return {status, json_body(json), {}}; }

Answer failure(unsigned status, const std::string& what, const std::string& hint) {
  return answer_of(status, refusal_json({error(what, "", hint)}));
}

Result<Done> read_target(std::string_view target, Request& r) {
  if (target.empty() || target[0] != '/') return error("the target is no path");
  const std::size_t mark = std::min(target.find('?'), target.size());
  const std::optional<std::string> path = decoded(target.substr(0, mark), false);
  if (!path) return error("an escape of the path is none");
  r.path = *path;
  std::string_view rest = target.substr(std::min(mark + 1, target.size()));
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('&'), rest.size());
    const std::string_view one = rest.substr(0, end);
    const std::size_t equal = std::min(one.find('='), one.size());
    const std::optional<std::string> name = decoded(one.substr(0, equal), true);
    const std::optional<std::string> value = decoded(one.substr(std::min(equal + 1, one.size())), true);
    if (!name || !value) return error("an escape of the query is none");
    r.query[*name] = *value;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return Done{};
}

Routes::Routes(SessionHost& host, const PageFiles& page, FileRules rules, RouteSettings settings)
    : host_(host), page_(page), rules_(std::move(rules)), settings_(std::move(settings)) {}

Routes::~Routes() {
  host_.end_jobs();
  for (asio::thread_pool* pool : {&commands_, &making_, &exporting_, &waiting_}) {
    pool->stop();
    pool->join();
  }
}

asio::awaitable<Answer> Routes::answer(const Request& r) {
  Answer a;
  if (r.method == "GET" || r.method == "HEAD")
    a = co_await get(r);
  else if (r.method == "POST")
    a = co_await post(r);
  else if (r.method == "DELETE")
    a = co_await remove(r);
  else
    a = failure(405, "there is no '" + printable(r.method) + "' here");
  co_await finish(r, a);
  co_return a;
}

asio::awaitable<void> Routes::finish(const Request& r, Answer& a) {
  if (a.status == 200 && (r.method == "GET" || r.method == "HEAD")) {
    a.headers.emplace_back("ETag", "\"" + a.body->etag() + "\"");
    if (r.if_none_match.find("\"" + a.body->etag() + "\"") != std::string::npos) {
      a.status = 304;
      co_return;
    }
  }
  if (!r.accepts_gzip || !a.body->worth_compressing()) co_return;
  auto compress = [&a] { return a.body->gzip().size(); };
  if (!a.body->compressed()) co_await on(making_, compress);
  a.zipped = true;
}

asio::awaitable<Answer> Routes::get(const Request& r) {
  if (r.path == "/api" || r.path.starts_with("/api/")) co_return co_await api(r);
  co_return page(r);
}

Answer Routes::page(const Request& r) const {
  if (const BodyPtr file = page_.find(r.path)) {
    return {200,
            file,
            {{"Cache-Control",
              PageFiles::is_named_by_content(r.path) ? "private, max-age=31536000, immutable" : "private, no-cache"}}};
  }
  if (r.path == "/") return failure(503, what_is_missing(page_), "The paths below /api work without it.");
  return failure(404, "there is no such file");
}

asio::awaitable<Answer> Routes::api(const Request& r) {
  if (r.path == "/api") co_return answer_of(200, open_api(settings_.version));
  if (r.path.starts_with("/api/panels/")) co_return co_await panel(r);
  if (r.path.starts_with("/api/canvases/")) co_return co_await canvas(r);
  if (r.path.starts_with("/api/exports/")) co_return co_await exported(r);
  std::function<Answer()> make;
  if (r.path == "/api/panels") make = [] { return panel_list(); };
  if (r.path == "/api/canvases") make = [this] { return made(host_.canvases()); };
  if (r.path == "/api/commands") make = [this] { return made(host_.commands()); };
  if (r.path == "/api/selection") make = [this] { return made(host_.selection()); };
  if (r.path == "/api/targets") make = [this] { return made(host_.targets()); };
  if (r.path == "/api/sessions") make = [this] { return answer_of(200, {{"sessions", settings_.sessions()}}); };
  if (r.path == "/api/notices") make = [this] { return made(host_.notices()); };
  if (r.path == "/api/choices")
    make = [this, &r] { return made(host_.choices(value_of(r, "command"), value_of(r, "argument"))); };
  if (r.path == "/api/offers") make = [this, &r] { return made(host_.offers(value_of(r, "line"))); };
  if (!make) co_return failure(404, "there is no '" + printable(r.path) + "'", "GET /api describes what there is");
  co_return co_await on(making_, make);
}

asio::awaitable<Answer> Routes::panel(const Request& r) {
  const std::string id = behind(r.path, "/api/panels/");
  if (!SessionHost::has_panel(id)) {
    const Result<session::Panel> none = session::make_panel(id, {});
    co_return answer_of(404, refusal_json(none.diagnostics));
  }
  if (const auto said = r.query.find("wait"); said != r.query.end()) {
    char* end = nullptr;
    const double seconds = std::strtod(said->second.c_str(), &end);
    if (said->second.empty() || *end != 0 || !(seconds >= 0))
      co_return failure(400, "'wait' is a number of seconds from 0, not '" + printable(said->second) + "'", "for example wait=60");
    co_await wait(std::min(seconds, kLongestWait));
  }
  const Form form = r.query.contains("full") ? Form::whole : Form::values;
  if (const std::optional<Made> ready = host_.ready_panel(id, form)) co_return made(*ready);
  auto make = [&] { return made(host_.panel(id, form)); };
  co_return co_await on(making_, make);
}

asio::awaitable<Answer> Routes::canvas(const Request& r) {
  std::string id = behind(r.path, "/api/canvases/");
  const std::string suffix = "/marks";
  if (id.ends_with(suffix)) {
    id.resize(id.size() - suffix.size());
    auto marks = [&] { return made(host_.marks(id)); };
    co_return co_await on(making_, marks);
  }
  auto make = [&] { return made(host_.canvas(id)); };
  co_return co_await on(making_, make);
}

// What the command `export` would write into a file of that name, to be kept by whoever asks.
asio::awaitable<Answer> Routes::exported(const Request& r) {
  const std::string name = behind(r.path, "/api/exports/");
  session::Invocation i{"export", {{"what", name.substr(0, name.rfind('.'))}, {"path", name}}};
  for (const char* option : {"colours", "size", "view"})
    if (const auto said = r.query.find(option); said != r.query.end()) i.arguments[option] = said->second;
  std::string view;
  if (i.get("view").starts_with('{')) view = std::exchange(i.arguments["view"], "yes");
  auto make = [&]() -> Answer {
    Result<std::string> bytes = host_.exported(i, view);
    if (!bytes.ok()) return answer_of(409, refusal_json(bytes.diagnostics));
    const auto body = std::make_shared<const Body>(type_of(name), std::move(*bytes.value));
    if (r.accepts_gzip && body->worth_compressing()) body->gzip();
    return {200, body, {{"Content-Disposition", "attachment; filename=\"" + name + "\""}}};
  };
  co_return co_await on(exporting_, make);
}

// Until nothing runs any more, or the time is over.
asio::awaitable<void> Routes::wait(double seconds) {
  const auto timer = std::make_shared<asio::steady_timer>(co_await asio::this_coro::executor);
  timer->expires_after(std::chrono::milliseconds(static_cast<int>(1000 * seconds)));
  const auto executor = co_await asio::this_coro::executor;
  asio::post(waiting_, [this, timer, executor] {
    host_.wait();
    asio::post(executor, [timer] { timer->cancel(); });
  });
  boost::system::error_code ended;
  co_await timer->async_wait(asio::redirect_error(asio::use_awaitable, ended));
}

asio::awaitable<Answer> Routes::post(const Request& r) {
  if (r.path == "/api/links") co_return answer_of(200, {{"url", settings_.link()}});
  if (r.path == "/api/sessions") {
    auto begin = [this] { return settings_.begin(); };
    const Result<std::string> begun = co_await on(making_, begin);
    if (!begun.ok()) co_return answer_of(409, refusal_json(begun.diagnostics));
    co_return answer_of(200, {{"session", *begun}});
  }
  if (r.path == "/api/refresh") {
    auto refresh = [this] { return host_.refresh(); };
    co_await on(commands_, refresh);
    co_return answer_of(200, {{"revision", host_.revision()}});
  }
  if (r.path != "/api/commands" && r.path != "/api/completions")
    co_return failure(404, "nothing is posted to '" + printable(r.path) + "'", "GET /api describes what there is");
  if (!r.content_type.starts_with("application/json"))
    co_return failure(415, "the body is to be JSON", "send the header Content-Type: application/json");
  const Json body = Json::parse(r.body, nullptr, false);
  if (body.is_discarded()) co_return failure(400, "the body is no JSON");
  if (r.path == "/api/commands") co_return co_await command(body);
  if (!body.is_object() || !body.contains("cursor") || !body["cursor"].is_number_unsigned())
    co_return failure(400, "completions need a text and a cursor");
  auto complete = [&] { return made(host_.completions(text_of(body, "text"), body["cursor"].get<std::size_t>())); };
  co_return co_await on(making_, complete);
}

asio::awaitable<Answer> Routes::remove(const Request& r) {
  const std::string name = behind(r.path, "/api/sessions/");
  if (name.empty()) co_return failure(405, "nothing can be deleted at '" + printable(r.path) + "'");
  auto end = [&] { return settings_.end(name); };
  const Result<Done> ended = co_await on(making_, end);
  if (!ended.ok()) co_return answer_of(409, refusal_json(ended.diagnostics));
  co_return answer_of(200, {{"done", true}});
}

asio::awaitable<Answer> Routes::command(const Json& body) {
  const Result<session::Invocation> i = invocation_of(body);
  if (!i.ok()) co_return answer_of(400, refusal_json(i.diagnostics));
  int document = 0;
  if (body.contains("document")) {
    const Json& number = body["document"];
    if (!number.is_number_unsigned() || number.get<std::uint64_t>() > std::numeric_limits<int>::max())
      co_return failure(400, "'document' is the number of no document", "GET /api/sessions lists what is open");
    document = number.get<int>();
  }
  auto run = [&]() -> Result<Done> {
    if (const Result<Done> fine = rules_.check(*i, host_.state(), document); !fine.ok()) return fine;
    return host_.run(*i, document);
  };
  const Result<Done> done = co_await on(commands_, run);
  if (!done.ok()) co_return answer_of(409, refusal_json(done.diagnostics, *i, host_.seen()));
  co_return answer_of(200, {{"done", true}, {"revision", host_.revision()}});
}

}  // namespace planscope::server
