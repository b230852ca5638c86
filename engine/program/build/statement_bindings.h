#pragma once
// What statements bind, before anything follows. Internal to engine/program.
#include "engine/program/build/work.h"

namespace planscope::build {

// Fills Work::kinds and the bindings of all operators: those of statements, or none. False: Work::diagnostics says why not.
bool bind_statements(Work&);

}  // namespace planscope::build
