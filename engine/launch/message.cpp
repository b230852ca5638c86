#include "engine/launch/message.h"

#include <array>
#include <cstring>
#include <nlohmann/json.hpp>

namespace planscope {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 11> kind_names = {"",      "welcome", "beat",  "report", "failed", "done",
                                                         "store", "stop",    "agree", "join",   "refused"};

// Values are any bytes and JSON text is UTF-8, so bytes travel as hexadecimal digits.
std::string to_hex(std::string_view bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char c : bytes) {
    text += digits[static_cast<unsigned char>(c) >> 4];
    text += digits[static_cast<unsigned char>(c) & 15];
  }
  return text;
}

int nibble(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; }

bool from_hex(const std::string& text, std::string& bytes) {
  if (text.size() % 2 != 0) return false;
  bytes.clear();
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = nibble(text[i]);
    const int low = nibble(text[i + 1]);
    if (high < 0 || low < 0) return false;
    bytes += static_cast<char>(16 * high + low);
  }
  return true;
}

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// Parses and fills; anything missing or of the wrong type is one kind of error: the other side does not speak our
// language.
template <class T, class Fill>
Result<T> read(std::string_view text, const char* what, Fill fill) {
  T value;
  const Json json = Json::parse(text, nullptr, false);
  try {
    if (json.is_object() && fill(json, value)) return value;
  } catch (const Json::exception&) {  // a missing or mistyped field
  }
  return error(std::string("a malformed '") + what + "' message on the control channel");
}

}  // namespace

std::string_view to_string(MessageKind kind) { return kind_names.at(static_cast<std::size_t>(kind)); }

std::string encode(MessageKind kind, std::string_view payload) {
  const auto length = static_cast<std::uint32_t>(payload.size() + 1);
  std::string frame;
  frame.reserve(payload.size() + 5);
  for (int shift = 0; shift < 32; shift += 8) frame += static_cast<char>((length >> shift) & 0xff);
  frame += static_cast<char>(kind);
  frame += payload;
  return frame;
}

Result<std::optional<Message>> FrameReader::next() {
  const std::string_view rest = std::string_view(buffer_).substr(begin_);
  if (rest.size() < 4) return std::optional<Message>{};
  std::size_t length = 0;
  for (std::size_t i = 0; i < 4; ++i) length |= std::size_t{static_cast<unsigned char>(rest[i])} << (8 * i);
  if (length == 0 || length > max_message_bytes) {
    return error("a frame of " + std::to_string(length) + " bytes on the control channel",
                 "frames have 1 to " + std::to_string(max_message_bytes) + " bytes");
  }
  if (rest.size() < 4 + length) return std::optional<Message>{};
  const auto kind = static_cast<unsigned char>(rest[4]);
  if (kind == 0 || kind >= kind_names.size()) {
    return error("a message of unknown kind " + std::to_string(kind) + " on the control channel");
  }
  Message message{static_cast<MessageKind>(kind), std::string(rest.substr(5, length - 1))};
  begin_ += 4 + length;
  if (begin_ == buffer_.size() || begin_ > (1u << 16)) {
    buffer_.erase(0, begin_);
    begin_ = 0;
  }
  return std::optional<Message>{std::move(message)};
}

std::string print(const Position& p) {
  return dump({{"instruction", p.instruction},
               {"waiting", p.waiting},
               {"what", p.what},
               {"expected_us", p.expected.count},
               {"changes", p.changes},
               {"step", p.step},
               {"steps", p.steps},
               {"instructions", p.instructions}});
}

std::string print(const FailureReport& f) {
  return dump({{"instruction", f.instruction},
               {"reason", f.reason},
               {"peer", f.origin == FailureOrigin::peer},
               {"input", f.origin == FailureOrigin::input}});
}

std::string print(const Statement& s) {
  return dump(
      {{"key", s.key}, {"value", s.value}, {"members", s.members}, {"instruction", s.instruction}, {"what", s.what}});
}

std::string print(const Welcome& w) {
  return dump({{"rank", w.rank},
               {"ranks", w.ranks},
               {"threads", w.threads},
               {"board_fd", w.board_fd},
               {"origin_us", w.origin_us},
               {"job", w.job}});
}

std::string print(const JoinRequest& r) {
  return dump({{"token", r.token}, {"rank", r.rank}, {"ranks", r.ranks}, {"host", r.host}, {"process", r.process}, {"cores", r.cores}});
}

