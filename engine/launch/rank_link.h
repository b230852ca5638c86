#pragma once
// The launcher's end of one rank: its descriptors, what came through them, and what still has to go out. Reads and
// writes whatever is possible now and never blocks.
#include <string>
#include <string_view>
#include <vector>

#include "engine/launch/message.h"
#include "engine/launch/position_board.h"
#include "engine/launch/processes.h"

namespace planscope {

class RankLink {
 public:
  RankLink(const Child& child, PositionBoard board) : child_(child), board_(std::move(board)) {}
  ~RankLink();
  RankLink(const RankLink&) = delete;
  RankLink& operator=(const RankLink&) = delete;

  const Child& child() const { return child_; }
  const PositionBoard& board() const { return board_; }
  bool wants_to_write() const { return child_.control >= 0 && written_ < outgoing_.size(); }

  void send(MessageKind kind, std::string_view payload);
  void flush();

  // How much to take at once: a busy rank must not keep the others waiting, but nothing of a dead one may be lost.
  enum class Amount { some, all };
  // Messages that are complete; a diagnostic if the rank speaks nonsense (then the control socket is closed).
  Result<std::vector<Message>> read_messages(Amount amount);
  std::string read_output(Amount amount);  // standard output since the last call
  std::string read_errors(Amount amount);  // standard error since the last call

 private:
  Child child_;
  PositionBoard board_;
  FrameReader frames_;
  std::string outgoing_;
  std::size_t written_ = 0;
};

}  // namespace planscope
