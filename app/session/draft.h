#pragma once
// The text of a plan that is being edited: what was kept last, and the edits since. Undo takes back the edits one
// by one; going
// on from there to an older kept version is the session's (it knows the versions). What is taken back can be done
// again until
// something else is written.
//
//   Draft d("devices 2 as data=2\n");
//   d.write("devices 4 as data=4\n");
//   d.undo();                          // true; d.text() is the first text again
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "app/workbench/plan_file.h"

namespace planscope::session {

using planscope::plan_text;

class Draft {
 public:
  explicit Draft(std::string kept = {}) : texts_{std::make_shared<const std::string>(plan_text(std::move(kept)))} {}

  const std::string& text() const { return *texts_[at_]; }
  const std::string& kept() const { return *texts_.front(); }
  bool edited() const { return text() != kept(); }
  bool can_undo() const { return at_ > 0; }
  bool can_redo() const { return at_ + 1 < texts_.size(); }

  void write(std::string text);
  // More of the same typing: one step of undo with the last write.
  void type(std::string text);
  void pause() { typing_ = false; }  // what is typed next is another step
  void keep();                       // the text as it stands; the edits are over
  void begin_from(std::string kept);  // another text was kept; what was, is the first edit of it
  void drop();                       // back to what was kept, as one more edit
  bool undo();                       // false: there is no edit to take back
  bool redo();

 private:
  std::vector<std::shared_ptr<const std::string>> texts_;  // the kept one, then each edit; copies of a draft share them
  std::size_t at_ = 0;
  bool typing_ = false;
};

// What changed from one text to another, as one short line: "+ trans L recompute", "- use 1f1b(S), + use gpipe(S)".
std::string change_between(const std::string& before, const std::string& after);

}  // namespace planscope::session
