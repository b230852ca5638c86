#pragma once
// What a schedule search is asked: blocks of work that every micro-batch runs, on which devices, what must follow what, and
// how much memory a device has.
//
// A block occupies one stream of each of its devices for `time`: blocks on different streams of a device overlap (compute and
// communication), blocks on the same one do not. Memory is that of devices, whatever the stream: taken at a block's start if
// positive, given back at its end if negative; per micro-batch what is taken on a device is given back there.
// Kinds: blocks of several kinds of micro-batch share the devices (two towers of different batch sizes, forward-only
// blocks for evaluation): kind k runs `micro_batches[k]` times; what one kind does follows nothing of another's.
//
// Rows: `order` says which block runs before which although nothing that it makes is needed there, for all micro-batches or
// for some; `rows` are the names of these lines in messages (of one line of a plan come many relations). What holds for
// every micro-batch binds what repeats; what holds for some binds these alone.
//
// Units: time and memory are whole numbers in any unit.
//
// JSON, as `planscope schedule` reads it (from_json; the fields behind `//` may be left out):
//   {"name": "v2", "devices": 2, "memory": 2,                      // memory: a list has one number per device; none: no limit
//    "micro_batches": 6,                                           // a list has one number per kind
//    "blocks": [{"name": "f0", "devices": [0], "time": 1, "memory": 1,
//                "stream": "compute", "kind": 0}],                 // what is given here
//    "after": [[0, 1],                                             // block 1 starts when block 0 of the micro-batch has ended
//              [0, 1, 5],                                          // and 5 later: a transfer that occupies no stream
//              [3, 0, 0, 4]],                                      // block 0 of micro-batch m + 4 after block 3 of m
//    "order": [[0, 2],                                             // block 0 of m before block 2 of m, for every m
//              [0, 2, -1],                                         // block 0 of m before block 2 of m - 1
//              [0, 2, -1, 1, 2]]}                                  // for the two m from 1 on
// Errors: each with the field that is wrong.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/diagnostic.h"

namespace planscope::schedule {

struct Block {
  std::string name;
  std::vector<int> devices;
  std::int64_t time = 0;
  std::int64_t memory = 0;  // of each of its devices
  int stream = 0;           // into Case::streams
  int kind = 0;
  bool operator==(const Block&) const = default;
};

struct Precedence {
  int before = 0, after = 0;  // blocks
  std::int64_t delay = 0;     // from the end of `before` to the start of `after`
  int distance = 0;           // `before` of micro-batch m, `after` of m + distance
  bool operator==(const Precedence&) const = default;
};

// `before` of micro-batch m has ended when `after` of m + distance starts, for `count` m from `first` on, as far as both
// exist; every m by default.
struct Relation {
  int before = 0, after = 0;  // blocks
  int distance = 0;
  int first = 0;
  int count = kEvery;
  int row = 0;  // into Case::rows
  static constexpr int kEvery = 1 << 30;
  bool operator==(const Relation&) const = default;
};

struct Case {
  std::string name;
  int devices = 0;
  std::vector<std::optional<std::int64_t>> memory;  // by device; nothing: no limit
  std::vector<int> micro_batches;                   // by kind
  std::vector<std::string> streams = {"compute"};
  std::vector<Block> blocks;
  std::vector<Precedence> after;
  std::vector<Relation> order;
  std::vector<std::string> rows;
  bool operator==(const Case&) const = default;
};

Result<Case> from_json(const std::string& text, const std::string& file);

// What no schedule can mend: more given back than taken, precedences and rows that wait for each other (the rows are named):
// within a micro-batch, between given ones, or in whatever repeats.
std::vector<Diagnostic> check(const Case&);

}  // namespace planscope::schedule
