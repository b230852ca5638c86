#include "app/server/events.h"

#include <boost/asio/post.hpp>

namespace planscope::server {

void Events::changed() {
  if (posted_.exchange(true)) return;
  boost::asio::post(io_, [this] {
    posted_ = false;
    for (boost::asio::steady_timer* t : waiting_) t->cancel();
  });
}

std::string Events::event(std::uint64_t revision) {
  const std::string n = std::to_string(revision);
  return "id: " + n + "\nevent: revision\ndata: {\"revision\": " + n + "}\n\n";
}

}  // namespace planscope::server
