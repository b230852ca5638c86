// Waits: what is issued, or received, is waited for just before the first instruction that reads it, so that all between
// goes on meanwhile. Where only one other segment reads it, and that as often as it is made, the wait stands there; where
// several do, or loops inside, at the end of the segment that issues it. A bucket is waited for at once. Waits that are there
// already (sums.cpp) stay where they are.
#include <algorithm>

#include "engine/program/build/work.h"

namespace planscope::build {

namespace {

class Waits {
 public:
  explicit Waits(Program& p) : p_(p), issue_of_(p.values.size(), -1), leaves_(p.pieces.size()) {}

  void run() {
    const SegmentId count = static_cast<SegmentId>(p_.segments.size());
    for (SegmentId s = 0; s < count; ++s)
      for (const Instruction& i : segment(s).instructions) {
        reads(i, [&](Issue& issue) { note_reader(issue, s); });
        if (i.code == Code::wait)
          issues_[static_cast<std::size_t>(issue_of_[static_cast<std::size_t>(i.out[0])])].waited = true;
        note(i, s);
      }
    for (Issue& issue : issues_) issue.wait_in = place_of_wait(issue);
    refilled_.clear();
    for (SegmentId s = 0; s < count; ++s) insert(s);
  }

 private:
  struct Issue {
    std::vector<ProgramValueId> out;
    SegmentId in = -1;
    SegmentId reader = -1;  // the segment that reads it, apart from its own
    bool read_in_own = false, several = false;
    bool last = false;  // issued in the segment's last run alone
    SegmentId wait_in = -1;
    bool waited = false;
  };

  Segment& segment(SegmentId s) { return p_.segments[static_cast<std::size_t>(s)]; }

  static bool issues(const Instruction& i) { return i.code == Code::issue || i.code == Code::receive; }

  void note(const Instruction& i, SegmentId s) {
    if (i.code == Code::compute) leaves_[static_cast<std::size_t>(i.piece)] = i.in;
    note_refills(i);
    if (!issues(i)) return;
    for (const ProgramValueId v : i.out) issue_of_[static_cast<std::size_t>(v)] = static_cast<int>(issues_.size());
    issues_.push_back({i.out, s, -1, false, false, i.last, -1, false});
  }

  void note_refills(const Instruction& i) {
    for (const ProgramValueId v : i.out)
      if (v >= 0 && p_.values[static_cast<std::size_t>(v)].refills >= 0)
        refilled_[p_.values[static_cast<std::size_t>(v)].refills] = v;
  }

  // What an instruction reads of what has been issued. A backward reads what holds again the contents of values that its
  // forward run had read.
  template <class F>
  void reads(const Instruction& i, F&& f) {
    const auto read = [&](ProgramValueId v) {
      if (v >= 0 && issue_of_[static_cast<std::size_t>(v)] >= 0)
        f(issues_[static_cast<std::size_t>(issue_of_[static_cast<std::size_t>(v)])]);
    };
    for (const ProgramValueId v : i.in) read(v);
    if (i.code != Code::backward || refilled_.empty()) return;
    for (const ProgramValueId v : leaves_[static_cast<std::size_t>(i.piece)])
      if (const auto it = refilled_.find(v); it != refilled_.end()) read(it->second);
  }

  void note_reader(Issue& issue, SegmentId s) {
    issue.read_in_own = issue.read_in_own || issue.in == s;
    issue.several = issue.several || (issue.reader >= 0 && issue.reader != s);
    issue.reader = s;
  }

  SegmentId place_of_wait(const Issue& issue) {
    if (issue.read_in_own || issue.several || issue.reader < 0) return issue.in;
    const Segment &own = segment(issue.in), &other = segment(issue.reader);
    const AxisSet axes = issue.last ? AxisSet{} : own.free_axes;
    return axes == other.free_axes && own.place == other.place ? issue.reader : issue.in;
  }

  void insert(SegmentId s) {
    std::vector<Instruction> out;
    std::vector<Instruction>& list = segment(s).instructions;
    std::vector<int> under_way;  // issued here, waited for here
    const auto wait = [&](Issue& issue) {
      if (issue.waited || issue.wait_in != s) return;
      issue.waited = true;
      Instruction w;
      w.code = Code::wait;
      w.out = issue.out;
      w.last = issue.last && issue.in == s;
      out.push_back(std::move(w));
    };
    for (Instruction& i : list) {
      reads(i, wait);
      note_refills(i);
      if (issues(i)) under_way.push_back(issue_of_[static_cast<std::size_t>(i.out[0])]);
      out.push_back(std::move(i));
    }
    for (const int issue : under_way) wait(issues_[static_cast<std::size_t>(issue)]);
    list = std::move(out);
  }

  Program& p_;
  std::vector<int> issue_of_;                        // value -> index into issues_
  std::vector<std::vector<ProgramValueId>> leaves_;  // by piece: what its forward run reads
  std::vector<Issue> issues_;
  std::map<ProgramValueId, ProgramValueId> refilled_;  // value -> what holds its contents again
};

}  // namespace

bool insert_waits(Work& w) {
  Waits(w.p).run();
  return true;
}

}  // namespace planscope::build
