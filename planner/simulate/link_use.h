#pragma once
// What the links of one device carry: messages in order of their streams, and how they slow each other.
//
// Within a stream messages go one after the other. Messages of different streams over links of the same level share their
// bandwidth: from the moment that a second one begins both go at half speed, until one of them is over (processor sharing).
// So a message of b ns that begins while another stream has x ns of work left on its level is over after b + min(b, x), and
// what that stream has under way or queued is later by what it has shared. Exact for two streams; a third one shares with
// each of them in turn.
//
//   LinkUse links;
//   links.enter({Stream::network, 1, 0, 100}, delayed);    // 100
//   links.enter({Stream::transfer, 1, 40, 80}, delayed);   // 120: at half speed until then; the first one is over at 140
#include <algorithm>
#include <array>
#include <deque>

#include "planner/simulate/simulate.h"

namespace planscope {

struct Message {
  Stream stream = Stream::collective;
  int level = 0;                   // of the links that it goes over
  Nanoseconds start = 0, end = 0;  // if it went alone
  int handle = -1;                 // what waits for it
  std::int64_t instance = 0;
  std::size_t block = 0;  // that shows it
};

class LinkUse {
 public:
  // The message begins when those of its stream are over, not before `start`. Returns when it is over; calls
  // delayed(message, by) for each message whose end has become later.
  template <class F>
  Nanoseconds enter(Message m, F delayed) {
    Nanoseconds longer = 0;
    const Nanoseconds work = m.end - m.start;
    for (std::deque<Message>& stream : streams_) {
      if (&stream == &of(m.stream)) continue;
      Nanoseconds shared = 0;  // work of that stream on this level, from the start on
      for (Message& other : stream) {
        if (other.end <= m.start) continue;
        const Nanoseconds before = shared;
        if (other.level == m.level && other.start < m.end + shared)
          shared = std::min(work, shared + other.end - std::max(other.start, m.start));
        if (other.start > m.start) other.start += before;
        other.end += shared;
        if (shared > 0) delayed(other, shared);
      }
      longer += shared;
    }
    m.end += longer;
    of(m.stream).push_back(m);
    return m.end;
  }

  // The message takes this time whatever else is under way; others that begin later share with it.
  void book(const Message& m) { of(m.stream).push_back(m); }

  // Nothing begins before this moment any more.
  void forget_until(Nanoseconds now) {
    for (std::deque<Message>& stream : streams_)
      while (!stream.empty() && stream.front().end <= now) stream.pop_front();
  }
  Nanoseconds free(Stream s) const { return of(s).empty() ? 0 : of(s).back().end; }
  Message& last(Stream s) { return of(s).back(); }  // there is one

 private:
  std::deque<Message>& of(Stream s) { return streams_[static_cast<std::size_t>(s) - 1]; }
  const std::deque<Message>& of(Stream s) const { return streams_[static_cast<std::size_t>(s) - 1]; }
  std::array<std::deque<Message>, 3> streams_;  // collective, network, transfer
};

}  // namespace planscope
