#pragma once
// The text of a file of the user. What is no file (a pipe, a device, a folder) is refused, not waited for; the mark that some
// editors put before a text (UTF-8 with a BOM) is left out.
//
//   const Result<std::string> text = file_text("my.plan");
#include <string>

#include "engine/base/diagnostic.h"

namespace planscope {

// Errors: it is not there, is no file, may not be read; `Diagnostic::file` names it.
Result<std::string> file_text(const std::string& path);

// The descriptor of a regular file that may be read, or an error.
Result<int> open_regular(const std::string& path);

std::string kind_of_file(unsigned mode);  // `it is a pipe`, of stat()'s mode of what is no regular file

}  // namespace planscope
