#include <algorithm>
#include <cctype>
#include <optional>
#include <regex>
#include <set>

#include "app/session/lines.h"
#include "app/session/panels/panels.h"
#include "app/session/planning.h"
#include "engine/base/text.h"

namespace planscope::session {

namespace {

// Where a word stands in a line, at `from` or behind it, that is no part of a longer one.
std::optional<std::size_t> place_of(const std::string& word, const std::string& line, std::size_t from = 0) {
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '?'; };
  for (std::size_t at = line.find(word, from); at != std::string::npos; at = line.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool goes_on = end < line.size() && is_part(word.back()) && is_part(line[end]);
    if (!goes_on && (at == 0 || !is_part(word.front()) || !is_part(line[at - 1]))) return at;
  }
  return std::nullopt;
}

// The quoted words of a message that stand in the line, each once.
std::vector<std::string> words_in(const std::string& message, const std::string& line) {
  static const std::regex quoted("'([^']+)'");
  std::vector<std::string> out;
  for (std::sregex_iterator i(message.begin(), message.end(), quoted), end; i != end; ++i)
    if (place_of((*i)[1], line)) out.push_back((*i)[1]);
  return out;
}

// What a message is about: where it proposes something ("Did you mean 'X'?"), the quoted word that is most like that, of which
// `:X` stands for what is behind the last colon; else the last one that is quoted in what it says, or in why.
void find_token(Mark& m, const Diagnostic& d, const std::string& line) {
  static const std::regex proposed("[Dd]id you mean '([^']+)'");
  const std::string message = d.what + "; " + d.why + "; " + d.hint;
  std::smatch match;
  if (std::regex_search(message, match, proposed)) m.fix = match[1];
  std::vector<std::string> words = words_in(match.empty() ? d.what : match.prefix().str(), line);
  if (words.empty() && m.fix.empty()) words = words_in(d.why, line);
  if (words.empty()) return m.fix.clear();
  std::string token = words.back();
  if (!m.fix.empty())
    token = *std::min_element(words.begin(), words.end(), [&](const std::string& a, const std::string& b) {
      return edit_distance(a, m.fix) < edit_distance(b, m.fix);
    });
  // A factor may have the name of an axis, and stands before `by`.
  const bool axis = d.what.find("axis '" + token + "'") != std::string::npos;
  const std::size_t by = axis ? place_of("by", line).value_or(0) : 0;
  m.from = static_cast<int>(place_of(token, line, by).value_or(*place_of(token, line)));
  m.to = m.from + static_cast<int>(token.size());
  if (const std::size_t colon = token.rfind(':'); m.fix.starts_with(":") && colon != std::string::npos)
    m.from += static_cast<int>(colon);
}

std::string counted(std::size_t n, const char* what) { return std::to_string(n) + " " + what + (n == 1 ? "" : "s"); }

// What each line without errors decides, after the later ones have taken from it what they decide.
void add_notes(Panel& p, const PlanEffects& effects) {
  std::set<int> lines;
  for (const plan::Statement& s : effects.plan.statements)
    if (std::holds_alternative<plan::TransStatement>(s.body) ||
        std::holds_alternative<plan::AlgorithmStatement>(s.body) ||
        std::holds_alternative<plan::AssignStatement>(s.body))
      lines.insert(s.line);
  for (const Mark& m : p.marks)
    if (m.severity == Severity::error) lines.erase(m.line);
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
    find_token(m, e, lines[static_cast<std::size_t>(e.line) - 1]);
    p.marks.push_back(std::move(m));
  }
  if (d->latest->effects) add_notes(p, *d->latest->effects);
  return p;
}

}  // namespace planscope::session
