#include "app/session/script.h"

#include <charconv>
#include <istream>
#include <map>
#include <ostream>
#include <set>

#include "app/session/panels/panels.h"
#include "engine/base/text.h"

namespace planscope::session {

namespace {

class Script {
 public:
  Script(std::istream& in, const std::string& file, Session& session, std::ostream& out)
      : in_(in), file_(file), session_(session), out_(out) {}

  ScriptEnd run() {
    while (next()) {
      const std::vector<std::string> words = first_words(line_);
      if (words.empty() || words[0][0] == '#') continue;
      if (words[0] == "wait") {
        wait(words);
      } else if (words[0] == "show") {
        show(words);
      } else {
        command();
      }
    }
    wait_for_begun();
    return std::move(end_);
  }

 private:
  bool next() {
    ++at_;
    return static_cast<bool>(std::getline(in_, line_));
  }

  static std::vector<std::string> first_words(const std::string& line) {
    std::vector<std::string> out;
    for (std::string& w : split(line, ' ')) {
      while (!w.empty() && (w.back() == '\r' || w.back() == '\t')) w.pop_back();
      if (!w.empty()) out.push_back(std::move(w));
    }
    return out;
  }

  void refuse(std::vector<Diagnostic> diagnostics, int line, bool bad = false) {
    (bad ? end_.bad : end_.refused) = true;
    for (Diagnostic& d : diagnostics) {
      if (d.severity != Severity::error) continue;
      const std::string script = file_.empty() ? "standard input" : file_;
      if (d.file.empty())
        d.file = script, d.line = line;
      else if (d.file != script)
        d.subject = script + ":" + std::to_string(line) + (d.subject.empty() ? "" : ": " + d.subject);
      end_.diagnostics.push_back(std::move(d));
    }
  }

  void wait(const std::vector<std::string>& words) {
    if (words.size() == 1) {
      session_.wait();
      return wait_for_begun();
    }
    int job = 0;
    const char* end = words[1].data() + words[1].size();
    if (words.size() > 2 || std::from_chars(words[1].data(), end, job).ptr != end)
      return refuse({error("'wait' takes nothing, or the number of a job")}, at_, true);
    const auto begun = begun_.find(job);
    wait_for(job, begun == begun_.end() ? at_ : begun->second);
    if (begun != begun_.end()) begun_.erase(begun);
  }

  void wait_for(int job, int line) {
    const Result<Done> done = session_.wait(job);
    if (!done.ok()) refuse(done.diagnostics, line);
  }

  // A command that begins a job is refused where the job fails.
  void wait_for_begun() {
    for (const auto& [job, line] : begun_) wait_for(job, line);
    begun_.clear();
  }

  void note_begun(int line) {
    for (int job = session_.last_job(); job > last_job_; --job) begun_[job] = line;
    last_job_ = session_.last_job();
  }

  void show(const std::vector<std::string>& words) {
    if (words.size() < 2 || words.size() > 3 || (words.size() == 3 && words[2] != "json"))
      return refuse({error("'show' needs the name of a panel, and perhaps json")}, at_, true);
    session_.refresh();
    const Result<Panel> panel = make_panel(words[1], session_.state());
    if (!panel.ok()) return refuse(panel.diagnostics, at_);
    if (words.size() == 3)
      out_ << to_json(*panel).dump(-1, ' ', false, Json::error_handler_t::replace) << "\n";
    else
      print_lines(to_text(*panel));
    out_.flush();
  }

  // Names come from files: only line breaks are printed as they are.
  void print_lines(const std::string& text) {
    std::vector<std::string> lines = split(text, '\n');
    if (!lines.empty() && lines.back().empty()) lines.pop_back();
    for (const std::string& line : lines) out_ << printable(line) << "\n";
  }

  void command() {
    const int begin = at_;
    std::string lines = line_;
    if (const std::optional<std::string> end = here_document_end(line_))
      for (bool ended = false; !ended && next();) {
        ended = ends_here_document(line_, *end);
        lines += "\n" + line_;
      }
    const Result<Invocation> i = parse_invocation(lines);
    if (!i.ok()) return refuse(i.diagnostics, begin, true);
    apply(*i, begin);
  }

  void apply(const Invocation& i, int line) {
    const Result<Done> done = session_.apply(i);
    note_begun(line);
    if (!done.ok()) return refuse(done.diagnostics, line);
    for (const Diagnostic& d : done.diagnostics) tell_once(d);
  }

  // A warning, which every command after the first would repeat.
  void tell_once(const Diagnostic& d) {
    if (told_.insert(to_string(d)).second) end_.diagnostics.push_back(d);
  }

  std::istream& in_;
  const std::string& file_;
  Session& session_;
  std::ostream& out_;
  std::string line_;
  int at_ = 0;
  std::set<std::string> told_;
  std::map<int, int> begun_;  // jobs of this script that were not waited for yet, with the lines that began them
  int last_job_ = session_.last_job();
  ScriptEnd end_;
};

}  // namespace

ScriptEnd run_script(std::istream& script, const std::string& file, Session& session, std::ostream& panels) {
  return Script(script, file, session, panels).run();
}

}  // namespace planscope::session
