#pragma once
// The one reader of plan files, for the session and for every verb.
//
//   const Result<PlanFile> f = read_plan_file("a.plan");
//   plan::parse_plan(f->text, "a.plan");
#include <string>

#include "engine/base/diagnostic.h"

namespace planscope {

// The one form in which a plan is read and edited, so that every editor shows it as it is: a line ends in \n alone, and all of
// it is UTF-8. Bytes that are not are read as Latin-1; signs that some editors take for the end of a line are blanks.
//
//   plan_text("a\r\nb\rc") == "a\nb\nc"
std::string plan_text(std::string);

struct PlanFile {
  std::string text;             // in the form of plan_text
  std::string line_end = "\n";  // of the lines in the file: \n, \r\n or \r
};

// Errors: those of file_text; the file is binary; it is not UTF-8, with line and column of the first wrong byte.
Result<PlanFile> read_plan_file(const std::string& path);

std::string with_line_ends(const std::string& text, const std::string& line_end);  // as the file has it

}  // namespace planscope
