#pragma once
// Ends long work from the outside: whoever may work long looks now and then whether somebody has asked it to stop (Ctrl-C, the
// end of a time limit), and leaves by an exception. Whoever can be asked says so for its thread, and decides what is answered
// then. What a thread has begun for another one is asked as that one is, if it is told so.
//
//   const StopScope scope([&] { return interrupted || deadline.expired(); });
//   try { …for (…) { look_at_stop(); … }… } catch (const Stopped&) { …what is known so far… }
//
//   std::async([asked = StopScope::asked()] { const StopScope scope(asked); … })
#include <functional>

namespace planscope {

struct Stopped {};  // no std::exception: no error

class StopScope {
 public:
  using Asked = std::function<bool()>;
  explicit StopScope(Asked);  // of this thread, until the end of the scope, instead of those around it; none: nobody asks
  ~StopScope();
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

  static Asked asked();  // that of this thread

 private:
  Asked asked_;
  const Asked* outer_;
};

void look_at_stop();  // throws Stopped; some nanoseconds, as it asks now and then

}  // namespace planscope
