#include "app/server/wire.h"

#include "app/server/access.h"
#include "app/session/commands.h"
#include "app/session/offers.h"
#include "app/session/panel_wire.h"

namespace planscope::server {

namespace {

const char* name_of(session::ArgumentInfo::Kind k) {
  using Kind = session::ArgumentInfo::Kind;
  switch (k) {
    case Kind::text:
      return "text";
    case Kind::path:
      return "path";
    case Kind::number:
    case Kind::line:
      return "number";
    case Kind::seen:
      return "seen";
    case Kind::word:
    case Kind::source:
      return "word";
    case Kind::rest:
      return "rest";
    case Kind::list:
    case Kind::sources:
      return "list";
  }
  return "";
}

}  // namespace

std::string random_name() { return random_secret().substr(0, 16); }

BodyPtr json_body(const Json& json) {
  return std::make_shared<const Body>("application/json",
                                      json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

Json commands_json(const session::State& state) {
  Json out = Json::array();
  for (const session::CommandInfo& c : session::commands()) {
    Json arguments = Json::array();
    for (const session::ArgumentInfo& a : c.arguments)
      arguments.push_back({{"name", a.name},
                           {"kind", name_of(a.kind)},
                           {"required", a.required},
                           {"positional", a.positional},
                           {"about", a.about}});
    const std::string reason = session::why_not(state, c.id);
    out.push_back({{"id", c.id},
                   {"title", c.title},
                   {"menu", c.menu},
                   {"keys", c.keys},
                   {"arguments", std::move(arguments)},
                   {"asks", session::asks(state, c)},
                   {"about", c.about},
                   {"enabled", reason.empty()},
                   {"reason", reason}});
  }
  return out;
}

static Json offers_json(const std::vector<session::Offer>& offers) {
  Json out = Json::array();
  for (const session::Offer& o : offers) out.push_back({{"title", o.title}, {"command", o.command}});
  return out;
}

Json notice_json(const session::Notice& n) {
  return {{"severity", session::to_string(n.severity)}, {"said", n.said}, {"what", n.said}, {"offers", offers_json(n.offers)}};
}

Json refusal_json(const std::vector<Diagnostic>& diagnostics, const session::Invocation& refused, std::uint64_t seen) {
  Json all = Json::array();
  for (const Diagnostic& d : diagnostics) {
    all.push_back(session::whole_json(d));
    all.back()["offers"] = offers_json(session::ways_out(refused, d, seen));
  }
  return {{"done", false}, {"diagnostics", std::move(all)}};
}

BodyPtr how_to_enter() {
  static const BodyPtr page = std::make_shared<const Body>(
      "text/html; charset=utf-8",
      "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>planscope</title>"
      "<h1>planscope</h1><p>This page is opened by the link that <code>planscope serve</code> prints when it starts, "
      "or by one that somebody who has the page open shares (command “Share link”). A shared link lets one browser in, "
      "once.</p></html>\n");
  return page;
}

}  // namespace planscope::server
