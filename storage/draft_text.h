#pragma once
// A draft as JSON text, so that it can wait as a file while the workspace cannot be written (pending.h).
//
//   const std::string json = print(DraftRow{.name = "data", .text = "devices 4 as data=4\n"});
//   Result<DraftRow> same = parse_draft(json);
#include <string>
#include <string_view>

#include "storage/rows.h"

namespace planscope {

std::string print(const DraftRow&);
bool is_draft(std::string_view json);
Result<DraftRow> parse_draft(std::string_view json);  // Errors: it is malformed

}  // namespace planscope
