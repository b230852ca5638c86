#pragma once
// Bytes as text of RFC 4648, as a data URL holds them.
//
//   base64("Man") == "TWFu"; base64("M") == "TQ=="
#include <string>
#include <string_view>

namespace planscope::viz {

std::string base64(std::string_view bytes);

}  // namespace planscope::viz
