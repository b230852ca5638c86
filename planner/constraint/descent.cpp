#include "planner/constraint/descent.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace planscope::constraint {
namespace {

// Descents one after the other that find nothing better: the last ones.
constexpr int kFruitless = 3;
constexpr std::size_t kTogether =
    32;  // assignments whose choices are changed together first, which tells where to begin

}  // namespace

std::vector<std::vector<int>> allowed_words(const Assignment& a, const Rows& rows) {
  std::vector<std::vector<int>> out;
  for (const Choice& c : a.choices) {
    out.emplace_back();
    for (std::size_t w = 0; w < c.words.size(); ++w)
      if (std::none_of(c.forbidden_by[w].begin(), c.forbidden_by[w].end(), [&](int line) { return holds(rows, line); }))
        out.back().push_back(static_cast<int>(w));
  }
  return out;
}

Descent::Descent(Assignments& assignments, Best& best, const Rows& rows, const Deadline& deadline)
    : assignments_(assignments), best_(best), rows_(rows), deadline_(deadline) {}

void Descent::postpone(Assignment& a, const std::vector<std::vector<int>>& allowed) {
  Waiting w{&a, {}, {}};
  for (const auto& words : allowed) w.picks.push_back(words.front());
  begin_at(w, w.picks);
  std::vector<int> now = w.picks, whole = w.picks;
  for (std::size_t i = 0; i < allowed.size(); ++i)
    if (holds(allowed[i], a.choices[i].now)) now[i] = a.choices[i].now;
  if (now != w.picks) begin_at(w, now);
  for (std::size_t i = 0; i < allowed.size(); ++i) {
    const std::vector<std::string>& words = a.choices[i].words;
    const auto none = std::find(words.begin(), words.end(), "none");
    const int word = static_cast<int>(none - words.begin());
    if (none != words.end() && holds(allowed[i], word)) whole[i] = word;
  }
  if (!w.score.possible) begin_at(w, whole);  // what is whole everywhere can be carried out
  waiting_.push_back(std::move(w));
}

// There, unless it is worse than where it begins already.
void Descent::begin_at(Waiting& w, const std::vector<int>& picks) {
  const Looked& l = assignments_.look(*w.assignment, picks, rows_);
  const Score s = best_.score(*w.assignment, l);
  if (s.good()) best_.take(*w.assignment, picks, l);
  if (w.score < s) return;
  w.picks = picks;
  w.score = s;
}

void Descent::sort_waiting() {
  std::stable_sort(waiting_.begin(), waiting_.end(),
                   [](const Waiting& a, const Waiting& b) { return a.score < b.score; });
}

bool Descent::run() {
  sort_waiting();
  for (std::size_t i = 0; i < waiting_.size() && i < kTogether && !best_.enough() && !deadline_.expired(); ++i)
    improve_together(waiting_[i], allowed_words(*waiting_[i].assignment, rows_));
  sort_waiting();
  int fruitless = 0;
  for (Waiting& w : waiting_) {
    if (fruitless >= kFruitless && best_) break;
    ++fruitless;
    const int before = best_.taken();
    const std::vector<std::vector<int>> allowed = allowed_words(*w.assignment, rows_);
    bool better = true;
    while (better && !deadline_.expired()) {
      better = improve_together(w, allowed);
      for (std::size_t i = 0; i < allowed.size() && !deadline_.expired(); ++i) better |= improve(w, i, allowed[i]);
      if (best_.enough()) return true;
    }
    if (best_.taken() > before) fruitless = 0;
    if (deadline_.expired()) return false;
  }
  return true;
}

bool Descent::improve(Waiting& w, std::size_t i, const std::vector<int>& words) {
  bool better = false;
  for (int word : words) {
    if (word == w.picks[i] || deadline_.expired()) continue;
    std::vector<int> picks = w.picks;
    picks[i] = word;
    better |= move(w, std::move(picks));
  }
  return better;
}

