#include "engine/base/diagnostic.h"

#include <array>

#include "engine/base/text.h"

namespace planscope {

std::string to_string(const Diagnostic& d) {
  std::string out;
  if (!d.file.empty()) out += printable(d.file) + ":" + (d.line > 0 ? std::to_string(d.line) + ":" : "") + " ";
  if (d.severity == Severity::warning) out += "warning: ";
  if (d.severity == Severity::note) out += "note: ";
  if (!d.subject.empty()) out += printable(d.subject) + ": ";
  out += printable(d.what);
  if (!d.why.empty()) out += "; " + printable(d.why);
  if (!d.hint.empty()) out += "; " + printable(d.hint);
  return out;
}

std::string to_string(const std::vector<Diagnostic>& ds) {
  std::string out;
  for (const Diagnostic& d : ds) out += to_string(d) + "\n";
  return out;
}

static Diagnostic make(Severity s, std::string what, std::string why, std::string hint) {
  Diagnostic d;
  d.severity = s;
  d.what = std::move(what);
  d.why = std::move(why);
  d.hint = std::move(hint);
  return d;
}

Diagnostic error(std::string what, std::string why, std::string hint) {
  return make(Severity::error, std::move(what), std::move(why), std::move(hint));
}
Diagnostic warning(std::string what, std::string why, std::string hint) {
  return make(Severity::warning, std::move(what), std::move(why), std::move(hint));
}
Diagnostic note(std::string what, std::string why, std::string hint) {
  return make(Severity::note, std::move(what), std::move(why), std::move(hint));
}

Diagnostic more_messages(Severity s, std::size_t count) {
  return make(s, "… and " + with_commas(static_cast<std::int64_t>(count)) + " more", {}, {});
}

void bound_messages(std::vector<Diagnostic>& ds) {
  std::array<std::size_t, 3> seen{};
  std::string file = ds.empty() ? std::string() : ds.front().file;
  std::erase_if(ds, [&](const Diagnostic& d) {
    return d.lines.empty() && ++seen[static_cast<std::size_t>(d.severity)] > kMostMessages;
  });
  for (std::size_t s = 0; s < seen.size(); ++s) {
    if (seen[s] <= kMostMessages) continue;
    ds.push_back(more_messages(static_cast<Severity>(s), seen[s] - kMostMessages));
    ds.back().file = file;
  }
}

bool has_errors(const std::vector<Diagnostic>& ds) {
  for (const Diagnostic& d : ds)
    if (d.severity == Severity::error) return true;
  return false;
}

}  // namespace planscope