std::string print(const StoreRequest& r) {
  return dump({{"action", static_cast<int>(r.action)},
               {"id", r.id},
               {"keys", r.keys},
               {"value", to_hex(r.value)},
               {"expected", to_hex(r.expected)},
               {"amount", r.amount}});
}

std::string print(const StoreReply& r) {
  Json values = Json::array();
  for (const std::string& v : r.values) values.push_back(to_hex(v));
  return dump({{"id", r.id}, {"values", values}, {"number", r.number}});
}

Result<Position> parse_position(std::string_view text) {
  return read<Position>(text, "beat", [](const Json& j, Position& p) {
    p.instruction = j.at("instruction").get<std::int64_t>();
    p.waiting = j.at("waiting").get<bool>();
    p.what = j.at("what").get<std::string>();
    p.expected = {j.at("expected_us").get<double>()};
    p.changes = j.at("changes").get<std::uint64_t>();
    p.step = j.at("step").get<std::int64_t>();
    p.steps = j.at("steps").get<std::int64_t>();
    p.instructions = j.at("instructions").get<std::int64_t>();
    return true;
  });
}

Result<FailureReport> parse_failure_report(std::string_view text) {
  return read<FailureReport>(text, "failed", [](const Json& j, FailureReport& f) {
    f.instruction = j.at("instruction").get<std::int64_t>();
    f.reason = j.at("reason").get<std::string>();
    f.origin = j.at("peer").get<bool>()  ? FailureOrigin::peer
               : j.value("input", false) ? FailureOrigin::input
                                         : FailureOrigin::own;
    return true;
  });
}

Result<Statement> parse_statement(std::string_view text) {
  return read<Statement>(text, "agree", [](const Json& j, Statement& s) {
    s.key = j.at("key").get<std::string>();
    s.value = j.at("value").get<std::string>();
    s.members = j.at("members").get<int>();
    s.instruction = j.at("instruction").get<std::int64_t>();
    s.what = j.at("what").get<std::string>();
    return s.members >= 1;
  });
}

Result<Welcome> parse_welcome(std::string_view text) {
  return read<Welcome>(text, "welcome", [](const Json& j, Welcome& w) {
    w.rank = j.at("rank").get<int>();
    w.ranks = j.at("ranks").get<int>();
    w.threads = j.at("threads").get<int>();
    w.board_fd = j.at("board_fd").get<int>();
    w.origin_us = j.at("origin_us").get<std::int64_t>();
    w.job = j.at("job").get<std::string>();
    return w.rank >= 0 && w.rank < w.ranks && w.threads >= 1;
  });
}

Result<JoinRequest> parse_join_request(std::string_view text) {
  return read<JoinRequest>(text, "join", [](const Json& j, JoinRequest& r) {
    r.token = j.at("token").get<std::string>();
    r.rank = j.at("rank").get<int>();
    r.ranks = j.at("ranks").get<int>();
    r.host = j.at("host").get<std::string>();
    r.process = j.at("process").get<std::int64_t>();
    r.cores = j.at("cores").get<std::vector<int>>();
    return r.rank >= 0 && r.rank < r.ranks && !r.cores.empty();
  });
}

Result<StoreRequest> parse_store_request(std::string_view text) {
  return read<StoreRequest>(text, "store", [](const Json& j, StoreRequest& r) {
    const int action = j.at("action").get<int>();
    if (action < 0 || action > static_cast<int>(StoreAction::count)) return false;
    r.action = static_cast<StoreAction>(action);
    r.id = j.at("id").get<std::int64_t>();
    r.keys = j.at("keys").get<std::vector<std::string>>();
    r.amount = j.at("amount").get<std::int64_t>();
    const bool one_key =
        r.action != StoreAction::wait && r.action != StoreAction::check && r.action != StoreAction::count;
    return (!one_key || r.keys.size() == 1) && from_hex(j.at("value").get<std::string>(), r.value) &&
           from_hex(j.at("expected").get<std::string>(), r.expected);
  });
}

Result<StoreReply> parse_store_reply(std::string_view text) {
  return read<StoreReply>(text, "store", [](const Json& j, StoreReply& r) {
    r.id = j.at("id").get<std::int64_t>();
    r.number = j.at("number").get<std::int64_t>();
    for (const Json& v : j.at("values")) {
      if (!from_hex(v.get<std::string>(), r.values.emplace_back())) return false;
    }
    return true;
  });
}

}  // namespace planscope
