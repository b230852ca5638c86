// A rank that behaves as its job says: `BEHAVIOUR RANK`; the other ranks wait for it as in a collective.
#include <signal.h>
#include <unistd.h>

#include <iostream>
#include <sstream>
#include <thread>

#include "engine/launch/control_channel.h"

using namespace planscope;
using namespace std::chrono_literals;

namespace {

[[noreturn]] void sleep_for_ever() {
  for (;;) std::this_thread::sleep_for(1s);
}

// Every rank sets its value and reads all: what a rendezvous does.
void meet(ControlChannel& c) {
  if (c.rank() == 0) std::this_thread::sleep_for(100ms);
  c.store().set("address/" + std::to_string(c.rank()), std::string("\0\xff", 2) + std::to_string(c.rank()));
  std::string all;
  for (int r = 0; r < c.ranks(); ++r) {
    const Result<std::string> value = c.store().get("address/" + std::to_string(r), 10s);
    all += value.ok() ? value->substr(2) : "?";
  }
  const Result<std::int64_t> sum = c.store().add("counter", c.rank() + 1);
  const Result<std::string> missing = c.store().get("never", 50ms);
  c.report("{\"met\":\"" + all + "\",\"sum\":" + std::to_string(*sum) + ",\"missing\":" + (missing.ok() ? "0" : "1") +
           "}");
}

int finish(ControlChannel& c) {
  c.report("{\"rank\":" + std::to_string(c.rank()) + ",\"threads\":" + std::to_string(c.threads()) + "}");
  c.done();
  return 0;
}

int behave_badly(ControlChannel& c, const std::string& behaviour) {
  if (behaviour == "crash") raise(SIGKILL);
  if (behaviour == "exit") {
    std::cerr << "first line\nout of luck\n";
    return 3;
  }
  if (behaviour == "early") return 0;
  if (behaviour == "silent") raise(SIGSTOP);
  if (behaviour == "shape") {
    std::this_thread::sleep_for(50ms);  // the others notice first
    c.fail(5, "all_reduce wte: this rank has [4, 8], rank 0 has [4, 9]");
    return 1;
  }
  if (behaviour == "nonsense") {
    [[maybe_unused]] const ssize_t n = ::write(3, "GET / HTTP/1.1\r\n\r\n", 18);
    sleep_for_ever();
  }
  if (behaviour == "slow") {
    std::this_thread::sleep_for(1500ms);
    return finish(c);
  }
  if (behaviour == "transfer") {
    const WaitScope wait(c, "a large transfer", Microseconds{5e6});
    std::this_thread::sleep_for(1500ms);
    return finish(c);
  }
  std::cerr << "unknown behaviour " << behaviour << "\n";
  return 2;
}

}  // namespace

int main(int, char** arguments) {
  if (std::string(arguments[1]) == "never-connects") sleep_for_ever();
  if (std::string(arguments[1]) == "stopped-first") raise(SIGSTOP);
  auto channel = ControlChannel::connect(3, {.beat_interval = 50ms});
  if (!channel.ok()) return 2;
  ControlChannel& c = **channel;
  std::istringstream job(c.job());
  std::string behaviour;
  int special = -1;
  job >> behaviour >> special;
  c.report("{\"pid\":" + std::to_string(getpid()) + "}");

  c.at_step(2, 5, 100);
  for (int i = 0; i <= 5; ++i) c.working(i, "linear");
  if (behaviour == "orderly") return finish(c);
  if (behaviour == "stop") {
    for (int i = 6; !c.stop_requested(); ++i) {
      c.working(i, "linear");
      std::this_thread::sleep_for(1ms);
    }
    return finish(c);
  }
  if (behaviour == "stubborn") sleep_for_ever();
  if (behaviour == "lingering") {
    finish(c);
    sleep_for_ever();
  }
  if (behaviour == "disagree") {  // and is done before the launcher can have judged
    c.agree("all_reduce 0,1 #0", c.rank() == 0 ? "float32 [4]" : "float32 [5]", 2, "all_reduce wte");
    return finish(c);
  }
  if (behaviour == "chatty") {
    const std::string line(99, 'o');
    for (int i = 0; i < 100000; ++i) (i % 2 ? std::cout : std::cerr) << line << "\n";
    std::cout << "last words" << std::flush;
    c.report("\"" + std::string(20 << 20, 'r') + "\"");
    return finish(c);
  }
  if (behaviour == "meet") {
    meet(c);
    return finish(c);
  }
  if (c.rank() == special) return behave_badly(c, behaviour);
  if (behaviour == "shape") {
    c.fail(4, "the connection to rank 1 is lost", FailureOrigin::peer);
    return 1;
  }
  if (behaviour == "slow" || behaviour == "transfer") {
    const WaitScope wait(c, "all_reduce wte", Microseconds{behaviour == "slow" ? 0 : 5e6});
    std::this_thread::sleep_for(1600ms);
    return finish(c);
  }
  const WaitScope wait(c, c.rank() == 0 ? "recv from 1" : "all_reduce wte");
  sleep_for_ever();
}
