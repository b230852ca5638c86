#pragma once
// How user input fails: a Diagnostic says where, what, why and how to mend it; a Result carries a value, diagnostics, or
// both (a plan with one bad line has a value and an error). Exceptions are for bugs of the project itself.
//
//   Result<Plan> r = parse(text, "my.plan");
//   for (const Diagnostic& d : r.diagnostics) std::cerr << to_string(d) << "\n";
//   if (r.has_errors()) return 2;
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace planscope {

enum class Severity { error, warning, note };

struct Diagnostic {
  Severity severity = Severity::error;
  std::string file;     // empty: no file
  int line = 0;         // from 1; 0: the whole file
  std::string subject;  // the statement or the operator it is about; may be empty
  std::string what;     // one clause without a full stop at its end unless it is a whole sentence
  std::string why;      // may be empty
  std::string hint;     // how to mend it; may be empty
  // Lines that are right each by itself and cannot all hold, `line` among them, ascending; else empty.
  std::vector<int> lines = {};

  bool operator==(const Diagnostic&) const = default;
};

// `file:line: subject: what; why; hint`, empty fields left out; warnings and notes begin with their severity.
std::string to_string(const Diagnostic&);
std::string to_string(const std::vector<Diagnostic>&);  // one a line

Diagnostic error(std::string what, std::string why = {}, std::string hint = {});
Diagnostic warning(std::string what, std::string why = {}, std::string hint = {});
Diagnostic note(std::string what, std::string why = {}, std::string hint = {});

bool has_errors(const std::vector<Diagnostic>&);

// More of one severity than anybody reads are counted instead: the first kMostMessages stay, then "… and 9,900 more". Lines that
// contradict each other all stay.
inline constexpr std::size_t kMostMessages = 100;
Diagnostic more_messages(Severity, std::size_t count);
void bound_messages(std::vector<Diagnostic>&);

template <class T>
struct Result {
  std::optional<T> value;
  std::vector<Diagnostic> diagnostics;

  Result() = default;
  Result(T v) : value(std::move(v)) {}                                // NOLINT: implicit on purpose
  Result(Diagnostic d) { diagnostics.push_back(std::move(d)); }       // NOLINT
  Result(std::vector<Diagnostic> ds) : diagnostics(std::move(ds)) {}  // NOLINT

  bool has_errors() const { return planscope::has_errors(diagnostics); }
  bool ok() const { return value.has_value() && !has_errors(); }
  T& operator*() { return *value; }
  const T& operator*() const { return *value; }
  T* operator->() { return &*value; }
  const T* operator->() const { return &*value; }
};

}  // namespace planscope
