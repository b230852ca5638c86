#include "app/server/sessions.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <functional>

#include "engine/base/text.h"

namespace planscope::server {

Sessions::One::One(boost::asio::io_context& io, const session::SessionSettings& settings, const PageFiles& page,
                   const FileRules& rules, RouteSettings route_settings)
    : events(io), host(settings, [this] { events.changed(); }), routes(host, page, rules, std::move(route_settings)) {}

Sessions::Sessions(boost::asio::io_context& io, session::SessionSettings settings, const PageFiles& page,
                   FileRules rules, RouteSettings routes)
    : io_(io), settings_(std::move(settings)), page_(page), rules_(std::move(rules)), routes_(std::move(routes)) {
  main_ = (all_[first] = make()).get();
}

std::unique_ptr<Sessions::One> Sessions::make() {
  RouteSettings routes = routes_;
  routes.sessions = [this] { return list(); };
  routes.begin = [this] { return begin(); };
  routes.end = [this](const std::string& name) { return end(name); };
  return std::make_unique<One>(io_, settings_, page_, rules_, std::move(routes));
}

Sessions::Held Sessions::find(const std::string& name) {
  const std::lock_guard lock(mutex_);
  remove_unused();
  const auto found = all_.find(name.empty() ? first : name);
  if (found == all_.end()) return {};
  found->second->asked = true;
  return {found->second.get(), found->second->hold};
}

bool Sessions::has_ended(const std::string& name) {
  const std::lock_guard lock(mutex_);
  return ended_names_.contains(name);
}

void Sessions::remove_unused() {
  const auto unused = [](const std::unique_ptr<One>& one) { return one->hold.use_count() == 1; };
  const auto first_unused = std::partition(ended_.begin(), ended_.end(), std::not_fn(unused));
  for (auto one = first_unused; one != ended_.end(); ++one)
    boost::asio::post(removing_, [gone = std::move(*one)] {});
  ended_.erase(first_unused, ended_.end());
}

void Sessions::look_around() {
  const std::lock_guard lock(mutex_);
  for (const auto& [name, one] : all_)
    if (one->asked.exchange(false) || one->listen.use_count() > 1)
      boost::asio::post(looking_, [held = Held{one.get(), one->hold}] { held.session->host.refresh(); });
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

Result<Done> Sessions::end(const std::string& name) {
  if (name == first) return error("the first session ends with the server", "", "end planscope serve");
  Held held;
  {
    const std::lock_guard lock(mutex_);
    const auto found = all_.find(name);
    if (found == all_.end())
      return error("there is no session '" + printable(name) + "'", "", "GET /api/sessions lists them");
    held = {found->second.get(), found->second->hold};
    ended_.push_back(std::move(found->second));
    ended_names_.insert(name);
    all_.erase(found);
  }
  held.session->ended = true;
  held.session->host.leave();
  held.session->events.changed();
  return Done{};
}

Json Sessions::list() {
  Json out = Json::array();
  const std::lock_guard lock(mutex_);
  for (const auto& [name, one] : all_)
    out.push_back({{"session", name},
                   {"documents", one->host.document_names()},
                   {"pages", one->listen.use_count() - 1}});
  return out;
}

}  // namespace planscope::server
