#pragma once
// What launcher and ranks say to each other: frames of a 4-byte length (little endian, kind included), one byte of
// kind, and a payload of JSON text. A frame larger than `max_message_bytes` or of unknown kind ends the channel.
//
//   rank -> launcher   beat, report, failed, done, store, agree, join     launcher -> rank   welcome, stop, store, refused
//
// These functions only convert; control_channel.h (rank) and launcher.h (launcher) move the bytes.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/diagnostic.h"
#include "engine/base/units.h"

namespace planscope {

constexpr std::size_t max_message_bytes = 256u << 20;

enum class MessageKind : std::uint8_t { welcome = 1, beat, report, failed, done, store, stop, agree, join, refused };
std::string_view to_string(MessageKind);

struct Message {
  MessageKind kind = MessageKind::beat;
  std::string payload;
};

std::string encode(MessageKind kind, std::string_view payload);

// Puts frames together again from whatever pieces the socket gives.
class FrameReader {
 public:
  void add(std::string_view bytes) { buffer_.append(bytes); }
  // The next whole message; empty if more bytes are needed. An error is final.
  Result<std::optional<Message>> next();

 private:
  std::string buffer_;
  std::size_t begin_ = 0;
};

// Where a rank is.
struct Position {
  std::int64_t instruction = -1;  // index in the rank's instruction list; -1: before the first
  bool waiting = false;           // for another rank
  std::string what;               // "all_reduce lm_head"; for messages
  Microseconds expected;          // how long this wait may rightly take
  std::uint64_t changes = 0;      // grows with every call that tells a position: progress between two beats is seen
  // Of all steps that the rank makes, the one that it is in, from 0; and how many instructions a step has. 0 steps: not told.
  std::int64_t step = 0, steps = 0, instructions = 0;
  bool operator==(const Position&) const = default;
};

// Whose fault a reported failure is: `peer` if this rank only noticed that another one is gone, `input` if a file
// that it was given (model, inputs) cannot be used.
enum class FailureOrigin : std::uint8_t { own, peer, input };

struct FailureReport {
  std::int64_t instruction = -1;
  std::string reason;
  FailureOrigin origin = FailureOrigin::own;
  bool operator==(const FailureReport&) const = default;
};

// What a rank is about to do together with others (agreement.h).
struct Statement {
  std::string key;    // the same for all members of one communication, and used by no other
  std::string value;  // must be the same for all members
  int members = 1;
  std::int64_t instruction = -1;
  std::string what;  // for the message
  bool operator==(const Statement&) const = default;
};

struct Welcome {
  int rank = 0;
  int ranks = 1;
  int threads = 1;
  int board_fd = -1;           // descriptor of the position board (position_board.h); -1: none
  std::int64_t origin_us = 0;  // steady time of the host at which the run began; -1: when this message came
  std::string job;             // JSON text
  bool operator==(const Welcome&) const = default;
};

// How a rank that the launcher did not start introduces itself (joining.h).
struct JoinRequest {
  std::string token;
  int rank = 0;
  int ranks = 1;
  std::string host;        // equal for ranks of one machine
  std::int64_t process = 0;  // of that machine
  std::vector<int> cores;  // that it may run on
  bool operator==(const JoinRequest&) const = default;
};

enum class StoreAction : std::uint8_t { set, wait, check, add, remove, swap, count };

struct StoreRequest {
  StoreAction action = StoreAction::set;
  std::int64_t id = 0;            // the reply has the same; 0: no reply is wanted (set only)
  std::vector<std::string> keys;  // wait, check: several; else one
  std::string value;              // set, swap: the new value; any bytes
  std::string expected;           // swap: replaced only if this is there
  std::int64_t amount = 0;        // add
  bool operator==(const StoreRequest&) const = default;
};

struct StoreReply {
  std::int64_t id = 0;
  std::vector<std::string> values;  // wait: of each key; swap: what is there now
  std::int64_t number = 0;          // check, remove: 1 or 0; add: the sum; count: of keys
  bool operator==(const StoreReply&) const = default;
};

std::string print(const Position&);
std::string print(const FailureReport&);
std::string print(const Statement&);
std::string print(const Welcome&);
std::string print(const JoinRequest&);
std::string print(const StoreRequest&);
std::string print(const StoreReply&);
Result<Position> parse_position(std::string_view);
Result<FailureReport> parse_failure_report(std::string_view);
Result<Statement> parse_statement(std::string_view);
Result<Welcome> parse_welcome(std::string_view);
Result<JoinRequest> parse_join_request(std::string_view);
Result<StoreRequest> parse_store_request(std::string_view);
Result<StoreReply> parse_store_reply(std::string_view);

}  // namespace planscope