// What makes one operator worse, whose neighbours are as before, may be better for all: those that have a word on an axis take
// it together.
bool Descent::improve_together(Waiting& w, const std::vector<std::vector<int>>& allowed) {
  const std::vector<Choice>& choices = w.assignment->choices;
  std::set<std::pair<int, std::string>> words;  // by axis
  for (std::size_t i = 0; i < choices.size(); ++i)
    for (const int word : allowed[i]) words.emplace(choices[i].axis, choices[i].words[static_cast<std::size_t>(word)]);
  bool better = false;
  for (const auto& [axis, word] : words) {
    if (deadline_.expired()) break;
    std::vector<int> picks = w.picks;
    for (std::size_t i = 0; i < choices.size(); ++i) {
      const auto known = std::find(choices[i].words.begin(), choices[i].words.end(), word);
      const auto index = static_cast<int>(known - choices[i].words.begin());
      if (choices[i].axis == axis && known != choices[i].words.end() && holds(allowed[i], index)) picks[i] = index;
    }
    if (picks != w.picks) better |= move(w, std::move(picks));
  }
  return better;
}

// There, if it is better.
bool Descent::move(Waiting& w, std::vector<int> picks) {
  const Looked& l = assignments_.look(*w.assignment, picks, rows_);
  const Score s = best_.score(*w.assignment, l);
  if (!(s < w.score)) return false;
  w.picks = std::move(picks);
  w.score = s;
  if (s.good()) best_.take(*w.assignment, w.picks, l);
  return true;
}

// Where all of them would be shorter with another word, but need too much memory: as many of the first, or of the last, as
// fit, found by bisection.
void Descent::unfold() {
  for (std::size_t i = 0; i < best_.picks().size(); ++i) {
    const Choice c = best_.assignment().choices[i];
    const std::vector<std::vector<int>> allowed = allowed_words(best_.assignment(), rows_);
    for (const int word : allowed[i]) {
      if (c.rows.size() < 2 || word == best_.picks()[i] || deadline_.expired()) continue;
      std::vector<int> all = best_.picks();
      all[i] = word;
      Assignment& folded = best_.assignment();
      const Score s = best_.score(folded, assignments_.look(folded, all, rows_));
      if (!s.possible || s.excess == 0 || s.step_us >= best_.step_us()) continue;
      assignments_.decisions(folded);  // copies have them too
      const std::vector<int> picks = best_.picks();
      for (const bool first : {true, false}) {
        std::size_t some = 0, most = c.rows.size();
        while (most - some > 1 && !deadline_.expired()) {
          const std::size_t half = (some + most) / 2;
          (unfolded(folded, picks, i, word, half, first) ? some : most) = half;
        }
      }
      if (&best_.assignment() != &folded) break;  // the choice is another one now
    }
  }
}

// Whether so many of the choice's rows with that word are still within all limits.
bool Descent::unfolded(const Assignment& folded, std::vector<int> picks, std::size_t i, int word, std::size_t count,
                       bool first) {
  Assignment& a = unfolded_.emplace_back(folded);
  a.looked.clear();
  a.disorder.clear();
  Choice others = a.choices[i];
  std::vector<int>& rows = a.choices[i].rows;
  const auto cut = static_cast<std::ptrdiff_t>(first ? count : rows.size() - count);
  others.rows.assign(rows.begin() + cut, rows.end());
  rows.erase(rows.begin() + cut, rows.end());
  a.choices.insert(a.choices.begin() + static_cast<std::ptrdiff_t>(i) + 1, std::move(others));
  picks.insert(picks.begin() + static_cast<std::ptrdiff_t>(i) + 1, picks[i]);
  picks[first ? i : i + 1] = word;
  const Looked& l = assignments_.look(a, picks, rows_);
  const bool good = best_.score(a, l).good();
  if (good) best_.take(a, picks, l);
  if (&best_.assignment() != &a) unfolded_.pop_back();
  return good;
}

}  // namespace planscope::constraint
