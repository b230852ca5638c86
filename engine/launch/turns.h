#pragma once
// Two programs that take turns, so that what both measure is measured under the same conditions a moment apart. A token,
// one byte, goes to and fro through two named pipes: whoever has taken it works, the other one sleeps.
//
//   Result<Turns> turns = Turns::open("/tmp/x/ours", "/tmp/x/theirs");   // both exist (mkfifo)
//   while (turns->take([&] { return channel.stop_requested(); })) { …a step…; turns->give(); }
//
// Who makes the pipes puts the first token in. Errors: a pipe that cannot be opened; give() to a pipe that is full or
// gone is as if the other one had ended: the next take() waits until `stop`.
#include <functional>
#include <string>

#include "engine/base/diagnostic.h"

namespace planscope {

class Turns {
 public:
  static Result<Turns> open(const std::string& from, const std::string& to);
  Turns(Turns&& other) noexcept;
  Turns& operator=(Turns&&) = delete;
  ~Turns();

  bool take(const std::function<bool()>& stop);  // false: stop() was true before the token came
  void give();

 private:
  Turns(int from, int to) : from_(from), to_(to) {}
  int from_, to_;
};

}  // namespace planscope
