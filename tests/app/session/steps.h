#pragma once
// Steps of a session, as tests take them: lines of a session script, and what panels then say.
#include <catch2/catch.hpp>
#include <string>

#include "app/session/panels/panels.h"
#include "app/session/session.h"

namespace planscope::testing {

// What most tests work on: a model, and a plan for it.
inline const std::string kModel = "sample_models/gpt2_tiny.pt2";
inline const std::string kPlan = "devices 2 as data=2\ntrans * batch by data\n";

inline Result<Done> run(session::Session& s, const std::string& line) {
  const Result<session::Invocation> i = session::parse_invocation(line);
  INFO(line << ": " << to_string(i.diagnostics));
  REQUIRE(i.ok());
  return s.apply(*i);
}

inline void must(session::Session& s, const std::string& line) {
  const Result<Done> done = run(s, line);
  INFO(line << ": " << to_string(done.diagnostics));
  REQUIRE(done.ok());
}

inline void write(session::Session& s, const std::string& text) { REQUIRE(s.apply({"text", {{"text", text}}}).ok()); }

inline session::Json panel(const session::Session& s, const std::string& id) {
  return to_json(*session::make_panel(id, s.state()));
}
inline session::Json chips(const session::Session& s) { return panel(s, "chips"); }
inline std::string text_of(const session::Session& s) { return s.state().document()->draft.text(); }

}  // namespace planscope::testing
