#pragma once
// A page of memory that a rank shares with the launcher and in which it keeps its position. A heartbeat tells where a
// rank was up to a beat ago; the board tells where it was when it was stopped or killed. Writing costs no system call.
//
//   PositionBoard ours = PositionBoard::create();   // launcher; ours.fd() is inherited by the rank
//   PositionBoard theirs = PositionBoard::open(4);  // rank
//   theirs.write(position);
//   ours.read();                                    // empty if nothing was written
#include <optional>

#include "engine/launch/message.h"

namespace planscope {

class PositionBoard {
 public:
  PositionBoard() = default;  // no page: writes go nowhere, there is nothing to read
  static PositionBoard create();
  static PositionBoard open(int fd);  // takes the descriptor; no page if it is not one
  ~PositionBoard();
  PositionBoard(PositionBoard&&) noexcept;
  PositionBoard& operator=(PositionBoard&&) noexcept;

  int fd() const { return fd_; }
  void write(const Position& position);  // one writer at a time
  // What was written last. While a rank writes, `what` may mix two positions; it is for people.
  std::optional<Position> read() const;

 private:
  struct Page;
  int fd_ = -1;
  Page* page_ = nullptr;
};

}  // namespace planscope
