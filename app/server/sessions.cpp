#include "app/server/sessions.h"

namespace planscope::server {

Sessions::One::One(boost::asio::io_context& io, const session::SessionSettings& settings, const PageFiles& page,
                   const FileRules& rules, RouteSettings route_settings)
    : events(io), host(settings, [this] { events.changed(); }), routes(host, page, rules, std::move(route_settings)) {}

Sessions::Sessions(boost::asio::io_context& io, session::SessionSettings settings, const PageFiles& page,
                   FileRules rules, RouteSettings routes)
    : io_(io), settings_(std::move(settings)), page_(page), rules_(std::move(rules)), routes_(std::move(routes)) {
  all_[first] = make();
}

std::unique_ptr<Sessions::One> Sessions::make() {
  RouteSettings routes = routes_;
  routes.sessions = [this] { return list(); };
  routes.begin = [this] { return begin(); };
  return std::make_unique<One>(io_, settings_, page_, rules_, std::move(routes));
}

Sessions::One* Sessions::find(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto found = all_.find(name.empty() ? first : name);
  return found == all_.end() ? nullptr : found->second.get();
}

Result<std::string> Sessions::begin() {
  std::unique_ptr<One> made = make();
  const std::lock_guard lock(mutex_);
  if (all_.size() >= most)
    return error("there are " + std::to_string(most) + " sessions already", "", "go on in one of them: GET /api/sessions");
  std::string name = std::to_string(++begun_);
  all_[name] = std::move(made);
  return name;
}

Json Sessions::list() {
  Json out = Json::array();
  const std::lock_guard lock(mutex_);
  for (const auto& [name, one] : all_) out.push_back({{"session", name}, {"documents", one->host.document_names()}});
  return out;
}

}  // namespace planscope::server
