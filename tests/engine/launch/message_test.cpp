#include <catch2/catch.hpp>
#include <random>

#include "engine/launch/message.h"

using namespace planscope;

TEST_CASE("frames come together from pieces of any size", "[message]") {
  const std::vector<Message> sent = {{MessageKind::report, "{\"a\":1}"},
                                     {MessageKind::done, ""},
                                     {MessageKind::report, std::string(200000, 'x')},
                                     {MessageKind::beat, "{}"}};
  std::string stream;
  for (const Message& m : sent) stream += encode(m.kind, m.payload);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{65536}, stream.size()}) {
    FrameReader reader;
    std::vector<Message> got;
    for (std::size_t i = 0; i < stream.size(); i += piece) {
      reader.add(std::string_view(stream).substr(i, piece));
      for (;;) {
        Result<std::optional<Message>> next = reader.next();
        REQUIRE(next.ok());
        if (!next->has_value()) break;
        got.push_back(**next);
      }
    }
    REQUIRE(got.size() == sent.size());
    for (std::size_t i = 0; i < sent.size(); ++i) {
      CHECK(got[i].kind == sent[i].kind);
      CHECK(got[i].payload == sent[i].payload);
    }
  }
}

TEST_CASE("frames that are too large, empty or of unknown kind are errors", "[message]") {
  const auto fails = [](const std::string& bytes) {
    FrameReader reader;
    reader.add(bytes);
    const Result<std::optional<Message>> r = reader.next();
    return r.ok() ? "" : to_string(r.diagnostics.front());
  };
  CHECK(fails(std::string("\xff\xff\xff\xff\x01", 5)) ==
        "a frame of 4294967295 bytes on the control channel; frames have 1 to 268435456 bytes");
  CHECK(fails(std::string("\0\0\0\0", 4)) ==
        "a frame of 0 bytes on the control channel; frames have 1 to 268435456 bytes");
  CHECK(fails(std::string("\x01\0\0\0\x63", 5)) == "a message of unknown kind 99 on the control channel");
}

TEST_CASE("messages survive printing and reading", "[message]") {
  const std::string bytes("\0\x7f\xff\n\"", 5);
  const Position p{12, true, "recv \"x\"", {1.5}, 77, 3, 5, 40};
  CHECK(*parse_position(print(p)) == p);
  const FailureReport f{3, "shape", FailureOrigin::peer};
  CHECK(*parse_failure_report(print(f)) == f);
  const Statement s{"all_reduce 0,1 #3", "float32 [2]", 2, 17, "all_reduce wte"};
  CHECK(*parse_statement(print(s)) == s);
  const Welcome w{1, 4, 2, 4, 123456789, "{\"plan\": \"devices 4\\n\"}"};
  CHECK(*parse_welcome(print(w)) == w);
  const StoreRequest r{StoreAction::swap, 9, {"a key"}, bytes, "old", -4};
  CHECK(*parse_store_request(print(r)) == r);
  const StoreReply reply{9, {bytes, ""}, -5};
  CHECK(*parse_store_reply(print(reply)) == reply);
}

TEST_CASE("nonsense is refused and never crashes", "[message]") {
  for (const std::string text : {"", "{", "[]", "null", "{\"rank\":\"x\"}", "{\"rank\":5,\"ranks\":2}"}) {
    CHECK_FALSE(parse_position(text).ok());
    CHECK_FALSE(parse_failure_report(text).ok());
    CHECK_FALSE(parse_statement(text).ok());
    CHECK_FALSE(parse_welcome(text).ok());
    CHECK_FALSE(parse_store_request(text).ok());
    CHECK_FALSE(parse_store_reply(text).ok());
  }
  CHECK(to_string(parse_welcome("[]").diagnostics.front()) == "a malformed 'welcome' message on the control channel");
  CHECK_FALSE(parse_store_request(R"({"action":0,"id":0,"keys":[],"value":"","expected":"","amount":0})").ok());
  CHECK_FALSE(parse_store_request(R"({"action":99,"id":0,"keys":["k"],"value":"","expected":"","amount":0})").ok());
  CHECK_FALSE(parse_store_request(R"({"action":0,"id":0,"keys":["k"],"value":"0g","expected":"","amount":0})").ok());
  std::mt19937 random(3);
  const std::string good = print(StoreRequest{StoreAction::swap, 9, {"k"}, "v", "w", 1});
  for (int round = 0; round < 5000; ++round) {
    std::string bad = good;
    for (int i = 0; i < 3; ++i) bad[random() % bad.size()] = static_cast<char>(random());
    parse_store_request(bad);
    FrameReader reader;
    reader.add(bad);
    reader.next();
  }
}
