#pragma once
// Ranks as threads of one process: what a trial computes, without processes, sockets or shared memory, so that hundreds
// of Programs are run in the time of one trial. Every operation is done as a whole by the last member to reach it.
//
// Members that ask for different things, and threads that all wait for each other, end in a TransportError on all.
//
//   ThreadHub hub(4);
//   std::thread([&] { ThreadTransport t(hub, 2); …; hub.leave(); });   // one for each rank
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>

#include "engine/runtime/transport.h"

namespace planscope::testing {

struct Offer {
  std::string kind;
  at::Tensor out, in;
  std::vector<std::int64_t> out_rows, in_rows;  // of an uneven all_to_all
  Reduction reduction = Reduction::sum;
  int root = 0;
};

struct Meeting {
  std::vector<Offer> offers;
  int arrived = 0;
  bool done = false;
};

class ThreadHub {
 public:
  explicit ThreadHub(int ranks) : ranks_(ranks), running_(ranks) {}

  int ranks() const { return ranks_; }
  std::shared_ptr<Meeting> meet(const std::vector<int>& members, std::int64_t number, int member, Offer);
  void post(int from, int to, std::uint32_t tag, at::Tensor);
  bool posted(int from, int to, std::uint32_t tag) const;  // only as a condition of wait()
  void take(int from, int to, std::uint32_t tag, const at::Tensor& out);
  void wait(const std::function<bool()>& ready, const std::string& what);
  void leave();  // a rank has ended
  void fail(const std::string& why);

 private:
  struct Waiting {
    std::function<bool()> ready;
    std::string what;
  };
  void notice_deadlock();
  [[noreturn]] void give_up() const;

  const int ranks_;
  int running_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<std::vector<int>, std::int64_t>, std::shared_ptr<Meeting>> meetings_;
  std::map<std::tuple<int, int, std::uint32_t>, std::deque<at::Tensor>> posted_;
  std::map<int, Waiting> waiting_;
  int waits_ = 0;
  std::string failure_;
};

class ThreadTransport : public Transport {
 public:
  ThreadTransport(ThreadHub& hub, int rank);
  ~ThreadTransport() override;
  Communicator& world() override { return group(everyone_); }
  void prepare(std::vector<std::vector<int>> groups) override;
  Communicator& group(const std::vector<int>& members) override;

 private:
  class Group;
  ThreadHub& hub_;
  int rank_;
  std::vector<int> everyone_;
  std::map<std::vector<int>, std::unique_ptr<Group>> groups_;
};

}  // namespace planscope::testing
