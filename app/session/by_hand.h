#pragma once
// Statements that a gesture makes, put into the text of a plan: instead of the last one of the same selection and kind
// of decision where that says the same as adding a line at the end, else at the end. So a statement decides what it
// would as the plan's last line, as explain tells it, and the text does not grow by what it makes superfluous. A
// declaration takes the place of the one that declares the same: the devices, sizes of the model, or a name. The comment of the
// line whose place it takes stays.
//
//   const std::string text = "devices 2 as t=2\ntrans A out by t\n";
//   Result<WithStatement> w = with_statement(graph, text, "trans A in by t", file, cache);
//   w->text == "devices 2 as t=2\ntrans A in by t\n"; w->line == 2
//
// Errors: the statement does not parse, names what is not there, or decides nothing. Errors of other lines do not
// count.
#include <string>

#include "engine/program/materialize.h"

namespace planscope::session {

struct WithStatement {
  std::string text;
  int line = 0;  // of the statement
};
Result<WithStatement> with_statement(const Graph&, const std::string& text, const std::string& statement,
    const std::string& file,
                                     MaterializeCache&);

}  // namespace planscope::session
