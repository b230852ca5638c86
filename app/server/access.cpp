#include "app/server/access.h"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <stdexcept>

namespace planscope::server {

namespace {

constexpr std::size_t kMostLinks = 32;

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

// `[::1]:8640` and `localhost:8640` without the port.
std::string name_of(std::string_view host) {
  const std::size_t bracket = host.rfind(']'), colon = host.rfind(':');
  if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket))
    host = host.substr(0, colon);
  return lower(host);
}

bool is_number_address(const std::string& name) {
  if (name.starts_with('[')) return name.ends_with(']');
  return !name.empty() && name.find_first_not_of("0123456789.") == std::string::npos;
}

std::string this_host() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? lower(name.data()) : std::string();
}

// What is behind `token ` or `Bearer `.
std::string_view secret_of(std::string_view authorization) {
  for (const std::string_view scheme : {"token ", "Token ", "Bearer ", "bearer "})
    if (authorization.starts_with(scheme)) return authorization.substr(scheme.size());
  return {};
}

std::string bracketed(const std::string& address) {
  return address.find(':') == std::string::npos ? address : "[" + address + "]";
}

}  // namespace

std::string random_secret() {
  std::array<unsigned char, 32> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw std::runtime_error("the operating system gives no random bytes");
  std::string out;
  for (const unsigned char b : bytes) {
    out += "0123456789abcdef"[b >> 4];
    out += "0123456789abcdef"[b & 15];
  }
  return out;
}

bool equal_secrets(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;  // how long secrets are is no secret
  volatile unsigned char differs = 0;
  for (std::size_t i = 0; i < a.size(); ++i) differs = differs | static_cast<unsigned char>(a[i] ^ b[i]);
  return differs == 0;
}

std::optional<std::string> cookie_value(std::string_view header, std::string_view name) {
  while (!header.empty()) {
    const std::size_t end = std::min(header.find(';'), header.size());
    std::string_view one = header.substr(0, end);
    while (!one.empty() && one.front() == ' ') one.remove_prefix(1);
    const std::size_t equal = one.find('=');
    if (equal != std::string_view::npos && one.substr(0, equal) == name) return std::string(one.substr(equal + 1));
    header.remove_prefix(std::min(end + 1, header.size()));
  }
  return std::nullopt;
}

Access::Access(AccessSettings s)
    : settings_(std::move(s)),
      token_(random_secret()),
      secret_(random_secret()),
      cookie_name_("planscope_" + std::to_string(settings_.port)) {}

// The names of loopback with any port: behind a tunnel the browser sees another one. A server that listens at every
// address is reached by each of them; what an attacker makes a browser resolve is always a name.
bool Access::is_own_name(std::string_view host) const {
  const std::string name = name_of(host);
  if (name.empty()) return false;
  if (name == "localhost" || name == "127.0.0.1" || name == "[::1]") return true;
  if (name == lower(bracketed(settings_.address)) || name == lower(bracketed(settings_.resolved))) return true;
  const bool everywhere = settings_.address == "0.0.0.0" || settings_.address == "::";
  return everywhere && (is_number_address(name) || name == this_host());
}

bool Access::enters(std::string_view token, bool spends, Now now) {
  if (equal_secrets(token, token_)) return true;
  std::erase_if(links_, [&](const auto& link) { return link.second < now; });
  bool found = false;
  std::erase_if(links_, [&](const auto& link) {
    const bool same = equal_secrets(token, link.first);
    found = found || same;
    return same && spends;
  });
  return found;
}

Admission Access::judge(const Credentials& c, Now now) {
  if (!is_own_name(c.host)) return Admission::foreign;
  if (!c.origin.empty() && lower(c.origin) != (settings_.tls ? "https://" : "http://") + lower(c.host))
    return Admission::foreign;
  // A link in a page of another site may lead here; what it shows is asked for by our own page.
  if (c.token.empty() && c.fetch_site == "cross-site") return Admission::foreign;
  if (const std::string_view secret = secret_of(c.authorization); !secret.empty())
    return equal_secrets(secret, token_) ? Admission::allowed : Admission::unknown;
  if (!c.token.empty() && enters(c.token, c.spends, now)) return Admission::enters;
  const std::optional<std::string> cookie = cookie_value(c.cookie, cookie_name_);
  return cookie && equal_secrets(*cookie, secret_) ? Admission::allowed : Admission::unknown;
}

std::string Access::base() const {
  const std::string& a = settings_.address;
  const std::string shown = a == "0.0.0.0" ? this_host() : a == "::" ? this_host() : bracketed(a);
  return (settings_.tls ? "https://" : "http://") + shown + ":" + std::to_string(settings_.port);
}

std::string Access::url() const { return base() + "/?token=" + token_; }

std::string Access::link(Now now) {
  if (links_.size() == kMostLinks) links_.erase(links_.begin());
  links_.emplace_back(random_secret(), now + link_life);
  return base() + "/?token=" + links_.back().first;
}

std::string Access::cookie() const {
  return cookie_name_ + "=" + secret_ + "; Path=/; HttpOnly; SameSite=Strict" + (settings_.tls ? "; Secure" : "");
}

}  // namespace planscope::server
