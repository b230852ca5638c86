#include "engine/base/diagnostic.h"

namespace planscope {

std::string to_string(const Diagnostic& d) {
  std::string out;
  if (!d.file.empty()) out += d.file + ":" + (d.line > 0 ? std::to_string(d.line) + ":" : "") + " ";
  if (d.severity == Severity::warning) out += "warning: ";
  if (d.severity == Severity::note) out += "note: ";
  if (!d.subject.empty()) out += d.subject + ": ";
  out += d.what;
  if (!d.why.empty()) out += "; " + d.why;
  if (!d.hint.empty()) out += "; " + d.hint;
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

bool has_errors(const std::vector<Diagnostic>& ds) {
  for (const Diagnostic& d : ds)
    if (d.severity == Severity::error) return true;
  return false;
}

}  // namespace planscope
