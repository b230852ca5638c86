#pragma once
// Who may ask the server anything: whoever knows the token of this start, or has exchanged it (or a link made for one
// use) for the cookie. Requests that a page of another site sends, or that reach the server under another name (DNS
// rebinding), get nothing whatever they carry.
//
//   Access access({.address = "127.0.0.1", .port = 8640});
//   access.url()                                     // "http://127.0.0.1:8640/?token=…"
//   access.judge({.host = "127.0.0.1:8640", .authorization = "token …"}) == Admission::allowed
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace planscope::server {

// 32 random bytes of the operating system, as 64 digits.
std::string random_secret();

// In a time that does not depend on where the texts differ.
bool equal_secrets(std::string_view a, std::string_view b);

struct Credentials {  // of a request, as it carries them; empty: it does not
  std::string host = {}, origin = {}, fetch_site = {};
  std::string authorization = {}, cookie = {};
  std::string token = {};  // of the URL that a browser goes to: of no other method than GET
  bool spends = true;  // a link of one use: false where the request shows nothing, as in a session that is not there
};

enum class Admission {
  allowed,
  enters,   // the URL's token is right: it is exchanged for the cookie
  foreign,  // asked for under another name, or by a page of another site
  unknown,  // nothing that is known here
};

struct AccessSettings {
  std::string address = "127.0.0.1";  // that the server listens at, or its name
  std::string resolved = {};          // the address that the name has
  int port = 0;
  bool tls = false;
};

class Access {
 public:
  using Now = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::minutes link_life{10};

  explicit Access(AccessSettings);

  // A link of one use is used up by a request that enters with it. Who has been let in stays so, whatever link is followed.
  Admission judge(const Credentials&, Now now = std::chrono::steady_clock::now());

  const std::string& token() const { return token_; }
  std::string base() const;  // "http://127.0.0.1:8640"
  std::string url() const;   // with the token
  std::string link(
      Now now = std::chrono::steady_clock::now());  // with a token that lets one browser in, for ten minutes
  std::string cookie() const;                       // what Set-Cookie says

 private:
  bool is_own_name(std::string_view host) const;
  bool enters(std::string_view token, bool spends, Now);

  const AccessSettings settings_;
  const std::string token_, secret_, cookie_name_;
  std::vector<std::pair<std::string, Now>> links_;  // with their ends
};

// The value of a cookie in a Cookie header.
std::optional<std::string> cookie_value(std::string_view header, std::string_view name);

}  // namespace planscope::server
