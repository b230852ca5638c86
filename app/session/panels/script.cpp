#include <algorithm>
#include <regex>
#include <set>

#include "app/session/lines.h"
#include "app/session/panels/panels.h"
#include "app/session/planning.h"
#include "engine/base/text.h"

namespace planscope::session {

namespace {

// The first quoted word of a message that stands in the line: what the message is about.
void find_token(Mark& m, const std::string& message, const std::string& line) {
  static const std::regex quoted("'([^']+)'");
  for (std::sregex_iterator i(message.begin(), message.end(), quoted), end; i != end; ++i) {
    const std::string word = (*i)[1];
    const std::size_t at = line.find(word);
    if (at == std::string::npos) continue;
    m.from = static_cast<int>(at);
    m.to = static_cast<int>(at + word.size());
    return;
  }
}

// What "Did you mean 'X'?" proposes for the token. `:X` stands for what is behind the token's last colon.
void find_fix(Mark& m, const std::string& message, const std::string& line) {
  static const std::regex proposed("[Dd]id you mean '([^']+)'");
  std::smatch match;
  if (m.to == 0 || !std::regex_search(message, match, proposed)) return;
  m.fix = match[1];
  if (m.fix.front() != ':') return;
  const std::size_t colon = line.rfind(':', static_cast<std::size_t>(m.to) - 1);
  if (colon != std::string::npos && static_cast<int>(colon) >= m.from) m.from = static_cast<int>(colon);
}

std::string counted(std::size_t n, const char* what) { return std::to_string(n) + " " + what + (n == 1 ? "" : "s"); }

// What each line decides, after the later ones have taken from it what they decide.
void add_notes(Panel& p, const PlanEffects& effects) {
  std::set<int> lines;
  for (const plan::Statement& s : effects.plan.statements)
    if (std::holds_alternative<plan::TransStatement>(s.body) ||
        std::holds_alternative<plan::AlgorithmStatement>(s.body) ||
        std::holds_alternative<plan::AssignStatement>(s.body))
      lines.insert(s.line);
  for (const int line : lines) {
    const StatementEffect e = effects.of_line(line);
    std::vector<std::string> parts;
    if (!e.operators.empty()) parts.push_back(counted(e.operators.size(), "operator"));
    if (!e.parameters.empty()) parts.push_back(counted(e.parameters.size(), "parameter"));
    std::string text = "decides " + join(parts, " and ");
    if (parts.empty())
      text = e.waits ? "waits for an open value" : "decides nothing: later lines say otherwise of all that it names";
    p.notes.push_back({line, std::move(text)});
  }
}

// The lines of what the planner has found that are left to accept.
void add_ghosts(Panel& p, const PlannerAnswer& a) {
  if (a.running || !a.candidates.empty()) return;
  const std::optional<std::vector<FoundLine>> lines = lines_left(a, p.text);
  if (!lines) return;
  int before = 0;
  for (std::size_t n = 0; n < lines->size(); ++n) {
    const FoundLine& l = (*lines)[n];
    if (!l.left)
      ++before;
    else if (is_automatic(l.text))  // else it is one of the user's own, who has taken it away since
      p.ghosts.push_back({before, l.text, "accept line=" + std::to_string(n + 1)});
  }
}

}  // namespace

Panel script_panel(const State& s) {
  Panel p{.id = "script", .title = "Plan script", .kind = PanelKind::script};
  p.empty = "The plan is written here, for example:\ndevices 4 as data=4\ntrans * batch by data";
  const Document* d = s.document();
  if (!d) {
    p.empty = "Open a model first: a plan says how its training step runs on devices.";
    return p;
  }
  p.text = d->draft.text();
  p.facts.push_back({.id = "document", .title = "Document", .cell = {.value = d->id}, .quiet = true});
  p.facts.push_back({.id = "seen", .title = "Seen", .cell = {.value = d->seen.newest()}, .quiet = true});
  if (d->planner) add_ghosts(p, *d->planner);
  if (!d->latest || d->latest->text != p.text) return p;
  const std::vector<std::string> lines = split(p.text, '\n');
  for (const Diagnostic& e : d->latest->diagnostics) {
    if (e.line < 1 || e.line > static_cast<int>(lines.size())) continue;
    Mark m{e.line, 0, 0, e.severity, e.what + (e.why.empty() ? "" : "; " + e.why), e.hint};
    const std::string message = e.what + "; " + e.why + "; " + e.hint;
    const std::string& line = lines[static_cast<std::size_t>(e.line) - 1];
    find_token(m, message, line);
    find_fix(m, message, line);
    p.marks.push_back(std::move(m));
  }
  if (d->latest->effects) add_notes(p, *d->latest->effects);
  return p;
}

}  // namespace planscope::session
