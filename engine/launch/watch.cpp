#include "engine/launch/watch.h"

#include <algorithm>

namespace planscope {
namespace {

std::string seconds(Microseconds us) {
  const auto tenths = static_cast<std::int64_t>(us.count / 1e5 + 0.5);
  const std::string whole = std::to_string(tenths / 10);
  return tenths % 10 == 0 ? whole + " s" : whole + "." + std::to_string(tenths % 10) + " s";
}

}  // namespace

std::string rank_text(int rank, std::int64_t instruction) {
  if (rank < 0) return {};
  return "rank " + std::to_string(rank) + (instruction < 0 ? "" : " at instruction " + std::to_string(instruction));
}

Watch::Watch(int ranks, const WatchLimits& limits, Microseconds now)
    : ranks_(static_cast<std::size_t>(ranks)), limits_(limits), last_tick_(now) {
  for (Rank& r : ranks_) r.last_beat = r.last_work = r.last_change = now;
}

void Watch::beat(int rank, const Position& position, Microseconds now) {
  Rank& r = ranks_[static_cast<std::size_t>(rank)];
  located(rank, position, now);
  r.heard = true;
  r.last_beat = r.last_work = now;
}

void Watch::located(int rank, const Position& position, Microseconds now) {
  Rank& r = ranks_[static_cast<std::size_t>(rank)];
  if (position.changes <= r.position.changes) return;  // a beat that was under way while the board was read
  if (!r.heard) r.last_beat = r.last_work = now;       // it runs, so its first beat is due soon
  r.heard = true;
  r.last_change = now;
  r.position = position;
}

void Watch::at_work(int rank, Microseconds now) { ranks_[static_cast<std::size_t>(rank)].last_work = now; }

bool Watch::is_overdue(int rank, Microseconds now) const {
  const Rank& r = ranks_[static_cast<std::size_t>(rank)];
  return !r.done && !r.exited && now - r.last_beat >= limits_.overdue;
}

void Watch::done(int rank, Microseconds now) {
  Rank& r = ranks_[static_cast<std::size_t>(rank)];
  r.done = true;
  r.last_change = now;  // those that waited for its last message have their time to go on
}

void Watch::reported(int rank, const FailureReport& report, Microseconds now) {
  sign(report.origin == FailureOrigin::peer ? Cause::peer : Cause::own, rank, report.instruction, report.reason, now);
  signs_.back().failure.bad_input = report.origin == FailureOrigin::input;
}

void Watch::broke(int rank, const std::string& reason, Microseconds now) {
  sign(Cause::own, rank, position(rank).instruction, reason, now);
}

void Watch::exited(int rank, const std::string& how, Microseconds now) {
  Rank& r = ranks_[static_cast<std::size_t>(rank)];
  r.exited = true;
  if (r.done) return;
  // A rank that has told why it fails exits soon after: that is no news.
  const bool told = std::any_of(signs_.begin(), signs_.end(), [&](const Sign& s) { return s.failure.rank == rank; });
  if (told) return;
  const std::string where = r.position.what.empty() ? "" : " in " + r.position.what;
  sign(Cause::own, rank, r.position.instruction, how + where, now);
}

void Watch::sign(Cause cause, int rank, std::int64_t instruction, std::string reason, Microseconds now) {
  signs_.push_back({cause, now, {rank, instruction, std::move(reason)}});
}

void Watch::forgive_suspension(Microseconds now) {
  if (now - last_tick_ > limits_.suspended) {
    const Microseconds gap = now - last_tick_;
    for (Rank& r : ranks_) {
      r.last_beat += gap;
      r.last_work += gap;
      r.last_change += gap;
    }
  }
  last_tick_ = now;
}

void Watch::look_for_silence(Microseconds now) {
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    const Rank& r = ranks_[i];
    if (r.done || r.exited) continue;
    const bool too_late = now - r.last_beat >= (r.heard ? limits_.starved : limits_.start);
    if (!too_late && now - r.last_work < limits_.silence) continue;
    const Microseconds limit = !too_late ? limits_.silence : r.heard ? limits_.starved : limits_.start;
    const std::string where = !r.heard                  ? ", before it told where it is"
                              : r.position.what.empty() ? ""
                                                        : ", last seen in " + r.position.what;
    sign(Cause::silence, static_cast<int>(i), r.position.instruction,
         (too_late && !r.heard ? "did not start within " : "no sign of life for ") + seconds(limit) + where, now);
  }
}

void Watch::look_for_deadlock(Microseconds now) {
  std::string waits;
  int first = -1;
  Microseconds latest = ranks_.front().last_change;  // of any rank, also of those that are done
  Microseconds expected;
  for (const Rank& r : ranks_) latest = std::max(latest, r.last_change);
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    const Rank& r = ranks_[i];
    if (r.done || r.exited) continue;
    // One that is late with its heartbeat may be the one that all wait for: silence is looked for first.
    if (!r.heard || !r.position.waiting || is_overdue(static_cast<int>(i), now)) return;
    expected = std::max(expected, r.position.expected);
    if (first < 0 || r.last_change < ranks_[static_cast<std::size_t>(first)].last_change) first = static_cast<int>(i);
    const std::string rank = rank_text(static_cast<int>(i), r.position.instruction);
    waits += (waits.empty() ? "" : "; ") + rank + ": " + r.position.what;
  }
  if (first < 0 || now - latest < limits_.deadlock + expected) return;
  sign(Cause::deadlock, first, position(first).instruction,
       "all live ranks have waited without progress for " + seconds(limits_.deadlock) + " (" + waits + ")", now);
}

std::optional<LaunchFailure> Watch::verdict(Microseconds now) {
  if (verdict_) return verdict_;
  forgive_suspension(now);
  if (signs_.empty()) {
    look_for_silence(now);
    if (signs_.empty()) look_for_deadlock(now);
    if (signs_.empty()) return {};
  } else {
    const bool lost_alone =
        std::all_of(signs_.begin(), signs_.end(), [](const Sign& s) { return s.cause == Cause::peer; });
    if (now - signs_.front().at < (lost_alone ? limits_.root : limits_.grace) && !all_exited()) return {};
  }
  const auto root = std::min_element(signs_.begin(), signs_.end(), [](const Sign& a, const Sign& b) {
    return a.cause != b.cause ? a.cause < b.cause : a.at < b.at;
  });
  verdict_ = root->failure;
  return verdict_;
}

bool Watch::all_done() const {
  return std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& r) { return r.done; });
}

bool Watch::all_exited() const {
  return std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& r) { return r.exited; });
}

}  // namespace planscope
